/** The group-commit queue over one writer connection to SQLite. */
import { newCounters } from '../contract/batch-end.js';
import { createDeadlines } from '../contract/deadlines.js';
import { createStatementRules } from '../contract/statement-limits.js';
import { createWriteQueue, type WriteQueue } from '../contract/write-queue.js';
import type { BatchDeps } from './batch-replay.js';
import { runBatch } from './batch-run.js';

export type SqliteQueueOptions = Omit<BatchDeps, 'counters' | 'deadlines' | 'rules'> & Partial<Pick<BatchDeps, 'deadlines' | 'rules'>>;

export const createSqliteQueue = ({ deadlines = createDeadlines(), rules = createStatementRules(), ...options }: SqliteQueueOptions): WriteQueue => {
  const counters = newCounters();
  const deps: BatchDeps = { ...options, deadlines, rules, counters };
  return createWriteQueue({ counters, runBatch: (batch) => runBatch(deps, batch) });
};
