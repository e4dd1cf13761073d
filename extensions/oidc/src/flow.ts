/** The code flow: where a browser goes to sign in, and what its coming back is worth. */
import type { AuthorizationCodeGrantChecks, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { oidcErrors } from './errors.js';
import type { Claims } from './identity.js';
import { failureOf, type OpenedProvider } from './providers.js';
import type { Tokens } from './sealing.js';

export interface Secrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface Exchanged {
  /** Undefined where a refresh brought none. */
  readonly claims: Claims | undefined;
  readonly tokens: Tokens;
}

/** Where the browser goes. */
export const authorizationUrl = async ({ config, provider }: OpenedProvider, redirectUrl: string, { nonce, state, verifier }: Secrets): Promise<string> => {
  const client = await import('openid-client');
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUrl,
    scope: provider.scopes.join(' '),
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(provider.response_mode === 'form_post' ? { response_mode: 'form_post' } : {}),
  });
  return url.href;
};

/** Throws `oidc_bad_token`, `oidc_exchange_failed`, `oidc_unreachable`. */
export const exchange = async (opened: OpenedProvider, { url, nonce, state, verifier }: Secrets & { readonly url: URL }): Promise<Exchanged> => {
  const client = await import('openid-client');
  const checks: AuthorizationCodeGrantChecks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
  const answer = await client.authorizationCodeGrant(opened.config, url, checks).catch((error: unknown) => {
    throw refusal(opened, error);
  });
  const idToken = answer.id_token ?? '';
  await opened.verify(idToken, { audience: opened.provider.client_id, isFresh: true });
  return { claims: await whole(opened, answer), tokens: { idToken, refreshToken: answer.refresh_token } };
};

/** Throws `oidc_refused` where the provider says no, `oidc_unreachable`. */
export const refresh = async (opened: OpenedProvider, { idToken, refreshToken = '' }: Tokens, subject: string): Promise<Exchanged> => {
  const client = await import('openid-client');
  const answer = await client.refreshTokenGrant(opened.config, refreshToken).catch((error: unknown) => {
    throw refusal(opened, error);
  });
  if (answer.id_token !== undefined) await opened.verify(answer.id_token, { audience: opened.provider.client_id, isFresh: true });
  return { claims: await whole(opened, answer, subject), tokens: { idToken: answer.id_token ?? idToken, refreshToken: answer.refresh_token ?? refreshToken } };
};

type Answer = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** The claims of the id token, with those that only the userinfo endpoint has. */
const whole = async (opened: OpenedProvider, answer: Answer, subject?: string): Promise<Claims | undefined> => {
  const claims = answer.claims();
  const sub = subject ?? claims?.sub ?? '';
  if (claims && claims.sub !== sub) throw oidcErrors.bad_token(opened.provider.id, 'it is for somebody else');
  if (!opened.config.serverMetadata().userinfo_endpoint) return claims && { ...claims };
  return { ...(await userInfo(opened, answer.access_token, sub)), ...claims, sub };
};

export const userInfo = async (opened: OpenedProvider, accessToken: string, subject: string | undefined): Promise<Claims> => {
  const client = await import('openid-client');
  return client.fetchUserInfo(opened.config, accessToken, subject ?? client.skipSubjectCheck).catch((error: unknown) => {
    throw refusal(opened, error);
  });
};

/** OAuth's codes (RFC 6749, 5.2) that say no to a person, whatever else is right. */
const FINAL: ReadonlySet<string> = new Set(['invalid_grant', 'access_denied']);
const CODE = /^[A-Za-z0-9_.-]{1,60}$/;

const refusal = ({ provider: { id } }: OpenedProvider, error: unknown): Error =>
  failureOf(id, error, (why) => {
    const { name, error: code } = error as { name?: unknown; error?: unknown }; // openid-client's own classes
    const status = statusOf(error);
    const said = typeof code === 'string' && CODE.test(code) ? code : undefined;
    if (said !== undefined && FINAL.has(said)) return oidcErrors.refused(id, said);
    if (name === 'WWWAuthenticateChallengeError') return oidcErrors.refused(id, 'its token is not accepted');
    if (status !== undefined && status >= 500) return oidcErrors.unreachable(id, `it answered ${status}.`);
    return said !== undefined || status !== undefined ? oidcErrors.exchange_failed(id, said ?? `it answered ${status}`) : oidcErrors.bad_token(id, why);
  });

/** Of an answer of the provider, which stands in the error or is its cause. */
const statusOf = (error: unknown): number | undefined => {
  const { cause, status } = error as { cause?: { status?: unknown }; status?: unknown }; // openid-client's own classes
  return [status, cause?.status].find((one): one is number => typeof one === 'number');
};
