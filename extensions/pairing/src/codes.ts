/**
 * Pairing codes, and who tries wrong ones.
 *
 * C1  A code is eight of 31 letters and digits that nobody mistakes for another; only its SHA-256 is stored.
 * C2  Five wrong ones from a network are the last that are looked at, until a quarter of an hour after the first of them.
 */
import { createHash } from 'node:crypto';
import type { Clock, Ids } from '@svc/api';

const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const CHARS = 8;
const BLOCK = 4;
const CODE = new RegExp(`^[${LETTERS}]{${CHARS}}$`);

/** `XXXX-XXXX`. */
export const newCode = (ids: Pick<Ids, 'bytes'>): string => {
  let code = '';
  // A byte above the last multiple of 31 would make some letters more likely.
  while (code.length < CHARS) for (const byte of ids.bytes(2 * CHARS)) if (code.length < CHARS && byte < 256 - (256 % LETTERS.length)) code += LETTERS[byte % LETTERS.length];
  return `${code.slice(0, BLOCK)}-${code.slice(BLOCK)}`;
};

/** The hash of a code as a person types it; undefined for what is none. */
export const hashOf = (typed: string): string | undefined => {
  const code = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  return CODE.test(code) ? createHash('sha256').update(code).digest('hex') : undefined;
};

const MOST_WRONG = 5;
const WINDOW_MS = 15 * 60_000;
/** Remembered at once; the longest known go first. */
const MAX_NETWORKS = 10_000;

export const createAttempts = (clock: Pick<Clock, 'mono'>) => {
  const wrong = new Map<string, { count: number; readonly sinceMs: number }>();
  const forgetOld = (now: number): void => {
    for (const [network, { sinceMs }] of wrong) {
      if (now - sinceMs < WINDOW_MS && wrong.size < MAX_NETWORKS) return;
      wrong.delete(network);
    }
  };
  return {
    /** How long codes of this network are not looked at; 0 where they are. */
    waitMs: (network: string): number => {
      const now = clock.mono();
      forgetOld(now);
      const known = wrong.get(network);
      return known && known.count >= MOST_WRONG ? known.sinceMs + WINDOW_MS - now : 0;
    },
    failed: (network: string): void => {
      const now = clock.mono();
      forgetOld(now);
      const known = wrong.get(network);
      if (known) known.count += 1;
      else wrong.set(network, { count: 1, sinceMs: now });
    },
  };
};
export type Attempts = ReturnType<typeof createAttempts>;
