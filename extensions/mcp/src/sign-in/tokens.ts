/**
 * The requests that give and end tokens. What is secret is put in by the fetch adapter, and what comes goes to the vault.
 *
 * K1  A new refresh token is stored before the new access token is used.
 */
import type { FetchResponse, SecretRef, Secrets } from '@svc/api';
import { createHash } from 'node:crypto';
import { envSecret } from '../server-spec.js';
import type { Reach } from './reach.js';
import type { Authority } from './sign-in-store.js';

const PRINTABLE = /^[\x20-\x7e]{1,16384}$/;
const CODE = /^[A-Za-z0-9_.-]{1,60}$/;
const MAX_EXPIRY_SECS = 31_536_000;

export type TokenAnswer =
  | { readonly kind: 'granted'; readonly expiresInSecs: number | undefined; readonly canRefresh: boolean; readonly scope: string | undefined }
  /** The authority says no: a person has to sign in. */
  | { readonly kind: 'refused'; readonly code: string }
  /** It says nothing about the token. */
  | { readonly kind: 'failed'; readonly why: string };

const shortOf = (clientId: string): string => createHash('sha256').update(clientId).digest('hex').slice(0, 8);
export const oauthSecret = (server: string, name: 'access' | 'refresh' | 'verifier'): string => `mcp.${server}.oauth.${name}`;
export const clientSecret = (server: string, clientId: string, form: 'secret' | 'basic'): string => `mcp.${server}.oauth.${form}.${shortOf(clientId)}`;
/** RFC 6749, 2.3.1. */
export const basicOf = (clientId: string, secret: string): string => Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64');
/** After the name of the server. */
export const OAUTH_SECRET = /^oauth\.(?:access|refresh|verifier|(?:secret|basic)\.[0-9a-f]{8})$/;

export interface TokenDeps {
  readonly server: string;
  readonly reach: Reach;
  readonly secrets: Pick<Secrets, 'put'>;
}

type Form = Readonly<Record<string, string | undefined>>;

const posted = (
  { server, reach }: TokenDeps,
  endpoint: string,
  { client_id, client_auth, secret_env }: Authority,
  form: Form,
  secretForm: Readonly<Record<string, SecretRef>>,
): Promise<FetchResponse> => {
  const fields = Object.entries({ ...form, ...(client_auth === 'client_secret_basic' ? {} : { client_id }) }).filter((field): field is [string, string] => field[1] !== undefined);
  const own: SecretRef = secret_env === undefined ? { secret: clientSecret(server, client_id, 'secret') } : { secret: envSecret(server, secret_env), env: secret_env };
  return reach(endpoint, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
    secretForm: { ...secretForm, ...(client_auth === 'client_secret_post' ? { client_secret: own } : {}) },
    ...(client_auth === 'client_secret_basic' ? { secretHeaders: { authorization: { secret: clientSecret(server, client_id, 'basic'), prefix: 'Basic ' } } } : {}),
  });
};

export const exchanged = (deps: TokenDeps, authority: Authority, code: string): Promise<TokenAnswer> =>
  asked(
    deps,
    authority,
    { grant_type: 'authorization_code', code, redirect_uri: authority.redirect_uri, resource: authority.resource },
    { code_verifier: { secret: oauthSecret(deps.server, 'verifier') } },
  );

export const refreshed = (deps: TokenDeps, authority: Authority): Promise<TokenAnswer> =>
  asked(deps, authority, { grant_type: 'refresh_token', resource: authority.resource }, { refresh_token: { secret: oauthSecret(deps.server, 'refresh') } });

/** RFC 7009. The authority may know none of it: the values here are deleted anyway. */
export const revoked = async (deps: TokenDeps, authority: Authority, name: 'access' | 'refresh'): Promise<void> => {
  if (authority.revocation_endpoint === undefined) return;
  (await posted(deps, authority.revocation_endpoint, authority, { token_type_hint: `${name}_token` }, { token: { secret: oauthSecret(deps.server, name) } })).cancel();
};

const asked = async (deps: TokenDeps, authority: Authority, form: Form, secretForm: Readonly<Record<string, SecretRef>>): Promise<TokenAnswer> => {
  const answer = await posted(deps, authority.token_endpoint, authority, form, secretForm);
  const body = await objectOf(answer);
  const { host } = new URL(authority.token_endpoint);
  const { access_token: access, refresh_token: refresh, token_type: type, expires_in: expires, scope, error } = body;
  if (answer.status >= 500 || answer.status === 429) return { kind: 'failed', why: `${host} answered ${answer.status}.` };
  // Some authorities answer 200 with an error.
  if (typeof error === 'string') return { kind: 'refused', code: CODE.test(error) ? error : 'error' };
  if (answer.status >= 300) return { kind: 'failed', why: `${host} answered ${answer.status} without a token.` };
  if (!isText(access)) return { kind: 'failed', why: `The answer of ${host} has no access token.` };
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') return { kind: 'failed', why: `${host} gives tokens of another type than Bearer.` };
  const isNew = isText(refresh);
  if (isNew) await deps.secrets.put(oauthSecret(deps.server, 'refresh'), refresh);
  await deps.secrets.put(oauthSecret(deps.server, 'access'), access);
  return { kind: 'granted', expiresInSecs: Number(expires) > 0 ? Math.min(Number(expires), MAX_EXPIRY_SECS) : undefined, canRefresh: isNew, scope: isText(scope) ? scope : undefined };
};

const isText = (value: unknown): value is string => typeof value === 'string' && PRINTABLE.test(value);

const objectOf = async (answer: FetchResponse): Promise<Readonly<Record<string, unknown>>> => {
  try {
    const value: unknown = JSON.parse(await answer.text());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};
