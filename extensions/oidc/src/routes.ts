/** The operations of signing in: where a browser begins, and where it comes back. */
import { reply, type Req, type RouteDecl, routeGroup, isSvcError, Type } from '@svc/api';
import type { AuthService, Provider } from '@svc/ext-auth/contract';
import type { Attempts } from './attempts.js';
import { givenBrowser, sentBrowser } from './cookie.js';
import { oidcErrors } from './errors.js';
import { authorizationUrl, exchange } from './flow.js';
import type { Providers } from './providers.js';
import type { Sessions } from './sessions.js';
import { Profile, SignedIn } from './shapes.js';

export interface RouteDeps {
  readonly auth: AuthService;
  readonly attempts: Attempts;
  readonly providers: Providers;
  readonly sessions: Sessions;
}

const route = routeGroup({ area: 'oidc' });
const NO_STORE = { 'cache-control': 'no-store' };
const HOST = /^[\w.:[\]-]{1,255}$/;
const CODE = /^[A-Za-z0-9_.-]{1,60}$/;
const MAX_FORM_BYTES = 65_536;

const text = (most: number, description: string) => Type.Optional(Type.String({ maxLength: most, description }));
const Back = Type.Object({
  code: text(8_192, 'What the provider gives for the sign-in, to be used once'),
  state: text(1_024, 'As GET /api/auth/login sent it'),
  iss: text(2_000, 'The issuer that answers'),
  error: text(200, 'Where the provider refuses'),
  error_description: text(2_000, 'Why it refuses'),
});
/** The same as a body: clients that are generated have a name for it. */
const FORM = Type.Object(Back.properties, { 'x-name': 'SignInAnswer' });
type Back = { readonly [K in 'code' | 'state' | 'iss' | 'error' | 'error_description']?: string | undefined };

const ProviderId = Type.String({ pattern: '^[a-z0-9_-]{1,64}$', description: 'Id of the provider, as GET /api/auth/providers lists it', examples: ['company'] });
const REDIRECT = 'Sends the browser to the provider.';

export const flowRoutes = (deps: RouteDeps): RouteDecl[] => [
  route({
    id: 'listAuthProviders',
    method: 'GET',
    path: '/api/auth/providers',
    summary: 'List sign-in providers',
    description: 'Providers that people can sign in at, the default one first. The list is empty while `[external_auth]` is off.',
    auth: 'public',
    responses: {
      200: Type.Object(
        {
          enabled: Type.Boolean(),
          providers: Type.Array(
            Type.Object({ id: Type.String(), display_name: Type.String(), login_url: Type.String({ description: 'Path that a browser opens to sign in' }) }, { 'x-name': 'AuthProvider' }),
          ),
        },
        { 'x-name': 'AuthProviders' },
      ),
    },
    handler: async () => {
      const { enabled } = await deps.auth.externalAuth();
      const providers = enabled ? await deps.auth.providers() : [];
      return reply(200, { enabled, providers: providers.map(({ id, display_name }) => ({ id, display_name, login_url: `/api/auth/login/${id}` })) });
    },
  }),
  route({
    id: 'startLogin',
    method: 'GET',
    path: '/api/auth/login',
    summary: 'Sign in at the default provider',
    description: `${REDIRECT} It comes back to /api/auth/callback within ten minutes, in the same browser.`,
    auth: 'public',
    cost: 10,
    errors: [409, 429, 502, 503],
    responses: { 302: Type.Null({ description: REDIRECT }) },
    handler: async (req) => begin(deps, req),
  }),
  route({
    id: 'startProviderLogin',
    method: 'GET',
    path: '/api/auth/login/{provider}',
    summary: 'Sign in at a provider',
    description: `${REDIRECT} It comes back to /api/auth/callback within ten minutes, in the same browser.`,
    auth: 'public',
    cost: 10,
    params: Type.Object({ provider: ProviderId }),
    errors: [404, 409, 429, 502, 503],
    responses: { 302: Type.Null({ description: REDIRECT }) },
    handler: async (req) => begin(deps, req, req.params.provider),
  }),
  route({
    id: 'finishLogin',
    method: 'GET',
    path: '/api/auth/callback',
    summary: 'Finish a sign-in',
    description:
      'The provider sends the browser here. A browser gets the cookie of a login and goes to the page. A program that asks for application/json gets a bearer token, which lasts as long as `session_ttl_secs` says and ends with POST /auth/logout. Code and state work once.',
    auth: 'public',
    cost: 10,
    audit: 'signed_in',
    auditCategory: 'logins',
    query: Back,
    errors: [400, 401, 403, 404, 502, 503],
    responses: { 200: SignedIn, 302: Type.Null({ description: 'A browser: to the page' }) },
    handler: async (req) => comeBack(deps, req, req.query, 302),
  }),
  route({
    id: 'finishLoginByForm',
    method: 'POST',
    path: '/api/auth/callback',
    summary: 'Finish a sign-in by a form',
    description: 'As GET /api/auth/callback, for providers that answer with a form (`response_mode = "form_post"`), and for programs that send JSON.',
    auth: 'public',
    permission: 'oidc.send',
    cost: 10,
    audit: 'signed_in',
    auditCategory: 'logins',
    rawBody: true,
    maxBodyBytes: MAX_FORM_BYTES,
    takes: { 'application/x-www-form-urlencoded': FORM, 'application/json': FORM },
    errors: [400, 401, 403, 404, 415, 502, 503],
    responses: { 200: SignedIn, 303: Type.Null({ description: 'A browser: to the page' }) },
    handler: async (req) => comeBack(deps, req, formOf(req), 303),
  }),
  route({
    id: 'getAuthProfile',
    method: 'GET',
    path: '/api/auth/userinfo',
    summary: 'Get your profile',
    description: 'What the provider said of you when you signed in, or when it was asked last. Callers with a key get `auth_method: "api_key"` and an empty issuer.',
    errors: [404],
    responses: { 200: Profile },
    handler: async ({ actor }) => {
      if (!actor.id.startsWith('oidc:')) return reply(200, { auth_method: 'api_key', issuer: '' });
      const row = await deps.sessions.identityOf(actor.id);
      if (!row) throw oidcErrors.no_profile();
      const { email, issuer, name, picture, provider, subject: sub } = row;
      const optional = { ...(email === null ? {} : { email }), ...(picture === null ? {} : { picture }) };
      return reply(200, { auth_method: 'oidc', issuer, provider, sub, name, ...optional, roles: JSON.parse(row.roles) as string[], email_verified: row.email_verified === 1 }); // `arrive` wrote it
    },
  }),
];

