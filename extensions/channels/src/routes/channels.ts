/** Channels over HTTP: what there is, setting one up, testing it, and messages that come by HTTP. */
import { type Clock, type Events, type Ids, OneOf, reply, type RouteDecl, routeGroup, type Secrets, Type } from '@svc/api';
import type { Accounts } from '../accounts.js';
import { ChannelFault } from '../adapters/adapter.js';
import { channelErrors } from '../errors.js';
import { isClosed, PLATFORMS } from '../registry/registry.js';
import { Channel, type ChannelRows, configuredOr } from '../rows.js';
import type { Supervisor } from '../supervisor.js';
import { whatsappRoutes } from './whatsapp.js';

export interface ChannelRouteDeps {
  readonly rows: ChannelRows;
  readonly accounts: Accounts;
  readonly supervisor: Supervisor;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly events: Events;
  readonly adapterNames: ReadonlySet<string>;
  readonly closing: AbortSignal;
}

const route = routeGroup({ area: 'channels', errors: [404] });
const COST = 10;
const TEST_MS = 20_000;
const MAX_MESSAGE_BYTES = 262_144;

const Params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z0-9][a-z0-9_-]*$', description: 'Name of the channel', examples: ['telegram'] }) });
const Meta = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    category: Type.String(),
    tags: Type.Array(Type.String()),
    icon: Type.String(),
    protocol: Type.String(),
    status: OneOf(['available', 'no_adapter', 'closed'], { description: '`closed`: its makers switched it off. `no_adapter`: svc cannot connect it, except by a sidecar' }),
    metadata: Type.Object({ url: Type.String(), docs: Type.String() }),
  },
  { 'x-name': 'ChannelMeta' },
);
const Value = Type.Union([Type.String({ maxLength: 16_000 }), Type.Number(), Type.Boolean(), Type.Array(Type.String({ maxLength: 400 }), { maxItems: 1_000 })]);
const ConfigureBody = Type.Object(
  {
    fields: Type.Optional(Type.Record(Type.String({ maxLength: 64 }), Value, { description: 'By their keys, as `GET /api/channels/{name}` lists them' })),
    token: Type.Optional(Type.String({ maxLength: 16_000, description: 'The first secret of the channel' })),
    agent_name: Type.Optional(Type.String({ maxLength: 200, description: 'Who answers, where no binding says otherwise' })),
  },
  { additionalProperties: Type.Union([...Value.anyOf, Type.Record(Type.String({ maxLength: 64 }), Value)]), 'x-name': 'ChannelSetup' },
);

export const channelRoutes = (deps: ChannelRouteDeps): RouteDecl[] => [
  list(deps),
  registry(deps),
  get(deps),
  configure(deps),
  remove(deps),
  sidecarConfigure(deps),
  test(deps),
  reload(deps),
  ...whatsappRoutes(deps),
  inbound(deps),
];

const list = ({ rows }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'listChannels',
    method: 'GET',
    path: '/api/channels',
    summary: 'List channels',
    description: 'Every channel that svc has an adapter for, configured or not, and each program of `[[sidecar_channels]]`. Secrets are never shown.',
    responses: { 200: Type.Object({ channels: Type.Array(Channel), total: Type.Integer(), configured_count: Type.Integer() }) },
    handler: async ({ actor }) => {
      const channels = await rows.list(actor);
      return reply(200, { channels, total: channels.length, configured_count: channels.filter(({ configured }) => configured).length });
    },
  });

const registry = ({ adapterNames }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'listChannelPlatforms',
    method: 'GET',
    path: '/api/channels/registry',
    summary: 'List platforms by name',
    description: 'The 44 platforms that have a name here, and whether svc can connect each.',
    responses: { 200: Type.Array(Meta) },
    handler: () =>
      reply(
        200,
        PLATFORMS.map(({ id, name, category, tags, protocol, url, docs }) => ({
          ...{ id, name, category, tags: [...tags], protocol, icon: 'message-square', description: `Messages of ${name}.`, metadata: { url, docs } },
          status: isClosed(id) ? ('closed' as const) : adapterNames.has(id) ? ('available' as const) : ('no_adapter' as const),
        })),
      ),
  });

const get = ({ rows }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'getChannel',
    method: 'GET',
    path: '/api/channels/{name}',
    summary: 'Get a channel',
    description: 'Its settings without their secrets, and its state with what to do about an error.',
    params: Params,
    responses: { 200: Channel },
    handler: async ({ actor, params }) => reply(200, await rows.get(actor, params.name)),
  });

