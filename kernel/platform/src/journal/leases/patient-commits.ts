/**
 * Commits of runs that are held, through a database that cannot be written for a while (decision 0003).
 *
 * C1  What passes by itself is tried again, ever more slowly, for `patienceMs`: a full disk, a lock of another program, a server that is away.
 * C2  A commit that did not say whether it took effect is looked up first, and is never written twice: progress leaves
 *     its own time in the row of the run, and an end or a wait its status, so that the row tells.
 * C3  What still cannot be written ends with `journal_not_written`. The run has neither ended nor failed.
 */
import { isSvcError, type LeasedRun, type Write } from '@svc/api';
import { storageErrors } from '../../storage/contract/errors.js';
import { journalErrors } from '../errors.js';
import type { JournalParts } from '../journal-parts.js';
import type { RunRow } from '../rows/run-rows.js';

const FIRST_WAIT_MS = 50;
const LAST_WAIT_MS = 1_000;

/** Nothing was written, and a later try can succeed. */
const REFUSED: ReadonlySet<string> = new Set([storageErrors.busy().code, storageErrors.full().code, storageErrors.overloaded(0).code, storageErrors.unreachable('', '').code]);
const UNKNOWN = storageErrors.io().code;

const codeOf = (error: unknown): string | undefined => (isSvcError(error) ? error.code : undefined);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const isPassing = (code: string | undefined): boolean => code !== undefined && (code === UNKNOWN || REFUSED.has(code));

/** The time that progress of a run leaves in its row: another one than the commit before, whatever the clock says. */
export const stampFor = (parts: JournalParts, run: LeasedRun, at: string): string => {
  const before = parts.held.stampOf(run) ?? run.updatedAt;
  return at === before ? new Date(Date.parse(before) + 1).toISOString() : at;
};

export interface HeldCommit {
  readonly run: LeasedRun;
  /** What `stampFor` gave; undefined for a commit that gives the lease up, which the status of the row tells. */
  readonly stamp: string | undefined;
  readonly writes: readonly Write[];
  /** Whoever works on the run is about to stop: then nothing is tried again, and the next one continues. */
  readonly isLeaving: (() => boolean) | undefined;
}

/** After `first` failed. Resolves when the writes are committed. Rejects with what does not pass, or with `journal_not_written`. */
export const commitAgain = async (parts: JournalParts, { run, stamp, writes, isLeaving }: HeldCommit, first: unknown): Promise<void> => {
  const giveUpAt = parts.clock.mono() + parts.patienceMs();
  let error = first;
  let isUnknown = false;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LAST_WAIT_MS)) {
    const code = codeOf(error);
    if (!isPassing(code)) throw error;
    isUnknown ||= code === UNKNOWN;
    if (error === first) parts.log.warn('Progress of a run could not be saved; svc tries again.', { run: run.id, error });
    if (isLost(run)) throw run.signal.reason;
    if (parts.closing.aborted || isLeaving?.() || parts.clock.mono() + waitMs > giveUpAt) throw journalErrors.not_written(messageOf(error)).with({ cause: error });
    await parts.clock.sleep(waitMs, parts.closing).catch(() => undefined); // the next turn sees that it closes
    try {
      if (isUnknown && (await hasCommitted(parts, run, stamp))) return;
      isUnknown = false;
      await parts.db.commit(writes);
      return;
    } catch (failure) {
      error = failure;
    }
  }
};

const isLost = ({ signal, id }: LeasedRun): boolean => signal.aborted && codeOf(signal.reason) === journalErrors.lease_lost(id).code;

type Stamped = Pick<RunRow, 'status' | 'updated_at' | 'lease_token'> & { readonly lease_owner: string | null };

const hasCommitted = async (parts: JournalParts, run: LeasedRun, stamp: string | undefined): Promise<boolean> => {
  const row = await parts.db.system('whether a commit took effect').readOne<Stamped>(`SELECT status, updated_at, lease_token, lease_owner FROM ${parts.tables.runs} WHERE id = ?`, [run.id]);
  if (row?.lease_token === run.token) {
    if (row.status === 'running' && row.lease_owner === parts.instanceId) return row.updated_at === stamp;
    // It ended, sleeps or was woken since: under this lease only the commit in question does that.
    if (row.status !== 'running' && stamp === undefined) return true;
  }
  parts.held.lose(run);
  throw journalErrors.lease_lost(run.id);
};
