/**
 * Logins by a code that a person types at the provider.
 *
 * D1  However often and by however many a login is polled, the provider is asked once an interval: whoever asks takes the turn in a commit, and the others are answered `pending`.
 * D2  `slow_down` makes the interval five seconds longer, or as long as the provider says.
 * D3  A login is seen by the person who began it, and by nobody else.
 * D4  The device code stands in the vault while the login goes on; the token goes there as the key of the provider, and nowhere else.
 */
import { type Actor, type Clock, type Db, type Ids, isSvcError, type Secrets } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { CodeassistConfig } from './config.js';
import type { LoginRow } from './contract.js';
import { codeassistErrors } from './errors.js';
import type { LoginServer } from './server.js';

export const PROVIDER = 'github-copilot';
const SLOW_DOWN_SECS = 5;
/** Of one person; the oldest is forgotten for a new one. */
const MAX_PENDING = 5;
const KEEP_MS = 3_600_000;
const MAX_SWEPT = 500;

export interface LoginsDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly secrets: Pick<Secrets, 'put' | 'delete'>;
  readonly providers: Pick<ProvidersService, 'storeKey'>;
  readonly server: Pick<LoginServer, 'start' | 'poll'>;
  settings(): CodeassistConfig;
}

export interface Started {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly poll_id: string;
  readonly expires_in: number;
  readonly interval: number;
}

export type Standing = { readonly status: 'pending'; readonly interval: number } | { readonly status: 'authorized' } | { readonly status: 'expired'; readonly error: string };

const secretOf = (id: string): string => `codeassist.login.${id}`;

export const createLogins = ({ db, clock, ids, secrets, providers, server, settings }: LoginsDeps) => {
  const after = (secs: number): string => new Date(clock.now() + secs * 1_000).toISOString();
  const forget = async (rows: ReadonlyArray<Pick<LoginRow, 'id'>>): Promise<void> => {
    for (const { id } of rows) {
      await secrets.delete(secretOf(id));
      await db.commit([db.remove('logins', { id }, { expect: 'any' })]);
    }
  };
  const find = async (actor: Actor, id: string): Promise<LoginRow> => {
    // An admin may see the rows of others, and still polls no login of theirs (D3).
    const row = await db.as(actor).first<LoginRow>({ from: 'logins', where: { id, owner_id: actor.ownerId } });
    if (!row) throw codeassistErrors.not_found(id);
    return row;
  };
  const end = async ({ id }: LoginRow, status: 'authorized' | 'expired', error: string | null): Promise<Standing> => {
    await db.commit([db.update('logins', ['id'], [{ id, status, error }])]);
    await secrets.delete(secretOf(id));
    return status === 'authorized' ? { status } : { status, error: error ?? 'expired_token' };
  };
  /** Whether it is this caller's turn to ask the provider (D1). */
  const takeTurn = async (row: LoginRow): Promise<boolean> => {
    if (row.next_at > clock.iso()) return false;
    try {
      await db.commit([db.remove('logins', { id: row.id, status: 'pending', next_at: row.next_at }, { expect: 1 }), db.insert('logins', [{ ...row, next_at: after(row.interval_secs) }])]);
      return true;
    } catch (error) {
      if (isSvcError(error) && error.code === 'storage_conflict') return false;
      throw error;
    }
  };
  const ask = async (row: LoginRow): Promise<Standing> => {
    const polled = await server.poll({ secret: secretOf(row.id) });
    switch (polled.kind) {
      case 'pending':
        return { status: 'pending', interval: row.interval_secs };
      case 'slow_down': {
        const interval = Math.max(row.interval_secs + SLOW_DOWN_SECS, polled.intervalSecs);
        await db.commit([db.update('logins', ['id'], [{ id: row.id, interval_secs: interval, next_at: after(interval) }])]);
        return { status: 'pending', interval };
      }
      case 'authorized':
        await providers.storeKey(PROVIDER, polled.token);
        return end(row, 'authorized', null);
      case 'ended':
        return end(row, 'expired', polled.error);
    }
  };
  return {
    /** Throws `codeassist_no_client_id`, and what the server's `start` throws. */
    start: async (actor: Actor): Promise<Started> => {
      if (settings().client_id === '') throw codeassistErrors.no_client_id();
      const { deviceCode, expiresInSecs, intervalSecs, userCode, verificationUri } = await server.start();
      const own = await db.as(actor).select<LoginRow>({ from: 'logins', where: { owner_id: actor.ownerId, status: 'pending' }, order: [{ column: 'expires_at', descending: true }], limit: MAX_SWEPT });
      await forget(own.slice(MAX_PENDING - 1));
      const id = ids.uuid();
      const row: LoginRow = { id, owner_id: actor.ownerId, status: 'pending', error: null, interval_secs: intervalSecs, next_at: after(intervalSecs), expires_at: after(expiresInSecs) };
      // The row first: a code that is stored has a row by which it is found and removed.
      await db.commit([db.insert('logins', [row])]);
      await secrets.put(secretOf(id), deviceCode);
      return { device_code: deviceCode, user_code: userCode, verification_uri: verificationUri, poll_id: id, expires_in: expiresInSecs, interval: intervalSecs };
    },
    /** Throws `codeassist_not_found`, `codeassist_unreachable`. */
    poll: async (actor: Actor, id: string): Promise<Standing> => {
      const row = await find(actor, id);
      if (row.status === 'authorized') return { status: 'authorized' };
      if (row.status === 'expired') return { status: 'expired', error: row.error ?? 'expired_token' };
      if (row.expires_at <= clock.iso()) return end(row, 'expired', 'expired_token');
      return (await takeTurn(row)) ? ask(row) : { status: 'pending', interval: row.interval_secs };
    },
    /** Removes logins whose code expired a while ago. */
    sweep: async (): Promise<void> =>
      forget(
        await db
          .system('device logins that are over')
          .select<LoginRow>({ from: 'logins', where: { expires_at: { lt: new Date(clock.now() - KEEP_MS).toISOString() } }, order: [{ column: 'expires_at' }], limit: MAX_SWEPT }),
      ),
  };
};
export type Logins = ReturnType<typeof createLogins>;
