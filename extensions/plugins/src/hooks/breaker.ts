/** A hook that fails again and again is left out for a while. */
import type { Clock } from '@svc/api';

interface Counted {
  failures: number;
  openUntilMs: number;
}

export interface Breaker {
  /** For how long it is still left out, in milliseconds; 0 when it may run. */
  waitMs(key: string): number;
  count(key: string, isFailure: boolean, limits: { readonly maxFailures: number; readonly resetSecs: number }): void;
  forget(prefix: string): void;
}

const MAX_KEYS = 500;

export const createBreaker = (clock: Pick<Clock, 'mono'>): Breaker => {
  const counted = new Map<string, Counted>();
  return {
    waitMs: (key) => Math.max(0, (counted.get(key)?.openUntilMs ?? 0) - clock.mono()),
    count: (key, isFailure, { maxFailures, resetSecs }) => {
      if (!isFailure) return void counted.delete(key);
      const one = counted.get(key) ?? { failures: 0, openUntilMs: 0 };
      one.failures++;
      if (one.failures >= maxFailures) one.openUntilMs = clock.mono() + resetSecs * 1_000;
      counted.set(key, one);
      const [oldest] = counted.keys();
      if (counted.size > MAX_KEYS && oldest !== undefined) counted.delete(oldest);
    },
    forget: (prefix) => {
      for (const key of counted.keys()) if (key.startsWith(prefix)) counted.delete(key);
    },
  };
};
