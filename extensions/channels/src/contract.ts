/** What channels stores, and what it offers to others: sending a message to a chat. */
import {
  Actor,
  type Capabilities,
  coversGrant,
  defineCapability,
  defineEvent,
  defineService,
  defineTable,
  defineWork,
  grantOf,
  method,
  Nullable,
  OneOf,
  type Plain,
  type RowOf,
  type Service,
  seesAll,
  ToolFile,
  Type,
} from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const maybe = { kind: 'text' } as const;
const count = { kind: 'integer', notNull: true } as const;

/** Channels that were configured, without their secrets. */
export const AccountRows = defineTable('accounts', '1.0.0', {
  columns: { name: { kind: 'text', primaryKey: true }, owner_id: text, fields: text, created_at: text, updated_at: text },
  owner: 'owner_id',
});
export type AccountRow = RowOf<typeof AccountRows>;

/** How the connection of each channel is, and which daemon holds it. */
export const ConnectionRows = defineTable('connections', '1.0.0', {
  columns: { name: { kind: 'text', primaryKey: true }, state: text, problem: maybe, fix: maybe, answered_at: maybe, started_at: maybe, holder: maybe, held_until: maybe, place: maybe },
});
export type ConnectionRow = RowOf<typeof ConnectionRows>;

/** Choices within one chat: another agent, a new conversation. */
export const ChatRows = defineTable('chats', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: maybe, epoch: count, updated_at: text }, owner: 'owner_id' });
export type ChatRow = RowOf<typeof ChatRows>;

/** Who may write, who asked to, and who of them is a person of svc. */
export const SenderRows = defineTable('senders', '1.1.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    channel: text,
    sender: text,
    name: text,
    state: text,
    code: maybe,
    created_at: text,
    allowed_at: maybe,
    /** When the code was given, and in which chat. */
    code_at: maybe,
    code_chat: maybe,
    /** Whom their messages act as, and the most that they may do. */
    person_id: maybe,
    person_role: maybe,
    linked_at: maybe,
  },
  owner: 'owner_id',
  indexes: [['code']],
});
export type SenderRow = RowOf<typeof SenderRows>;

export const BindingRows = defineTable('bindings', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, agent: text, rule: text, created_at: text }, owner: 'owner_id' });
export type BindingRow = RowOf<typeof BindingRows>;

export const DIRECTIONS = ['inbound', 'outbound'] as const;
/** `unknown`: the daemon or the connection ended while it was sent; nobody knows whether it arrived. */
export const DELIVERY_STATES = ['received', 'answered', 'ignored', 'queued', 'sending', 'sent', 'failed', 'unknown'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Messages that came, and messages on their way out. */
export const DeliveryRows = defineTable('deliveries', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    direction: text,
    channel: text,
    chat: text,
    thread: maybe,
    sender: maybe,
    sender_name: maybe,
    agent_id: maybe,
    session_id: maybe,
    run_id: maybe,
    message: text,
    facts: text,
    status: text,
    attempts: count,
    reason: maybe,
    platform_id: maybe,
    created_at: text,
    ended_at: maybe,
  },
  owner: 'owner_id',
  indexes: [['created_at'], ['channel', 'created_at'], ['agent_id']],
});
export type DeliveryRow = RowOf<typeof DeliveryRows>;

/** Where an agent was last written to, by the people whose rows it then works with; apart for those who are linked to a person. */
export const LastChatRows = defineTable('last_chats', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: text, is_person: count, channel: text, chat: text, thread: maybe, at: text },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id']],
});
export type LastChatRow = RowOf<typeof LastChatRows>;

/** A message that came: from its acceptance to its answer. */
export const ChannelMessage = defineWork('channel-message', '1.0.0', { input: Type.Object({ deliveryId: Type.String() }), result: Type.Undefined() });
/** A message on its way to a chat. */
export const ChannelDelivery = defineWork('channel-delivery', '1.0.0', { input: Type.Object({ deliveryId: Type.String() }), result: Type.Undefined() });

/** A place to write to. */
export const Chat = Type.Object({ channel: Type.String(), chat: Type.String(), thread: Type.Optional(Type.String()) });
export type Chat = Plain<typeof Chat>;

