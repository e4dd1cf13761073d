/**
 * Providers as openid-client and jose use them, over the fetch adapter.
 *
 * N1  Only addresses of the settings are reached on a private network. What discovery names at another host must be public, whenever it is asked.
 * N2  A token counts with a signature by a key of the provider, asymmetric, and for this issuer and audience.
 */
import type { Disposable, ExtensionContext, FetchResponse } from '@svc/api';
import { isSvcError, textThatIsSet } from '@svc/api';
import type { Provider } from '@svc/ext-auth/contract';
import type { JWTPayload, RemoteJWKSet } from 'jose';
import type { ClientAuth, Configuration, CustomFetchOptions, ServerMetadata } from 'openid-client';
import { oidcErrors } from './errors.js';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1_048_576;
const FRESH_MS = 3_600_000;
const JWKS_COOLDOWN_MS = 5_000;
const SKEW_SECS = 60;
const MAX_TOKEN_AGE_SECS = 3_600;
/** Asymmetric ones: neither `none` nor those whose key both sides know. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

export interface OpenedProvider {
  readonly provider: Provider;
  readonly issuer: string;
  readonly config: Configuration;
  /** Checks signature, issuer, audience and times. Throws `oidc_bad_token`, `oidc_unreachable`. */
  verify(token: string, options: { readonly audience: string; readonly isFresh: boolean }): Promise<JWTPayload>;
}

export type ProviderDeps = Pick<ExtensionContext, 'egress' | 'fetch' | 'secrets' | 'clock'>;

interface Known {
  readonly text: string;
  readonly untilMs: number;
  readonly opened: Promise<OpenedProvider>;
}

const ENDPOINTS = [
  ['authorization_endpoint', 'auth_url'],
  ['token_endpoint', 'token_url'],
  ['userinfo_endpoint', 'userinfo_url'],
  ['jwks_uri', 'jwks_uri'],
] as const;

export const createProviders = (deps: ProviderDeps) => {
  const known = new Map<string, Known>();
  const allowed = new Map<string, Disposable>();
  const allow = (url: string): void => {
    const { origin } = new URL(url);
    if (!allowed.has(origin)) allowed.set(origin, deps.egress.allow(origin, 'server'));
  };
  return {
    /** Throws `oidc_unreachable`, `oidc_bad_provider`, `oidc_no_secret`. What failed is tried again with the next call. */
    open: async (provider: Provider): Promise<OpenedProvider> => {
      const text = JSON.stringify(provider);
      const before = known.get(provider.id);
      if (before?.text === text && before.untilMs > deps.clock.mono()) return before.opened;
      const opened = openProvider(deps, provider, allow);
      known.set(provider.id, { text, untilMs: deps.clock.mono() + FRESH_MS, opened });
      opened.catch(() => {
        if (known.get(provider.id)?.opened === opened) known.delete(provider.id);
      });
      return opened;
    },
  };
};
export type Providers = ReturnType<typeof createProviders>;

const openProvider = async (deps: ProviderDeps, provider: Provider, allow: (url: string) => void): Promise<OpenedProvider> => {
  if (provider.issuer_url === '') throw oidcErrors.bad_provider(provider.id, 'issuer_url is missing');
  const [client, jose] = await Promise.all([import('openid-client'), import('jose')]);
  const named = [provider.issuer_url, provider.auth_url, provider.token_url, provider.userinfo_url, provider.jwks_uri].filter((url) => url !== '');
  for (const url of named) allow(url);
  const fetch = fetchOf(deps, new Set(named.map((url) => new URL(url).origin)));
  const metadata = await metadataOf(deps, provider, client, fetch);
  const { jwks_uri: jwksUri, issuer } = metadata;
  if (!metadata.authorization_endpoint || !metadata.token_endpoint || !jwksUri) throw oidcErrors.bad_provider(provider.id, 'it names no authorization endpoint, token endpoint or keys');
  const config = new client.Configuration(metadata, provider.client_id, { [client.clockTolerance]: SKEW_SECS }, await clientAuth(deps, provider, client));
  config[client.customFetch] = fetch;
  // Whoever writes http:// into the settings means it: an issuer on the own network.
  if (new URL(issuer).protocol === 'http:') client.allowInsecureRequests(config);
  const keys = jose.createRemoteJWKSet(new URL(jwksUri), {
    cooldownDuration: JWKS_COOLDOWN_MS,
    cacheMaxAge: FRESH_MS,
    timeoutDuration: TIMEOUT_MS,
    [jose.customFetch]: (url, options) => fetch(url, { method: options.method, headers: Object.fromEntries(options.headers), body: undefined, redirect: 'manual', signal: options.signal }),
  });
  return { provider, issuer, config, verify: verifier(provider, issuer, jose, keys) };
};

type Client = typeof import('openid-client');
type Fetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

