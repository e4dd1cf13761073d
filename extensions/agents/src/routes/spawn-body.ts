import { anyOfFields, Refused, type Static, TextOf, Type } from '@svc/api';
import type { SpawnRequest } from '../contract.js';
import { agentErrors } from '../errors.js';
import { AGENT_NAME, ManifestText } from './bodies.js';

const TEMPLATE = '^[A-Za-z0-9_-]{1,64}$';

export const SpawnBody = Type.Object(
  {
    manifest_toml: Type.Optional(ManifestText),
    manifest: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'The same as a JSON object' })),
    template: Type.Optional(Type.String({ pattern: TEMPLATE, description: 'The name of a template: letters, digits, - and _. GET /api/templates lists them' })),
    name: Type.Optional(TextOf(AGENT_NAME, { description: "Instead of the manifest's name" })),
    model: Type.Optional(Type.Union([Type.String(), Type.Object({ provider: Type.Optional(Type.String()), model: Type.String() })], { description: "Instead of the manifest's model" })),
    provider: Type.Optional(Type.String({ description: 'The provider of `model`, if `model` is a string' })),
    signed_manifest: Type.Optional(Refused(Type.String({ description: 'Refused: manifest signatures cannot be verified here' }))),
  },
  { ...anyOfFields('manifest_toml', 'manifest', 'template', 'name'), 'x-name': 'SpawnRequest' },
);
type SpawnBody = Static<typeof SpawnBody>;

/** Of several descriptions the text wins, then the table, then the template. Throws `agents_signature_unsupported`. */
export const spawnRequestOf = (body: SpawnBody): SpawnRequest => {
  if (body.signed_manifest !== undefined) throw agentErrors.agents_signature_unsupported();
  const model = typeof body.model === 'string' ? { model: body.model } : body.model;
  return {
    ...describedBy(body),
    ...(body.name === undefined ? {} : { name: body.name }),
    // Without a provider, the gateway finds the one that has the model.
    ...(model ? { model: { provider: model.provider ?? body.provider ?? 'default', model: model.model } } : {}),
  };
};

const describedBy = ({ manifest_toml, manifest, template }: SpawnBody): SpawnRequest => {
  if (manifest_toml !== undefined) return { manifestToml: manifest_toml };
  if (manifest !== undefined) return { manifest };
  return template === undefined ? {} : { template };
};
