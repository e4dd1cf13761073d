/** Reading runs and steps. */
import { type Actor, ownerScope, type Journal, type JournalRun, type JournalStep } from '@svc/api';
import type { JournalParts } from './journal-parts.js';
import { RUN_COLUMNS, runOf, STEP_COLUMNS, stepOf, type RunRow, type StepRow } from './run-rows.js';

const DEFAULT_LIST = 100;
const MAX_LIST = 1_000;

export const getRun = async (parts: JournalParts, actor: Actor, runId: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.readOne<RunRow>(`SELECT ${RUN_COLUMNS} FROM ${parts.tables.runs} WHERE id = ? AND (? = 1 OR owner_id = ?)`, [runId, ...ownerScope(actor)]);
  return row && runOf(row);
};

export const runByKey = async (parts: JournalParts, ownerId: string, kind: string, key: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.readOne<RunRow>(`SELECT ${RUN_COLUMNS} FROM ${parts.tables.runs} WHERE owner_id = ? AND kind = ? AND request_key = ?`, [ownerId, kind, key]);
  return row && runOf(row);
};

export const stepsOf = async ({ db, tables }: JournalParts, actor: Actor, runId: string): Promise<JournalStep[]> => {
  const mine = `EXISTS (SELECT 1 FROM ${tables.runs} WHERE id = run_id AND (? = 1 OR owner_id = ?))`;
  return (await db.read<StepRow>(`SELECT ${STEP_COLUMNS} FROM ${tables.steps} WHERE run_id = ? AND ${mine} ORDER BY seq`, [runId, ...ownerScope(actor)])).map(stepOf);
};

/** Newest first. */
export const listRuns = async (parts: JournalParts, filter: Parameters<Journal['list']>[0]): Promise<JournalRun[]> => {
  const where = ['(? = 1 OR owner_id = ?)'];
  const args: Array<string | number> = [...ownerScope(filter.actor)];
  if (filter.kind !== undefined) {
    where.push('kind = ?');
    args.push(filter.kind);
  }
  if (filter.lane !== undefined) {
    where.push('lane = ?');
    args.push(filter.lane);
  }
  if (filter.status !== undefined) {
    // No status at all is asked for: nothing can match, and `IN ()` is not portable.
    if (filter.status.length === 0) return [];
    where.push(`status IN (${filter.status.map(() => '?').join()})`);
    args.push(...filter.status);
  }
  const sql = `SELECT ${RUN_COLUMNS} FROM ${parts.tables.runs} WHERE ${where.join(' AND ')} ORDER BY position DESC LIMIT ?`;
  return (await parts.db.read<RunRow>(sql, [...args, Math.min(filter.limit ?? DEFAULT_LIST, MAX_LIST)])).map(runOf);
};
