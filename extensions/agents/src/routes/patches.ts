/** From the fields of a body to a patch of agent.toml, with what a schema cannot say validated on the way. */
import { type Actor, isTable, ONE_LINE } from '@svc/api';
import { type Change, replacementOf } from '../changing/change.js';
import { chosenModel, type ModelChoiceDeps } from '../changing/model-choice.js';
import type { AgentsService, ManifestPatch } from '../contract.js';
import { agentErrors } from '../errors.js';
import { AVATAR, COLOR } from '../identity.js';
import { LIMITS } from './bodies.js';
import { parseManifestToml } from '../manifest/manifest-toml.js';

type Fields = Readonly<Record<string, unknown>>;

/** Throws `agents_field_too_long`. */
export const refuseTooLong = (fields: Fields): void => {
  for (const [field, limit] of Object.entries(LIMITS)) {
    const value = fields[field];
    if (typeof value !== 'string' || value.length <= limit) continue;
    // Counted as the validator of manifests counts: one for an emoji.
    const length = [...value].length;
    if (length > limit) throw agentErrors.agents_field_too_long(field, length, limit);
  }
};

/** Without what was left out. */
export const given = (fields: Fields): ManifestPatch => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Throws `agents_not_alone`. */
export const replaced = async (text: string, beside: Fields, revision: number | undefined): Promise<Change> => {
  const [field] = Object.keys(given(beside));
  if (field !== undefined) throw agentErrors.agents_not_alone(field);
  return replacementOf(await parseManifestToml(text), text, revision);
};

/** `top` with what it says of the model in its section. */
export const withModel = (top: ManifestPatch, section: ManifestPatch): ManifestPatch =>
  Object.keys(section).length === 0 ? top : { ...top, model: { ...(isTable(top.model) ? top.model : {}), ...section } };

export interface ModelPatchDeps extends ModelChoiceDeps {
  readonly agents: Pick<AgentsService, 'get'>;
}

interface NamedModel {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** Empty where no model is named. Throws what `chosenModel` throws. */
export const modelPatch = async (deps: ModelPatchDeps, actor: Actor, agentId: string, named: NamedModel): Promise<ManifestPatch> => {
  if (named.provider === undefined && named.model === undefined) return {};
  const { manifest } = await deps.agents.get(actor, agentId);
  const { provider, model } = await chosenModel(deps, named, manifest.asked_model ?? manifest.model);
  return { provider, model };
};

/** Null keeps, an empty text takes away. Throws `agents_bad_color`, `agents_bad_avatar`, `agents_bad_identity`. */
export const identityPatch = (fields: Readonly<Record<string, string | null | undefined>>): ManifestPatch => {
  const said = Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === 'string');
  for (const [field, value] of said) refuseBadLook(field, value);
  return said.length === 0 ? {} : { metadata: { identity: Object.fromEntries(said) } };
};

const refuseBadLook = (field: string, value: string): void => {
  if (!ONE_LINE.fits(value)) throw agentErrors.agents_bad_identity(field);
  if (field === 'color' && !COLOR.fits(value)) throw agentErrors.agents_bad_color(value);
  if (field === 'avatar_url' && !AVATAR.fits(value)) throw agentErrors.agents_bad_avatar();
};
