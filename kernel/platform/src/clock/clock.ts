/**
 * The two clocks: the machine's, and one that only moves when it is told to.
 *
 * C1  A virtual clock fires what is due in order of time, and lets each finish its microtasks before the next.
 * C2  A cancelled wait leaves no timer behind.
 */
import type { Clock } from '@svc/api';

/** setTimeout silently turns longer delays into 1 ms. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** What the platform's own parts use: a clock that also calls back. Scheduled calls never keep the process alive. */
export interface TimerClock extends Clock {
  /** Calls `fn` once after `ms`; the returned function calls it off. */
  schedule(ms: number, fn: () => void): () => void;
}

export interface VirtualClock extends TimerClock {
  /** Moves time on by `ms`, firing on the way what falls due, later additions included. */
  advance(ms: number): Promise<void>;
  /** How many waits are open. */
  pending(): number;
}

export const systemClock = (): TimerClock => {
  // One message asks some ten times, most of them within a millisecond.
  const last = { ms: Number.NaN, iso: '' };
  return {
    now: () => Date.now(),
    iso: () => {
      const ms = Date.now();
      if (ms !== last.ms) Object.assign(last, { ms, iso: new Date(ms).toISOString() });
      return last.iso;
    },
    mono: () => performance.now(),
    sleep: (ms, signal) => sleepOn((delay, fn) => later(delay, fn, true), ms, signal),
    schedule: (ms, fn) => later(ms, fn, false),
  };
};

export const virtualClock = (startMs: number): VirtualClock => {
  let elapsedMs = 0;
  let order = 0;
  const waits = new Map<number, { dueMs: number; fn: () => void }>();
  const schedule = (ms: number, fn: () => void): (() => void) => {
    const id = ++order;
    waits.set(id, { dueMs: elapsedMs + Math.max(0, ms), fn });
    return () => void waits.delete(id);
  };
  const advance = async (ms: number): Promise<void> => {
    const untilMs = elapsedMs + ms;
    await settle();
    for (let next = earliest(waits, untilMs); next !== undefined; next = earliest(waits, untilMs)) {
      const wait = waits.get(next);
      waits.delete(next);
      if (!wait) continue;
      elapsedMs = Math.max(elapsedMs, wait.dueMs);
      wait.fn();
      await settle();
    }
    elapsedMs = untilMs;
  };
  return {
    now: () => startMs + elapsedMs,
    iso: () => new Date(startMs + elapsedMs).toISOString(),
    mono: () => elapsedMs,
    sleep: (delay, signal) => sleepOn(schedule, delay, signal),
    schedule,
    advance,
    pending: () => waits.size,
  };
};

/** Id of the wait that is due first (of equals the oldest), if any is due by `untilMs`. */
const earliest = (waits: ReadonlyMap<number, { dueMs: number }>, untilMs: number): number | undefined => {
  let best: number | undefined;
  let bestDueMs = Number.POSITIVE_INFINITY;
  for (const [id, { dueMs }] of waits) {
    if (dueMs <= untilMs && dueMs < bestDueMs) {
      best = id;
      bestDueMs = dueMs;
    }
  }
  return best;
};

/** One turn of the event loop: every promise chain that needs no I/O has then run to its next wait. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const later = (ms: number, fn: () => void, keepsAlive: boolean): (() => void) => {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    timer = setTimeout(() => (leftMs > MAX_TIMEOUT_MS ? arm(leftMs - MAX_TIMEOUT_MS) : fn()), Math.min(Math.max(0, leftMs), MAX_TIMEOUT_MS));
    if (!keepsAlive) timer.unref();
  };
  arm(ms);
  return () => clearTimeout(timer);
};

const sleepOn = (schedule: TimerClock['schedule'], ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = schedule(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