/** The provider of this id, or the default one. Throws `oidc_off`, `oidc_no_provider`. */
export const chosen = async (auth: AuthService, id?: string): Promise<Provider> => {
  const { enabled } = await auth.externalAuth();
  const providers = enabled ? await auth.providers() : [];
  const [first] = providers;
  if (!first) throw oidcErrors.off();
  const provider = id === undefined ? first : providers.find((one) => one.id === id);
  if (!provider) throw oidcErrors.no_provider(id ?? '');
  return provider;
};

const begin = async ({ attempts, auth, providers }: RouteDeps, req: Req, id?: string) => {
  const provider = await chosen(auth, id);
  const isForm = provider.response_mode === 'form_post';
  if (isForm && !req.isSecure) throw oidcErrors.needs_https();
  const opened = await providers.open(provider);
  const redirectUrl = provider.redirect_url || `${originOf(req)}/api/auth/callback`;
  const { browser, forMs, secrets } = await attempts.begin({ browser: sentBrowser(req), network: req.network, provider: provider.id, redirectUrl });
  const location = await authorizationUrl(opened, redirectUrl, secrets);
  return reply(302, null, { ...NO_STORE, location, 'set-cookie': givenBrowser(req, browser, { forMs, isForm }) });
};

const originOf = ({ headers, isSecure }: Req): string => `${isSecure ? 'https' : 'http'}://${HOST.test(headers.host ?? '') ? headers.host : 'localhost'}`;

const isBrowser = ({ headers }: Req): boolean => (headers.accept ?? '').includes('text/html');

const comeBack = async <const S extends 302 | 303>(deps: RouteDeps, req: Req, back: Back, redirect: S) => {
  try {
    const { forMs, identity, key } = await finish(deps, req, back);
    if (isBrowser(req)) {
      const cookie = await deps.auth.logIn({ key, isSecure: req.isSecure, forMs, ...(req.headers.host === undefined ? {} : { host: req.headers.host }) });
      return reply(redirect, null, { ...NO_STORE, location: '/', ...(cookie === undefined ? {} : { 'set-cookie': cookie }) });
    }
    const { email, name, picture, provider, subject: sub } = identity;
    return reply(
      200,
      { token: key, token_type: 'Bearer' as const, expires_in: forMs / 1_000, provider, user: { sub, name, ...(email === undefined ? {} : { email }), ...(picture === undefined ? {} : { picture }) } },
      NO_STORE,
    );
  } catch (error) {
    // A person at a browser gets the page, which says what happened.
    if (isBrowser(req) && isSvcError(error)) return reply(redirect, null, { ...NO_STORE, location: `/#/?signin=${error.code}` });
    throw error;
  }
};

const finish = async ({ attempts, auth, providers, sessions }: RouteDeps, req: Req, { code = '', state = '', iss, error, error_description: why }: Back) => {
  await chosen(auth);
  if (state === '' || (code === '' && error === undefined)) throw oidcErrors.incomplete();
  const { row, secrets } = await attempts.finish(state, sentBrowser(req));
  const provider = await chosen(auth, row.provider);
  if (error !== undefined) throw oidcErrors.refused(provider.id, printed(error, why));
  const url = new URL(row.redirect_url);
  for (const [name, value] of Object.entries({ code, state, iss })) if (value !== undefined) url.searchParams.set(name, value);
  const opened = await providers.open(provider);
  return sessions.start(opened, await exchange(opened, { ...secrets, url }));
};

const MAX_WHY = 200;

/** Anybody can send a browser here with any text: what is shown of it is short and plain. */
const printed = (error: string, why: string | undefined): string => {
  const code = CODE.test(error) ? error : 'error';
  const words = (why ?? '')
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{Zs}]/gu, ' ')
    .trim()
    .slice(0, MAX_WHY);
  return words === '' ? code : `${code} (${words})`;
};

const formOf = ({ body, headers }: Req): Back => {
  const sent = Buffer.from(body as Uint8Array).toString(); // `rawBody`
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') {
    const form = new URLSearchParams(sent);
    return Object.fromEntries(Object.keys(Back.properties).flatMap((name) => (form.has(name) ? [[name, form.get(name) ?? '']] : [])));
  }
  let value: unknown;
  try {
    value = JSON.parse(sent);
  } catch {
    throw oidcErrors.incomplete();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw oidcErrors.incomplete();
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
};
