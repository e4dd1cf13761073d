/** Shapes and tables of jobs and their fires. Schedules and cron jobs are two views of one store. */
import { Actor, defineAsk, defineEvent, defineService, defineTable, defineWork, method, Nullable, OneOf, Origin, type Plain, type RowOf, type Service, Type } from '@svc/api';

export const MIN_EVERY_SECS = 60;
export const MAX_EVERY_SECS = 86_400;
const MAX_MESSAGE_CHARS = 16_384;
const MAX_EVENT_CHARS = 4_096;
const MAX_URL_CHARS = 2_048;

const Expression = Type.String({ minLength: 1, maxLength: 200, description: 'Cron expression of five fields', examples: ['0 9 * * 1-5'] });
export const Zone = Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone', examples: ['Europe/Berlin'] });

export const Plan = Type.Union(
  [
    Type.Object({ kind: OneOf(['cron']), expr: Expression, tz: Type.Optional(Zone) }, { additionalProperties: false }),
    Type.Object({ kind: OneOf(['every']), every_secs: Type.Integer({ minimum: MIN_EVERY_SECS, maximum: MAX_EVERY_SECS }) }, { additionalProperties: false }),
    Type.Object({ kind: OneOf(['at']), at: Type.String({ format: 'date-time' }) }, { additionalProperties: false }),
  ],
  { description: 'When it fires' },
);
export type Plan = Plain<typeof Plan>;

export const Action = Type.Union(
  [
    Type.Object(
      {
        kind: OneOf(['agent_turn']),
        message: Type.String({ minLength: 1, maxLength: MAX_MESSAGE_CHARS }),
        timeout_secs: Type.Optional(Type.Integer({ minimum: 10, maximum: 3_600, description: 'Working time after which the run is stopped; waiting for a person does not count' })),
        silent_marker: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'An answer whose last line is this is not delivered', default: '[SILENT]' })),
      },
      { additionalProperties: false },
    ),
    Type.Object({ kind: OneOf(['system_event']), text: Type.String({ minLength: 1, maxLength: MAX_EVENT_CHARS }) }, { additionalProperties: false }),
    Type.Object(
      {
        kind: OneOf(['workflow']),
        workflow_id: Type.String({ minLength: 1, maxLength: 128, description: 'Id or name' }),
        input: Type.Optional(Type.String({ maxLength: MAX_MESSAGE_CHARS })),
        timeout_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
      },
      { additionalProperties: false },
    ),
  ],
  { description: 'What a fire does' },
);
export type Action = Plain<typeof Action>;

const Webhook = Type.Object({ kind: OneOf(['webhook']), url: Type.String({ minLength: 1, maxLength: MAX_URL_CHARS, format: 'uri' }) }, { additionalProperties: false });
export const ChannelName = Type.String({ minLength: 1, maxLength: 64, description: 'Name of a channel' });
export const ChatId = Type.String({ minLength: 1, maxLength: 200, description: 'The id of the chat on that platform; left out where the channel has one place to write to' });
export const ThreadId = Type.String({ minLength: 1, maxLength: 200 });
const Channel = Type.Object({ kind: OneOf(['channel']), channel: ChannelName, to: Type.Optional(ChatId), thread_id: Type.Optional(ThreadId) }, { additionalProperties: false });
const LastChannel = Type.Object({ kind: OneOf(['last_channel']) }, { additionalProperties: false, description: 'The chat in which the agent was last written to' });
const Email = Type.Object(
  {
    kind: OneOf(['email']),
    to: Type.String({ minLength: 3, maxLength: 200, format: 'email' }),
    subject_template: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: '`{job}` is the name of the job', default: 'Cron: {job}' })),
  },
  { additionalProperties: false, description: 'Sent by the channel email' },
);
const Nowhere = Type.Object({ kind: OneOf(['none']) }, { additionalProperties: false });
/** Places that an answer is sent to. */
export const Target = Type.Union([Webhook, Channel, LastChannel, Email]);
export type Target = Plain<typeof Target>;
export const Delivery = Type.Union([Nowhere, Webhook, Channel, LastChannel, Email], { description: 'Where the answer goes', default: { kind: 'none' } });
export type Delivery = Plain<typeof Delivery>;
export const MAX_TARGETS = 10;

