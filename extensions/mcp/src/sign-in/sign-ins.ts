/**
 * Signing in at MCP servers by OAuth: the code flow with PKCE, a client that registers itself, and tokens that are refreshed.
 *
 * O1  Tokens, secrets of clients and verifiers are in the vault alone. Tokens go to the address that they were given for, and to no other.
 * O2  Of several calls and daemons that need a new token, one asks for it; the others wait and use it. A refresh token that is used once is stored anew before anything else.
 * O3  A refused refresh token means that a person has to sign in. An authority that is away changes nothing.
 * O4  A flow ends within ten minutes, once, and only with the state that it began with.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Clock, createTurns, type Egress, type ExtensionContext, type Ids, type Logger, type Secrets, type Turns } from '@svc/api';
import type { Access } from '../client/http-transport.js';
import { mcpErrors } from '../errors.js';
import { type ServerSpec, secretsOf } from '../server-spec.js';
import { discover, type Found } from './discovery.js';
import { type Opened, type Reach, reachFrom, fetchBy, reasonIn } from './reach.js';
import { type Authority, CLIENT_AUTHS, type ClientAuth, type SignIn, type SignInStore } from './sign-in-store.js';
import { basicOf, clientSecret, exchanged, OAUTH_SECRET, oauthSecret, refreshed, revoked, type TokenAnswer, type TokenDeps } from './tokens.js';

const FLOW_MS = 600_000;
/** A token is refreshed so long before its end, and in its last quarter at the earliest. */
const SPARE_MS = 30_000;
const SPARE_SHARE = 0.25;
const CLAIM_MS = 30_000;
const WAIT_MS = 200;
const STATE_BYTES = 32;

export interface AuthShown {
  readonly state: 'not_required' | 'authorized' | 'needs_auth' | 'pending_auth' | 'expired' | 'error' | 'unknown';
  readonly expires_at?: string;
  readonly auth_url?: string;
  readonly message?: string;
}

