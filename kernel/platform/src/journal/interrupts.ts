/** Stopping a run that another process holds, and what else processes on one database tell each other. */
import type { Disposable, RunError } from '@svc/api';
import { isSvcError } from '@svc/api';
import { conflictOf } from '../storage/contract/errors.js';
import type { JournalParts } from './journal-parts.js';
import type { JournalSignal } from './journal-signals.js';
import { CLAIMED, interruptOf, type RunRow } from './rows/run-rows.js';

/** At once where the run is held here, and in its row: for a holder elsewhere, who reads it when it is told to or with its next beat, and for whoever takes the run over. */
export const interrupt = async (parts: JournalParts, runId: string, reason: Error): Promise<boolean> => {
  const isHeld = parts.held.interrupt(runId, reason);
  try {
    await parts.db.commit([parts.writes.interrupt(runId, toReason(reason))]);
  } catch (error) {
    if (conflictOf(error)?.reason === 'expect') return isHeld && !(await isUnheld(parts, runId));
    if (!isHeld) throw error;
    parts.log.warn('A run is stopped here; that it is to stop could not be kept for whoever takes it over.', { run: runId, error });
    return true;
  }
  if (isHeld) return true;
  // Claimed here between the look and the commit: whether it is held is known in a moment.
  await parts.claiming.get(runId);
  if (!parts.held.interrupt(runId, reason)) parts.bus.publish('journal', { is: 'interrupt', runId });
  return true;
};

/** It fell asleep or was queued in the moment of the interruption: nobody would hear of it. */
const isUnheld = async ({ db }: JournalParts, runId: string): Promise<boolean> => {
  const row = await db.system('interruptions of runs').first<Pick<RunRow, 'status'>>({ from: 'runs', columns: ['status'], where: { id: runId } });
  return row?.status === 'queued' || row?.status === 'waiting';
};

/** Aborts the runs held here whose rows say so. */
export const listenForInterrupts = async ({ db, held, instanceId, tables }: JournalParts): Promise<void> => {
  if (held.all().length === 0) return;
  const rows = await db
    .system('interruptions of runs')
    .read<Pick<RunRow, 'id' | 'interrupt'>>(`SELECT id, interrupt FROM ${tables.runs} WHERE ${CLAIMED} AND status = 'running' AND lease_owner = ? AND interrupt IS NOT NULL`, [instanceId]);
  for (const row of rows) {
    const why = interruptOf(row);
    if (why) held.interrupt(row.id, why);
  }
};

export const listenForSignals = (parts: JournalParts): Disposable => parts.bus.subscribe('journal', (signal) => receive(parts, signal));

const receive = (parts: JournalParts, signal: JournalSignal): void => {
  if (signal.is === 'ready') parts.signals.fire(signal.kind);
  else if (signal.is === 'left') parts.lanes.remove(signal.lane, signal.runId, true);
  else receiveFor(parts, signal.runId).catch((error: unknown) => parts.log.warn('A run that is to be stopped could not be read; the next beat tries again.', { run: signal.runId, error }));
};

const receiveFor = async (parts: JournalParts, runId: string): Promise<void> => {
  await parts.claiming.get(runId);
  if (parts.held.all().some(({ id }) => id === runId)) await listenForInterrupts(parts);
};

const toReason = (reason: Error): RunError =>
  isSvcError(reason)
    ? { code: reason.code, message: reason.message, status: reason.status, retry: reason.retry, ...(reason.hint === undefined ? {} : { hint: reason.hint }) }
    : { code: 'interrupted', message: reason.message };
