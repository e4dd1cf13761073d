/**
 * Wrong keys at the door where people log in.
 *
 * B1  After ten from one network none is taken from there, right or wrong, until a quarter of an hour after the first of them.
 * B2  A right key takes back nothing: whoever has one could otherwise try others for ever.
 */
import type { Clock } from '@svc/api';

const MOST_WRONG = 10;
const WINDOW_MS = 15 * 60_000;
/** Remembered at once; the longest known go first. */
const MAX_NETWORKS = 10_000;

export interface Attempts {
  /** How long nothing is taken from this network; 0 where it is. */
  waitMs(network: string): number;
  failed(network: string): void;
}

export const createAttempts = (clock: Pick<Clock, 'mono'>): Attempts => {
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
      if (known) known.count += 1;
      else wrong.set(network, { count: 1, sinceMs: now });
    },
  };
};
