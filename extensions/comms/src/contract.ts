/** What passes between agents. */
import { defineEvent, defineResource, defineTable, Nullable, OneOf, type Plain, type RowOf, Type, Uuid } from '@svc/api';
import { commsErrors } from './errors.js';

export const KINDS = ['agent_message', 'agent_spawned', 'agent_terminated', 'task_posted', 'task_claimed', 'task_completed'] as const;
export const DEFAULT_EVENTS = 100;
export const MAX_EVENTS = 500;

const text = { kind: 'text', notNull: true } as const;
export const FeedRows = defineTable('feed', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    happening: text,
    timestamp: text,
    kind: text,
    source_id: { kind: 'text' },
    source_name: text,
    target_id: { kind: 'text' },
    target_name: text,
    detail: text,
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'timestamp'], ['timestamp'], ['source_id'], ['target_id']],
  unique: [['happening']],
});
export type FeedRow = RowOf<typeof FeedRows>;

export const CommsEvent = Type.Object(
  {
    id: Uuid,
    timestamp: Type.String({ format: 'date-time' }),
    kind: OneOf(KINDS),
    source_id: Nullable(Type.String(), { description: 'An agent; null for a person, and for svc itself' }),
    source_name: Type.String(),
    target_id: Nullable(Type.String(), { description: 'An agent, or a task' }),
    target_name: Type.String(),
    detail: Type.String({ description: 'First 200 characters' }),
  },
  { 'x-name': 'CommsEvent' },
);
export type CommsEvent = Plain<typeof CommsEvent>;

/** Something passed between agents. */
export const CommsHappened = defineEvent('comms.happened', '1.0.0', Type.Object({ ownerId: Type.String(), ...CommsEvent.properties }), {
  permission: 'comms.read',
  owner: 'ownerId',
  id: 'id',
  state: 'kind',
});

/** An agent published an event of its own with the tool event_publish. */
export const EventPublished = defineEvent(
  'event.published',
  '1.0.0',
  Type.Object({ ownerId: Type.String(), id: Type.String(), agentId: Type.String(), runId: Type.String(), type: Type.String(), payload: Type.String({ description: 'JSON' }) }),
);

const Topology = Type.Object(
  {
    nodes: Type.Array(Type.Object({ id: Uuid, name: Type.String(), state: Type.String(), model: Type.String() })),
    edges: Type.Array(
      Type.Object({
        from: Uuid,
        to: Uuid,
        kind: OneOf(['parent_child', 'peer'], { description: '`parent_child`: the first one spawned the other. `peer`: they exchanged messages, among the newest 500 events' }),
      }),
    ),
    routes: Type.Array(
      Type.Object({
        to: Type.String({ description: 'As `to` of POST /api/comms/send' }),
        agent_id: Uuid,
        agent_name: Type.String(),
        accepts: Type.Boolean({ description: 'false: the agent is suspended' }),
      }),
      {
        description: 'Which address reaches which agent',
      },
    ),
  },
  { 'x-name': 'CommsTopology' },
);

export const Sent = Type.Object(
  {
    ok: Type.Literal(true),
    status: OneOf(['completed', 'running', 'queued'], { description: '`queued`: it is on its way to a channel; `GET /api/channels/deliveries` says what became of it' }),
    message_id: Uuid,
    response: Nullable(Type.String(), { description: 'null while the run goes on, and for a channel' }),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    thread_id: Nullable(Uuid, { description: 'null for a channel' }),
  },
  { 'x-name': 'CommsSent' },
);

const Address = Type.String({ minLength: 1, maxLength: 256 });
export const SendBody = Type.Object(
  {
    to: Type.Optional({
      ...Address,
      description: '`agent:ID`, the id or name of an agent, or a channel: `telegram:CHAT`, or `ntfy` alone where it has one place to write to',
      'x-kind': 'reference',
      'x-of': 'agents',
    }),
    content: Type.Optional(Type.String({ minLength: 1, maxLength: 100_000, pattern: '\\S', description: 'The message' })),
    from: Type.Optional({ ...Address, description: '`agent:ID` or the name of an agent of yours, in whose name it is sent; `system` or left out: you' }),
    to_agent_id: Type.Optional({ ...Address, description: 'Another name of `to`', 'x-same-as': 'to' }),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: 100_000, description: 'Another name of `content`', 'x-same-as': 'content' })),
    from_agent_id: Type.Optional({ ...Address, description: 'Another name of `from`', 'x-same-as': 'from' }),
    thread_id: Type.Optional(Type.String({ format: 'uuid', description: 'The conversation of an earlier message' })),
  },
  { additionalProperties: false },
);
export type SendBody = Plain<typeof SendBody>;

