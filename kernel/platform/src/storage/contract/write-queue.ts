/**
 * Group commit over the one writer connection of an engine.
 *
 * Q1  Commits take effect in the order they were made; a caller hears of its own only after COMMIT.
 * Q2  While a batch is on its way the next one gathers: no timer, one trip to the disk for all of it.
 * Q3  A commit that fails takes no other down: the batch is undone and run again, each commit behind its own savepoint.
 * Q4  Events are handed on after COMMIT, in commit order, only of commits that succeeded.
 */
import type { CommitResult } from '@svc/api';
import type { BatchCounters, Waiting } from './batch-end.js';
import { storageErrors } from './errors.js';
import type { Unit } from './write-compiler.js';

const MAX_BATCH_UNITS = 1_000;
const MAX_BATCH_CHARS = 1_048_576;
const MAX_WAITING_UNITS = 20_000;
const MAX_WAITING_CHARS = 256 * 1_048_576;

export interface WriteQueueOptions {
  readonly counters: BatchCounters;
  /** Carries out one batch. Never rejects: each commit's end is told to whoever waits for it. */
  runBatch(batch: readonly Waiting[]): Promise<void>;
}

export interface WriteStats extends BatchCounters {
  queueDepth: number;
}

export interface WriteQueue {
  commit(unit: Unit): Promise<CommitResult>;
  /** Has the writer to itself, after all commits made before and before all made later. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  stats(): WriteStats;
  /** Carries out what waits, then refuses more. */
  close(): Promise<void>;
}

type Entry = Waiting | { readonly work: () => Promise<void> };

interface State {
  readonly options: WriteQueueOptions;
  readonly waiting: Entry[];
  waitingChars: number;
  pumping: boolean;
  closed: boolean;
  idle: Array<() => void>;
}

export const createWriteQueue = (options: WriteQueueOptions): WriteQueue => {
  const state: State = { options, waiting: [], waitingChars: 0, pumping: false, closed: false, idle: [] };
  return {
    commit: (unit) => commit(state, unit),
    exclusive: (work) => exclusive(state, work),
    stats: () => ({ ...options.counters, queueDepth: state.waiting.length }),
    close: () => close(state),
  };
};

const commit = (state: State, unit: Unit): Promise<CommitResult> => {
  if (state.closed) return Promise.reject(storageErrors.closed());
  if (state.waiting.length >= MAX_WAITING_UNITS || state.waitingChars + unit.sql.length > MAX_WAITING_CHARS) {
    return Promise.reject(storageErrors.overloaded(state.waiting.length));
  }
  state.waitingChars += unit.sql.length;
  return new Promise((resolve, reject) => {
    state.waiting.push({ unit, resolve, reject });
    start(state);
  });
};

const exclusive = <T>(state: State, work: () => Promise<T>): Promise<T> => {
  if (state.closed) return Promise.reject(storageErrors.closed());
  return new Promise((resolve, reject) => {
    // The queue goes on whatever the work's end: its error belongs to its caller.
    state.waiting.push({ work: () => work().then(resolve, reject) });
    start(state);
  });
};
const close = async (state: State): Promise<void> => {
  state.closed = true;
  if (state.pumping) await new Promise<void>((resolve) => state.idle.push(resolve));
};

const start = (state: State): void => {
  if (state.pumping) return;
  state.pumping = true;
  // Everything written in this turn of the event loop goes into the first batch.
  setImmediate(() => void pump(state));
};

const pump = async (state: State): Promise<void> => {
  while (state.waiting.length > 0) {
    const first = state.waiting[0];
    if (first && 'work' in first) {
      state.waiting.shift();
      await first.work();
    } else {
      await state.options.runBatch(takeBatch(state));
    }
  }
  state.pumping = false;
  for (const resolve of state.idle.splice(0)) resolve();
};

const takeBatch = (state: State): Waiting[] => {
  const batch: Waiting[] = [];
  let chars = 0;
  for (const entry of state.waiting) {
    if ('work' in entry || batch.length >= MAX_BATCH_UNITS) break;
    chars += entry.unit.sql.length;
    // One commit of any size still travels, alone.
    if (batch.length > 0 && chars > MAX_BATCH_CHARS) break;
    batch.push(entry);
    state.waitingChars -= entry.unit.sql.length;
  }
  state.waiting.splice(0, batch.length);
  return batch;
};
