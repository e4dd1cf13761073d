/** What is ordinary: senders and deliveries, with routes and commands from one declaration. */
import { defineResource, Nullable, OneOf, Type, Uuid } from '@svc/api';
import { DELIVERY_STATES, DIRECTIONS } from './contract.js';
import { channelErrors } from './errors.js';

const At = Type.String({ format: 'date-time' });
export const MAX_LISTED = 500;

export const Sender = Type.Object(
  {
    id: Uuid,
    channel: Type.String(),
    sender: Type.String({ description: 'As the platform names them' }),
    name: Type.String(),
    state: OneOf(['waiting', 'allowed']),
    created_at: At,
    allowed_at: Nullable(At),
    person: Nullable(Type.String(), { description: 'Whom their messages act as, by a code; people of channel_bindings are not listed' }),
  },
  { 'x-name': 'ChannelSender' },
);

export const Senders = defineResource({
  area: 'channels',
  one: 'sender',
  path: '/api/channels/senders',
  item: Sender,
  operations: {
    list: { id: 'listChannelSenders', summary: 'List who may write from channels, and who asked to', permission: 'channels.admin' },
    delete: {
      id: 'deleteChannelSender',
      summary: 'Take a sender off the list',
      description: 'The next message from them is answered with a new code.',
      permission: 'channels.admin',
      audit: 'channel_sender_removed',
    },
  },
  verbs: { list: 'senders', delete: 'forget' },
  list: { as: ['senders'], search: ['sender', 'name'], filters: ['channel', 'state'] },
  actions: {
    allow: {
      on: 'list',
      id: 'allowChannelSender',
      summary: 'Allow a sender by their code',
      description: 'A sender who is not known gets a code from svc, once a day, and tells it to whoever runs the channel. A code can be used once, within a day.',
      permission: 'channels.admin',
      audit: 'channel_sender_allowed',
      auditCategory: 'settings',
      body: Type.Object({ code: Type.String({ minLength: 4, maxLength: 40, description: 'As the sender got it' }) }),
      examples: { 'a code': { code: 'K7QX2MPA' }, 'in lower case': { code: 'k7qx2mpa' }, 'with spaces around it': { code: ' K7QX2MPA ' } },
      answer: Sender,
      errors: [404],
      done: { en: '{sender} may write on {channel} now.', zh: '{sender} 现在可以在 {channel} 上发送消息。' },
      command: { verb: 'allow', args: ['code'] },
    },
  },
  columns: ['channel', 'sender', 'name', 'state', 'person'],
  missing: channelErrors.sender_not_found,
});

export const Delivery = Type.Object(
  {
    id: Uuid,
    direction: OneOf(DIRECTIONS),
    channel: Type.String(),
    chat: Type.String(),
    thread: Nullable(Type.String()),
    sender: Nullable(Type.String()),
    agent_id: Nullable(Type.String()),
    session_id: Nullable(Type.String()),
    run_id: Nullable(Type.String()),
    message: Type.String({ description: 'Its first 500 characters' }),
    status: OneOf(DELIVERY_STATES, { description: '`unknown`: it may have arrived, and is not sent again by itself' }),
    attempts: Type.Integer(),
    reason: Nullable(Type.String()),
    created_at: At,
    ended_at: Nullable(At),
  },
  { 'x-name': 'ChannelDelivery' },
);

export const Deliveries = defineResource({
  area: 'channels',
  one: 'delivery',
  many: 'deliveries',
  path: '/api/channels/deliveries',
  item: Delivery,
  operations: {
    list: {
      id: 'listChannelDeliveries',
      summary: 'List messages of channels, newest first',
      description: 'What came and what goes out, of the last thirty days.',
      query: Type.Object({
        channel: Type.Optional(Type.String({ maxLength: 64, pattern: '^[a-z][a-z0-9_-]*$', description: 'Name of a channel' })),
        direction: Type.Optional(OneOf(DIRECTIONS)),
        status: Type.Optional(OneOf(DELIVERY_STATES)),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LISTED, default: 50 })),
      }),
      answer: Type.Object({ deliveries: Type.Array(Delivery), total: Type.Integer() }),
    },
    delete: {
      id: 'deleteChannelDelivery',
      summary: 'Delete an ended delivery',
      description: 'One that waits or is being sent is refused. What was sent stays where it arrived.',
      errors: [409],
      isBlind: true,
      audit: 'channel_delivery_deleted',
    },
  },
  verbs: { list: 'deliveries', delete: 'drop' },
  actions: {
    retry: {
      id: 'retryChannelDelivery',
      summary: 'Send a failed message again',
      description: 'Also one of which nobody knows whether it arrived. It becomes a delivery of its own, behind those that wait in the chat.',
      isBlind: true,
      answer: Type.Object({ status: OneOf(['queued']), delivery_id: Uuid }),
      errors: [409],
      audit: 'channel_delivery_retried',
      done: { en: 'Sent again.', zh: '已重新发送。' },
    },
  },
  columns: ['channel', 'chat', 'status', 'message'],
  missing: channelErrors.delivery_not_found,
});
