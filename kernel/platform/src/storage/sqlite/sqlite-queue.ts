/** The group-commit queue over one writer connection to SQLite. */
import { newCounters } from '../contract/batch-end.js';
import { createWriteQueue, type WriteQueue } from '../contract/write-queue.js';
import { type BatchDeps, runBatch } from './batch-run.js';

export const createSqliteQueue = (options: Omit<BatchDeps, 'counters'>): WriteQueue => {
  const counters = newCounters();
  const deps: BatchDeps = { ...options, counters };
  return createWriteQueue({ counters, runBatch: (batch) => runBatch(deps, batch) });
};
