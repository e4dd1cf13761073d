/** One timer for all waits with an end: it sleeps until the earliest, which the database names. */
import type { Db, Logger } from '@svc/api';
import type { TimerClock } from '../clock/clock.js';
import type { ReadySignals } from './ready-signals.js';

/** Asked again after this long at the latest: timers stand still while a machine sleeps, and its clock may be set forwards. */
const MAX_SLEEP_MS = 60_000;
const RETRY_MS = 1_000;

export interface WakeTimer {
  /** A wait that ends at this ISO time was committed. */
  until(iso: string): void;
  /** Asks the database what is due, and when the next is. */
  look(): void;
  close(): void;
}

export interface WakeTimerDeps {
  db: Db;
  runs: string;
  clock: TimerClock;
  log: Logger;
  signals: ReadySignals;
}

export const createWakeTimer = (deps: WakeTimerDeps): WakeTimer => {
  const { clock, log } = deps;
  let dueMs = Number.POSITIVE_INFINITY;
  let stop = (): void => undefined;
  let closed = false;
  const arm = (ms: number): void => {
    // On the clock that nobody sets: after a step forwards an earlier time would seem to be over, and a step back far away.
    if (closed || clock.mono() + ms >= dueMs) return;
    stop();
    dueMs = clock.mono() + ms;
    stop = clock.schedule(ms, look);
  };
  const look = (): void => {
    stop();
    dueMs = Number.POSITIVE_INFINITY;
    signalDue(deps).then(
      (next) => arm(Math.min(next === undefined ? MAX_SLEEP_MS : Date.parse(next) - clock.now(), MAX_SLEEP_MS)),
      (error: unknown) => {
        if (!closed) log.warn('Waits that are due could not be read; trying again.', { error });
        arm(RETRY_MS);
      },
    );
  };
  return {
    until: (iso) => arm(Math.max(0, Date.parse(iso) - clock.now())),
    look,
    close() {
      closed = true;
      stop();
    },
  };
};

/** Signals the kinds of what is due and gives the time of the next wait. */
const signalDue = async ({ db, runs, clock, signals }: WakeTimerDeps): Promise<string | undefined> => {
  const now = clock.iso();
  // Not DISTINCT: for that SQLite would read an index of all runs, ended ones too.
  const due = await db.system('runs that are due').read<{ kind: string }>(`SELECT kind FROM ${runs} WHERE status = 'waiting' AND wait_until <= ?`, [now]);
  for (const kind of new Set(due.map((run) => run.kind))) signals.fire(kind);
  const next = await db.system('runs that are due').readOne<{ at: string | null }>(`SELECT min(wait_until) AS at FROM ${runs} WHERE status = 'waiting' AND wait_until > ?`, [now]);
  return next?.at ?? undefined;
};
