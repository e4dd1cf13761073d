/** Tokens of providers as bearer tokens, where `audience` says so. */
import { createHash } from 'node:crypto';
import { type Clock, type Db, isSvcError } from '@svc/api';
import type { AuthService, Provider } from '@svc/ext-auth/contract';
import { oidcErrors } from './errors.js';
import { type Claims, identityOf } from './identity.js';
import type { Providers } from './providers.js';
import type { Sessions } from './sessions.js';

/** For so long a token is taken as it was checked; roles and people that were changed hold at once all the same. */
const TRUST_MS = 60_000;
const MAX_KNOWN = 1_000;
const MAX_AHEAD_SECS = 60;

export interface Bearer {
  readonly personId: string;
  readonly actorId: string;
}

export interface BearersDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'now'>;
  readonly auth: AuthService;
  readonly providers: Providers;
  readonly sessions: Pick<Sessions, 'arrive'>;
}

/** The payload as it stands there: nothing of it counts before the signature is checked. */
export const claimsIn = (token: string): Claims => {
  try {
    const value: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Claims) : {}; // an object by the line itself
  } catch {
    return {};
  }
};

/** The provider whose issuer a token names. */
export const providerOf = (providers: readonly Provider[], token: string): Provider | undefined => {
  const { iss } = claimsIn(token);
  return typeof iss === 'string' ? providers.find(({ issuer_url: url }) => url !== '' && url.replace(/\/$/, '') === iss.replace(/\/$/, '')) : undefined;
};

const refused = (why: string) => oidcErrors.bearer_refused(why).with({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });

export const createBearers = ({ auth, clock, db, providers, sessions }: BearersDeps) => {
  const known = new Map<string, Bearer & { readonly untilMs: number }>();
  return async (token: string): Promise<Bearer | undefined> => {
    const settings = await auth.externalAuth();
    if (!settings.enabled) return undefined;
    const provider = providerOf(await auth.providers(), token);
    if (!provider || provider.audience === '') return undefined;
    const hash = createHash('sha256')
      .update(`${JSON.stringify(provider)}\n${token}`)
      .digest('hex');
    const before = known.get(hash);
    if (before && before.untilMs > clock.now()) return { personId: before.personId, actorId: before.actorId };
    const opened = await providers.open(provider);
    const claims = await opened.verify(token, { audience: provider.audience, isFresh: false }).catch((error: unknown) => {
      throw isSvcError(error) && error.code === 'oidc_bad_token' ? refused(error.message).with({ cause: error }) : error;
    });
    if (claims.iat !== undefined && claims.iat * 1_000 > clock.now() + MAX_AHEAD_SECS * 1_000) throw refused('It was issued in the future.');
    const { arrived, writes } = await sessions.arrive(identityOf(provider, opened.issuer, claims, settings));
    await db.commit(writes);
    const bearer = { personId: arrived.personId, actorId: arrived.actorId };
    for (const first of known.keys()) if (known.size >= MAX_KNOWN) known.delete(first);
    known.set(hash, { ...bearer, untilMs: Math.min(clock.now() + TRUST_MS, (claims.exp ?? 0) * 1_000) });
    return bearer;
  };
};
