/** Reading runs and steps. */
import { type Actor, ownerScope, type JournalRun, type JournalStep, type RunFilter } from '@svc/api';
import type { JournalParts } from '../journal-parts.js';
import { RUN_COLUMNS, runOf, STEP_COLUMNS, stepOf, type RunRow, type StepRow } from './run-rows.js';

const DEFAULT_LIST = 100;
const MAX_LIST = 1_000;

export const getRun = async (parts: JournalParts, actor: Actor, runId: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.first<RunRow>({ from: 'runs', where: { id: runId }, actor });
  return row && runOf(row);
};

export const runByKey = async (parts: JournalParts, ownerId: string, kind: string, key: string): Promise<JournalRun | undefined> => {
  const row = await parts.db.first<RunRow>({ from: 'runs', where: { owner_id: ownerId, kind, request_key: key } });
  return row && runOf(row);
};

export const stepsOf = async ({ db, tables }: JournalParts, actor: Actor, runId: string): Promise<JournalStep[]> => {
  const mine = `EXISTS (SELECT 1 FROM ${tables.runs} WHERE id = run_id AND (? = 1 OR owner_id = ?))`;
  return (await db.read<StepRow>(`SELECT ${STEP_COLUMNS} FROM ${tables.steps} WHERE run_id = ? AND ${mine} ORDER BY seq`, [runId, ...ownerScope(actor)])).map(stepOf);
};

/** Newest first. */
export const listRuns = async (parts: JournalParts, filter: RunFilter): Promise<JournalRun[]> => {
  // No status at all is asked for: nothing can match, and `IN ()` is not portable.
  if (filter.status?.length === 0) return [];
  const where = ['(? = 1 OR owner_id = ?)'];
  const args: Array<string | number> = [...ownerScope(filter.actor)];
  for (const [column, value] of [
    ['kind', filter.kind],
    ['lane', filter.lane],
    ['subject', filter.subject],
    ['parent_id', filter.parentId],
  ] as const) {
    if (value === undefined) continue;
    where.push(`${column} = ?`);
    args.push(value);
  }
  if (filter.status !== undefined) {
    where.push(`status IN (${filter.status.map(() => '?').join()})`);
    args.push(...filter.status);
  }
  if (filter.before !== undefined) {
    where.push(`(position, id) < (SELECT position, id FROM ${parts.tables.runs} WHERE id = ?)`);
    args.push(filter.before);
  }
  const sql = `SELECT ${RUN_COLUMNS} FROM ${parts.tables.runs} WHERE ${where.join(' AND ')} ORDER BY position DESC, id DESC LIMIT ?`;
  return (await parts.db.read<RunRow>(sql, [...args, Math.min(filter.limit ?? DEFAULT_LIST, MAX_LIST)])).map(runOf);
};
