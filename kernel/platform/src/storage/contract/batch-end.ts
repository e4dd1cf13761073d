/** How the commits of a batch end: each tells whoever waits for it, and what was committed becomes known (Q4). */
import type { Clock, CommitResult, Logger, SvcError } from '@svc/api';
import type { Deadlines } from './deadlines.js';
import type { StatementRules } from './statement-limits.js';
import type { Event, Unit } from './write-compiler.js';

export interface BatchCounters {
  commits: number;
  batches: number;
  rows: number;
  conflicts: number;
  /** Duration of the newest batch in milliseconds, most of it the disk's. */
  lastFsyncMs: number;
}

export const newCounters = (): BatchCounters => ({ commits: 0, batches: 0, rows: 0, conflicts: 0, lastFsyncMs: 0 });

export interface BatchEndDeps {
  readonly deadlines: Deadlines;
  readonly rules: StatementRules;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counters: BatchCounters;
  onEvents(events: readonly Event[]): void;
}

/** A commit and who waits for it. */
export interface Waiting {
  readonly unit: Unit;
  resolve(result: CommitResult): void;
  reject(error: unknown): void;
}

/** Runs the batch itself and notes how long it took. */
export const timed = async <T>(deps: BatchEndDeps, work: () => Promise<T>): Promise<T> => {
  const begun = deps.clock.mono();
  try {
    return await work();
  } finally {
    deps.counters.batches += 1;
    deps.counters.lastFsyncMs = deps.clock.mono() - begun;
  }
};

export const settle = (deps: BatchEndDeps, committed: readonly Waiting[]): void => {
  const events = committed.flatMap(({ unit }) => unit.events);
  if (events.length > 0) publish(deps, events);
  for (const { unit, resolve } of committed) {
    deps.counters.commits += 1;
    deps.counters.rows += unit.rows;
    resolve({ changes: unit.changes });
  }
};

/** Listeners come after the fact: what they throw cannot undo it, and must not reach the writer. */
const publish = (deps: BatchEndDeps, events: readonly Event[]): void => {
  try {
    deps.onEvents(events);
  } catch (error) {
    deps.log.error('A listener of committed events failed.', { error, events: events.map(({ event }) => event) });
  }
};

export const refuse = (deps: BatchEndDeps, waiting: Waiting, error: SvcError): void => {
  if (error.code === 'storage_conflict') deps.counters.conflicts += 1;
  else deps.log.error('A commit failed.', { error, cause: error.cause });
  waiting.reject(error);
};

/** A failing disk, a locked file or a lost connection is nobody's fault, and its outcome may not be known: never try again by itself. */
export const isOneCommitsFault = (error: SvcError): boolean => !['storage_io', 'storage_busy', 'storage_closed', 'storage_unavailable'].includes(error.code);
