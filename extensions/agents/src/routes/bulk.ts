/**
 * Many agents in one request. Each item is done and validated as a single call would be, one after the other, and has a
 * result of its own: an item that fails keeps none of the others from being done.
 */
import { type Actor, isSvcError, type Logger, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import type { AgentsService, SpawnRequest } from '../contract.js';
import type { Removing } from '../removing.js';
import { checkedId } from '../service.js';
import type { Spawned } from '../spawning.js';
import { closed, Warnings } from './bodies.js';
import { keyOf } from './idempotency-key.js';
import { SpawnBody, spawnRequestOf } from './spawn-body.js';

const route = routeGroup({ area: 'agents' });

const MAX_ITEMS = 50;
/** Fifty manifests as people write them; one of 1 MiB goes by itself. */
const MAX_BODY_BYTES = 4 * 1_048_576;

export interface BulkRouteDeps {
  readonly agents: Pick<AgentsService, 'setSuspended'>;
  readonly removing: Pick<Removing, 'remove'>;
  readonly spawn: (actor: Actor, request: SpawnRequest) => Promise<Spawned>;
  /** Suspends it and cancels its runs; resolves with how many there were. */
  readonly halt: (actor: Actor, agentId: string) => Promise<number>;
}

export const bulkRoutes = (deps: BulkRouteDeps): RouteDecl[] => [spawnMany(deps), killMany(deps), startMany(deps), stopMany(deps)];

const counted = { total: Type.Integer(), succeeded: Type.Integer(), failed: Type.Integer() };
const failure = {
  error: Type.Optional(Type.String({ description: 'The error message and hint of a single call' })),
  code: Type.Optional(Type.String({ description: 'The identity of the error' })),
};

const EACH =
  'Items are validated and processed one after the other, like single calls, and each has its own result. The status is 200 even if all fail. Items processed before a failure stay in effect.';

const IdList = Type.Object({ agent_ids: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: MAX_ITEMS, description: 'Agent ids' }) }, { ...closed, 'x-name': 'AgentIds' });
const IdResults = Type.Object(
  { ...counted, results: Type.Array(Type.Object({ agent_id: Type.String({ description: 'As sent' }), success: Type.Boolean(), message: Type.Optional(Type.String()), ...failure })) },
  { 'x-name': 'BulkAgentResults' },
);
const EXAMPLES = {
  one: { agent_ids: ['0190a5c2-7c1e-4b7a-9d5e-3f1c2b4a6d80'] },
  several: { agent_ids: ['0190a5c2-7c1e-4b7a-9d5e-3f1c2b4a6d80', '0190a5c2-7c1e-4b7a-9d5e-3f1c2b4a6d81'] },
  'one of them is not an id and fails alone': { agent_ids: ['0190a5c2-7c1e-4b7a-9d5e-3f1c2b4a6d80', 'nobody'] },
};

const spawnMany = ({ spawn }: BulkRouteDeps): RouteDecl =>
  route({
    id: 'spawnAgents',
    method: 'POST',
    path: '/api/agents/bulk',
    summary: 'Create up to 50 agents',
    description: `${EACH} An invalid body is refused before any agent is created. With an \`Idempotency-Key\`, a repeated request creates nothing twice.`,
    cost: 250,
    audit: 'agents_spawned',
    auditCategory: 'grants',
    body: Type.Object({ agents: Type.Array(SpawnBody, { minItems: 1, maxItems: MAX_ITEMS }) }, { ...closed, 'x-name': 'SpawnRequests' }),
    maxBodyBytes: MAX_BODY_BYTES,
    errors: [413],
    examples: {
      'two by name': { agents: [{ name: 'first' }, { name: 'second' }] },
      'from templates': { agents: [{ template: 'researcher' }, { template: 'writer', name: 'editor' }] },
      'with manifests': { agents: [{ manifest_toml: 'name = "reader"\n[capabilities]\ntools = ["file_read"]\n' }] },
    },
    responses: {
      200: Type.Object(
        {
          ...counted,
          results: Type.Array(
            Type.Object({
              index: Type.Integer({ description: 'Its place in the request, from 0' }),
              success: Type.Boolean(),
              agent_id: Type.Optional(Uuid),
              name: Type.Optional(Type.String()),
              warnings: Type.Optional(Warnings),
              ...failure,
            }),
          ),
        },
        { 'x-name': 'BulkSpawnResults' },
      ),
    },
    handler: async ({ actor, body, headers, log }) => {
      const { key } = keyOf(headers);
      const results = await oneByOne(body.agents, log, async (item, index) => {
        const { agentId, name, warnings } = await spawn(actor, { ...spawnRequestOf(item), ...(key === undefined ? {} : { key: `${index}:${key}` }) });
        return { agent_id: agentId, name, ...(warnings.length > 0 ? { warnings: [...warnings] } : {}) };
      });
      return reply(200, { ...countsOf(results), results: results.map((result, index) => ({ index, ...result })) });
    },
  });

