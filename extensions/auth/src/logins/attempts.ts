/**
 * Wrong keys: where people log in, and on every other route.
 *
 * B1  After ten from one network a further wrong one at the login is answered with 429, until a quarter of an hour after the first of them.
 * B2  A right key always works, wherever it comes from: nobody locks out those who share an address with them, as all do behind
 *     a proxy. It takes back nothing either.
 * B3  The operator is told, once for each network and quarter of an hour.
 *
 * What keeps guessing hopeless is not this count but the key: 256 bits as `svc key new` makes it, at as many tries a second as the rate limit lets through.
 */
import type { Clock } from '@svc/api';

const MOST_WRONG = 10;
const WINDOW_MS = 15 * 60_000;
/** Remembered at once; the longest known go first. */
const MAX_NETWORKS = 10_000;

export interface Attempts {
  /** How long wrong keys of this network are answered as too many; 0 where they are not. */
  waitMs(network: string): number;
  failed(network: string): void;
}

/** `many`: B3. */
export const createAttempts = (clock: Pick<Clock, 'mono'>, many: (network: string) => void = () => undefined): Attempts => {
  // In the order of their first: what is over stands in front.
  const wrong = new Map<string, { count: number; readonly sinceMs: number }>();
  const forgetOld = (now: number): void => {
    for (const [network, { sinceMs }] of wrong) {
      if (now - sinceMs < WINDOW_MS && wrong.size < MAX_NETWORKS) return;
      wrong.delete(network);
    }
  };
  return {
    waitMs: (network) => {
      const now = clock.mono();
      forgetOld(now);
      const known = wrong.get(network);
      return known && known.count >= MOST_WRONG ? known.sinceMs + WINDOW_MS - now : 0;
    },
    failed: (network) => {
      const now = clock.mono();
      forgetOld(now);
      const known = wrong.get(network);
      if (known) {
        known.count += 1;
        if (known.count === MOST_WRONG) many(network);
      } else wrong.set(network, { count: 1, sinceMs: now });
    },
  };
};
