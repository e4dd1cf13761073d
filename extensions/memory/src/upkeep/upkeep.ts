/**
 * What keeps a store small: decay, expiry, the cap.
 *
 * U1  Sweeps are safe on several daemons at once, and twice in a row: the second changes nothing.
 * U2  The cap archives; expiry and the end of an archived entry's time erase.
 */
import type { Actor, Where } from '@svc/api';
import type { EntryRow } from '../contract.js';
import type { Entries } from '../entries/entries.js';
import { decayed } from '../entries/decay.js';
import { type MemoryDeps, own } from '../memory-deps.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SLICE = 500;

export interface Upkeep {
  /** Stores decayed scores of one owner, or of all. Answers how many changed. */
  decay(ownerId?: string): Promise<number>;
  /** Erases expired entries of one owner, or of all. */
  cleanup(ownerId?: string): Promise<number>;
  /** Archives what is beyond the cap of an agent, or of what all agents of the owner share. */
  cap(ownerId: string, agentId: string): Promise<number>;
}

export const createUpkeep = (deps: MemoryDeps, entries: Entries): Upkeep => ({
  decay: (ownerId) => decay(deps, ownerId),
  cleanup: (ownerId) => cleanup(deps, entries, ownerId),
  cap: async (ownerId, agentId) => {
    const actor = deps.actors.only('memory', ownerId);
    const { max_memories_per_agent: most } = deps.proactive();
    const where = { agent_id: agentId, archived: 0 };
    const count = await own(deps, actor).count('entries', where);
    if (count <= most) return 0;
    const order = [{ column: 'decayed' }, { column: 'accessed_at' }, { column: 'place' }];
    const rows = await own(deps, actor).select<EntryRow>({ from: 'entries', where: { ...where, topic: '' }, order, limit: Math.min(count - most, 10_000) });
    await entries.archive(actor, rows);
    return rows.length;
  },
});

const decay = async (deps: MemoryDeps, ownerId: string | undefined): Promise<number> => {
  const reader = ownerId === undefined ? deps.db.system('decay of all entries') : own(deps, { ownerId });
  const [rate, now] = [deps.proactive().confidence_decay_rate, deps.clock.now()];
  let updated = 0;
  for (let after: string | null | undefined; after !== null; ) {
    const page: { rows: EntryRow[]; next: string | null } = await reader.page<EntryRow>({
      from: 'entries',
      where: { archived: 0 },
      order: [{ column: 'place' }],
      limit: SLICE,
      ...(after === undefined ? {} : { after }),
    });
    const set = page.rows.flatMap((row) => {
      const score = decayed(row, rate, now);
      return Math.abs(score - row.decayed) < 0.0005 ? [] : [{ place: row.place, decayed: score }];
    });
    if (set.length > 0) await deps.db.commit([deps.db.update('entries', ['place'], set)]);
    updated += set.length;
    after = page.next;
  }
  return updated;
};

const cleanup = async (deps: MemoryDeps, entries: Entries, ownerId: string | undefined): Promise<number> => {
  const now = deps.clock.now();
  const before = (ms: number): string => new Date(now - ms).toISOString();
  const { soft_delete_retention_days: days, decay: expiry } = deps.memory();
  const expired: Where[] = [
    { level: 'session', created_at: { lt: before(deps.proactive().session_ttl_hours * HOUR_MS) } },
    { archived: 1, archived_at: { lt: before(days * DAY_MS) } },
    ...(expiry.enabled
      ? [
          { level: 'session', accessed_at: { lt: before(expiry.session_ttl_days * DAY_MS) } },
          { level: 'agent', topic: '', accessed_at: { lt: before(expiry.agent_ttl_days * DAY_MS) } },
        ]
      : []),
  ];
  let deleted = 0;
  for (const where of expired) deleted += await erase(deps, entries, ownerId, where);
  return deleted;
};

const erase = async (deps: MemoryDeps, entries: Entries, ownerId: string | undefined, where: Where): Promise<number> => {
  const reader = ownerId === undefined ? deps.db.system('expired entries') : own(deps, { ownerId });
  let deleted = 0;
  for (;;) {
    const rows = await reader.select<EntryRow>({ from: 'entries', where, limit: SLICE });
    if (rows.length === 0) return deleted;
    for (const owner of new Set(rows.map((row) => row.owner_id)))
      await entries.remove(
        deps.actors.only('memory', owner) as Actor,
        rows.filter((row) => row.owner_id === owner),
      );
    deleted += rows.length;
  }
};
