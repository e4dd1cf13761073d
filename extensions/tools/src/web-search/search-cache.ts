/** Results of searches, given again for some minutes. */
import type { Clock } from '@svc/api';

/** The oldest goes first. At most some kilobytes each. */
const MAX_KEPT = 200;

export interface SearchCache {
  get(key: string): string | undefined;
  put(key: string, text: string, forMs: number): void;
}

export const createSearchCache = (clock: Pick<Clock, 'mono'>): SearchCache => {
  const kept = new Map<string, { readonly text: string; readonly untilMs: number }>();
  return {
    get: (key) => {
      const found = kept.get(key);
      if (found && found.untilMs > clock.mono()) return found.text;
      kept.delete(key);
      return undefined;
    },
    put: (key, text, forMs) => {
      if (forMs <= 0) return;
      kept.delete(key);
      kept.set(key, { text, untilMs: clock.mono() + forMs });
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    },
  };
};
