/** `[external_auth]`: the providers that people sign in at. Auth owns it, because a daemon that has a provider is never open, whatever else runs. */
import { defineConfig, OneOf, type Plain, Type } from '@svc/api';

const optional = (description: string) => Type.String({ maxLength: 2_000, default: '', pattern: '^$|^https?://\\S+$', description });
const VARIABLE = '^$|^[A-Z][A-Z0-9_]{0,99}$';

const provider = {
  issuer_url: optional('Address of the issuer. svc reads its endpoints from /.well-known/openid-configuration'),
  auth_url: optional('In place of the authorization endpoint that the issuer names'),
  token_url: optional('In place of the token endpoint that the issuer names'),
  userinfo_url: optional('In place of the userinfo endpoint that the issuer names'),
  jwks_uri: optional('In place of the keys that the issuer names'),
  client_id: Type.String({ maxLength: 500, default: '', description: 'Id of this daemon at the provider', 'x-caller-key': true }),
  client_secret_env: Type.String({
    pattern: VARIABLE,
    default: 'SVC_OAUTH_CLIENT_SECRET',
    description: 'Variable that has the secret of the client, unless the vault has it as oidc.client.<id>. Empty: a client without a secret',
  }),
  client_auth: OneOf(['basic', 'post'], { default: 'basic', description: 'How the secret is sent: as the client is registered at the provider' }),
  redirect_url: optional('Address of this daemon that the provider sends people back to; it ends in /api/auth/callback. Default: the address of the request'),
  response_mode: OneOf(['query', 'form_post'], {
    default: 'query',
    description: '`form_post`: the provider sends people back with a form. It works only over https, with the origin of the provider in cors_origins of [api]',
  }),
  scopes: Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,200}$' }), {
    maxItems: 30,
    default: ['openid', 'profile', 'email'],
    description: 'What svc asks for. Add offline_access where the provider gives refresh tokens for it: with one, svc notices when a person was removed there',
  }),
  allowed_domains: Type.Array(Type.String({ pattern: '^[A-Za-z0-9.-]{1,253}$' }), { maxItems: 100, default: [], description: 'Domains of e-mail addresses that may sign in; empty: all' }),
  audience: Type.String({ maxLength: 500, default: '', description: 'If set, a JWT of the provider for this audience works as a bearer token' }),
  require_email_verified: Type.Boolean({ default: true, description: 'Refuses people whose e-mail address the provider has not verified' }),
};

export const ExternalAuth = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether people can sign in at a provider' }),
    ...provider,
    session_ttl_secs: Type.Integer({ minimum: 60, maximum: 2_592_000, default: 86_400, description: 'How long a sign-in lasts' }),
    revalidate_secs: Type.Integer({ minimum: 10, maximum: 86_400, default: 900, description: 'How often svc asks the provider whether a sign-in still holds, where it gave a refresh token' }),
    roles_claim: Type.String({ maxLength: 200, default: '', description: 'Claim that lists groups or roles; dots lead inside, as in realm_access.roles', examples: ['groups'] }),
    role_map: Type.Record(Type.String({ minLength: 1, maxLength: 200 }), OneOf(['owner', 'admin', 'user', 'viewer']), {
      default: {},
      description: 'Role by value of roles_claim; of several the highest counts. Nobody is an owner by other means than a line here or in [[users]]',
    }),
    default_role: OneOf(['admin', 'user', 'viewer', 'none'], { default: 'user', description: 'Role of people without a line in role_map; `none` refuses them' }),
    link_by_verified_email: Type.Boolean({ default: false, description: 'A verified e-mail address that stands in [[users]] makes the person that user' }),
    providers: Type.Array(
      Type.Object(
        {
          id: Type.String({ pattern: '^[a-z0-9_-]{1,64}$', description: 'Short name, part of the sign-in address' }),
          display_name: Type.String({ maxLength: 100, default: '', description: 'Name on the button' }),
          ...provider,
        },
        { additionalProperties: false },
      ),
      { maxItems: 20, default: [], description: 'Several providers. The first one is the default' },
    ),
  },
  { additionalProperties: false, default: {}, 'x-security': true, 'x-by-hand': 'it defines who may sign in' },
);
export type ExternalAuth = Plain<typeof ExternalAuth>;

export const ExternalAuthSection = defineConfig('external_auth', ExternalAuth);

export const Provider = Type.Object({ id: Type.String(), display_name: Type.String(), ...provider });
export type Provider = Plain<typeof Provider>;

/** Those of the list, after the one that the section itself describes. */
export const providersOf = ({ providers, ...section }: ExternalAuth): readonly Provider[] => {
  const { enabled: _, session_ttl_secs, revalidate_secs, roles_claim, role_map, default_role, link_by_verified_email, ...own } = section;
  const named = providers.map((one) => ({ ...one, display_name: one.display_name || one.id }));
  return own.client_id.trim() === '' ? named : [{ id: 'default', display_name: 'SSO', ...own }, ...named];
};
