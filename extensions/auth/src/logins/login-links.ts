/**
 * Links that log a browser in once, for whoever has the key already (`svc open`).
 *
 * I1  A code holds 256 random bits, serves once, and for two minutes. It is kept in memory alone, by its hash.
 * I2  It opens no more than its key: the login that comes of it is one of that key.
 */
import { createHash } from 'node:crypto';
import type { Clock, Ids } from '@svc/api';

const TTL_MS = 120_000;
const CODE_BYTES = 32;
/** At one time; the oldest go first. */
const MAX_LINKS = 20;

export interface LoginLinks {
  make(key: string): { readonly code: string; readonly forMs: number };
  /** The key that it was made with; undefined for one that is unknown, over or used. */
  use(code: string): string | undefined;
}

export const createLoginLinks = ({ clock, ids }: { readonly clock: Pick<Clock, 'mono'>; readonly ids: Pick<Ids, 'bytes'> }): LoginLinks => {
  const links = new Map<string, { readonly key: string; readonly untilMs: number }>();
  const forgetOld = (): void => {
    for (const [hash, { untilMs }] of links) {
      if (untilMs > clock.mono() && links.size < MAX_LINKS) return;
      links.delete(hash);
    }
  };
  return {
    make: (key) => {
      forgetOld();
      const code = Buffer.from(ids.bytes(CODE_BYTES)).toString('base64url');
      links.set(hashOf(code), { key, untilMs: clock.mono() + TTL_MS });
      return { code, forMs: TTL_MS };
    },
    use: (code) => {
      const hash = hashOf(code);
      const link = links.get(hash);
      links.delete(hash);
      return link && link.untilMs > clock.mono() ? link.key : undefined;
    },
  };
};

const hashOf = (code: string): string => createHash('sha256').update(code).digest('base64url');
