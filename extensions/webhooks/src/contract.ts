/** Webhooks, event subscriptions and their deliveries. */
import { defineCollection, defineTable, defineWork, Field, type Item, Nullable, OneOf, type Plain, type RowOf, Type } from '@svc/api';
import { webhookErrors } from './errors.js';

export const KINDS = ['agent_spawned', 'agent_stopped', 'agent_error', 'message_received', 'message_completed', 'workflow_completed', 'workflow_failed', 'cron_fired', 'trigger_fired', 'all'] as const;
export type Kind = (typeof KINDS)[number];
/** Other spellings, by what each means. */
const SPELLINGS = {
  'agent.spawned': 'agent_spawned',
  'agent.stopped': 'agent_stopped',
  'agent.terminated': 'agent_stopped',
  'agent.error': 'agent_error',
  'message.received': 'message_received',
  'message.completed': 'message_completed',
  'workflow.completed': 'workflow_completed',
  'workflow.failed': 'workflow_failed',
  'cron.fired': 'cron_fired',
  'trigger.fired': 'trigger_fired',
} as const satisfies Readonly<Record<string, Kind>>;
type Spelling = Kind | keyof typeof SPELLINGS;
const SPELLED: readonly Spelling[] = [...KINDS, ...(Object.keys(SPELLINGS) as Array<keyof typeof SPELLINGS>)]; // its own keys

export const kindOf = (said: Spelling): Kind => (KINDS.some((kind) => kind === said) ? (said as Kind) : SPELLINGS[said as keyof typeof SPELLINGS]); // one of the two lists holds it

export const MAX_WEBHOOKS = 100;
const MAX_URL_CHARS = 2_048;
const MAX_SECRET_CHARS = 256;
const Kinds = OneOf(SPELLED, { description: 'Kind of event; a dotted spelling is stored with an underscore' });
const Url = Type.String({ minLength: 1, maxLength: MAX_URL_CHARS, pattern: '^https?://\\S+$', description: 'Where events are sent', examples: ['https://example.com/hook'] });
const Secret = Nullable(Field.secret({ maxLength: MAX_SECRET_CHARS }), {
  description: 'Signs what is sent. After `whsec_` it is base64, else its text is the key. The one before it signs along for 24 hours. Null clears it',
});
const WRITE_ONLY = { secret: 'has_secret' };

export const Delivered = Type.Object(
  {
    id: Type.String({ description: 'The `webhook-id` of each attempt' }),
    event: Type.String(),
    status: OneOf(['pending', 'sent', 'dead'], { description: '`dead`: given up, `reason` says why' }),
    attempts: Type.Integer(),
    response_status: Nullable(Type.Integer(), { description: 'Of the last attempt; null if nobody answered' }),
    reason: Nullable(Type.String()),
    created_at: Type.String(),
    ended_at: Nullable(Type.String()),
    next_attempt_at: Nullable(Type.String()),
  },
  { 'x-name': 'WebhookDelivery' },
);
export type Delivered = Plain<typeof Delivered>;

const fields = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '\\S' }),
  url: Url,
  events: Type.Array(Kinds, { minItems: 1, maxItems: 20, description: 'Events to send; `all` for every kind' }),
  secret: Secret,
  enabled: Type.Boolean({ default: true }),
});

