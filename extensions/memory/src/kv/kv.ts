/**
 * Key-value pairs of an agent.
 *
 * K1  They belong to the person who acts, with each agent apart; `shared.*` is what all agents of that person share.
 * K2  `memory_read` and `memory_write` bind tools of agents, not a person's routes.
 */
import type { Actor } from '@svc/api';
import type { KvRow } from '../contract.js';
import { memoryErrors } from '../errors.js';
import { changed, type MemoryDeps, own } from '../memory-deps.js';

export interface Kv {
  list(actor: Actor, agentId: string): Promise<KvRow[]>;
  get(actor: Actor, agentId: string, key: string): Promise<unknown>;
  put(actor: Actor, agentId: string, pairs: ReadonlyArray<readonly [key: string, value: unknown]>, clear?: boolean): Promise<void>;
  remove(actor: Actor, agentId: string, key: string): Promise<void>;
}

const MAX_KEY = 256;
const MAX_VALUE_BYTES = 100_000;
const MAX_KEYS = 10_000;
const SHARED = 'shared.';

/** Throws `memory_bad_key`. */
export const checkedKey = (key: string): string => {
  if (key === '') throw memoryErrors.bad_key('it is empty');
  if (key.length > MAX_KEY) throw memoryErrors.bad_key(`it has ${key.length} characters`);
  if (/[\p{Cc}\p{Cs}]/u.test(key)) throw memoryErrors.bad_key('it has control characters');
  return key;
};

const checkedValue = (value: unknown): string => {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_VALUE_BYTES) throw memoryErrors.value_too_large(bytes, MAX_VALUE_BYTES);
  return text;
};

export const placeOf = (agentId: string, key: string): string => (key.startsWith(SHARED) ? '' : agentId);

export const createKv = (deps: MemoryDeps): Kv => ({
  list: (actor, agentId) => own(deps, actor).select<KvRow>({ from: 'kv', where: { agent_id: [agentId, ''] }, order: [{ column: 'key' }], limit: MAX_KEYS }),
  get: async (actor, agentId, key) => {
    const row = await own(deps, actor).first<KvRow>({ from: 'kv', where: { agent_id: placeOf(agentId, key), key } });
    if (!row) throw memoryErrors.key_not_found(key);
    return JSON.parse(row.value) as unknown;
  },
  put: async (actor, agentId, pairs, clear = false) => {
    const rows = pairs.map(([key, value]) => ({ owner_id: actor.ownerId, agent_id: placeOf(agentId, checkedKey(key)), key, value: checkedValue(value), updated_at: deps.clock.iso() }));
    if (!clear) {
      const there = await own(deps, actor).count('kv', { agent_id: [agentId, ''] });
      if (there + rows.length > MAX_KEYS) throw memoryErrors.full(MAX_KEYS);
    }
    const writes = [
      ...(clear ? [deps.db.remove('kv', { owner_id: actor.ownerId, agent_id: agentId })] : []),
      ...(rows.length === 0 ? [] : [deps.db.upsert('kv', ['owner_id', 'agent_id', 'key'], rows)]),
      changed(deps, { ownerId: actor.ownerId, agentId, places: [], change: 'changed', ...(rows.length === 1 && rows[0] ? { key: rows[0].key } : {}) }),
    ];
    await deps.db.commit(writes);
  },
  remove: async (actor, agentId, key) => {
    await deps.db.commit([
      deps.db.remove('kv', { owner_id: actor.ownerId, agent_id: placeOf(agentId, key), key }),
      changed(deps, { ownerId: actor.ownerId, agentId, places: [], change: 'deleted', key }),
    ]);
  },
});