const onIds = (words: Pick<RouteDecl, 'id' | 'method' | 'path' | 'summary' | 'description' | 'audit'>, work: (actor: Actor, agentId: string) => Promise<string>): RouteDecl =>
  route({
    ...words,
    cost: 50,
    body: IdList,
    examples: EXAMPLES,
    responses: { 200: IdResults },
    handler: async ({ actor, body, log }) => {
      const results = await oneByOne(body.agent_ids, log, async (id) => ({ message: await work(actor, id) }));
      return reply(200, { ...countsOf(results), results: results.map((result, index) => ({ agent_id: body.agent_ids[index] ?? '', ...result })) });
    },
  });

const killMany = ({ removing }: BulkRouteDeps): RouteDecl =>
  onIds(
    {
      id: 'killAgents',
      method: 'DELETE',
      path: '/api/agents/bulk',
      summary: 'Delete up to 50 agents',
      description: `${EACH} An id that is named twice is not found the second time. They can be restored, like one that is deleted by itself.`,
      audit: 'agents_killed',
    },
    async (actor, id) => {
      await removing.remove(actor, checkedId(id));
      return 'Deleted';
    },
  );

const startMany = ({ agents }: BulkRouteDeps): RouteDecl =>
  onIds(
    {
      id: 'startAgents',
      method: 'POST',
      path: '/api/agents/bulk/start',
      summary: 'Resume up to 50 agents',
      description: `${EACH} A running agent is not affected.`,
      audit: 'agents_resumed',
    },
    async (actor, id) => {
      await agents.setSuspended(actor, id, false);
      return 'Running';
    },
  );

const stopMany = ({ halt }: BulkRouteDeps): RouteDecl =>
  onIds(
    {
      id: 'stopAgents',
      method: 'POST',
      path: '/api/agents/bulk/stop',
      summary: 'Suspend up to 50 agents and cancel their runs',
      description: `${EACH} A suspended agent accepts no messages until it is started again. \`message\` says whether a run was cancelled.`,
      audit: 'agents_suspended',
    },
    async (actor, id) => ((await halt(actor, id)) > 0 ? 'Run cancelled' : 'No active run'),
  );

type Result<T> = ({ success: true } & T) | { success: false; error: string; code: string };

const oneByOne = async <I, T extends object>(items: readonly I[], log: Logger, work: (item: I, index: number) => Promise<T>): Promise<Array<Result<T>>> => {
  const results: Array<Result<T>> = [];
  for (const [index, item] of items.entries()) {
    try {
      results.push({ success: true, ...(await work(item, index)) });
    } catch (error) {
      results.push(failed(error, log));
    }
  }
  return results;
};

/** What a person may read of it: as the answer of a single call says it. */
const failed = (error: unknown, log: Logger): { success: false; error: string; code: string } => {
  if (isSvcError(error) && error.status < 500) return { success: false, error: error.hint === undefined ? error.message : `${error.message} ${error.hint}`, code: error.code };
  log.error('an item of a bulk request failed', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  return { success: false, error: 'Internal server error', code: 'internal_error' };
};

const countsOf = (results: ReadonlyArray<{ readonly success: boolean }>) => {
  const succeeded = results.filter(({ success }) => success).length;
  return { total: results.length, succeeded, failed: results.length - succeeded };
};
