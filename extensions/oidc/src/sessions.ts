/**
 * Sign-ins that last.
 *
 * T1  Each is a credential of auth with an end; what it opens ends with it, on every daemon.
 * T2  Where the provider gave a refresh token it is asked again. A refusal ends the sign-in; a provider that can't be reached does not.
 * T3  What the provider says of a person then holds at once: another role, another domain, none at all.
 */
import { type Clock, type Db, type Ids, isSvcError, type Logger, type Write } from '@svc/api';
import type { Arrived, AuthService } from '@svc/ext-auth/contract';
import type { IdentityRow, SessionRow } from './contract.js';
import { oidcErrors } from './errors.js';
import { type Exchanged, refresh } from './flow.js';
import { type Identity, identityOf } from './identity.js';
import type { OpenedProvider, Providers } from './providers.js';
import type { Sealing, Tokens } from './sealing.js';

export interface SessionsDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly auth: AuthService;
  readonly providers: Providers;
  readonly sealing: Sealing;
}

export interface SignedIn {
  readonly key: string;
  readonly forMs: number;
  readonly identity: Identity;
}

const MAX_AT_ONCE = 50;
const MAX_SWEPT = 500;
/** Such an error of a check says that the person may not come in any more. */
const FINAL: ReadonlySet<string> = new Set(['oidc_refused', 'oidc_email_unverified', 'oidc_wrong_domain', 'oidc_no_role', 'oidc_person_disabled', 'oidc_bad_token', 'oidc_no_provider']);

export const credentialOf = (id: string): string => `sign-in:${id}`;
export const sessionOf = (credential: string): string | undefined => (credential.startsWith('sign-in:') ? credential.slice('sign-in:'.length) : undefined);

export const createSessions = (deps: SessionsDeps) => {
  const { auth, clock, db, ids, sealing } = deps;
  const remove = async (gone: readonly string[]): Promise<void> => {
    if (gone.length > 0) await db.commit([db.remove('sessions', { id: [...gone] }, { expect: 'any' }), ...(await auth.revoke(gone.map(credentialOf)))]);
  };
  return {
    /** Who it is, and the writes that say so. Throws `oidc_person_disabled`, `oidc_no_role`. */
    arrive: (identity: Identity) => arrive(deps, identity),
    start: async (opened: OpenedProvider, { claims, tokens }: Exchanged): Promise<SignedIn> => {
      const settings = await auth.externalAuth();
      const identity = identityOf(opened.provider, opened.issuer, claims ?? {}, settings);
      const { arrived, writes } = await arrive(deps, identity);
      const id = ids.uuid();
      const forMs = settings.session_ttl_secs * 1_000;
      const now = clock.iso();
      const expiresAt = new Date(clock.now() + forMs).toISOString();
      const issued = await auth.issue({ name: credentialOf(id), personId: arrived.personId, role: 'owner', actorId: arrived.actorId, expiresAt });
      const row: SessionRow = {
        ...{ id, owner_id: arrived.personId, identity_id: identity.id, provider: opened.provider.id, tokens: await sealing.seal(id, tokens) },
        ...{ can_refresh: tokens.refreshToken === undefined ? 0 : 1, created_at: now, checked_at: now, expires_at: expiresAt },
      };
      await db.commit([...writes, ...issued.writes, db.insert('sessions', [row])]);
      return { key: issued.key, forMs, identity };
    },
    find: (id: string): Promise<SessionRow | undefined> => db.system('a sign-in').first<SessionRow>({ from: 'sessions', where: { id } }),
    tokensOf: async ({ id, tokens }: SessionRow): Promise<Tokens | undefined> => (tokens === null ? undefined : sealing.open(id, tokens)),
    identity: (id: string): Promise<IdentityRow | undefined> => db.system('who signed in').first<IdentityRow>({ from: 'identities', where: { id } }),
    /** The one that this person used last. */
    identityOf: async (actorId: string): Promise<IdentityRow | undefined> => {
      const [row] = await db
        .system('who signed in')
        .select<IdentityRow>({ from: 'identities', where: { actor_id: actorId }, order: [{ column: 'seen_at', descending: true }, { column: 'id' }], limit: 1 });
      return row;
    },
    remove,
    /** Asks providers again about sign-ins that were not checked for as long as the settings say. */
    revalidate: async (): Promise<void> => {
      const { revalidate_secs: secs } = await auth.externalAuth();
      const before = new Date(clock.now() - secs * 1_000).toISOString();
      const due = await db
        .system('sign-ins to check')
        .select<SessionRow>({ from: 'sessions', where: { can_refresh: 1, checked_at: { lte: before } }, order: [{ column: 'checked_at' }, { column: 'id' }], limit: MAX_AT_ONCE });
      for (const row of due) if (await takeTurn(deps, row)) await check(deps, row, () => remove([row.id]));
    },
    /** Ends those that are over. */
    sweep: async (): Promise<void> => {
      const over = await db.system('sign-ins that are over').select<SessionRow>({ from: 'sessions', where: { expires_at: { lte: clock.iso() } }, limit: MAX_SWEPT });
      await remove(over.map(({ id }) => id));
    },
  };
};
export type Sessions = ReturnType<typeof createSessions>;