const metadataOf = async (deps: ProviderDeps, provider: Provider, client: Client, fetch: Fetch): Promise<ServerMetadata> => {
  const named = Object.fromEntries(ENDPOINTS.flatMap(([endpoint, setting]) => (provider[setting] === '' ? [] : [[endpoint, provider[setting]]])));
  const issuer = new URL(provider.issuer_url);
  if (provider.auth_url !== '' && provider.token_url !== '' && provider.jwks_uri !== '') return { issuer: provider.issuer_url, id_token_signing_alg_values_supported: ALGORITHMS, ...named };
  const execute = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const found = await client.discovery(issuer, provider.client_id, undefined, client.None(), { [client.customFetch]: fetch, execute, timeout: TIMEOUT_MS / 1_000 }).catch((error: unknown) => {
    throw failureOf(provider.id, error, (why) => oidcErrors.bad_provider(provider.id, why));
  });
  const metadata: ServerMetadata = { ...found.serverMetadata(), ...named };
  for (const endpoint of ['token_endpoint', 'userinfo_endpoint', 'jwks_uri', 'introspection_endpoint'] as const) {
    const url = metadata[endpoint];
    if (url === undefined || named[endpoint] !== undefined || new URL(url).origin === issuer.origin) continue;
    const why = await deps.egress.refusal(url);
    if (why !== undefined) throw oidcErrors.bad_provider(provider.id, `it names ${endpoint} at another host that is not public (${why}); write the address into the settings if it is right`);
  }
  return metadata;
};

const clientAuth = async ({ secrets }: ProviderDeps, { client_auth: how, client_secret_env: env, id }: Provider, client: Client): Promise<ClientAuth> => {
  const secret = textThatIsSet(await secrets.login({ secret: `oidc.client.${id}`, ...(env === '' ? {} : { env }) }));
  if (secret === undefined && env === '') return client.None();
  if (secret === undefined) throw oidcErrors.no_secret(id, env);
  return how === 'post' ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
};

const fetchOf =
  ({ fetch }: ProviderDeps, named: ReadonlySet<string>): Fetch =>
  async (url, { body, headers, method, signal }) => {
    const answer = await fetch(url, {
      // A name that was public when it was found out may lead elsewhere later.
      purpose: named.has(new URL(url).origin) ? 'server' : 'webhook',
      method,
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
      redirect: 'manual',
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    return responseOf(answer);
  };

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const responseOf = async (answer: FetchResponse): Promise<Response> => {
  const { headers, status } = answer;
  const text = await answer.text();
  return new Response(NO_BODY.has(status) ? null : text, { status, headers });
};

const verifier =
  (provider: Provider, issuer: string, jose: typeof import('jose'), keys: RemoteJWKSet): OpenedProvider['verify'] =>
  async (token, { audience, isFresh }) => {
    const options = { issuer, audience, algorithms: ALGORITHMS, clockTolerance: SKEW_SECS, requiredClaims: ['sub', 'exp'], ...(isFresh ? { maxTokenAge: MAX_TOKEN_AGE_SECS } : {}) };
    const verify = async (): Promise<JWTPayload> => (await jose.jwtVerify(token, keys, options)).payload;
    try {
      return await verify().catch(async (error: unknown) => {
        // Keys that were changed a moment ago. Only an exchange with the provider itself is worth another question.
        if (!isFresh || !(error instanceof jose.errors.JWKSNoMatchingKey)) throw error;
        await keys.reload();
        return verify();
      });
    } catch (error) {
      throw failureOf(provider.id, error, (why) => oidcErrors.bad_token(provider.id, why));
    }
  };

/** What libraries throw around an error of the adapter is that error. */
export const causeOf = (error: unknown): unknown => {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) if (isSvcError(at)) return at;
  return error;
};

/** An error of this area: what was said before, a network that failed, or else what `other` makes of the words of the library. */
export const failureOf = (id: string, error: unknown, other: (why: string) => Error): Error => {
  const cause = causeOf(error);
  if (isSvcError(cause)) return cause.code.startsWith('fetch_') ? oidcErrors.unreachable(id, cause.message).with({ cause }) : cause;
  if (isTimeout(cause)) return oidcErrors.unreachable(id, 'it did not answer in time.').with({ cause });
  const made = other(wordsOf(cause));
  if (made instanceof Error) made.cause ??= cause;
  return made;
};

const isTimeout = (error: unknown): boolean => error instanceof Error && (error.name === 'TimeoutError' || (error as { code?: unknown }).code === 'ERR_JWKS_TIMEOUT');

const MAX_WORDS = 200;

/** The innermost says most: `unexpected "iss" (issuer) response value`. */
const wordsOf = (error: unknown): string => {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return (at instanceof Error ? at.message : String(at)).replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, MAX_WORDS);
};