export const Webhooks = defineCollection({
  area: 'webhooks',
  one: 'webhook',
  path: '/api/webhooks',
  fields,
  writeOnly: WRITE_ONLY,
  createdStatus: 200,
  list: { as: ['webhooks', 'items'], search: ['name', 'url'], sort: ['name', 'created_at', 'updated_at'] },
  columns: ['name', 'url', 'events', 'enabled'],
  args: ['name'],
  words: {
    title: { en: 'Webhooks', zh: '网络钩子' },
    one: { en: 'webhook', zh: '网络钩子' },
    note: { en: 'svc sends the events of your agents to these addresses, signed, for 28 hours until they are taken.', zh: 'svc 把你的智能体的事件签名后发送到这些地址，未被接收时重试 28 小时。' },
    empty: { en: 'No webhooks yet. Create one, and svc calls its address when something happens.', zh: '还没有网络钩子。创建后，有事发生时 svc 会调用其地址。' },
    fields: {
      name: { label: { en: 'Name', zh: '名称' } },
      url: { label: { en: 'Address', zh: '地址' } },
      events: { label: { en: 'Events', zh: '事件' } },
      secret: { label: { en: 'Secret', zh: '密钥' } },
      enabled: { label: { en: 'Enabled', zh: '启用' } },
    },
  },
  operations: {
    create: {
      description:
        'Each event is sent as `{type, event, timestamp, webhook_id, data}`. With a secret it is signed twice: `X-Webhook-Signature: sha256=<hex>` over the body, and the headers of Standard Webhooks. It is tried again for 28 hours; an address that answers 410 is disabled.',
      examples: {
        everything: { name: 'My log', url: 'https://example.com/hook', events: ['all'] },
        'what jobs did': { name: 'Jobs', url: 'https://example.com/jobs', events: ['cron_fired'], enabled: true },
        'answers, signed': { name: 'Answers', url: 'https://example.com/hook', events: ['message_completed', 'agent_error'], secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      },
      errors: [400],
    },
    update: { examples: { 'pause it': { enabled: false }, 'send it unsigned': { secret: null }, 'another address': { url: 'https://example.com/other' } }, errors: [400] },
  },
  actions: {
    test: {
      summary: 'Send a test event',
      description: 'One attempt, which waits for nothing and is not listed. Any answer counts as sent.',
      answer: Type.Object({ status: OneOf(['sent', 'error']), webhook_id: Type.String(), response_status: Type.Optional(Type.Integer()), error: Type.Optional(Type.String()) }),
      done: { en: 'Test: {status}.', zh: '测试：{status}。' },
      button: { label: { en: 'Test', zh: '测试' }, icon: 'send' },
    },
    deliveries: {
      id: 'listWebhookDeliveries',
      method: 'GET',
      summary: 'List what was sent, newest first',
      description: 'The newest 200. Those that ended are stored for thirty days.',
      answer: Type.Object({ deliveries: Type.Array(Delivered), total: Type.Integer(), why: Type.String({ description: 'Why the newest was or was not taken, in a sentence' }) }),
      command: {
        output: {
          kind: 'table',
          rows: 'deliveries',
          empty: 'Nothing was sent yet.',
          columns: [
            { field: 'created_at', title: 'AT', format: 'ago' },
            { field: 'event' },
            { field: 'status' },
            { field: 'attempts' },
            { field: 'response_status', title: 'ANSWER' },
            { field: 'reason', shrinks: true },
          ],
        },
      },
    },
  },
  missing: webhookErrors.not_found,
});
export type Webhook = Item<typeof Webhooks.spec.fields>;

export const EventSubscriptions = defineCollection({
  area: 'webhooks',
  one: 'event subscription',
  path: '/api/webhooks/events',
  fields: Type.Object({ event_type: Kinds, url: Url, secret: Secret, enabled: Type.Boolean({ default: true }) }),
  writeOnly: WRITE_ONLY,
  createdStatus: 200,
  word: 'webhooks',
  verbs: { create: 'subscribe', update: 'change-subscription', delete: 'unsubscribe' },
  args: ['event_type', 'url'],
  operations: {
    // Its answer is a bare array: a route of its own.
    list: false,
    get: false,
    create: {
      summary: 'Subscribe to a kind of event',
      description: 'Sends each event of this kind to the address, in the form and with the signatures of a webhook.',
      examples: {
        'new agents': { event_type: 'agent_spawned', url: 'https://example.com/hook', secret: 'a long random text' },
        answers: { event_type: 'message_completed', url: 'https://example.com/answers' },
        'errors, not yet': { event_type: 'agent_error', url: 'https://example.com/errors', enabled: false },
      },
      errors: [400],
    },
    update: { examples: { 'pause it': { enabled: false }, 'start it again': { enabled: true }, 'another address': { url: 'https://example.com/other' } }, errors: [400] },
  },
  missing: webhookErrors.not_found,
});
export type EventSubscription = Item<typeof EventSubscriptions.spec.fields>;

const text = { kind: 'text', notNull: true } as const;
export const DeliveryRows = defineTable('deliveries', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    webhook_id: text,
    event: text,
    body: text,
    status: text,
    attempts: { kind: 'integer', notNull: true },
    response_status: { kind: 'integer' },
    reason: { kind: 'text' },
    created_at: text,
    ended_at: { kind: 'text' },
    next_attempt_at: { kind: 'text' },
  },
  owner: 'owner_id',
  indexes: [['webhook_id', 'created_at'], ['created_at']],
});
export type DeliveryRow = RowOf<typeof DeliveryRows>;

/** Calls of hooks that said who they are, for as long as one that comes again is known. */
export const HookCalls = defineTable('hook_calls', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, created_at: text },
  owner: 'owner_id',
  indexes: [['created_at']],
});

/** Secrets that were changed, for as long as the one before signs along. */
export const SecretRotations = defineTable('secret_rotations', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, name: text, until: text },
  owner: 'owner_id',
  indexes: [['until']],
});

/** One event on its way to one address. */
export const WebhookDelivery = defineWork('webhook-delivery', '1.0.0', {
  input: Type.Object({ deliveryId: Type.String(), before: Type.Optional(Type.Integer({ description: 'Attempts before it was sent again' })) }),
  result: Type.Object({ status: Type.Integer({ description: 'HTTP status of the target' }) }),
});
