import { type Actor, isSvcError, Nullable, reply, type RouteDecl, routeGroup, Type, UuidText } from '@svc/api';
import type { Change } from '../changing/change.js';
import type { SpawnRequest } from '../contract.js';
import type { ManifestProblem } from '../errors.js';
import { closed, MAX_MANIFEST_BODY_BYTES, ManifestText, Warnings } from './bodies.js';
import { replaced } from './patches.js';

const route = routeGroup({ area: 'agents', errors: [404, 413] });

export interface CheckRouteDeps {
  readonly checkSpawn: (actor: Actor, request: SpawnRequest) => Promise<readonly string[]>;
  readonly checkEdit: (actor: Actor, agentId: string, change: Change) => Promise<readonly string[]>;
}

/** Refusals that are about the manifest, and not about the request. */
const ABOUT_IT = ['agents_invalid_manifest', 'agents_spawn_denied', 'agents_change_denied', 'agents_model_pinned'];

const Problem = Type.Object(
  {
    line: Nullable(Type.Integer(), { description: 'From 1; null if it concerns no single line' }),
    key: Type.String({ description: 'With its section, such as `model.temperature`; empty where it is about no single key' }),
    message: Type.String(),
    expected: Type.String({ description: 'The expected value' }),
  },
  { 'x-name': 'ManifestProblem' },
);

const Body = Type.Object(
  { manifest_toml: ManifestText, agent_id: Type.Optional(UuidText('The agent whose manifest is replaced. By default, the manifest is for a new agent')) },
  { ...closed, 'x-name': 'ManifestCheck' },
);

export const checkRoutes = (deps: CheckRouteDeps): RouteDecl[] => [
  route({
    id: 'checkAgentManifest',
    method: 'POST',
    path: '/api/agents/check',
    summary: 'Validate a manifest',
    description:
      'Returns the errors and warnings of `POST /api/agents`, or of `PATCH /api/agents/{id}` if `agent_id` is set: every error with its line, and what the caller may not grant. Name conflicts and concurrent changes are only detected by the real request.',
    cost: 5,
    body: Body,
    maxBodyBytes: MAX_MANIFEST_BODY_BYTES,
    examples: {
      'of a new agent': { manifest_toml: 'name = "reader"\n[capabilities]\ntools = ["file_read"]\n' },
      'in the place of another': { manifest_toml: 'description = "Reads."\n[model]\ntemperature = 0.2\n', agent_id: '0d1f6f0a-4f6c-4b4e-9f57-0c7f4f1f2a61' },
      'with a slip': { manifest_toml: 'name = "reader"\n[model]\ntemprature = 0.2\n' },
    },
    responses: { 200: Type.Object({ ok: Type.Boolean({ description: 'Whether it is valid' }), problems: Type.Array(Problem), warnings: Warnings }) },
    handler: async ({ actor, body: { manifest_toml, agent_id } }) => {
      try {
        const warnings = agent_id === undefined ? await deps.checkSpawn(actor, { manifestToml: manifest_toml }) : await deps.checkEdit(actor, agent_id, await replaced(manifest_toml, {}, undefined));
        return reply(200, { ok: true, problems: [], warnings: [...warnings] });
      } catch (error) {
        return reply(200, { ok: false, problems: problemsOf(error), warnings: [] });
      }
    },
  }),
];

/** Throws what says nothing of the manifest. */
const problemsOf = (error: unknown): ManifestProblem[] => {
  if (!isSvcError(error) || !ABOUT_IT.includes(error.code)) throw error;
  // Put there by `invalidManifest`.
  const { problems } = (error.details ?? {}) as { problems?: readonly ManifestProblem[] };
  return problems ? [...problems] : [{ line: null, key: '', message: error.message, expected: error.hint ?? '' }];
};
