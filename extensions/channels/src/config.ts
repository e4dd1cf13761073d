import { defineConfig, OneOf, type Plain, Type } from '@svc/api';

const Value = Type.Union([Type.String({ maxLength: 4_000 }), Type.Number(), Type.Boolean(), Type.Array(Type.String({ maxLength: 400 }), { maxItems: 1_000 })]);

export const ChannelsSection = defineConfig(
  'channels',
  Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), Type.Union([Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), Value), Value]), {
    default: {},
    description: 'Channels that are set up here, by name, with the fields of `GET /api/channels`. A field that ends in _env names the variable with the secret. They cannot be changed over the API',
    'x-security': true,
    'x-by-hand': 'it says who may write to agents',
  }),
);

const Sidecar = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'Unique; no name of a built-in channel' }),
    command: Type.String({ minLength: 1, maxLength: 1_000, description: 'The program, without a shell' }),
    args: Type.Optional(Type.Array(Type.String({ maxLength: 4_000 }), { maxItems: 100, description: 'Its arguments' })),
    env: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }), Type.String({ maxLength: 4_000 }), { description: 'Variables that are no secrets; they win over stored values' }),
    ),
    channel_type: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,63}$', description: 'The platform; by default the name' })),
    agent: Type.Optional(Type.String({ maxLength: 200, description: 'Who answers, where no binding says otherwise' })),
    restart: Type.Optional(Type.Boolean({ default: true, description: 'Whether it is started again when it ends' })),
    restart_initial_backoff_ms: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 600_000, default: 500, description: 'How long svc waits before it starts the program again; twice as long each time' }),
    ),
    restart_max_backoff_ms: Type.Optional(Type.Integer({ minimum: 10, maximum: 3_600_000, default: 30_000, description: 'The longest wait between two starts' })),
    restart_max_retries: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000, default: 10, description: 'After so many starts again that failed in a row, svc leaves the program alone for five minutes, then longer each time' }),
    ),
    restart_reset_after_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, default: 60, description: 'A program that ran this long counts as steady: its failures begin anew' })),
    ready_timeout_secs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 600,
        default: 30,
        description: 'How long it may take to say that it is ready. With the capability `heartbeat` it answers each `heartbeat` with `heartbeat_ack`, and is started again when it does not',
      }),
    ),
    dm_policy: Type.Optional(OneOf(['respond', 'allowed_only', 'ignore'], { description: 'Who gets an answer in private chats; by default people who are allowed' })),
    group_policy: Type.Optional(OneOf(['all', 'mention_only', 'commands_only', 'ignore'], { description: 'What is answered in groups; by default messages that mention the bot' })),
  },
  { additionalProperties: false },
);
export type SidecarEntry = Plain<typeof Sidecar>;

export const SidecarSetting = defineConfig(
  '/sidecar_channels',
  Type.Array(Sidecar, {
    default: [],
    maxItems: 32,
    description: 'Programs that connect other platforms. Their values are stored with POST /api/channels/sidecar/{name}/configure',
    'x-security': true,
    'x-by-hand': 'it names programs that the daemon starts',
  }),
);
