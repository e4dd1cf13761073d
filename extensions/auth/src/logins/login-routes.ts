/** `/auth/session`, `/auth/logout`: in by a key, who is it, and out again. */
import { type Actor, type Admission, type Clock, type HookHandle, type Logger, OneOf, type Req, Role, type RouteDecl, Type, reply, routeGroup, textThatIsSet } from '@svc/api';
import type { AuthLogout } from '../contract.js';
import { authErrors, WWW_AUTHENTICATE } from '../errors.js';
import { type Keyring, OWNER } from '../keyring.js';
import type { Attempts } from './attempts.js';
import { assertOwnPage } from './caller-by-login.js';
import { givenCookie, sentLogin, takenCookie } from './cookie.js';
import type { LoginLinks } from './login-links.js';
import type { Login, Logins } from './logins.js';

export interface LoginRouteDeps {
  readonly keyring: () => Keyring;
  /** Once it is known what areas issued, this key included. */
  readonly known: (key: string | undefined) => Promise<void>;
  readonly logins: Logins;
  readonly links: LoginLinks;
  readonly attempts: Attempts;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly logOut: HookHandle<typeof AuthLogout>;
  readonly endCredential: (id: string) => Promise<void>;
  /** Of a person whom an area brought. */
  readonly personName: (ownerId: string) => string | undefined;
  readonly presentedKey: (request: Pick<Admission, 'headers'>) => string | undefined;
  /** Somebody logged in from another machine without https. */
  readonly sawPlainLogin: () => void;
}

const Name = Type.String({ description: 'Owner of the key: `owner`, a name of `[[users]]`, or the name that the provider of a sign-in gives', examples: ['alice'] });
const ExpiresAt = Type.String({ description: 'When the login expires' });

const LoginBody = Type.Object(
  {
    key: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024, description: 'The API key of the daemon, or of a person' })),
    code: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'In place of the key: the code of a link that a program made with it (POST /auth/links)' })),
    remember: Type.Optional(Type.Boolean({ description: 'For 30 days since it was last used, instead of 12 hours' })),
  },
  { 'x-name': 'LoginRequest', minProperties: 1, description: 'Send `key` or `code`' },
);
const LoginAnswer = Type.Object({ role: Role, name: Name, expires_at: ExpiresAt }, { 'x-name': 'LoginAnswer' });
const Caller = Type.Object(
  {
    authenticated: Type.Boolean({ description: 'Whether calls of this caller are taken' }),
    login_required: Type.Boolean({ description: 'Whether the caller must log in or send a key first' }),
    name: Type.Optional(Name),
    role: Type.Optional(Role),
    via: Type.Optional(OneOf(['key', 'cookie', 'open'], { description: 'How the caller is identified; `open`: the daemon has no key, so every caller is the owner' })),
    expires_at: Type.Optional(ExpiresAt),
  },
  { 'x-name': 'Caller' },
);

const LOOPBACK = /^(127\.|::1$)/;

/** All but the links are public: they check by themselves what the caller brings. */
export const loginRoutes = (deps: LoginRouteDeps): RouteDecl[] => {
  const defineRoute = routeGroup({ area: 'auth' });
  return [
    defineRoute({
      id: 'createLogin',
      method: 'POST',
      path: '/auth/session',
      summary: 'Log in',
      description:
        'For web pages: the browser gets a cookie that scripts cannot read and sends it with every later call instead of the key. The login has the role of its key and ends when the key is changed or removed. ' +
        'It lasts 12 hours, or 30 days since it was last used with `remember`. A person has 20 at most. After ten wrong keys from one address further wrong ones are answered with 429 for a while; a right one always works.',
      auth: 'public',
      audit: 'login_created',
      auditCategory: 'logins',
      errors: [401, 403, 409, 429],
      body: LoginBody,
      examples: {
        'On a machine that others use too': { key: 'the-api-key' },
        'On a machine of your own': { key: 'the-api-key', remember: true },
        'Until the evening, said in full': { key: 'the-key-of-alice', remember: false },
      },
      responses: { 200: LoginAnswer },
      handler: async (req) => logIn(deps, req, req.body),
    }),
    defineRoute({
      id: 'getCaller',
      method: 'GET',
      path: '/auth/session',
      summary: 'Get the current caller',
      description:
        'Returns the owner and role of the key or login in the request. It never fails: without a valid key it returns `authenticated: false`. A remembered login is extended, in the browser too.',
      auth: 'public',
      responses: { 200: Caller },
      handler: async (req) => whoIs(deps, req),
    }),
    defineRoute({
      id: 'createLoginLink',
      method: 'POST',
      path: '/auth/links',
      summary: 'Create a login code',
      description:
        'For programs that have a key and open a browser. The code works once, for two minutes, in POST /auth/session. In a URL, put it after the #, so that no server or log sees it: `/#/?login=CODE`. Send the key in a header; a login is not enough. Only the daemon process that created the code accepts it, which matters behind a load balancer.',
      auth: 'bearer',
      permission: 'auth.send',
      cost: 5,
      audit: 'login_link_created',
      auditCategory: 'logins',
      errors: [401, 409],
      responses: { 200: Type.Object({ code: Type.String(), expires_in: Type.Integer({ description: 'Seconds' }) }, { 'x-name': 'LoginLink' }) },
      handler: async (req) => makeLink(deps, req),
    }),
    defineRoute({
      id: 'endLogin',
      method: 'POST',
      path: '/auth/logout',
      summary: 'Log out',
      description:
        "Ends this browser's login and removes its cookie; its open streams and sockets end too. Other browsers of the same person stay logged in. A token of a sign-in at a provider ends too. Without either it does nothing, and keys stay valid. `logout_url`: where the provider has a session of its own to end, open this address next.",
      auth: 'public',
      audit: 'login_ended',
      errors: [403],
      responses: { 200: Type.Object({ ok: Type.Literal(true), logout_url: Type.Optional(Type.String({ format: 'uri' })) }, { 'x-name': 'LogoutAnswer' }) },
      handler: async (req) => endLogin(deps, req),
    }),
  ];
};