const arrive = async ({ auth, clock, db }: SessionsDeps, identity: Identity): Promise<{ arrived: Arrived; writes: Write[] }> => {
  const { email, id, isEmailVerified, issuer, name, picture, provider, role, roles, subject } = identity;
  const { arrived, writes } = await auth.arrive({
    id: `oidc:${id.slice(0, 32)}`,
    source: `${provider}:${subject}`,
    name,
    isEmailVerified,
    ...(email === undefined ? {} : { email }),
    ...(role ? { role } : {}),
  });
  if (arrived.outcome === 'disabled') throw oidcErrors.person_disabled();
  if (arrived.outcome === 'no_role') throw oidcErrors.no_role();
  const row: IdentityRow = {
    ...{ id, owner_id: arrived.personId, actor_id: arrived.actorId, provider, issuer, subject, name, email: email ?? null, email_verified: isEmailVerified ? 1 : 0 },
    ...{ picture: picture ?? null, roles: JSON.stringify(roles), seen_at: clock.iso() },
  };
  return { arrived, writes: [...writes, db.upsert('identities', ['id'], [row])] };
};

/** Whether this daemon checks it now: of several, the first one does. */
const takeTurn = async ({ clock, db }: SessionsDeps, { checked_at: checkedAt, id }: SessionRow): Promise<boolean> => {
  try {
    await db.commit([db.sql(`UPDATE ${db.table('sessions')} SET checked_at = ? WHERE id = ? AND checked_at = ?`, [clock.iso(), id, checkedAt], { expect: 1 })]);
    return true;
  } catch (error) {
    if (isSvcError(error) && error.code === 'storage_conflict') return false;
    throw error;
  }
};

const check = async (deps: SessionsDeps, row: SessionRow, end: () => Promise<void>): Promise<void> => {
  const { auth, db, log, providers, sealing } = deps;
  try {
    const provider = (await auth.providers()).find(({ id }) => id === row.provider);
    if (!provider) throw oidcErrors.no_provider(row.provider);
    const identity = await db.system('who signed in').first<IdentityRow>({ from: 'identities', where: { id: row.identity_id } });
    const tokens = row.tokens === null ? undefined : await sealing.open(row.id, row.tokens);
    const issued = await auth.issued([credentialOf(row.id)]);
    if (!identity || !tokens || !issued[credentialOf(row.id)]) return await end();
    const opened = await providers.open(provider);
    const fresh = await refresh(opened, tokens, identity.subject);
    await db.commit([db.update('sessions', ['id'], [{ id: row.id, tokens: await sealing.seal(row.id, fresh.tokens) }])]);
    if (!fresh.claims) return;
    const { writes } = await arrive(deps, identityOf(provider, identity.issuer, fresh.claims, await auth.externalAuth()));
    await db.commit(writes);
  } catch (error) {
    if (!isSvcError(error) || !FINAL.has(error.code)) {
      log.warn('a sign-in could not be checked at its provider; svc tries again later', { provider: row.provider, cause: error });
      return;
    }
    log.info('a sign-in ended: its provider refused it', { provider: row.provider, why: error.code });
    await end();
  }
};