export const MISSED = ['skip', 'once', 'all'] as const;
export const OVERLAP = ['skip', 'queue', 'allow', 'cancel'] as const;
export const SESSION_MODES = ['persistent', 'new'] as const;

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;
const flag = { kind: 'boolean', notNull: true } as const;

export const JobRows = defineTable('jobs', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: { kind: 'text' },
    name: text,
    enabled: flag,
    schedule: { kind: 'json', notNull: true },
    action: { kind: 'json', notNull: true },
    delivery: { kind: 'json', notNull: true },
    delivery_targets: { kind: 'json', notNull: true },
    missed: text,
    overlap: text,
    max_late_secs: count,
    session_mode: text,
    peer_id: { kind: 'text' },
    revision: count,
    next_run: { kind: 'text' },
    last_run: { kind: 'text' },
    last_status: { kind: 'text' },
    consecutive_errors: count,
    auto_disabled: flag,
    fire_count: count,
    created_at: text,
    updated_at: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['owner_id', 'created_at'], ['agent_id'], ['next_run']],
});
export type JobRow = RowOf<typeof JobRows>;

export const FIRE_STATES = ['running', 'ok', 'error', 'skipped'] as const;
export const FIRE_KINDS = ['scheduled', 'late', 'manual'] as const;

export const FireRows = defineTable('fires', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    job_id: text,
    agent_id: { kind: 'text' },
    kind: text,
    due_at: text,
    fired_at: text,
    status: text,
    reason: { kind: 'text' },
    run_id: { kind: 'text' },
    session_id: { kind: 'text' },
    output: { kind: 'text' },
    delivered: { kind: 'text' },
    ended_at: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['job_id', 'fired_at'], ['owner_id', 'fired_at'], ['fired_at'], ['run_id']],
});
export type FireRow = RowOf<typeof FireRows>;

/** The conversation that the jobs of an agent share, apart from people's. */
export const CronSessionRows = defineTable('cron_sessions', '1.0.0', {
  columns: { agent_id: { kind: 'text', primaryKey: true }, owner_id: text, session_id: text },
  owner: 'owner_id',
  agent: 'agent_id',
});

/** One fire, from its claim to the delivery of its answer. */
export const CronFire = defineWork('cron-fire', '1.0.0', { input: Type.Object({ fireId: Type.String(), jobId: Type.String() }), result: Type.Undefined() });

export const DELIVERY_STATES = ['waiting', 'sent', 'failed', 'unknown'] as const;

/** What became of the answer of a fire, one row for each place that it goes to. */
export const FireDeliveryRows = defineTable('fire_deliveries', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: { kind: 'text' },
    fire_id: text,
    job_id: text,
    position: count,
    target: text,
    status: text,
    reason: { kind: 'text' },
    updated_at: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['fire_id'], ['job_id'], ['updated_at']],
});
export type FireDeliveryRow = RowOf<typeof FireDeliveryRows>;

/** Where the words of a job are from that an agent made. A person's words have no row. */
export const JobOriginRows = defineTable('job_origins', '1.0.0', {
  columns: { job_id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: { kind: 'text' }, origin: { kind: 'json', notNull: true } },
  owner: 'owner_id',
  agent: 'agent_id',
});
export type JobOriginRow = RowOf<typeof JobOriginRows>;

const Message = Type.Object({ to: Target, agentId: Nullable(Type.String()), text: Type.String(), subject: Type.Optional(Type.String()) });
export type Message = Plain<typeof Message>;