const configure = ({ accounts, supervisor, rows }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'configureChannel',
    method: 'POST',
    path: '/api/channels/{name}/configure',
    summary: 'Configure a channel',
    description: 'Secrets go into the vault; one that is stored already need not be sent again. Other fields that are left out are cleared. It is connected at once. For owners and admins.',
    permission: 'channels.admin',
    cost: COST,
    audit: 'channel_configured',
    auditCategory: 'settings',
    params: Params,
    body: ConfigureBody,
    examples: {
      'a bot of Telegram': { token: '123456:ABC-DEF', agent_name: 'assistant' },
      'by fields': { fields: { topic: 'my-quiet-topic-7f3a', default_agent: 'assistant' } },
      'a broker': { fields: { broker_url: 'mqtt://broker.local:1883', topic_in: 'home/ask', topic_out: 'home/answer' } },
    },
    errors: [409],
    responses: { 200: Type.Object({ status: Type.Literal('configured'), channel: Type.String(), activated: Type.Boolean(), started_channels: Type.Array(Type.String()), note: Type.String() }) },
    handler: async ({ actor, params, body }) => {
      await accounts.configure(actor, params.name, body);
      const started = await supervisor.sync();
      const { warnings, webhook_endpoint: endpoint } = await rows.get(actor, params.name);
      const note = [endpoint === null ? 'It is being connected; its state says how that goes.' : `Messages are taken at ${endpoint}.`, ...warnings].join(' ');
      return reply(200, { status: 'configured' as const, channel: params.name, activated: true, started_channels: started, note });
    },
  });

const remove = ({ accounts, supervisor }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'removeChannel',
    method: 'DELETE',
    path: '/api/channels/{name}/configure',
    summary: 'Remove the configuration of a channel',
    description: 'Its connection ends, and its secrets are deleted. Conversations and deliveries stay. For owners and admins.',
    permission: 'channels.admin',
    cost: COST,
    audit: 'channel_removed',
    auditCategory: 'settings',
    params: Params,
    errors: [409],
    responses: { 200: Type.Object({ status: Type.Literal('removed'), channel: Type.String(), remaining_channels: Type.Array(Type.String()), note: Type.String() }) },
    handler: async ({ params }) => {
      await accounts.remove(params.name);
      await supervisor.sync();
      return reply(200, { status: 'removed' as const, channel: params.name, remaining_channels: (await accounts.all()).map(({ name }) => name), note: 'Its secrets are deleted.' });
    },
  });

const sidecarConfigure = ({ accounts, supervisor }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'configureSidecarChannel',
    method: 'POST',
    path: '/api/channels/sidecar/{name}/configure',
    summary: 'Store the values of a sidecar channel',
    description:
      'For a program of `[[sidecar_channels]]` in config.toml. All values go into the vault and reach the environment of this program alone. An empty value keeps the stored one; one that is left out is deleted. The program is started again. For owners and admins.',
    permission: 'channels.admin',
    cost: COST,
    audit: 'channel_configured',
    auditCategory: 'settings',
    params: Params,
    body: Type.Object({
      values: Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }), Type.String({ maxLength: 16_000 }), { description: 'Variables of its environment', maxProperties: 100 }),
    }),
    examples: {
      'a token': { values: { SIGNAL_API_KEY: 'a long random text' } },
      'several values': { values: { MATRIX_HOMESERVER_URL: 'https://matrix.example.org', MATRIX_ACCESS_TOKEN: 'syt_…' } },
      'keep what is stored': { values: { MATRIX_ACCESS_TOKEN: '' } },
    },
    responses: {
      200: Type.Object({
        status: Type.Literal('saved'),
        hot_actions_applied: Type.Array(Type.String()),
        restart_required: Type.Boolean({ description: 'Always false: the program is started again by itself' }),
        shadowed_secrets: Type.Array(Type.String({ description: 'Values that `env` of the entry in config.toml overrides' })),
      }),
    },
    handler: async ({ actor, params, body }) => {
      const shadowed = await accounts.configureSidecar(actor, params.name, body.values);
      const started = await supervisor.sync();
      return reply(200, { status: 'saved' as const, hot_actions_applied: started.map((name) => `started ${name}`), restart_required: false, shadowed_secrets: shadowed });
    },
  });

