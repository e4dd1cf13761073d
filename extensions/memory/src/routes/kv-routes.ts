/** Key-value pairs of an agent over HTTP. */
import { OneOf, reply, type RouteDecl, routeGroup, Type, Uuid, UuidText } from '@svc/api';
import { memoryErrors } from '../errors.js';
import { checkedKey, type Kv } from '../kv/kv.js';
import type { MemoryDeps } from '../memory-deps.js';

export interface KvRouteDeps extends Pick<MemoryDeps, 'agents'> {
  readonly kv: Kv;
}

const route = routeGroup({ area: 'memory', errors: [404] });
const AgentPath = Type.Object({ id: UuidText('Agent id') });
const KeyPath = Type.Object({ id: UuidText('Agent id'), key: Type.String({ minLength: 1, maxLength: 256, description: 'The key', examples: ['favourite.colour'] }) });
const MAX_IMPORT = 10_000;
const MAX_VALUE_BYTES = 100_000;
const Count = Type.Integer({ minimum: 0 });
const Value = Type.Unknown({ description: 'Any JSON value' });
const Pairs = Type.Record(Type.String(), Value, { description: 'Values by key' });
const WHOSE =
  'You see your own pairs. Keys that begin with `shared.` are shared by all of your agents. `memory_read` and `memory_write` of the manifest bind the tools of the agent, not these routes.';

export const kvRoutes = (deps: KvRouteDeps): RouteDecl[] => [listKv(deps), getKv(deps), putKv(deps), deleteKv(deps), exportKv(deps), importKv(deps)];

const listKv = ({ agents, kv }: KvRouteDeps): RouteDecl =>
  route({
    id: 'listMemoryKeys',
    method: 'GET',
    path: '/api/memory/agents/{id}/kv',
    summary: 'List the key-value pairs of an agent',
    description: WHOSE,
    params: AgentPath,
    responses: { 200: Type.Object({ kv_pairs: Type.Array(Type.Object({ key: Type.String(), value: Value })) }) },
    handler: async ({ actor, params: { id } }) => {
      const agent = await agents.get(actor, id);
      const rows = await kv.list(actor, agent.id);
      return reply(200, { kv_pairs: rows.map(({ key, value }) => ({ key, value: JSON.parse(value) as unknown })) });
    },
  });

const getKv = ({ agents, kv }: KvRouteDeps): RouteDecl =>
  route({
    id: 'getMemoryKey',
    method: 'GET',
    path: '/api/memory/agents/{id}/kv/{key}',
    summary: 'Get a key-value pair of an agent',
    description: WHOSE,
    params: KeyPath,
    responses: { 200: Type.Object({ key: Type.String(), value: Value }) },
    handler: async ({ actor, params: { id, key } }) => {
      const agent = await agents.get(actor, id);
      return reply(200, { key, value: await kv.get(actor, agent.id, key) });
    },
  });

const putKv = ({ agents, kv }: KvRouteDeps): RouteDecl =>
  route({
    id: 'setMemoryKey',
    method: 'PUT',
    path: '/api/memory/agents/{id}/kv/{key}',
    summary: 'Set a key-value pair of an agent',
    description: `Creates it or overwrites it. ${WHOSE}`,
    examples: { 'a text': { value: 'blue' }, 'a list': { value: ['milk', 'bread'] }, 'an object': { value: { city: 'Lisbon', since: 2024 } } },
    audit: 'memory_access',
    params: KeyPath,
    body: Type.Object({ value: Value }),
    responses: { 200: Type.Object({ status: OneOf(['stored']), key: Type.String() }) },
    handler: async ({ actor, params: { id, key }, body: { value } }) => {
      const agent = await agents.get(actor, id);
      await kv.put(actor, agent.id, [[key, value]]);
      return reply(200, { status: 'stored' as const, key });
    },
  });

const deleteKv = ({ agents, kv }: KvRouteDeps): RouteDecl =>
  route({
    id: 'deleteMemoryKey',
    method: 'DELETE',
    path: '/api/memory/agents/{id}/kv/{key}',
    summary: 'Delete a key-value pair of an agent',
    description: `A key that does not exist is deleted as well. ${WHOSE}`,
    audit: 'memory_access',
    params: KeyPath,
    responses: { 200: Type.Object({ status: OneOf(['deleted']), key: Type.String() }) },
    handler: async ({ actor, params: { id, key } }) => {
      const agent = await agents.get(actor, id);
      await kv.remove(actor, agent.id, key);
      return reply(200, { status: 'deleted' as const, key });
    },
  });

const exportKv = ({ agents, kv }: KvRouteDeps): RouteDecl =>
  route({
    id: 'exportAgentMemory',
    method: 'GET',
    path: '/api/agents/{id}/memory/export',
    summary: 'Export the key-value pairs of an agent',
    description: WHOSE,
    cost: 5,
    params: AgentPath,
    responses: { 200: Type.Object({ agent_id: Uuid, version: Type.Integer(), kv: Pairs }) },
    handler: async ({ actor, params: { id } }) => {
      const agent = await agents.get(actor, id);
      const rows = await kv.list(actor, agent.id);
      return reply(200, { agent_id: agent.id, version: 1, kv: Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown])) });
    },
  });

const importKv = ({ agents, kv }: KvRouteDeps): RouteDecl =>
  route({
    id: 'importAgentMemory',
    method: 'POST',
    path: '/api/agents/{id}/memory/import',
    summary: 'Import key-value pairs of an agent',
    description: `Takes what the export answers. Pairs that cannot be stored are named in \`failed_keys\`, and the others are stored. ${WHOSE}`,
    examples: {
      'two pairs': { kv: { colour: 'blue', pets: ['cat'] } },
      'in place of what is there': { kv: { colour: 'red' }, clear_existing: true },
      'an export': { kv: { 'shared.city': 'Lisbon' } },
    },
    audit: 'memory_access',
    cost: 10,
    maxBodyBytes: 8 * 1024 * 1024,
    params: AgentPath,
    body: Type.Object({ kv: Pairs, clear_existing: Type.Optional(Type.Boolean({ default: false, description: 'Whether to delete the pairs of the agent before; those that are shared stay' })) }),
    responses: {
      200: Type.Object({ status: OneOf(['imported', 'partial']), keys_imported: Count, failed_keys: Type.Optional(Type.Array(Type.String())) }),
    },
    handler: async ({ actor, params: { id }, body: { kv: pairs, clear_existing: clear = false } }) => {
      const agent = await agents.get(actor, id);
      const failed: string[] = [];
      const good = Object.entries(pairs).filter(([key, value]) => {
        const isGood = isStorable(key, value);
        if (!isGood) failed.push(key);
        return isGood;
      });
      if (good.length > MAX_IMPORT) throw memoryErrors.full(MAX_IMPORT);
      if (good.length > 0 || clear) await kv.put(actor, agent.id, good, clear);
      return reply(200, failed.length === 0 ? { status: 'imported' as const, keys_imported: good.length } : { status: 'partial' as const, keys_imported: good.length, failed_keys: failed });
    },
  });

const isStorable = (key: string, value: unknown): boolean => {
  try {
    checkedKey(key);
    return Buffer.byteLength(JSON.stringify(value)) <= MAX_VALUE_BYTES;
  } catch {
    return false;
  }
};