/** One answer on its way to one place: an address with a body, or a message to a chat. */
export const CronDelivery = defineWork('cron-delivery', '1.1.0', {
  input: Type.Object({ fireId: Type.String(), url: Type.Optional(Type.String()), body: Type.Optional(Type.String()), message: Type.Optional(Message) }),
  result: Type.Object({ status: Type.Integer({ description: 'HTTP status of the target; 0 for a chat' }) }),
});

const Owned = { id: Type.String(), ownerId: Type.String() };
export const JobChanged = defineEvent('schedules.changed', '1.0.0', Type.Object({ ...Owned, change: OneOf(['created', 'updated', 'deleted', 'fired']) }), {
  permission: 'schedules.read',
  owner: 'ownerId',
  id: 'id',
  state: 'change',
});

/** A job fired: its agent was asked, its workflow was started, or its text was published. */
export const CronFired = defineEvent(
  'cron.fired',
  '1.1.0',
  Type.Object({
    ownerId: Type.String(),
    jobId: Type.String(),
    fireId: Type.String(),
    name: Type.String(),
    agentId: Nullable(Type.String()),
    kind: OneOf(['agent_turn', 'system_event', 'workflow']),
    text: Type.String({ description: 'Of a system_event; else empty' }),
    origin: Type.Optional(Origin),
  }),
);

const WorkflowStanding = Type.Object({
  workflowId: Type.String(),
  runId: Nullable(Type.String()),
  status: OneOf(['known', 'running', 'done', 'failed', 'cancelled']),
  output: Type.String(),
  error: Nullable(Type.String()),
});
export type WorkflowStanding = Plain<typeof WorkflowStanding>;

/** Who can start a workflow answers. */
export const StartWorkflow = defineAsk('schedule.workflow', '1.0.0', {
  policy: 'closed',
  budgetMs: 10_000,
  subject: Type.Object({
    actor: Actor,
    workflow: Type.String({ description: 'Id or name' }),
    input: Type.String(),
    key: Type.Optional(Type.String({ description: 'The same key is the same run. Without a key it only checks that the workflow exists' })),
    jobId: Type.String(),
    parentRunId: Type.Optional(Type.String({ description: 'The fire' })),
    origin: Type.Optional(Origin),
  }),
  answer: WorkflowStanding,
});

/** A job that asks an agent, as another area needs it. */
export const AgentJob = Type.Object({
  id: Type.String(),
  agentId: Type.String(),
  name: Type.String(),
  schedule: Type.String({ description: 'Five cron fields, `every Ns`, or `at` and a time' }),
  tz: Nullable(Type.String()),
  message: Type.String(),
  enabled: Type.Boolean(),
});
export type AgentJob = Plain<typeof AgentJob>;

export const AgentJobDraft = Type.Object({
  agentId: Type.String(),
  name: Type.String({ description: 'At most 128 characters' }),
  schedule: Type.String({ description: 'Five cron fields, an interval such as `every 30m`, or a time' }),
  tz: Type.Optional(Type.String()),
  message: Type.String({ description: 'What the agent is asked' }),
  enabled: Type.Optional(Type.Boolean()),
});

export const Schedules = defineService('schedules', '1.0.0', {
  /** Throws `schedules_bad_plan`, `schedules_agent_not_found`, `schedules_too_many`. */
  create: method([Actor, AgentJobDraft], AgentJob, { what: 'has your agents asked at set times', changes: true }),
  /** Jobs that ask this agent; those that start workflows are not among them. */
  of: method([Actor, Type.String({ description: 'Agent id' })], Type.Array(AgentJob), { what: 'sees your jobs' }),
  /** Throws `schedules_job_not_found`. */
  setEnabled: method([Actor, Type.String(), Type.Boolean()], AgentJob, { what: 'enables and disables your jobs', changes: true }),
  /** Throws `schedules_job_not_found`. */
  remove: method([Actor, Type.String()], Type.Void(), { what: 'deletes your jobs', changes: true }),
});
export type SchedulesService = Service<typeof Schedules>;