const test = ({ accounts, supervisor, clock, ids, closing }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'testChannel',
    method: 'POST',
    path: '/api/channels/{name}/test',
    summary: 'Test a channel',
    description: 'Asks the platform whether the settings work. With `channel_id` or `chat_id` it also sends a message there. What does not work is said in the answer. For owners and admins.',
    permission: 'channels.admin',
    cost: COST,
    audit: 'channel_tested',
    params: Params,
    bodyRule: 'optional',
    body: Type.Object({
      channel_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'A chat, as the platform names it' })),
      chat_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The same' })),
      message: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    }),
    examples: { 'ask the platform': {}, 'send a message too': { chat_id: '123456789' }, 'with words of your own': { chat_id: '123456789', message: 'Can you read this?' } },
    errors: [409],
    responses: { 200: Type.Object({ status: OneOf(['ok', 'error']), message: Type.String(), fix: Type.Optional(Type.String()) }) },
    handler: async ({ params, body, signal }) => {
      const adapter = accounts.adapterOf(params.name);
      const account = configuredOr(await accounts.find(params.name), params.name);
      const late = new AbortController();
      const waiting = clock.sleep(TEST_MS, late.signal).then(() => {
        throw new ChannelFault('it did not answer in time', 'Check the address and the network.');
      });
      waiting.catch(() => undefined);
      const connection = supervisor.connectionTo(account, adapter, AbortSignal.any([signal, closing, late.signal]));
      const chat = body.chat_id ?? body.channel_id;
      const work = async (): Promise<string> => {
        const said = await adapter.check(connection);
        if (chat === undefined) return said;
        await adapter.send(connection, { key: `test:${ids.uuid()}`, chat, text: body.message ?? 'A test of svc.', facts: {} });
        return `${said} A message was sent to ${chat}.`;
      };
      try {
        return reply(200, { status: 'ok' as const, message: await Promise.race([work(), waiting]) });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return reply(200, { status: 'error' as const, message, ...(error instanceof ChannelFault ? { fix: error.fix } : {}) });
      } finally {
        late.abort();
      }
    },
  });

const reload = ({ supervisor }: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'reloadChannels',
    method: 'POST',
    path: '/api/channels/reload',
    summary: 'Connect all channels anew',
    description: 'Ends the connections of this daemon and begins them again, without a restart. For owners and admins.',
    permission: 'channels.admin',
    cost: COST,
    audit: 'channels_reloaded',
    responses: { 200: Type.Object({ status: Type.Literal('ok'), started: Type.Array(Type.String()) }) },
    handler: async () => reply(200, { status: 'ok' as const, started: await supervisor.restart() }),
  });

const inbound = (deps: ChannelRouteDeps): RouteDecl =>
  route({
    id: 'receiveChannelWebhook',
    method: 'POST',
    path: '/api/channels/{name}/webhook',
    summary: 'Send a message to an agent by a signed webhook',
    description:
      'The body is JSON: `message`, `sender_id`, and perhaps `sender_name`, `thread_id`, `is_group`, `metadata`. Needs no API key. `X-Webhook-Signature: sha256=<hex>` is the HMAC-SHA256 of the exact bytes of the body under the secret of the channel; `X-Webhook-Timestamp`, in milliseconds, may differ by five minutes. The same `metadata.message_id` is one message. The answer goes to `callback_url`. `slack` is the Request URL for events of Slack, with its own signature by the signing secret of the app.',
    auth: 'public',
    cost: COST,
    permission: 'channels.write',
    rawBody: true,
    maxBodyBytes: MAX_MESSAGE_BYTES,
    params: Params,
    headers: Type.Object({
      'X-Webhook-Signature': Type.Optional(Type.String({ description: 'sha256= and 64 hexadecimal digits' })),
      'X-Webhook-Timestamp': Type.Optional(Type.String({ description: 'Milliseconds since 1970' })),
      'X-Slack-Signature': Type.Optional(Type.String({ description: 'v0= and 64 hexadecimal digits, of Slack' })),
      'X-Slack-Request-Timestamp': Type.Optional(Type.String({ description: 'Seconds since 1970, of Slack' })),
    }),
    errors: [403, 409],
    responses: { 200: Type.Object({ status: OneOf(['accepted', 'duplicate', 'ignored']), challenge: Type.Optional(Type.String({ description: 'What Slack sent to see whose address it is' })) }) },
    handler: async ({ params, body, headers, signal }) => {
      const adapter = deps.accounts.adapterOf(params.name);
      if (!adapter.accept) throw channelErrors.not_found(params.name);
      const account = configuredOr(await deps.accounts.find(params.name), params.name);
      const connection = deps.supervisor.connectionTo(account, adapter, AbortSignal.any([signal, deps.closing]), await deps.supervisor.placeOf(account.name));
      return reply(200, await adapter.accept(connection, headers, body as unknown as Uint8Array));
    },
  });