export interface CameBack {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

export interface SignIns {
  access(spec: ServerSpec): Access;
  /** `connection`: what the server itself said last. */
  shown(spec: ServerSpec, connection: { readonly status: string; readonly needsAuth: string | null }): AuthShown;
  /** Throws `mcp_no_sign_in`, `mcp_sign_in_failed`. Resolves with where a browser goes. */
  start(spec: ServerSpec, at: { readonly origin: string; readonly challenge: string }): Promise<string>;
  /** What went wrong, for the log; undefined where it is done. */
  finish(spec: ServerSpec, back: CameBack): Promise<string | undefined>;
  revoke(spec: ServerSpec): Promise<void>;
  /** Of a server that is gone. */
  forget(name: string): Promise<void>;
  /** Reads all rows. Resolves with the servers that have another token since. */
  load(): Promise<string[]>;
}

export interface SignInDeps {
  readonly store: SignInStore;
  readonly secrets: Pick<Secrets, 'put' | 'delete' | 'list'>;
  readonly fetch: ExtensionContext['fetch'];
  readonly egress: Egress;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'bytes'>;
  readonly log: Logger;
}

interface All extends SignInDeps {
  readonly known: Map<string, SignIn>;
  /** By the name of the server. */
  readonly inTurn: Turns;
  /** Only this daemon can show where a flow that it began goes on. */
  readonly urls: Map<string, string>;
  readonly opened: Opened;
}

export const createSignIns = (deps: SignInDeps): SignIns => {
  const all: All = { ...deps, known: new Map(), inTurn: createTurns(), urls: new Map(), opened: new Map() };
  return {
    access: (spec) => ({ current: () => current(all, spec), renew: (serial) => renew(all, spec, serial) }),
    shown: (spec, connection) => shown(all, spec, connection),
    start: (spec, at) => start(all, spec, at),
    finish: (spec, back) => all.inTurn(spec.name, () => finish(all, spec, back)),
    revoke: (spec) => all.inTurn(spec.name, () => revoke(all, spec)),
    forget: (name) => all.inTurn(name, () => forget(all, name)),
    load: async () => {
      const rows = await all.store.all();
      const changed = [...rows].filter(([name, row]) => row.granted && row.granted.serial !== (all.known.get(name)?.granted?.serial ?? 0)).map(([name]) => name);
      for (const name of all.known.keys()) if (!rows.has(name)) all.known.delete(name);
      for (const [name, row] of rows) all.known.set(name, row);
      return changed;
    },
  };
};

const urlOf = ({ transport }: ServerSpec): string | undefined => (transport.type === 'http' || transport.type === 'sse' ? transport.url : undefined);

/** Undefined for an address that was another one when somebody signed in. */
const knownOf = ({ known }: All, spec: ServerSpec): SignIn | undefined => {
  const one = known.get(spec.name);
  return one?.url === urlOf(spec) ? one : undefined;
};

const change = async (all: All, name: string, next: (before: SignIn | undefined) => SignIn | undefined): Promise<void> => {
  const after = await all.store.change(name, next);
  if (after) all.known.set(name, after);
  else all.known.delete(name);
};

const reachOf = (all: All, spec: ServerSpec): Reach => reachFrom(all, [urlOf(spec) ?? '', spec.oauth?.auth_url ?? '', spec.oauth?.token_url ?? ''], all.opened);
const tokenDeps = (all: All, spec: ServerSpec): TokenDeps => ({ server: spec.name, reach: reachOf(all, spec), secrets: all.secrets });
const isOver = (all: All, at: string | null): boolean => at !== null && Date.parse(at) <= all.clock.now();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const current = async (all: All, spec: ServerSpec): ReturnType<Access['current']> => {
  const before = knownOf(all, spec)?.granted;
  if (!before) return undefined;
  if (before.can_refresh && isOver(all, before.refresh_at))
    await renew(all, spec, before.serial).catch((error: unknown) => {
      if (isOver(all, before.expires_at)) throw error;
    });
  const granted = knownOf(all, spec)?.granted;
  return granted ? { header: { secret: oauthSecret(spec.name, 'access'), prefix: 'Bearer ' }, serial: granted.serial } : undefined;
};

const renew = (all: All, spec: ServerSpec, serial: number): Promise<boolean> => all.inTurn(spec.name, () => renewed(all, spec, serial));

/** Whoever comes first asks; the others find a newer token. */
const renewed = async (all: All, spec: ServerSpec, serial: number): Promise<boolean> => {
  for (;;) {
    const row = await all.store.get(spec.name);
    if (row) all.known.set(spec.name, row);
    const granted = knownOf(all, spec)?.granted;
    if (!row || !granted) return false;
    if (granted.serial > serial) return true;
    if (!granted.can_refresh) {
      await lose(all, spec, { kind: 'expired', why: 'The token ended, and there is none to refresh it with.' });
      return false;
    }
    if (!(await all.store.claim(spec.name, CLAIM_MS))) {
      await all.clock.sleep(WAIT_MS);
      continue;
    }
    try {
      // Another daemon may have been done just before.
      const now = (await all.store.get(spec.name))?.granted;
      if (now && now.serial === serial) return await refreshNow(all, spec, now);
    } finally {
      await all.store.release(spec.name);
    }
  }
};

const refreshNow = async (all: All, spec: ServerSpec, granted: NonNullable<SignIn['granted']>): Promise<boolean> => {
  const answer = await refreshed(tokenDeps(all, spec), granted).catch((error: unknown): TokenAnswer => ({ kind: 'failed', why: reasonIn(error) }));
  if (answer.kind === 'granted') {
    await change(all, spec.name, (before) => before && { ...before, granted: { ...granted, ...grantedBy(all, answer, true), serial: nextSerial(all, granted.serial) }, problem: null });
    all.log.info('the token of an MCP server was refreshed', { server: spec.name });
    return true;
  }
  all.log.warn('the token of an MCP server could not be refreshed', { server: spec.name, why: answer.kind === 'refused' ? answer.code : answer.why });
  if (answer.kind === 'refused') {
    await lose(all, spec, { kind: 'needs_auth', why: `The sign-in is not valid any more (${answer.code}).` });
    return false;
  }
  const why = `The token could not be refreshed: ${answer.why}`;
  await change(all, spec.name, (before) => before && { ...before, problem: { kind: 'error', why } });
  throw mcpErrors.unavailable(spec.name, why);
};

const grantedBy = ({ clock }: All, { expiresInSecs, canRefresh }: Extract<TokenAnswer, { kind: 'granted' }>, couldRefresh: boolean) => {
  const forMs = expiresInSecs === undefined ? undefined : expiresInSecs * 1_000;
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
  return {
    expires_at: forMs === undefined ? null : at(forMs),
    refresh_at: forMs === undefined ? null : at(forMs - Math.min(SPARE_MS, forMs * SPARE_SHARE)),
    can_refresh: canRefresh || couldRefresh,
  };
};

/** Later tokens have larger ones, also after a sign-in that was lost. */
const nextSerial = ({ clock }: All, before = 0): number => Math.max(before + 1, clock.now());

const lose = async (all: All, spec: ServerSpec, problem: NonNullable<SignIn['problem']>): Promise<void> => {
  await change(all, spec.name, (before) => before && { ...before, granted: null, problem });
  for (const name of ['access', 'refresh'] as const) await all.secrets.delete(oauthSecret(spec.name, name));
};

const shown = (all: All, spec: ServerSpec, { status, needsAuth }: { readonly status: string; readonly needsAuth: string | null }): AuthShown => {
  if (urlOf(spec) === undefined) return { state: 'not_required' };
  const row = knownOf(all, spec);
  const isPending = row?.flow !== null && row?.flow !== undefined && !isOver(all, row.flow.expires_at);
  if (isPending) {
    const url = all.urls.get(spec.name);
    return { state: 'pending_auth', ...(url === undefined ? {} : { auth_url: url }) };
  }
  if (row?.problem) return { state: row.problem.kind, message: row.problem.why };
  if (needsAuth !== null) return { state: 'needs_auth' };
  if (row?.granted) {
    const { expires_at, can_refresh } = row.granted;
    return { state: isOver(all, expires_at) && !can_refresh ? 'expired' : 'authorized', ...(expires_at === null ? {} : { expires_at }) };
  }
  return { state: status === 'connected' ? 'not_required' : 'unknown' };
};

const start = async (all: All, spec: ServerSpec, { origin, challenge }: { readonly origin: string; readonly challenge: string }): Promise<string> => {
  const url = urlOf(spec);
  if (url === undefined) throw mcpErrors.no_sign_in(spec.name, spec.transport.type === 'stdio' ? 'svc starts it as a program' : 'it does not speak MCP');
  if (spec.headers.includes('authorization')) throw mcpErrors.no_sign_in(spec.name, 'its entry has an Authorization header');
  const redirectUri = `${origin}/api/mcp/servers/${encodeURIComponent(spec.name)}/auth/callback`;
  try {
    const reach = reachOf(all, spec);
    const found = withGranted(await discover(reach, url, spec, challenge), knownOf(all, spec)?.granted, (await import('@modelcontextprotocol/client')).computeScopeUnion);
    const client = await clientFor(all, spec, { reach, found, redirectUri });
    const { startAuthorization } = await import('@modelcontextprotocol/client');
    const state = Buffer.from(all.ids.bytes(STATE_BYTES)).toString('base64url');
    const { authorizationUrl, codeVerifier } = await startAuthorization(found.issuer, {
      metadata: { issuer: found.issuer, authorization_endpoint: found.authorization_endpoint, token_endpoint: found.token_endpoint, response_types_supported: ['code'] },
      clientInformation: { client_id: client.client_id },
      redirectUrl: redirectUri,
      state,
      ...(found.scope === undefined ? {} : { scope: found.scope }),
      ...(found.resource === undefined ? {} : { resource: found.resource }),
    });
    await all.inTurn(spec.name, async () => {
      await all.secrets.put(oauthSecret(spec.name, 'verifier'), codeVerifier);
      const expires_at = new Date(all.clock.now() + FLOW_MS).toISOString();
      await change(all, spec.name, (before) => ({
        ...(before?.url === url ? before : { granted: null, problem: null }),
        url,
        flow: { ...authorityOf(found, client, redirectUri), state_hash: sha256(state), expires_at },
      }));
      all.urls.set(spec.name, authorizationUrl.href);
    });
    return authorizationUrl.href;
  } catch (error) {
    throw mcpErrors.sign_in_failed(spec.name, reasonIn(error)).with({ cause: error });
  }
};

/** Who is asked for more rights keeps those of before. */
const withGranted = (found: Found, granted: Authority | null | undefined, union: (...scopes: Array<string | undefined>) => string | undefined): Found => {
  const scope = granted?.issuer === found.issuer ? union(granted.scope, found.scope) : found.scope;
  return scope === undefined ? found : { ...found, scope };
};

const authorityOf = ({ issuer, token_endpoint, revocation_endpoint, resource, scope, needs_iss }: Found, client: Client, redirect_uri: string): Authority => ({
  ...{ issuer, token_endpoint, needs_iss, redirect_uri },
  ...client,
  ...(revocation_endpoint === undefined ? {} : { revocation_endpoint }),
  ...(resource === undefined ? {} : { resource }),
  ...(scope === undefined ? {} : { scope }),
});

type Client = Pick<Authority, 'client_id' | 'client_auth' | 'secret_env'>;

/** The one that the entry names, else the one that was registered before, else a new one. */
const clientFor = async (all: All, spec: ServerSpec, { reach, found, redirectUri }: { readonly reach: Reach; readonly found: Found; readonly redirectUri: string }): Promise<Client> => {
  const { client_id, client_secret_env } = spec.oauth ?? {};
  if (client_id !== undefined) return client_secret_env === undefined ? { client_id, client_auth: 'none' } : ownClient(all, spec, found, { client_id, secret_env: client_secret_env });
  const row = knownOf(all, spec);
  for (const one of [row?.granted, row?.flow])
    if (one && one.issuer === found.issuer && one.redirect_uri === redirectUri && one.secret_env === undefined) return { client_id: one.client_id, client_auth: one.client_auth };
  if (found.registration_endpoint === undefined) throw new Error(`${new URL(found.issuer).host} registers no clients by itself`);
  const { registerClient } = await import('@modelcontextprotocol/client');
  const wanted = found.auth_methods[0] ?? 'client_secret_basic';
  const made = await registerClient(found.issuer, {
    metadata: {
      issuer: found.issuer,
      authorization_endpoint: found.authorization_endpoint,
      token_endpoint: found.token_endpoint,
      registration_endpoint: found.registration_endpoint,
      response_types_supported: ['code'],
    },
    clientMetadata: {
      client_name: 'svc',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: wanted,
      application_type: /^http:\/\/(?:localhost|127\.|\[::1\])/.test(redirectUri) ? 'native' : 'web',
    },
    ...(found.scope === undefined ? {} : { scope: found.scope }),
    fetchFn: fetchBy(reach),
  });
  return registered(all, spec, made, wanted);
};

/** A secret that came with the entry is stored for both ways. One of the environment can only be sent as a field. */
const ownClient = async ({ secrets }: All, { name }: ServerSpec, { auth_methods }: Found, own: { readonly client_id: string; readonly secret_env: string }): Promise<Client> => {
  const isStored = (await secrets.list(clientSecret(name, own.client_id, 'basic'))).length > 0;
  return { ...own, client_auth: isStored && !auth_methods.includes('client_secret_post') ? 'client_secret_basic' : 'client_secret_post' };
};

const registered = async (
  { secrets }: All,
  { name }: ServerSpec,
  made: { client_id: string; client_secret?: string | undefined; token_endpoint_auth_method?: string | undefined },
  wanted: ClientAuth,
): Promise<Client> => {
  const { client_id, client_secret, token_endpoint_auth_method: said = wanted } = made;
  if (client_secret === undefined) return { client_id, client_auth: 'none' };
  await secrets.put(clientSecret(name, client_id, 'secret'), client_secret);
  await secrets.put(clientSecret(name, client_id, 'basic'), basicOf(client_id, client_secret));
  return { client_id, client_auth: CLIENT_AUTHS.find((one) => one === said) ?? 'client_secret_basic' };
};

const finish = async (all: All, spec: ServerSpec, { code = '', state = '', iss, error }: CameBack): Promise<string | undefined> => {
  const row = await all.store.get(spec.name);
  const flow = row?.url === urlOf(spec) ? row?.flow : undefined;
  if (!flow || isOver(all, flow.expires_at)) return 'no sign-in is open';
  if (!timingSafeEqual(Buffer.from(sha256(state)), Buffer.from(flow.state_hash))) return 'it has another state';
  const end = async (why: string): Promise<string> => {
    all.urls.delete(spec.name);
    await all.secrets.delete(oauthSecret(spec.name, 'verifier'));
    await change(all, spec.name, (before) => before && { ...before, flow: null, ...(before.granted ? {} : { problem: { kind: 'needs_auth' as const, why: `The last sign-in failed: ${why}.` } }) });
    return why;
  };
  const { validateAuthorizationResponseIssuer } = await import('@modelcontextprotocol/client');
  try {
    validateAuthorizationResponseIssuer({ iss, expectedIssuer: flow.issuer, issParameterSupported: flow.needs_iss });
  } catch {
    return end('the answer is of another issuer');
  }
  if (error !== undefined || code === '') return end(`it was refused (${/^[A-Za-z0-9_.-]{1,60}$/.test(error ?? '') ? error : 'no code'})`);
  const answer = await exchanged(tokenDeps(all, spec), flow, code).catch((cause: unknown): TokenAnswer => ({ kind: 'failed', why: reasonIn(cause) }));
  if (answer.kind !== 'granted') return end(answer.kind === 'refused' ? `the code was refused (${answer.code})` : answer.why);
  all.urls.delete(spec.name);
  await all.secrets.delete(oauthSecret(spec.name, 'verifier'));
  const { state_hash: _hash, expires_at: _end, ...authority } = flow;
  if (!answer.canRefresh) await all.secrets.delete(oauthSecret(spec.name, 'refresh'));
  await change(all, spec.name, (before) => ({
    url: row?.url ?? '',
    flow: null,
    granted: { ...authority, ...grantedBy(all, answer, false), serial: nextSerial(all, before?.granted?.serial) },
    problem: null,
  }));
  return undefined;
};

const revoke = async (all: All, spec: ServerSpec): Promise<void> => {
  const row = await all.store.get(spec.name);
  const granted = row?.url === urlOf(spec) ? row?.granted : undefined;
  if (granted)
    for (const name of granted.can_refresh ? (['refresh', 'access'] as const) : (['access'] as const))
      await revoked(tokenDeps(all, spec), granted, name).catch((cause: unknown) =>
        all.log.info('the authority of an MCP server did not take back a token', { server: spec.name, why: reasonIn(cause) }),
      );
  const { client_id } = spec.oauth ?? {};
  await forget(all, spec.name, client_id === undefined ? [] : [clientSecret(spec.name, client_id, 'basic')]);
};

/** `staying`: of the entry itself. */
const forget = async (all: All, name: string, staying: readonly string[] = []): Promise<void> => {
  all.urls.delete(name);
  await change(all, name, () => undefined);
  for (const stored of await all.secrets.list(`${secretsOf(name)}oauth.`)) if (OAUTH_SECRET.test(stored.slice(secretsOf(name).length)) && !staying.includes(stored)) await all.secrets.delete(stored);
};
