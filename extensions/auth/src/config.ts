import { OneOf, Type, defineConfig } from '@svc/api';

export const ApiKey = Type.String({
  default: '',
  maxLength: 1_024,
  description: 'If set, all routes except the public ones (the page, /docs, GET /api/health and /api/ready) need it as a bearer token; sha256:<hex> of the key also works',
  'x-secret': true,
  'x-hash-serves': true,
  'x-caller-key': true,
  'x-env': 'SVC_API_KEY',
  'x-security': true,
});
export const ApiKeyHash = Type.String({
  default: '',
  pattern: '^\\s*$|^sha256:[0-9a-fA-F]{64}$',
  description: 'sha256:<hex> of the key, so that the key itself is not in the file',
  'x-caller-key': true,
  'x-security': true,
});
export const OwnerKeyHash = Type.String({
  default: '',
  pattern: '^$|^sha256:[0-9a-f]{64}$',
  description:
    'Set by the daemon, never in the file: sha256:<hex> of the key in owner.key. The daemon creates this key before it starts a program that no sandbox blocks from its port. Used while no other key is set',
  'x-caller-key': true,
  'x-owner-key': true,
  'x-security': true,
  'x-by-hand': 'the daemon sets it automatically',
});
export const Users = Type.Array(
  Type.Object(
    {
      name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
      role: OneOf(['owner', 'admin', 'user', 'viewer'], { default: 'user' }),
      api_key_hash: Type.Optional(Type.String({ pattern: '^sha256:[0-9a-fA-F]{64}$', description: "sha256:<hex> of this person's key", 'x-caller-key': true })),
      oidc: Type.Optional(
        Type.Array(Type.String({ pattern: '^[a-z0-9_-]{1,64}:\\S{1,255}$', 'x-caller-key': true }), {
          maxItems: 20,
          description: 'Whom this person signs in as: provider:subject, with the id of a provider of [external_auth]',
          examples: [['company:248289761001']],
        }),
      ),
      email: Type.Optional(Type.String({ maxLength: 254, pattern: '^[^@\\s]+@[^@\\s]+$', description: 'Read where [external_auth] link_by_verified_email is set' })),
      channel_bindings: Type.Optional(
        Type.Record(
          Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$' }),
          Type.Union([Type.String({ minLength: 1, maxLength: 199 }), Type.Array(Type.String({ minLength: 1, maxLength: 199 }), { maxItems: 20 })]),
          {
            description:
              'Who this person is on channels: the id of the sender, or several, by the name of the channel. Their messages act as this person. It holds on Telegram, Discord, Slack, Matrix and sidecars, where the platform says who sent a message',
            examples: [{ telegram: '123456789' }],
          },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  {
    default: [],
    maxItems: 1_000,
    description: 'People with keys or sign-ins of their own; each sees only their own rows unless admin or owner',
    'x-security': true,
    'x-by-hand': 'it defines people and their access',
  },
);

export const ApiKeySetting = defineConfig('/api_key', ApiKey);
export const ApiKeyHashSetting = defineConfig('/api_key_hash', ApiKeyHash);
export const OwnerKeyHashSetting = defineConfig('/owner_key_hash', OwnerKeyHash);
export const UsersSetting = defineConfig('/users', Users);
