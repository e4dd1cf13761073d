/** Responses of hooks that may be used again, for the time that their plugin names. */
import type { Clock } from '@svc/api';
import type { Outcome } from './hook-process.js';

interface Kept {
  readonly outcome: Outcome;
  readonly untilMs: number;
}

export interface ResponseCache {
  get(key: string): Outcome | undefined;
  put(key: string, outcome: Outcome, ttlSecs: number): void;
  /** Of a plugin. */
  forget(plugin: string): void;
}

const MAX_KEPT = 200;

export const createResponseCache = (clock: Pick<Clock, 'mono'>): ResponseCache => {
  const kept = new Map<string, Kept>();
  return {
    get: (key) => {
      const one = kept.get(key);
      if (one && one.untilMs > clock.mono()) return one.outcome;
      kept.delete(key);
      return undefined;
    },
    put: (key, outcome, ttlSecs) => {
      kept.set(key, { outcome, untilMs: clock.mono() + ttlSecs * 1_000 });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    },
    forget: (plugin) => {
      for (const key of kept.keys()) if (key.startsWith(`${plugin} `)) kept.delete(key);
    },
  };
};