export const AnswerTo = Type.Object({ runId: Type.String(), agentId: Type.String(), chat: Chat });
export type AnswerTo = Plain<typeof AnswerTo>;
/** The answer of a run on its way to the outbox. */
export const ChannelAnswer = defineWork('channel-answer', '1.0.0', { input: AnswerTo, result: Type.Undefined() });

export const ChannelsSend = defineCapability('channels_send', '1.0.0', { description: 'Send messages to these channels', grant: 'names' });

/** Whether this person may have something sent to a channel in the name of an agent with these capabilities. */
export const mayWriteTo = (actor: Actor, capabilities: Capabilities, channel: string): boolean => seesAll(actor) || coversGrant(ChannelsSend, grantOf(ChannelsSend, capabilities), channel);

/** A channel was configured, removed, or is in another state. */
export const ChannelChanged = defineEvent(
  'channels.changed',
  '1.1.0',
  Type.Object({
    name: Type.String(),
    change: OneOf(['configured', 'removed', 'state', 'message', 'senders', 'bindings']),
    deliveryId: Type.Optional(Type.String({ description: 'Of a message on its way out that has ended' })),
  }),
  { what: 'channels', permission: 'channels.read', id: 'name', state: 'change' },
);

export const Outgoing = Type.Object({
  channel: Type.String(),
  chat: Type.Optional(Type.String({ description: 'Where it goes, as the platform names it; left out where the channel has one place to write to' })),
  thread: Type.Optional(Type.String()),
  message: Type.String(),
  file: Type.Optional({ ...ToolFile, description: 'An upload that is sent in place of the message, where the platform takes files' }),
  subject: Type.Optional(Type.String({ description: 'Of a mail' })),
  agentId: Type.Optional(Type.String()),
  key: Type.String({ description: 'The same key is the same message' }),
});
export type Outgoing = Plain<typeof Outgoing>;

export const Channels = defineService('channels', '1.3.0', {
  /** Those that have an adapter, configured or not. */
  names: method([], Type.Array(Type.String()), { what: 'reads which channels there are' }),
  /** Durable when this resolves; the answer is the id of the delivery. Throws `channels_not_found`, `channels_not_configured`, `channels_no_recipient`. */
  send: method([Actor, Outgoing], Type.String(), { what: 'sends messages to the channels that are configured', changes: true }),
  /** Whether `send` would know where to: answers the chat. Throws what `send` throws. */
  reach: method([Type.Object({ channel: Type.String(), chat: Type.Optional(Type.String()) })], Chat, { what: 'reads which channels are configured' }),
  /**
   * Where the actor last wrote to this agent: as a linked person, else as a guest whose messages belong to the actor. With a session, the chat of that
   * conversation. Undefined where there is none.
   */
  lastChat: method([Actor, Type.Object({ agentId: Type.String(), sessionId: Type.Optional(Type.String()) })], Type.Union([Chat, Type.Undefined()]), {
    what: 'reads where your agents were written to',
  }),
  /** How a message on its way is. Undefined where it was deleted. `channels.changed` names it at its end. */
  standing: method([Actor, Type.String({ description: 'Id of the delivery' })], Type.Union([Type.Object({ status: OneOf(DELIVERY_STATES), reason: Nullable(Type.String()) }), Type.Undefined()]), {
    what: 'reads what became of messages to your channels',
  }),
  /**
   * Where the answer of an agent would go: by default where the actor last wrote to it. Throws `channels_no_last_chat`, `channels_denied`, and what `reach`
   * throws.
   */
  chatFor: method([Actor, Type.Object({ agentId: Type.String(), channel: Type.Optional(Type.String()) })], Chat, { what: 'reads where your agents were written to' }),
  /** Sends the answer of a run to a chat when it is there, once. Durable when this resolves. */
  answerTo: method([Actor, AnswerTo], Type.Void(), { what: 'sends answers of your agents to channels', changes: true }),
  /**
   * What was asked for in a chat and came after its answer, such as a video: to the chat whose message began all this. Undefined where none did. One file
   * goes there once.
   */
  deliverLate: method(
    [
      Type.Object({
        rootId: Type.String({ description: 'The run at the beginning' }),
        about: Type.String({ description: 'What it is of: the same id without a file is the same message' }),
        message: Type.String(),
        file: Type.Optional(ToolFile),
      }),
    ],
    Type.Union([Type.String(), Type.Undefined()]),
  ),
});
export type ChannelsService = Service<typeof Channels>;
