/** Channels as they are shown. */
import { type Actor, type Clock, type Db, Nullable, OneOf, type Plain, seesAll, Type } from '@svc/api';
import type { Account } from './account.js';
import { type Accounts, withoutEffect } from './accounts.js';
import type { Adapter } from './adapters/adapter.js';
import type { DeliveryRow } from './contract.js';
import { channelErrors } from './errors.js';
import { fieldsOf } from './registry/fields.js';
import { platformOf } from './registry/registry.js';
import { STATES, type Supervisor } from './supervisor.js';

const At = Type.String({ format: 'date-time' });
const DAY_MS = 86_400_000;

const Field = Type.Object(
  {
    key: Type.String(),
    label: Type.String(),
    type: OneOf(['secret', 'text', 'number', 'list', 'select']),
    env_var: Nullable(Type.String(), { description: 'The variable that is used where no secret is stored' }),
    required: Type.Boolean(),
    advanced: Type.Boolean(),
    has_value: Type.Boolean(),
    value: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())], { description: 'Never of a secret; for owners and admins' })),
    options: Type.Optional(Type.Array(Type.String())),
  },
  { 'x-name': 'ChannelField' },
);

export const Channel = Type.Object(
  {
    name: Type.String(),
    enabled: Type.Boolean({ description: 'It is configured, and svc listens to it' }),
    has_token: Type.Boolean({ description: 'It has the secrets that it needs' }),
    display_name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    icon: Type.String(),
    channel_type: Type.String({ description: 'The adapter' }),
    difficulty: OneOf(['Easy', 'Medium', 'Hard']),
    setup_time: Type.String(),
    quick_setup: Type.String(),
    setup_type: OneOf(['form', 'qr', 'sidecar']),
    configured: Type.Boolean(),
    in_config: Type.Boolean({ description: 'It is set up in config.toml, and changed there' }),
    fields: Type.Array(Field),
    setup_steps: Type.Array(Type.String()),
    config_template: Type.String({ description: 'What config.toml would hold' }),
    webhook_endpoint: Nullable(Type.String({ description: 'Where messages are sent to, at this daemon' })),
    warnings: Type.Array(Type.String()),
    state: OneOf(STATES, { description: '`listening`: it is called by others. `connected`: the platform answered within the last minute; `deaf`: it did not' }),
    connected: Type.Boolean(),
    last_error: Nullable(Type.String()),
    fix: Nullable(Type.String({ description: 'What to do about the error' })),
    started_at: Nullable(At),
    last_message_at: Nullable(At),
    messages_received: Type.Integer({ description: 'In thirty days' }),
    messages_sent: Type.Integer({ description: 'In thirty days' }),
    msgs_24h: Type.Integer(),
  },
  { 'x-name': 'Channel' },
);
export type Channel = Plain<typeof Channel>;

export interface RowDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'now'>;
  readonly secrets: { where(ref: { secret: string; env?: string }): Promise<'stored' | 'environment' | undefined> };
  readonly accounts: Accounts;
  readonly supervisor: Pick<Supervisor, 'standing'>;
  readonly adapters: ReadonlyMap<string, Adapter>;
}

export interface ChannelRows {
  list(actor: Actor): Promise<Channel[]>;
  /** Throws `channels_not_found`, `channels_no_adapter`. */
  get(actor: Actor, name: string): Promise<Channel>;
}

export const createChannelRows = (deps: RowDeps): ChannelRows => ({
  list: async (actor) => {
    const configured = await deps.accounts.all();
    const builtIn = [...deps.adapters.keys()].filter((name) => name !== 'sidecar');
    const names = [...builtIn, ...configured.map(({ name }) => name).filter((name) => !builtIn.includes(name))];
    return Promise.all(
      names.map((name) =>
        channelOf(
          deps,
          actor,
          name,
          configured.find((one) => one.name === name),
        ),
      ),
    );
  },
  get: async (actor, name) => {
    deps.accounts.adapterOf(name);
    return channelOf(deps, actor, name, await deps.accounts.find(name));
  },
});

