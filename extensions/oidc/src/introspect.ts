/** Whether a token is worth something: one of svc, or one of a provider. */
import { isSvcError, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import type { Provider } from '@svc/ext-auth/contract';
import { claimsIn, providerOf } from './bearer.js';
import { oidcErrors } from './errors.js';
import { userInfo } from './flow.js';
import { type Claims, rolesOf } from './identity.js';
import { chosen, type RouteDeps } from './routes.js';
import { sessionOf } from './sessions.js';
import { Introspection } from './shapes.js';

const route = routeGroup({ area: 'oidc' });
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const Body = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 16_384, description: 'A token that svc gave for a sign-in, or an access token of a provider' }),
    provider: Type.Optional(Type.String({ pattern: '^[a-z0-9_-]{1,64}$', description: 'Whose token it is, where the token does not say so. Default: the default provider' })),
  },
  { additionalProperties: false, 'x-name': 'TokenQuestion' },
);

export const introspectRoute = (deps: RouteDeps): RouteDecl =>
  route({
    id: 'checkToken',
    method: 'POST',
    path: '/api/auth/introspect',
    summary: 'Check a token',
    description:
      'Whether a token is valid, and whose it is. A JWT is checked by the keys of its provider, for the audience or the client of the settings; of another token the provider is asked. A token that is not valid is answered with `active: false`, a provider that cannot be asked with an error.',
    permission: 'oidc.send',
    cost: 10,
    body: Body,
    examples: {
      'a token of svc': { token: '6f0c…' },
      'a JWT of a provider': { token: 'eyJhbGciOi…' },
      'a token that does not say whose it is': { token: 'ya29.a0Af…', provider: 'google' },
    },
    errors: [404, 502, 503],
    responses: { 200: Introspection },
    handler: async ({ body: { provider: id, token } }) => {
      const named = await chosen(deps.auth, id);
      const own = await ofSvc(deps, token);
      if (own) return reply(200, own);
      const provider = id === undefined ? (providerOf(await deps.auth.providers(), token) ?? named) : named;
      try {
        const { roles_claim: path } = await deps.auth.externalAuth();
        const claims = await claimsOf(deps, provider, token);
        return reply(200, answerOf(provider, claims, path));
      } catch (error) {
        if (isSvcError(error) && ['oidc_bad_token', 'oidc_refused'].includes(error.code)) return reply(200, { active: false, error: error.message });
        throw error;
      }
    },
  });

const ofSvc = async ({ auth, sessions }: RouteDeps, token: string) => {
  const found = await auth.find(token);
  const id = found && sessionOf(found.credential);
  if (id === undefined) return undefined;
  const session = await sessions.find(id);
  const identity = session && (await sessions.identity(session.identity_id));
  if (!session || !identity) return undefined;
  const { email, issuer: iss, name, provider, roles, subject: sub } = identity;
  return {
    ...{ active: true, provider, sub, name, iss, roles: JSON.parse(roles) as string[], exp: secs(Date.parse(session.expires_at)), iat: secs(Date.parse(session.created_at)) }, // `arrive` wrote it
    ...(email === null ? {} : { email }),
  };
};

const secs = (ms: number): number => Math.floor(ms / 1_000);

const claimsOf = async ({ providers }: RouteDeps, provider: Provider, token: string): Promise<Claims> => {
  const opened = await providers.open(provider);
  if (JWT.test(token)) {
    const { aud } = claimsIn(token);
    const audience = [provider.audience, provider.client_id].find((one) => one !== '' && [aud].flat().includes(one));
    return opened.verify(token, { audience: audience ?? provider.client_id, isFresh: false });
  }
  if (!opened.config.serverMetadata().introspection_endpoint) return userInfo(opened, token, undefined);
  const client = await import('openid-client');
  const answer = await client.tokenIntrospection(opened.config, token).catch((error: unknown) => {
    throw oidcErrors.unreachable(provider.id, error instanceof Error ? error.message : String(error)).with({ cause: error });
  });
  if (!answer.active) throw oidcErrors.refused(provider.id, 'the token is not valid');
  return { ...answer };
};

const answerOf = (provider: Provider, claims: Claims, path: string) => {
  const texts = Object.fromEntries((['sub', 'email', 'name', 'iss'] as const).flatMap((name) => (typeof claims[name] === 'string' ? [[name, claims[name]]] : [])));
  const times = Object.fromEntries((['exp', 'iat'] as const).flatMap((name) => (typeof claims[name] === 'number' ? [[name, Math.floor(claims[name])]] : [])));
  return { active: true, provider: provider.id, ...texts, ...times, roles: rolesOf(claims, path) };
};
