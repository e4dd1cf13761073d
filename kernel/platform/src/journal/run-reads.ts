/** Reading runs and steps. */
import type { Journal, JournalRun, JournalStep } from '@svc/api';
import type { JournalParts } from './journal-parts.js';
import { runOf, stepOf, type RunRow, type StepRow } from './run-rows.js';

const DEFAULT_LIST = 100;
const MAX_LIST = 1_000;

export const getRun = async (parts: JournalParts, runId: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.first<RunRow>({ from: 'runs', where: { id: runId } });
  return row && runOf(row);
};

export const runByKey = async (parts: JournalParts, ownerId: string, kind: string, key: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.first<RunRow>({ from: 'runs', where: { owner_id: ownerId, kind, request_key: key } });
  return row && runOf(row);
};

export const stepsOf = async (parts: JournalParts, runId: string): Promise<JournalStep[]> =>
  (await parts.db.select<StepRow>({ from: 'steps', where: { run_id: runId }, order: [{ column: 'seq' }] })).map(stepOf);

/** Newest first. */
export const listRuns = async (parts: JournalParts, { actor, kind, lane, limit, status }: Parameters<Journal['list']>[0]): Promise<JournalRun[]> => {
  const where = { ...(kind === undefined ? {} : { kind }), ...(lane === undefined ? {} : { lane }), ...(status === undefined ? {} : { status }) };
  const order = [{ column: 'position', descending: true }];
  return (await parts.db.select<RunRow>({ from: 'runs', where, actor, order, limit: Math.min(limit ?? DEFAULT_LIST, MAX_LIST) })).map(runOf);
};