const labelOf = (key: string): string => {
  const words = key.replace(/_env$/, '').replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

const channelOf = async (deps: RowDeps, actor: Actor, name: string, account: Account | undefined): Promise<Channel> => {
  const adapter = deps.accounts.adapterOf(name);
  const platform = platformOf(name);
  const isSidecar = adapter.id === 'sidecar';
  const specs = isSidecar ? [] : fieldsOf(name);
  const fields = await Promise.all(
    specs.map(async ({ key, type, required, advanced, env, options }) => {
      const value = account?.fields[key];
      const isGiven = type === 'secret' ? (await deps.secrets.where(deps.accounts.secretOf(name, key, account))) !== undefined : value !== undefined;
      return {
        ...{ key, label: labelOf(key), type, env_var: env ?? null, required, advanced, has_value: isGiven },
        ...(type === 'secret' || value === undefined || !seesAll(actor) ? {} : { value }),
        ...(options === undefined ? {} : { options: [...options] }),
      };
    }),
  );
  const standing = account ? await deps.supervisor.standing(account, adapter) : undefined;
  const counts = await countsOf(deps, name, account !== undefined);
  return {
    ...{ name, enabled: account !== undefined, has_token: fields.every(({ type, required, has_value: has }) => type !== 'secret' || !required || has), display_name: platform?.name ?? name },
    ...{
      description: adapter.description,
      category: platform?.category ?? 'messaging',
      icon: 'message-square',
      channel_type: adapter.id,
      difficulty: adapter.difficulty,
      setup_time: adapter.setupTime,
    },
    ...{ quick_setup: adapter.steps[0] ?? '', setup_type: isSidecar ? ('sidecar' as const) : ('form' as const), configured: account !== undefined, in_config: account?.isInConfig ?? false },
    ...{ fields, setup_steps: [...adapter.steps], config_template: templateOf(name), webhook_endpoint: adapter.accept ? `/api/channels/${name}/webhook` : null },
    warnings: account ? withoutEffect(account).map((key) => `${key} has no effect: messages come to the port of the daemon.`) : [],
    ...{ state: standing?.state ?? ('off' as const), connected: standing?.state === 'connected' || standing?.state === 'listening', last_error: standing?.problem ?? null, fix: standing?.fix ?? null },
    started_at: standing?.startedAt ?? null,
    ...counts,
  };
};

const countsOf = async ({ db, clock }: RowDeps, channel: string, isConfigured: boolean): Promise<Pick<Channel, 'last_message_at' | 'messages_received' | 'messages_sent' | 'msgs_24h'>> => {
  if (!isConfigured) return { last_message_at: null, messages_received: 0, messages_sent: 0, msgs_24h: 0 };
  const reader = db.system('messages of a channel');
  const since = new Date(clock.now() - DAY_MS).toISOString();
  const [received, sent, recent, last] = await Promise.all([
    reader.count('deliveries', { channel, direction: 'inbound' }),
    reader.count('deliveries', { channel, direction: 'outbound', status: 'sent' }),
    reader.count('deliveries', { channel, created_at: { gt: since } }),
    reader.first<Pick<DeliveryRow, 'created_at'>>({
      from: 'deliveries',
      columns: ['created_at'],
      where: { channel, direction: 'inbound' },
      order: [{ column: 'created_at', descending: true }],
      limit: 1,
    }),
  ]);
  return { last_message_at: last?.created_at ?? null, messages_received: received, messages_sent: sent, msgs_24h: recent };
};

const templateOf = (name: string): string => {
  const lines = fieldsOf(name).filter(({ required }) => required);
  return [`[channels.${name}]`, ...lines.map(({ key, env, type }) => `${key} = ${type === 'list' ? '[]' : JSON.stringify(env ?? '')}`)].join('\n');
};

/** For routes that need a channel that is set up. */
export const configuredOr = (account: Account | undefined, name: string): Account => {
  if (!account) throw channelErrors.not_configured(name);
  return account;
};
