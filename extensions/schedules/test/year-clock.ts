/** A clock that runs as the machine's does, and may be set ahead: what falls due on the way happens then. */
import type { TimerClock } from '@svc/platform/clock/clock';

export interface YearClock extends TimerClock {
  /** Never back. */
  setAhead(ms: number): void;
  close(): void;
}

const PUMP_MS = 5;

export const yearClock = (startMs: number): YearClock => {
  const begun = performance.now();
  const waits = new Map<number, { readonly at: number; readonly fn: () => void }>();
  let ahead = 0;
  let count = 0;
  const mono = (): number => performance.now() - begun + ahead;
  const now = (): number => Math.floor(startMs + mono());
  const pump = (): void => {
    const until = mono();
    for (const [id, { fn }] of [...waits].filter(([, wait]) => wait.at <= until).sort(([, one], [, other]) => one.at - other.at)) if (waits.delete(id)) void fn();
  };
  const pumping = setInterval(pump, PUMP_MS);
  const schedule = (ms: number, fn: () => void): (() => void) => {
    const id = ++count;
    waits.set(id, { at: mono() + Math.max(0, ms), fn });
    return () => void waits.delete(id);
  };
  return {
    now,
    mono,
    iso: () => new Date(now()).toISOString(),
    schedule,
    sleep: (ms, signal) =>
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
      }),
    setAhead: (ms) => {
      ahead += Math.max(0, ms);
      pump();
    },
    close: () => clearInterval(pumping),
  };
};