export const Comms = defineResource({
  area: 'comms',
  one: 'comms event',
  word: 'comms',
  path: '/api/comms/events',
  item: CommsEvent,
  operations: {
    list: {
      summary: 'List what passed between agents, newest first',
      description: 'Messages between agents, agents that began and ended, and tasks of the task board. Stored for thirty days.',
      query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_EVENTS, description: `How many at most; more than ${MAX_EVENTS} is ${MAX_EVENTS}` })) }),
      answer: Type.Object({ events: Type.Array(CommsEvent), items: Type.Array(CommsEvent, { description: 'The same as events' }), total: Type.Integer() }),
    },
  },
  list: { as: ['events', 'items'] },
  actions: {
    topology: {
      on: 'list',
      id: 'getCommsTopology',
      method: 'GET',
      path: '/api/comms/topology',
      summary: 'Get the graph of agents',
      description: 'Your agents, who spawned whom, who exchanged messages, and the address of each.',
      answer: Topology,
      command: {
        output: {
          kind: 'table',
          rows: 'routes',
          empty: 'There are no agents.',
          columns: [{ field: 'agent_name', title: 'AGENT' }, { field: 'to', title: 'ADDRESS' }, { field: 'accepts' }],
        },
      },
    },
    send: {
      on: 'list',
      id: 'sendComms',
      path: '/api/comms/send',
      summary: 'Send a message to an agent, also in the name of another one, or to a channel',
      description:
        'A channel gets it in the background; owners and admins send there. An agent is waited for two minutes; after that `status` is `running` and the run goes on. A message in the name of an agent is another agent’s text for the one that gets it.',
      examples: {
        'to an agent': { to: 'agent:assistant', content: 'What is on your list?' },
        'in the name of another': { to: 'agent:writer', from: 'agent:researcher', content: 'The sources are in sources.md.' },
        'to a chat of a channel': { to: 'telegram:123456789', content: 'The backup is done.' },
        'the other names of the fields': { to_agent_id: 'assistant', message: 'Go on.' },
      },
      body: SendBody,
      permission: 'runs.send',
      audit: 'comms_sent',
      cost: 30,
      errors: [400, 403, 404, 409, 429, 500],
      answer: Sent,
      done: { en: 'Answered: {response}', zh: '已回复：{response}' },
      button: { label: { en: 'Send a message', zh: '发送消息' }, icon: 'send' },
      command: { args: ['to', 'content'], output: { kind: 'record', fields: ['status', 'response', 'message_id', 'thread_id'] } },
    },
  },
  columns: [
    { field: 'source_name', title: { en: 'From', zh: '来自' } },
    { field: 'target_name', title: { en: 'To', zh: '发往' } },
    { field: 'kind', format: 'badge', title: { en: 'What', zh: '事件' } },
    { field: 'detail', title: { en: 'Detail', zh: '详情' }, isMinor: true },
    { field: 'timestamp', title: { en: 'When', zh: '时间' }, format: 'ago' },
  ],
  words: {
    title: { en: 'Between agents', zh: '智能体往来' },
    one: { en: 'event', zh: '事件' },
    note: { en: 'Messages and tasks that your agents give each other, and agents that begin and end.', zh: '智能体之间的消息和任务，以及智能体的创建与结束。' },
    empty: { en: 'Nothing yet. When agents message each other or tasks are posted, it shows here.', zh: '暂无内容。智能体互发消息或发布任务后，会显示在这里。' },
    fields: {
      kind: {
        label: { en: 'What', zh: '事件' },
        values: {
          agent_message: { en: 'agent message', zh: '智能体消息' },
          agent_spawned: { en: 'agent spawned', zh: '智能体已创建' },
          agent_terminated: { en: 'agent terminated', zh: '智能体已结束' },
          task_posted: { en: 'task posted', zh: '任务已发布' },
          task_claimed: { en: 'task claimed', zh: '任务已领取' },
          task_completed: { en: 'task completed', zh: '任务已完成' },
        },
      },
      to: { label: { en: 'To', zh: '发往' }, hint: { en: 'An agent of yours', zh: '你的一个智能体' } },
      content: { label: { en: 'Message', zh: '消息' }, hint: { en: 'What you write to it', zh: '要说的内容' } },
      from: { label: { en: 'From', zh: '来自' }, hint: { en: 'The name of an agent of yours, in whose name it is sent; left out: you', zh: '以你的哪个智能体的名义发送（填名称）；不填则是你自己' } },
      thread_id: { label: { en: 'Thread', zh: '会话' }, hint: { en: 'Only to go on with an earlier message: its thread', zh: '仅用于接着之前的消息：其会话标识' } },
    },
  },
  view: { event: 'comms.happened' },
  missing: commsErrors.not_found,
});
