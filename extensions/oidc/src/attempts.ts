/**
 * Sign-ins that were begun.
 *
 * A1  A state works once, for ten minutes, in the browser that it was made for, at any daemon on the database.
 * A2  The database holds no secret of it: nonce and verifier come of the secret in the browser's cookie and the state.
 * A3  Unfinished ones are bounded. Those of one network push each other out, and nobody else's.
 */
import { createHash, createHmac } from 'node:crypto';
import { type Clock, type Db, type Ids, isSvcError } from '@svc/api';
import type { AttemptRow } from './contract.js';
import { oidcErrors } from './errors.js';
import type { Secrets } from './flow.js';

const TTL_MS = 600_000;
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const MAX_OF_NETWORK = 200;
const MAX_OF_ALL = 5_000;
const RETRY_SECS = 60;

export interface Begun {
  readonly secrets: Secrets;
  /** For the cookie. */
  readonly browser: string;
  readonly forMs: number;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const derived = (browser: string, what: string, state: string): string => createHmac('sha256', browser).update(`${what}\n${state}`).digest('base64url');

const secretsOf = (browser: string, state: string): Secrets => ({ state, nonce: derived(browser, 'nonce', state), verifier: derived(browser, 'verifier', state) });

export const createAttempts = ({ clock, db, ids }: { readonly db: Db; readonly clock: Pick<Clock, 'iso' | 'now'>; readonly ids: Pick<Ids, 'bytes'> }) => {
  const secret = (): string => Buffer.from(ids.bytes(SECRET_BYTES)).toString('base64url');
  const pushedOut = async (network: string): Promise<readonly string[]> => {
    const rows = await db
      .system('unfinished sign-ins of a network')
      .select<AttemptRow>({ from: 'attempts', where: { network }, order: [{ column: 'created_at', descending: true }, { column: 'id' }], limit: 2 * MAX_OF_NETWORK });
    return rows.slice(MAX_OF_NETWORK - 1).map(({ id }) => id);
  };
  return {
    /** `browser` is what its cookie holds already, so that two tabs don't disturb each other. Throws `oidc_too_many_attempts`. */
    begin: async ({ browser: held, network, provider, redirectUrl }: { browser: string | undefined; network: string; provider: string; redirectUrl: string }): Promise<Begun> => {
      const browser = held !== undefined && SECRET.test(held) ? held : secret();
      const state = secret();
      const now = clock.now();
      const row: AttemptRow = {
        ...{ id: sha256(state), provider, browser: sha256(browser), redirect_url: redirectUrl, network, created_at: clock.iso() },
        expires_at: new Date(now + TTL_MS).toISOString(),
      };
      const old = await pushedOut(network);
      const total = await db.system('unfinished sign-ins').count('attempts', { expires_at: { gte: clock.iso() } });
      if (total - old.length >= MAX_OF_ALL) throw oidcErrors.too_many_attempts().with({ headers: { 'retry-after': String(RETRY_SECS) } });
      await db.commit([...(old.length === 0 ? [] : [db.remove('attempts', { id: [...old] }, { expect: 'any' })]), db.insert('attempts', [row])]);
      return { secrets: secretsOf(browser, state), browser, forMs: TTL_MS };
    },
    /** Uses it up. Throws `oidc_other_browser`, `oidc_attempt_over`. */
    finish: async (state: string, browser: string | undefined): Promise<{ readonly row: AttemptRow; readonly secrets: Secrets }> => {
      const row = await db.system('the sign-in of a state').first<AttemptRow>({ from: 'attempts', where: { id: sha256(state), expires_at: { gte: clock.iso() } } });
      if (!row) throw oidcErrors.attempt_over();
      if (browser === undefined || sha256(browser) !== row.browser) throw oidcErrors.other_browser();
      try {
        await db.commit([db.remove('attempts', { id: row.id }, { expect: 1 })]);
      } catch (error) {
        throw isSvcError(error) && error.code === 'storage_conflict' ? oidcErrors.attempt_over() : error;
      }
      return { row, secrets: secretsOf(browser, state) };
    },
    sweep: async (): Promise<void> => void (await db.commit([db.remove('attempts', { expires_at: { lt: clock.iso() } }, { expect: 'any' })])),
  };
};
export type Attempts = ReturnType<typeof createAttempts>;
