/**
 * Every write of the journal, sealed. Those under a lease name its holder and its fencing token and expect the row (J4): a
 * server that fell back to an older copy gives a token a second time, to whoever claims the run there.
 */
import type { Advance, Db, LeasedRun, RunError, StepOutcome, StepSpec, Write } from '@svc/api';
import type { Finish } from '@svc/api/internal';
import { createOpeningWrites, type Lease, sealed } from './opening-writes.js';
import { CLAIMED, toJson } from './run-rows.js';

/** Of whoever holds the lease. */
const HELD = "id = ? AND lease_token = ? AND lease_owner = ? AND status = 'running'";

export interface Tables {
  readonly runs: string;
  readonly steps: string;
}

export type RunWrites = ReturnType<typeof createRunWrites>;

/** `nowSql` is the database's own time: the one clock that all who hold leases share. */
export const createRunWrites = (db: Db, { runs, steps }: Tables, nowSql: () => string, owner: string) => ({
  ...createOpeningWrites(db, runs, nowSql),

  /** The guard of each commit under a lease; it stands first. */
  touch: (run: LeasedRun, at: string): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET updated_at = ? WHERE ${HELD}`,
      args: [at, run.id, run.token, owner],
      expect: 1,
    }),

  /** The same, with the input replaced. */
  touchInput: (run: LeasedRun, input: unknown, at: string): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET updated_at = ?, input = ? WHERE ${HELD}`,
      args: [at, toJson(input), run.id, run.token, owner],
      expect: 1,
    }),

  finish: (run: LeasedRun, finish: Finish, at: string): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET status = ?, result = ?, error = ?, updated_at = ?, lease_owner = NULL, lease_until = 0 WHERE ${HELD}`,
      args: [finish.status, toJson(finish.result), toJson(finish.error), at, run.id, run.token, owner],
      expect: 1,
    }),

  wait: (run: LeasedRun, wait: { reason: string; wakeKey: string; until: string | null; data: unknown }, at: string): Write =>
    sealed(db, {
      // One that was interrupted from elsewhere does not sleep: whoever claims it next ends it.
      sql: `UPDATE ${runs} SET status = CASE WHEN interrupt IS NULL THEN 'waiting' ELSE 'queued' END, wait_reason = ?, wake_key = ?, wait_until = ?, wait_data = ?, updated_at = ?, lease_owner = NULL, lease_until = 0 WHERE ${HELD}`,
      args: [wait.reason, wait.wakeKey, wait.until, toJson(wait.data), at, run.id, run.token, owner],
      expect: 1,
    }),

  release: (run: LeasedRun, at: string): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET lease_owner = NULL, lease_until = 0, updated_at = ? WHERE ${HELD}`,
      args: [at, run.id, run.token, owner],
      expect: 1,
    }),

  /** Tells whoever holds the run, or takes it over, to stop it. The first reason stands. */
  interrupt: (runId: string, why: RunError): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET interrupt = COALESCE(interrupt, ?) WHERE id = ? AND status = 'running'`,
      args: [toJson(why), runId],
      expect: 1,
    }),

  /** Queues a waiting run again. It is first in its lane still, because its position is older. */
  wake: (runId: string, wakeKey: string, data: unknown, at: string): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET status = 'queued', wait_data = ?, updated_at = ? WHERE id = ? AND wake_key = ? AND status = 'waiting'`,
      args: [toJson(data), at, runId, wakeKey],
      expect: 1,
    }),

  cancel: (runId: string, why: RunError, at: string, onlyUnclaimed: boolean): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET status = 'cancelled', error = ?, updated_at = ? WHERE id = ? AND status IN ('queued', 'waiting')${onlyUnclaimed ? ' AND lease_token = 0' : ''}`,
      args: [toJson(why), at, runId],
      expect: 1,
    }),

  /** Takes a candidate as it was read; whoever came first has changed its token or status, or has interrupted it. */
  claim: (run: { id: string; status: string; token: number; isInterrupted: boolean }, attempt: number, lease: Lease, at: string): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET status = 'running', attempt = ?, lease_owner = ?, lease_token = lease_token + 1, lease_until = ${nowSql()} + ?, begun_at = COALESCE(begun_at, ?), updated_at = ? WHERE id = ? AND status = ? AND lease_token = ?${run.isInterrupted ? '' : ' AND interrupt IS NULL'}`,
      args: [attempt, lease.owner, lease.ms, at, at, run.id, run.status, run.token],
      expect: 1,
    }),

  renew: (lease: Lease): Write =>
    sealed(db, {
      sql: `UPDATE ${runs} SET lease_until = ${nowSql()} + ? WHERE ${CLAIMED} AND status = 'running' AND lease_owner = ?`,
      args: [lease.ms, lease.owner],
    }),

  /** Outcomes first, so that a step may end and the next begin in one commit. */
  progress: (run: LeasedRun, { outcomes = [], intents = [], ...rest }: Advance, at: string): Write[] => [
    ...('input' in rest ? [inputWrite(db, run, rest.input)] : []),
    ...outcomes.map((outcome) => outcomeWrite(db, steps, run, outcome, at)),
    ...intents.map((spec) => intentWrite(db, steps, run, spec, at)),
  ],

  /** A finished run and its steps go. */
  forget: (runId: string): Write[] => [db.remove('steps', { run_id: runId }), db.remove('runs', { id: runId })],
});

const inputWrite = (db: Db, run: LeasedRun, input: unknown): Write => db.update('runs', ['id', 'lease_token'], [{ id: run.id, lease_token: run.token, input: toJson(input) }], { expect: 'each' });

const outcomeWrite = (db: Db, steps: string, run: LeasedRun, outcome: StepOutcome, at: string): Write =>
  sealed(db, {
    sql: `UPDATE ${steps} SET status = ?, outcome = ?, ended_at = ? WHERE run_id = ? AND seq = ? AND status = 'intent'`,
    args: [outcome.status, toJson(outcome.outcome), at, run.id, outcome.seq],
    expect: 1,
  });

/** A step may be begun again after a crash, as long as it has no outcome. */
const intentWrite = (db: Db, steps: string, run: LeasedRun, spec: StepSpec, at: string): Write =>
  sealed(db, {
    sql:
      `INSERT INTO ${steps}(run_id, seq, kind, key, replay, intent, status, started_at, attempt) VALUES (?, ?, ?, ?, ?, ?, 'intent', ?, ?) ` +
      `ON CONFLICT (run_id, seq) DO UPDATE SET kind = excluded.kind, key = excluded.key, replay = excluded.replay, intent = excluded.intent, started_at = excluded.started_at, attempt = excluded.attempt WHERE ${steps}.status = 'intent'`,
    args: [run.id, spec.seq, spec.kind, spec.key, spec.replay, toJson(spec.intent), at, run.attempt],
    expect: 1,
  });
