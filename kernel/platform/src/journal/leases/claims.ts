/** Taking over what may run (J3, J5): candidates are read, each is taken by one conditional write. */
import type { JournalStep, LeasedRun, Pools } from '@svc/api';
import { conflictOf } from '../../storage/contract/errors.js';
import type { JournalParts } from '../journal-parts.js';
import { doubtLease, releaseLease } from './leases.js';
import { givesWay } from '../rows/opening-writes.js';
import { interruptOf, RUN_COLUMNS, runOf, STEP_COLUMNS, stepOf, type RunRow, type StepRow } from '../rows/run-rows.js';

/** Of a run that is not held here. */
const NEVER = new AbortController().signal;
/** When every candidate was taken by somebody else, look again this often. */
const MAX_ROUNDS = 3;

export const claimRuns = async (parts: JournalParts, kind: string, limit: number, most: Pools = {}): Promise<LeasedRun[]> => {
  await parts.ready();
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const candidates = await findCandidates(parts, kind, limit, most);
    const taken = await takeAll(parts, candidates);
    if (taken.length > 0 || candidates.length === 0) return withSteps(parts, taken);
  }
  return [];
};

/** What was taken is handed over, whatever became of the others: nobody else would ever work on it. */
const takeAll = async (parts: JournalParts, candidates: readonly RunRow[]): Promise<LeasedRun[]> => {
  const tries = await Promise.allSettled(candidates.map((row) => take(parts, row)));
  const taken = tries.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
  const failed = tries.find((one) => one.status === 'rejected');
  if (failed && taken.length === 0) throw failed.reason;
  if (failed) parts.log.warn('Some runs could not be claimed; they are tried again with the next.', { error: failed.reason });
  return taken;
};

/** Those without a pool first, then of each pool as many as there is room for. */
const findCandidates = async (parts: JournalParts, kind: string, limit: number, most: Pools): Promise<RunRow[]> => {
  const pools = Object.entries(most);
  const rest: Share = pools.length === 0 ? { of: '', args: [], limit } : { of: ` AND (pool IS NULL OR pool NOT IN (${pools.map(() => '?').join()}))`, args: pools.map(([pool]) => pool), limit };
  const shares = [rest, ...pools.map(([pool, room]): Share => ({ of: ' AND pool = ?', args: [pool], limit: Math.min(room, limit) }))].filter((share) => share.limit > 0);
  return (await Promise.all(shares.map((share) => findShare(parts, kind, share)))).flat().slice(0, limit);
};

interface Share {
  /** Which runs are of it. */
  readonly of: string;
  readonly args: readonly string[];
  readonly limit: number;
}

/** First what a crash left, then waits that are due, then the queue: at most one run of each lane can be among them. */
const findShare = (parts: JournalParts, kind: string, { of, args, limit }: Share): Promise<RunRow[]> => {
  const { runs } = parts.tables;
  // A sole writer knows that other instances are dead, any other that its predecessor is; leases of the rest must have run out. Our own are never taken from us.
  const over = parts.soleWriter ? '1 = 1' : `(lease_owner = ? OR lease_until <= ${parts.nowSql()})`;
  const turn = (run: string): string => `CASE WHEN ${givesWay(`${run}.`)} THEN 1 ELSE 0 END`;
  // Two questions, each of one index: joined by OR they would read every run that a lane ever had.
  const behind = `EXISTS (SELECT 1 FROM ${runs} AS o WHERE o.lane = r.lane AND o.status IN ('running', 'waiting')) OR EXISTS (SELECT 1 FROM ${runs} AS o WHERE o.lane = r.lane AND o.status = 'queued' AND (${turn('o')} < ${turn('r')} OR (${turn('o')} = ${turn('r')} AND o.position < r.position)))`;
  const sql = `
    SELECT * FROM (SELECT 0 AS rank, ${RUN_COLUMNS} FROM ${runs} WHERE kind = ? AND status = 'running'${of} AND (lease_owner IS NULL OR (lease_owner <> ? AND ${over})) ORDER BY position LIMIT ?) AS lost
    UNION ALL
    SELECT * FROM (SELECT 1 AS rank, ${RUN_COLUMNS} FROM ${runs} WHERE kind = ? AND status = 'waiting'${of} AND wait_until <= ? ORDER BY wait_until LIMIT ?) AS due
    UNION ALL
    SELECT * FROM (SELECT 2 AS rank, ${RUN_COLUMNS} FROM ${runs} AS r WHERE kind = ? AND status = 'queued'${of} AND (lane IS NULL OR NOT (${behind})) ORDER BY position LIMIT ?) AS ready
    ORDER BY rank, position LIMIT ?`;
  const lost = parts.soleWriter ? [parts.instanceId] : [parts.instanceId, parts.predecessor];
  return parts.db.system('runs to lease').read<RunRow>(sql, [kind, ...args, ...lost, limit, kind, ...args, parts.clock.iso(), limit, kind, ...args, limit, limit]);
};

/** Undefined when somebody else was faster, with the run, its interruption or its lane. */
const take = async (parts: JournalParts, row: RunRow): Promise<LeasedRun | undefined> => {
  const claiming = takeNow(parts, row);
  const isOver = claiming.catch(() => undefined);
  parts.claiming.set(row.id, isOver);
  try {
    return await claiming;
  } finally {
    if (parts.claiming.get(row.id) === isOver) parts.claiming.delete(row.id);
  }
};

const takeNow = async (parts: JournalParts, row: RunRow): Promise<LeasedRun | undefined> => {
  // Before it is taken: a row that cannot be read must not be held.
  const run = runOf(row);
  // What was running before begins another life; what waited or was queued goes on with its own.
  const attempt = row.status === 'running' ? row.attempt + 1 : row.attempt;
  const at = parts.clock.iso();
  const token = row.lease_token + 1;
  try {
    await parts.db.commit([parts.writes.claim({ id: row.id, status: row.status, token: row.lease_token, isInterrupted: row.interrupt !== null }, attempt, parts.newLease(), at)]);
  } catch (error) {
    if (conflictOf(error)) return undefined;
    doubtLease(parts, { ...run, token, signal: NEVER, steps: [] }, error);
    throw error;
  }
  parts.lanes.put(row.lane, row.id, row.kind, true);
  const signal = parts.held.hold({ id: row.id, token });
  const why = interruptOf(row);
  if (why) parts.held.interrupt(row.id, why);
  return { ...run, status: 'running', attempt, begunAt: run.begunAt ?? at, updatedAt: at, token, signal, steps: [] };
};

const withSteps = async (parts: JournalParts, runs: readonly LeasedRun[]): Promise<LeasedRun[]> => {
  // Never claimed before: it cannot have steps.
  const older = runs.filter(({ token }) => token > 1);
  if (older.length === 0) return [...runs];
  try {
    const steps = new Map<string, JournalStep[]>(older.map(({ id }) => [id, []]));
    for (const row of await readSteps(parts, older)) steps.get(row.run_id)?.push(stepOf(row));
    return runs.map((run) => ({ ...run, steps: steps.get(run.id) ?? [] }));
  } catch (error) {
    // Nobody got them: they may be claimed again.
    await Promise.all(runs.map((run) => releaseLease(parts, run)));
    throw error;
  }
};

const readSteps = (parts: JournalParts, runs: readonly LeasedRun[]): Promise<StepRow[]> =>
  parts.db.system('runs to lease').read<StepRow>(
    `SELECT ${STEP_COLUMNS} FROM ${parts.tables.steps} WHERE run_id IN (${runs.map(() => '?').join()}) ORDER BY run_id, seq`,
    runs.map(({ id }) => id),
  );
