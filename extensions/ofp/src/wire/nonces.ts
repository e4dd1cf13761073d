/** Nonces that were seen, so that a handshake that somebody recorded is of no use. In memory, and closed when it is full. */
import { createHash } from 'node:crypto';

const WINDOW_MS = 300_000;
const CAP = 100_000;
const SWEEP_AT = 80_000;
const LONG = 64;

export interface Nonces {
  /** False for one that was seen, and when there is no room. */
  record(nonce: string): boolean;
}

export const createNonces = (now: () => number): Nonces => {
  /** In the order in which they came. */
  const seen = new Map<string, number>();
  const sweep = (): void => {
    const before = now() - WINDOW_MS;
    for (const [nonce, at] of seen) {
      if (at > before) return;
      seen.delete(nonce);
    }
  };
  return {
    record: (nonce) => {
      const key = nonce.length > LONG ? createHash('sha256').update(nonce).digest('base64') : nonce;
      if (seen.size >= SWEEP_AT) sweep();
      if (seen.has(key) || seen.size >= CAP) return false;
      seen.set(key, now());
      return true;
    },
  };
};
