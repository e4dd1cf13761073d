/**
 * What the journal holds of a person, an agent or a conversation goes with them: runs with their input, result and waits,
 * their steps, and stored answers of requests (decision 0017).
 *
 * P1  A run that nobody holds goes at once, whether it is queued, waits, was left by a crash or is over.
 * P2  A run that somebody holds is interrupted. It goes when its holder has let go of it: call again until none is left.
 * P3  In commits of at most 500 runs, so that other writers come between.
 */
import type { PurgeSubject, Scalar } from '@svc/api';
import { journalErrors } from './errors.js';
import { interrupt } from './interrupts.js';
import type { JournalParts } from './journal-parts.js';
import { NAMED_ALONE } from './rows/run-rows.js';

const BATCH = 500;
/** Most runs end within a moment of their interruption. */
const WAIT_MS = 500;
const POLL_MS = 25;

interface Condition {
  readonly sql: string;
  readonly args: readonly Scalar[];
}

interface Found {
  readonly id: string;
  readonly lane: string | null;
}

/** Resolves with how many runs are still held by somebody: they are interrupted, and their rows are there. */
export const eraseRuns = async (parts: JournalParts, subject: PurgeSubject): Promise<number> => {
  const of = conditionOf(parts, subject);
  await removeFree(parts, of);
  let held = await heldOf(parts, of);
  for (const id of held) await interrupt(parts, id, journalErrors.erased(id));
  for (let waitedMs = 0; held.length > 0 && waitedMs < WAIT_MS; waitedMs += POLL_MS) {
    await parts.clock.sleep(POLL_MS);
    held = await heldOf(parts, of);
  }
  await removeFree(parts, of);
  return (await heldOf(parts, of)).length;
};

const conditionOf = ({ tables: { runs } }: JournalParts, { ownerId, agentId, sessionId }: PurgeSubject): Condition => {
  if (ownerId !== undefined) return { sql: 'owner_id = ?', args: [ownerId] };
  if (agentId !== undefined) return { sql: 'subject = ?', args: [agentId] };
  // Runs of agents have it as their lane; others name it, and only those are in the index of conversations.
  const session = sessionId ?? '';
  return { sql: `id IN (SELECT id FROM ${runs} WHERE lane = ? UNION ALL SELECT id FROM ${runs} WHERE session_id = ? AND ${NAMED_ALONE})`, args: [session, session] };
};

/** Whoever may be at work on a run: the same leases that a claim leaves alone. */
const heldCondition = ({ instanceId, nowSql, predecessor, soleWriter }: JournalParts): Condition =>
  soleWriter
    ? { sql: "(status = 'running' AND lease_owner IS NOT NULL AND lease_owner = ?)", args: [instanceId] }
    : { sql: `(status = 'running' AND lease_owner IS NOT NULL AND (lease_owner = ? OR (lease_owner <> ? AND lease_until > ${nowSql()})))`, args: [instanceId, predecessor] };

const heldOf = async (parts: JournalParts, of: Condition): Promise<string[]> => {
  const held = heldCondition(parts);
  const sql = `SELECT id FROM ${parts.tables.runs} WHERE ${of.sql} AND ${held.sql} LIMIT ${BATCH}`;
  return (await parts.db.system('runs to erase').read<Pick<Found, 'id'>>(sql, [...of.args, ...held.args])).map(({ id }) => id);
};

const removeFree = async (parts: JournalParts, of: Condition): Promise<void> => {
  const held = heldCondition(parts);
  const free: Condition = { sql: `NOT ${held.sql}`, args: held.args };
  for (;;) {
    const sql = `SELECT id, lane FROM ${parts.tables.runs} WHERE ${of.sql} AND ${free.sql} LIMIT ${BATCH}`;
    const found = await parts.db.system('runs to erase').read<Found>(sql, [...of.args, ...free.args]);
    if (found.length === 0) return;
    const ids = found.map(({ id }) => id);
    const listed = ids.map(() => '?').join();
    const { runs, steps } = parts.tables;
    const { changes } = await parts.db.commit([
      // One that was claimed since it was read stays.
      parts.db.sql(`DELETE FROM ${runs} WHERE id IN (${listed}) AND ${free.sql}`, [...ids, ...free.args]),
      parts.db.sql(`DELETE FROM ${steps} WHERE run_id IN (${listed}) AND NOT EXISTS (SELECT 1 FROM ${runs} r WHERE r.id = run_id)`, ids),
    ]);
    const there = changes[0] === ids.length ? new Set<string>() : await idsLeft(parts, ids);
    for (const { id, lane } of found) if (!there.has(id)) parts.leaveLane(lane, id);
  }
};

const idsLeft = async (parts: JournalParts, ids: readonly string[]): Promise<Set<string>> =>
  new Set((await parts.db.system('runs to erase').select<Pick<Found, 'id'>>({ from: 'runs', columns: ['id'], where: { id: ids } })).map(({ id }) => id));