interface LoginRequest {
  readonly key?: string;
  readonly code?: string;
  readonly remember?: boolean;
}

/** Of a wrong key or code, which is counted. A right one always works (B2). */
function refusalOf(attempts: Attempts, network: string, wrong: Error): Error {
  const waitMs = attempts.waitMs(network);
  attempts.failed(network);
  return waitMs > 0 ? authErrors.too_many_attempts().with({ headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) } }) : wrong;
}

async function logIn(deps: LoginRouteDeps, req: Req, body: LoginRequest) {
  const { keyring, attempts, links, logins, clock } = deps;
  // A page from elsewhere could make a browser somebody else's than its person believes.
  if (req.page === 'other') throw authErrors.foreign_page();
  if (keyring().isOpen) throw authErrors.login_not_needed();
  const key = (body.code === undefined ? textThatIsSet(body.key) : links.use(body.code)) ?? '';
  await deps.known(key);
  const made = keyring().find(key) && (await logins.create(key, { isRemembered: body.remember === true, instead: sentLogin(req) }));
  if (!made) throw refusalOf(attempts, req.network, (body.code === undefined ? authErrors.key_invalid() : authErrors.link_over()).with({ headers: WWW_AUTHENTICATE }));
  if (!req.isSecure && !LOOPBACK.test(req.ip)) deps.sawPlainLogin();
  const { id, login } = made;
  return reply(200, { role: login.actor.role, name: nameOf(login.actor), expires_at: timeOf(login) }, givenCookie(req, id, login.expiresAt - clock.now()));
}

async function endLogin({ endCredential, keyring, known, logins, logOut, presentedKey }: LoginRouteDeps, req: Req) {
  const id = sentLogin(req);
  const key = presentedKey(req);
  await known(key);
  if (id !== undefined) assertOwnPage(req);
  const actor = id === undefined ? key && keyring().find(key) : (await logins.find(id))?.actor;
  const credential = actor ? keyring().issuedBy(actor) : undefined;
  const ended = credential?.isLogin ? await logOut.call({ credential: credential.id, origin: originOf(req) }) : undefined;
  if (credential?.isLogin) await endCredential(credential.id);
  if (id !== undefined) await logins.end(id);
  return reply(200, { ok: true, ...(ended?.logoutUrl === undefined ? {} : { logout_url: ended.logoutUrl }) }, takenCookie(req));
}

async function makeLink({ keyring, links, presentedKey }: LoginRouteDeps, req: Req) {
  if (keyring().isOpen) throw authErrors.login_not_needed();
  // A wrong key does not come this far: the route needs a caller. One that is known by its cookie has none.
  const key = presentedKey(req);
  if (key === undefined) throw authErrors.key_missing().with({ headers: WWW_AUTHENTICATE });
  const { code, forMs } = links.make(key);
  return reply(200, { code, expires_in: forMs / 1_000 }, { 'cache-control': 'no-store' });
}

/** A page of this daemon is given a login while nobody needs one, so that it goes on when the daemon makes a key. */
async function openCaller<C>({ logins, clock, log }: LoginRouteDeps, req: Req, caller: C) {
  if (req.page !== 'own') return reply(200, caller);
  const instead = sentLogin(req);
  try {
    const login = instead === undefined ? undefined : await logins.find(instead);
    if (instead !== undefined && login) return reply(200, caller, givenCookie(req, instead, login.expiresAt - clock.now()));
    const made = await logins.createOpen({ instead });
    return reply(200, caller, made ? givenCookie(req, made.id, made.login.expiresAt - clock.now()) : {});
  } catch (cause) {
    // It has to log in later; it is not turned away now.
    log.warn('a page could not be given a login in advance', { cause });
    return reply(200, caller);
  }
}

async function whoIs(deps: LoginRouteDeps, req: Req) {
  const { keyring, logins, clock } = deps;
  const known = (via: 'key' | 'cookie' | 'open', actor: Actor, login?: Login) => ({
    authenticated: true,
    login_required: false,
    via,
    role: actor.role,
    ...shownOf(actor, login, deps.personName(actor.ownerId)),
  });
  const key = deps.presentedKey(req);
  await deps.known(key);
  if (keyring().isOpen) return openCaller(deps, req, known('open', OWNER));
  const actor = key === undefined ? undefined : keyring().find(key);
  if (actor) return reply(200, known('key', actor));
  const id = key === undefined ? sentLogin(req) : undefined;
  const login = id === undefined ? undefined : await logins.find(id);
  if (id === undefined || !login) return reply(200, { authenticated: false, login_required: true });
  return reply(200, known('cookie', login.actor, login), login.isRemembered ? givenCookie(req, id, login.expiresAt - clock.now()) : {});
}

const shownOf = (actor: Actor, login: Login | undefined, name = nameOf(actor)) => ({
  name,
  ...(login ? { expires_at: timeOf(login) } : {}),
});

const nameOf = (actor: Actor): string => actor.id.replace(/^(user|oidc):/, '');

const HOST = /^[\w.:[\]-]{1,255}$/;
const originOf = ({ headers, isSecure }: Req): string => `${isSecure ? 'https' : 'http'}://${HOST.test(headers.host ?? '') ? headers.host : 'localhost'}`;

const timeOf = (login: Login): string => new Date(login.expiresAt).toISOString();
