/** Bodies of answers. */
import { Type } from '@svc/api';

const sub = Type.String({ description: 'The subject: who it is at the provider' });
const name = Type.String();
const email = Type.Optional(Type.String());
const picture = Type.Optional(Type.String());

export const SignedIn = Type.Object(
  {
    token: Type.String({ description: 'A bearer token of svc. POST /auth/logout ends it' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    provider: Type.String(),
    user: Type.Object({ sub, name, email, picture }),
  },
  { 'x-name': 'SignedIn' },
);

export const Profile = Type.Object(
  {
    auth_method: Type.Union([Type.Literal('oidc'), Type.Literal('api_key')]),
    issuer: Type.String(),
    provider: Type.Optional(Type.String()),
    sub: Type.Optional(sub),
    name: Type.Optional(name),
    email,
    picture,
    roles: Type.Optional(Type.Array(Type.String(), { description: 'What roles_claim lists' })),
    email_verified: Type.Optional(Type.Boolean()),
  },
  { 'x-name': 'AuthProfile' },
);

export const Introspection = Type.Object(
  {
    active: Type.Boolean(),
    provider: Type.Optional(Type.String()),
    sub: Type.Optional(sub),
    email,
    name: Type.Optional(name),
    roles: Type.Optional(Type.Array(Type.String())),
    iss: Type.Optional(Type.String()),
    exp: Type.Optional(Type.Integer({ description: 'Seconds since 1970' })),
    iat: Type.Optional(Type.Integer()),
    error: Type.Optional(Type.String({ description: 'Why it is not active' })),
  },
  { 'x-name': 'TokenIntrospection' },
);
