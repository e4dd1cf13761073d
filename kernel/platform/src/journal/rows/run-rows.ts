/** Rows of the journal and what they mean. A row that cannot be read raises: it is never taken for an empty one. */
import { type JournalRun, type JournalStep, type Replay, type RunCause, type RunError, type RunStatus, SvcError } from '@svc/api';
import { journalErrors } from '../errors.js';

export interface RunRow {
  readonly id: string;
  readonly kind: string;
  readonly owner_id: string;
  readonly request_key: string | null;
  readonly fingerprint: string | null;
  readonly lane: string | null;
  readonly parent_id: string | null;
  readonly root_id: string | null;
  readonly cause_kind: string | null;
  readonly cause_id: string | null;
  readonly subject: string | null;
  readonly pool: string | null;
  readonly status: RunStatus;
  readonly position: number;
  readonly input: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly attempt: number;
  readonly created_at: string;
  readonly begun_at: string | null;
  readonly updated_at: string;
  readonly wait_reason: string | null;
  readonly wake_key: string | null;
  readonly wait_until: string | null;
  readonly wait_data: string | null;
  readonly lease_token: number;
  readonly interrupt: string | null;
}

/** Word for word the condition of the index of lanes: SQLite reads that, and not every run there ever was, only where a question says it so. */
export const CLAIMED = "status IN ('running', 'waiting')";

/** Likewise, of the index of the queue: a run that begins at once is never in it. */
export const QUEUED = "status = 'queued'";

/** Likewise, of runs that name a conversation which is not their lane. */
export const NAMED_ALONE = '(session_id <> lane OR lane IS NULL)';

/** Likewise. */
export const ENDED = "status IN ('done', 'failed', 'cancelled')";

export const RUN_COLUMNS =
  'id, kind, owner_id, request_key, fingerprint, lane, parent_id, root_id, cause_kind, cause_id, subject, pool, status, position, input, result, error, attempt, created_at, begun_at, updated_at, wait_reason, wake_key, wait_until, wait_data, lease_token, interrupt';

export interface StepRow {
  readonly run_id: string;
  readonly seq: number;
  readonly kind: string;
  readonly key: string;
  readonly replay: Replay;
  readonly intent: string | null;
  readonly status: JournalStep['status'];
  readonly outcome: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly attempt: number;
}

export const STEP_COLUMNS = 'run_id, seq, kind, key, replay, intent, status, outcome, started_at, ended_at, attempt';

/** `undefined` is kept as null, which is how it is read. */
export const toJson = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

export const runOf = (row: RunRow): JournalRun => ({
  id: row.id,
  kind: row.kind,
  ownerId: row.owner_id,
  key: row.request_key,
  fingerprint: row.fingerprint,
  lane: row.lane,
  parentId: row.parent_id,
  rootId: row.root_id ?? row.parent_id ?? row.id,
  cause: causeOf(row),
  subject: row.subject,
  pool: row.pool,
  status: row.status,
  input: fromJson(row.id, 'input', row.input),
  result: fromJson(row.id, 'result', row.result),
  // Written by this module only, in this shape.
  error: fromJson(row.id, 'error', row.error) as JournalRun['error'],
  attempt: row.attempt,
  createdAt: row.created_at,
  begunAt: row.begun_at,
  updatedAt: row.updated_at,
  wait: row.wait_reason === null || row.wake_key === null ? null : { reason: row.wait_reason, wakeKey: row.wake_key, until: row.wait_until, data: fromJson(row.id, 'wait_data', row.wait_data) },
});

/** Written by this module only, from what callers may say. */
export const causeOf = ({ cause_kind: kind, cause_id: id }: Pick<RunRow, 'cause_kind' | 'cause_id'>): RunCause | null =>
  kind === null ? null : { kind: kind as RunCause['kind'], ...(id === null ? {} : { id }) };

export const stepOf = (row: StepRow): JournalStep => ({
  seq: row.seq,
  kind: row.kind,
  key: row.key,
  replay: row.replay,
  intent: fromJson(row.run_id, `intent of step ${row.seq}`, row.intent),
  status: row.status,
  outcome: fromJson(row.run_id, `outcome of step ${row.seq}`, row.outcome),
  startedAt: row.started_at,
  endedAt: row.ended_at,
  attempt: row.attempt,
});

/** Why the run is to stop; undefined where nobody said so. */
export const interruptOf = (row: Pick<RunRow, 'id' | 'interrupt'>): SvcError | undefined => {
  // Written by this module only, in this shape.
  const why = fromJson(row.id, 'interrupt', row.interrupt) as RunError | null;
  return why === null ? undefined : new SvcError(why.code, why.message, { status: why.status ?? 409, retry: why.retry ?? false, hint: why.hint });
};

const fromJson = (id: string, column: string, text: string | null): unknown => {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw journalErrors.bad_row(id, column).with({ cause: error });
  }
};
