/** Stopping a run that another process holds, and what else processes on one database tell each other. */
import type { Disposable, RunError } from '@svc/api';
import { isSvcError } from '@svc/api';
import { conflictOf } from '../storage/contract/errors.js';
import type { JournalParts } from './journal-parts.js';
import type { JournalSignal } from './journal-signals.js';
import { interruptOf, type RunRow, UNFINISHED } from './rows/run-rows.js';

/** At once where the run is held here; else in its row, which its holder reads when it is told to, or with its next beat. */
export const interrupt = async (parts: JournalParts, runId: string, reason: Error): Promise<boolean> => {
  if (parts.held.interrupt(runId, reason)) return true;
  if (parts.soleWriter) return false;
  try {
    await parts.db.commit([parts.writes.interrupt(runId, toReason(reason))]);
  } catch (error) {
    if (conflictOf(error)?.reason === 'expect') return false;
    throw error;
  }
  parts.bus.publish('journal', { is: 'interrupt', runId });
  return true;
};

/** Aborts the runs held here whose rows say so. */
export const hearInterrupts = async ({ db, held, instanceId, tables }: JournalParts): Promise<void> => {
  if (held.all().length === 0) return;
  const rows = await db.read<Pick<RunRow, 'id' | 'interrupt'>>(`SELECT id, interrupt FROM ${tables.runs} WHERE ${UNFINISHED} AND status = 'running' AND lease_owner = ? AND interrupt IS NOT NULL`, [
    instanceId,
  ]);
  for (const row of rows) {
    const why = interruptOf(row);
    if (why) held.interrupt(row.id, why);
  }
};

export const hearSignals = (parts: JournalParts): Disposable => parts.bus.subscribe('journal', (signal) => hear(parts, signal));

const hear = (parts: JournalParts, signal: JournalSignal): void => {
  if (signal.is === 'ready') parts.signals.fire(signal.kind);
  else if (signal.is === 'left') parts.lanes.remove(signal.lane, signal.runId, true);
  else if (parts.held.all().some(({ id }) => id === signal.runId)) {
    hearInterrupts(parts).catch((error: unknown) => parts.log.warn('A run that is to be stopped could not be read; the next beat tries again.', { run: signal.runId, error }));
  }
};

const toReason = (reason: Error): RunError =>
  isSvcError(reason)
    ? { code: reason.code, message: reason.message, status: reason.status, retry: reason.retry, ...(reason.hint === undefined ? {} : { hint: reason.hint }) }
    : { code: 'interrupted', message: reason.message };
