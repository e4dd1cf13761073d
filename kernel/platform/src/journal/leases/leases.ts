/** Keeping leases and giving them back (J4). */
import { isSvcError, type LeasedRun } from '@svc/api';
import { conflictOf, storageErrors } from '../../storage/contract/errors.js';
import { listenForInterrupts } from '../interrupts.js';
import { type JournalParts, loadLanes } from '../journal-parts.js';
import { CLAIMED, type RunRow } from '../rows/run-rows.js';

/** Renews all leases of this process with one statement, three times per lease. */
export const startHeartbeat = (parts: JournalParts): (() => void) => {
  let stop = (): void => undefined;
  const tick = async (): Promise<void> => {
    try {
      await renew(parts);
    } catch (error) {
      parts.log.warn('Leases could not be renewed; the next beat tries again.', { error });
    }
    await Promise.all([...parts.owed.values()].map((run) => releaseLease(parts, run)));
    if (!parts.soleWriter) await lookAround(parts);
  };
  const arm = (): void => {
    stop = parts.clock.schedule(parts.leaseMs / 3, () => {
      void tick();
      arm();
    });
  };
  arm();
  return () => stop();
};

/** Finds what other processes queued, finished, lost or asked to stop, as far as no signal told of it. Never rejects. */
export const lookAround = async (parts: JournalParts): Promise<void> => {
  try {
    await listenForInterrupts(parts);
    await loadLanes(parts.db, parts.tables, parts.lanes);
  } catch (error) {
    parts.log.warn('What other processes did could not be read; the next beat tries again.', { error });
  }
  parts.signals.fireAll();
};

const renew = async (parts: JournalParts): Promise<void> => {
  const held = parts.held.all();
  if (held.length === 0) return;
  await parts.db.commit([parts.writes.renew(parts.newLease())]);
  if (parts.soleWriter) return;
  const kept = new Set((await leasesOf(parts, `${CLAIMED} AND status = 'running' AND lease_owner = ?`, [parts.instanceId])).map(({ id }) => id));
  const missing = held.filter(({ id }) => !kept.has(id));
  if (missing.length === 0) return;
  // A run is held before the commit that opens it, and for a moment after the one that ends it: only its row says that it is somebody else's.
  const rows = await leasesOf(
    parts,
    `id IN (${missing.map(() => '?').join()})`,
    missing.map(({ id }) => id),
  ); // at most the runs of this process
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  for (const run of missing) {
    const row = rowOf.get(run.id);
    if (row && (row.lease_token !== run.token || (row.lease_owner !== null && row.lease_owner !== parts.instanceId))) parts.held.lose(run);
  }
};

type LeaseRow = Pick<RunRow, 'id' | 'lease_token'> & { readonly lease_owner: string | null };

const leasesOf = ({ db, tables }: JournalParts, where: string, args: readonly string[]): Promise<LeaseRow[]> =>
  db.system('leases of runs').read<LeaseRow>(`SELECT id, lease_token, lease_owner FROM ${tables.runs} WHERE ${where}`, args);

/**
 * A commit that gains a lease failed and did not say whether it took effect. If it did, the database counts the lease as
 * ours and nobody here works on the run: the beats give it back until the database answers.
 */
export const doubtLease = (parts: JournalParts, run: LeasedRun, error: unknown): void => {
  if (!isSvcError(error) || error.code === storageErrors.io().code) parts.owed.set(run.id, run);
};

/**
 * Gives a lease back. Never rejects: this process takes its own runs from nobody, so one that the database does
 * not take back now is owed to it, and each beat of the heart tries again. A lease that is lost needs no giving back.
 */
export const releaseLease = async (parts: JournalParts, run: LeasedRun): Promise<void> => {
  try {
    await parts.db.commit([parts.writes.release(run, parts.clock.iso())]);
  } catch (error) {
    if (conflictOf(error)?.reason !== 'expect') {
      parts.owed.set(run.id, run);
      parts.log.warn('A lease could not be given back; the next beat tries again.', { run: run.id, error });
      return;
    }
  }
  parts.owed.delete(run.id);
  parts.held.release(run);
  parts.offer(run.kind);
};
