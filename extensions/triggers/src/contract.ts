/** What a trigger is, and what is stored of its fires. */
import { defineCollection, defineTable, defineWork, Field, type Item, Nullable, OneOf, type Plain, type RowOf, Type, Uuid } from '@svc/api';
import { triggerErrors } from './errors.js';
import { Pattern } from './pattern.js';

export { TriggerFired, WebhookWake } from './fired.js';
export { CALLS_KEPT_MS, createCallKeys } from './call-keys.js';
export { createRotations, type Rotations } from './rotation.js';
export { type Hmac, hubRefusal, isSameText, standardRefusal } from './senders.js';
export { COMMON_SOURCES, createListening, type Emit, type Happening, type Listening, type Source } from './happenings.js';

export const FIRE_STATES = ['running', 'ok', 'error', 'skipped'] as const;
const MAX_SECS = 604_800;
const MIN_SECRET_CHARS = 16;

const fields = Type.Object({
  agent_id: Field.reference('agents', { description: 'The agent that it belongs to, and that is asked' }),
  pattern: Pattern,
  prompt_template: Type.String({
    minLength: 1,
    maxLength: 16_384,
    default: 'Event: {{event}}',
    description: 'What the agent is asked; `{{event}}` is what happened, and of a webhook `{{path.of.a.value}}` a value of its body',
  }),
  secret: Nullable(Field.secret({ minLength: MIN_SECRET_CHARS, maxLength: 256 }), {
    description: 'Of senders that call its address. In the scheme `standard` it is base64 after `whsec_`, else its text is the key',
  }),
  enabled: Type.Boolean({ default: true }),
  max_fires: Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'It is disabled after so many fires; 0: no limit' }),
  cooldown_secs: Nullable(Type.Integer({ minimum: 0, maximum: MAX_SECS }), {
    description: 'How long it rests after a fire, for each task, key or agent alone; null: [triggers] cooldown_secs',
  }),
  session_mode: Nullable(OneOf(['persistent', 'new']), { description: 'One conversation for all triggers of the agent, or a new one for each fire; null: as its manifest says' }),
  target_agent_id: Nullable(Field.reference('agents'), { description: 'This agent is asked instead' }),
  workflow_id: Nullable(Type.String({ minLength: 1, maxLength: 256 }), { description: 'Id or name of a workflow that starts instead, with the message as its input' }),
});
const computed = Type.Object({
  hook_path: Nullable(Type.String(), { description: 'Where senders call it, if it waits for a webhook' }),
  fire_count: Type.Integer(),
  last_fired_at: Nullable(Type.String()),
});

const Fire = Type.Object(
  {
    id: Uuid,
    event: Type.String({ description: 'What happened, such as `task_posted`' }),
    text: Type.String({ description: 'The event as the agent reads it' }),
    status: OneOf(FIRE_STATES),
    reason: Nullable(Type.String(), { description: 'Why it was skipped or failed' }),
    depth: Type.Integer({ description: 'How many triggers led to it, itself included' }),
    run_id: Nullable(Type.String(), { description: 'The run of the agent, or of the workflow' }),
    fired_at: Type.String(),
    ended_at: Nullable(Type.String()),
  },
  { 'x-name': 'TriggerFire' },
);
export type Fire = Plain<typeof Fire>;

export const Triggers = defineCollection({
  area: 'triggers',
  one: 'trigger',
  path: '/api/triggers',
  fields,
  writeOnly: { secret: 'has_secret' },
  computed,
  agent: 'agent_id',
  indexes: [['agent_id']],
  updateBy: 'PATCH',
  list: { as: ['triggers', 'items'], filters: ['agent_id'] },
  columns: [
    { field: 'agent_id', format: 'reference', of: 'agents', title: { en: 'Agent', zh: '智能体' } },
    { field: 'pattern', format: 'code', title: { en: 'Waits for', zh: '等待' } },
    'enabled',
    { field: 'fire_count', format: 'number', title: { en: 'Fires', zh: '触发次数' } },
    { field: 'last_fired_at', format: 'ago', title: { en: 'Last', zh: '上次' }, none: { en: 'never', zh: '从未' }, isMinor: true },
  ],
  args: ['agent_id', 'pattern'],
  words: {
    title: { en: 'Triggers', zh: '触发器' },
    one: { en: 'trigger', zh: '触发器' },
    note: { en: 'When something happens, a trigger asks an agent or starts a workflow.', zh: '当某件事发生时，触发器会询问智能体或启动工作流。' },
    empty: { en: 'No triggers yet. Create one, and its agent is asked when what it waits for happens.', zh: '还没有触发器。创建后，所等待的事发生时会询问其智能体。' },
    fields: {
      agent_id: { label: { en: 'Agent', zh: '智能体' } },
      pattern: { label: { en: 'Waits for', zh: '等待' } },
      prompt_template: { label: { en: 'Message', zh: '消息' } },
      secret: { label: { en: 'Secret of its senders', zh: '发送方密钥' } },
      enabled: { label: { en: 'Enabled', zh: '启用' } },
      max_fires: { label: { en: 'Fires at most', zh: '最多触发' } },
      cooldown_secs: { label: { en: 'Rests for (s)', zh: '冷却（秒）' } },
      session_mode: { label: { en: 'Conversation', zh: '对话' }, values: { persistent: { en: 'one for all', zh: '共用一个' }, new: { en: 'new each time', zh: '每次新建' } } },
      target_agent_id: { label: { en: 'Asks instead', zh: '改为询问' } },
      workflow_id: { label: { en: 'Workflow', zh: '工作流' } },
    },
  },
  operations: {
    create: {
      description:
        'Events are those of your agents, tasks, memory, jobs, workflows and messages, and for owners also settings and extensions that change. What follows from a fire has one root with what caused it: [roots] limits all of it, and [triggers] max_depth how many triggers may follow from each other. One with the pattern `webhook` needs a secret, and fires when a sender calls its `hook_path`.',
      examples: {
        'when a task is posted for the agent': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', pattern: { task_posted: { assignee_match: 'self' } } },
        'once, when a word occurs': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', pattern: { content_match: { substring: 'deploy' } }, prompt_template: 'Look at this: {{event}}', max_fires: 1 },
        'when GitHub reports a pull request': {
          agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e',
          pattern: { webhook: { scheme: 'github', where: { action: 'opened' } } },
          secret: 'a long random text',
          prompt_template: 'Review {{pull_request.html_url}}: {{pull_request.title}}',
          cooldown_secs: 0,
        },
        'another agent is asked': { agent_id: '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', pattern: 'lifecycle', target_agent_id: '0b9d7c6a-1e2f-4a3b-8c4d-5e6f7a8b9c0d', cooldown_secs: 60 },
      },
      errors: [400, 404],
      answer: Type.Object(
        { trigger_id: Uuid, hook_path: Type.Optional(Type.String()), agent_id: Uuid, target_agent_id: Type.Optional(Uuid), workflow_id: Type.Optional(Type.String()) },
        { 'x-name': 'TriggerCreated' },
      ),
    },
    update: {
      description: 'Changes the fields that the body names. null puts cooldown_secs, session_mode, target_agent_id and workflow_id back to their default. Another pattern ends its cooldown.',
      examples: { 'pause it': { enabled: false }, 'another message': { prompt_template: 'Please check: {{event}}' }, 'the usual cooldown': { cooldown_secs: null } },
      errors: [400],
    },
    delete: {
      description: 'Deletes the trigger for good, with its history. What it began goes on.',
      answer: Type.Object({ status: OneOf(['removed']), trigger_id: Uuid }, { 'x-name': 'TriggerRemoved' }),
    },
  },
  actions: {
    history: {
      id: 'listTriggerHistory',
      method: 'GET',
      summary: 'List fires and skips of a trigger, newest first',
      description: 'The newest 200, each with the reason why it was skipped or failed.',
      answer: Type.Object({ history: Type.Array(Fire), total: Type.Integer(), why: Type.String({ description: 'Why it did or did not fire last, in a sentence' }) }),
      command: {
        output: {
          kind: 'table',
          rows: 'history',
          empty: 'The trigger has not fired yet.',
          columns: [{ field: 'fired_at', title: 'AT', format: 'ago' }, { field: 'status' }, { field: 'event' }, { field: 'reason', shrinks: true }, { field: 'run_id', title: 'RUN', givesWay: true }],
        },
      },
    },
  },
  missing: triggerErrors.not_found,
});
export type Trigger = Item<typeof Triggers.spec.fields>;

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;
export const CounterRows = defineTable('counters', '1.0.0', {
  columns: { trigger_id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: text, fire_count: count, last_fired_at: { kind: 'text' } },
  owner: 'owner_id',
  agent: 'agent_id',
});
export type CounterRow = RowOf<typeof CounterRows>;

/** Which triggers a manifest made, by what it says of each. */
export const ManifestRows = defineTable('manifest_triggers', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: text, trigger_id: text },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id'], ['trigger_id']],
});
export type ManifestRow = RowOf<typeof ManifestRows>;

/** When a trigger fired last for a subject. */
export const CooldownRows = defineTable('cooldowns', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, trigger_id: text, owner_id: text, agent_id: text, fired_at: text },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['trigger_id'], ['fired_at']],
});

export const FireRows = defineTable('fires', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    trigger_id: text,
    agent_id: text,
    event: text,
    event_key: text,
    text,
    origin: { kind: 'json' },
    status: text,
    reason: { kind: 'text' },
    depth: count,
    root_id: { kind: 'text' },
    run_id: { kind: 'text' },
    fired_at: text,
    ended_at: { kind: 'text' },
    /** What is asked, where the event has values of its own. */
    prompt: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['trigger_id', 'fired_at'], ['fired_at'], ['run_id'], ['root_id']],
  unique: [['trigger_id', 'event_key']],
});
export type FireRow = RowOf<typeof FireRows>;

/** Calls that said who they are, for as long as one that comes again is known. */
export const CallRows = defineTable('calls', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, created_at: text },
  owner: 'owner_id',
  indexes: [['created_at']],
});

/** Secrets that were changed, for as long as the one before holds. */
export const RotationRows = defineTable('secret_rotations', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, name: text, until: text },
  owner: 'owner_id',
  indexes: [['until']],
});

export const TriggerFire = defineWork('trigger-fire', '1.0.0', { input: Type.Object({ fireId: Type.String(), triggerId: Type.String() }), result: Type.Undefined() });
