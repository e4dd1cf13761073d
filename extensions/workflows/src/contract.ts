/** Shapes and tables of workflows, their runs and the steps of those. */
import { Actor, defineEvent, defineService, defineTable, defineWork, method, Nullable, OneOf, Origin, type Plain, type RowOf, type Service, Type } from '@svc/api';

export const STEP_MODES = ['sequential', 'fan_out', 'collect', 'conditional', 'loop', 'wait', 'gate', 'transform', 'branch', 'operator'] as const;
export const AGENT_MODES: ReadonlySet<string> = new Set(['sequential', 'fan_out', 'conditional', 'loop']);
export const GATE_OPS = ['eq', 'ne', 'gt', 'lt', 'gte', 'lte', 'contains'] as const;
export const OPERATOR_ACTIONS = ['approve', 'reject', 'edit', 'provide_input', 'freeform_input'] as const;
export const TIMEOUT_ACTIONS = ['approve', 'reject', 'fail', 'continue'] as const;
export const RUN_STATES = ['pending', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const;
export const STEP_STATES = ['running', 'waiting', 'done', 'failed', 'skipped', 'cancelled'] as const;

const MAX_PROMPT = 100_000;
export const MAX_STEPS = 100;
const MAX_WAIT_SECS = 604_800;
const MAX_SECS = 86_400;
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f{}.]+$' });

export const RetryPolicy = Type.Object(
  {
    max_retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, default: 3 })),
    backoff_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
    jitter_pct: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  },
  { additionalProperties: false },
);

export const Gate = Type.Object(
  { field: Type.Optional(Type.String({ maxLength: 256, description: 'JSON pointer into the input; without it, the whole input' })), op: OneOf(GATE_OPS), value: Type.Unknown() },
  { additionalProperties: false },
);

/** A step as it is stored: one name for each thing. */
export const Step = Type.Object(
  {
    name: Name,
    agent: Nullable(Type.String({ maxLength: 128 }), { description: 'Id or name; null for a step that needs none' }),
    prompt_template: Type.String({ maxLength: MAX_PROMPT }),
    mode: OneOf(STEP_MODES),
    timeout_secs: Type.Integer({ minimum: 1, maximum: MAX_SECS, description: 'Working time of an attempt; waiting for a person does not count' }),
    error_mode: OneOf(['fail', 'skip', 'retry']),
    retry: RetryPolicy,
    output_var: Nullable(Type.String()),
    condition: Type.String({ maxLength: 1_000 }),
    max_iterations: Type.Integer({ minimum: 1, maximum: 100 }),
    until: Type.String({ maxLength: 1_000 }),
    depends_on: Type.Array(Name, { maxItems: MAX_STEPS }),
    inherit_context: Nullable(Type.Boolean(), {
      description: 'Whether it is given what steps before it gave and its prompt does not hold; null: as `inherit_parent_context` of its agent says, which is true by default',
    }),
    session_mode: OneOf(['persistent', 'new']),
    duration_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_WAIT_SECS })),
    gate: Type.Optional(Gate),
    template: Type.Optional(Type.String({ maxLength: MAX_PROMPT })),
    // biome-ignore lint/suspicious/noThenProperty: the name of the field on the wire.
    arms: Type.Optional(Type.Array(Type.Object({ match_value: Type.String({ maxLength: 1_000 }), then: Name }, { additionalProperties: false }), { maxItems: 50 })),
    actions: Type.Optional(Type.Array(OneOf(OPERATOR_ACTIONS))),
    timeout_action: Type.Optional(OneOf(TIMEOUT_ACTIONS)),
  },
  { 'x-name': 'WorkflowStep' },
);
export type Step = Plain<typeof Step>;

export const InputRow = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    param_type: OneOf(['string', 'number', 'boolean', 'file', 'image', 'agent_id'], { default: 'string' }),
    required: Type.Boolean({ default: true }),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
  },
  { additionalProperties: false },
);

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;

export const WorkflowRows = defineTable('workflows', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    name: text,
    description: text,
    steps: { kind: 'json', notNull: true },
    layout: { kind: 'json' },
    input_schema: { kind: 'json' },
    total_timeout_secs: { kind: 'integer' },
    revision: count,
    created_at: text,
    updated_at: text,
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'created_at']],
});
export type WorkflowRow = RowOf<typeof WorkflowRows>;

/** A run has the definition that it began with. */
export const WorkflowRunRows = defineTable('workflow_runs', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    workflow_id: text,
    workflow_name: text,
    steps: { kind: 'json', notNull: true },
    total_timeout_secs: { kind: 'integer' },
    input: { kind: 'json', notNull: true },
    state: text,
    output: { kind: 'text' },
    error: { kind: 'text' },
    failed_step: { kind: 'text' },
    error_status: { kind: 'integer' },
    pause_reason: { kind: 'text' },
    resume_hash: { kind: 'text' },
    started_at: text,
    completed_at: { kind: 'text' },
    worked_ms: count,
    /** Where text of others in the input came from. */
    origin: { kind: 'json' },
  },
  owner: 'owner_id',
  indexes: [['workflow_id', 'started_at'], ['owner_id', 'started_at'], ['started_at']],
});
export type WorkflowRunRow = RowOf<typeof WorkflowRunRows>;

/** One attempt after another of one step, or of one round of a loop. */
export const StepRows = defineTable('step_runs', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    run_id: text,
    seq: count,
    step: text,
    round: count,
    attempt: count,
    state: text,
    agent_id: { kind: 'text' },
    agent_name: { kind: 'text' },
    prompt: { kind: 'text' },
    output: { kind: 'text' },
    error: { kind: 'text' },
    error_status: { kind: 'integer' },
    child_run_id: { kind: 'text' },
    due_at: { kind: 'text' },
    input_tokens: count,
    output_tokens: count,
    cost_usd: { kind: 'real', notNull: true },
    started_at: text,
    ended_at: { kind: 'text' },
  },
  owner: 'owner_id',
  indexes: [['run_id', 'seq'], ['child_run_id']],
  unique: [['run_id', 'step', 'round']],
});
export type StepRow = RowOf<typeof StepRows>;

/** Workflows that a person saved as templates. */
export const TemplateRows = defineTable('workflow_templates', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    name: text,
    description: text,
    parameters: { kind: 'json', notNull: true },
    steps: { kind: 'json', notNull: true },
    created_at: text,
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'created_at']],
});
export type TemplateRow = RowOf<typeof TemplateRows>;

export const WorkflowRun = defineWork('workflow', '1.0.0', {
  input: Type.Object({ workflowId: Type.String(), depth: Type.Optional(Type.Integer({ description: 'Number of agents above it' })) }),
  result: Type.Undefined(),
});

const Fact = { ownerId: Type.String(), workflowId: Type.String(), runId: Type.String(), name: Type.String() };
export const WorkflowChanged = defineEvent('workflows.changed', '1.0.0', Type.Object({ id: Type.String(), ownerId: Type.String(), change: OneOf(['created', 'updated', 'deleted', 'run']) }), {
  permission: 'workflows.read',
  owner: 'ownerId',
  id: 'id',
  state: 'change',
});
export const WorkflowStarted = defineEvent('workflow.started', '1.0.0', Type.Object(Fact));
export const WorkflowEnded = defineEvent(
  'workflow.ended',
  '1.1.0',
  Type.Object({ ...Fact, state: OneOf(['completed', 'failed', 'cancelled']), error: Nullable(Type.String()), output: Type.Optional(Type.String({ description: 'Its first 16,384 characters' })) }),
);

export const WorkflowStart = Type.Object({
  workflow: Type.String({ description: 'Id or name' }),
  input: Type.Unknown({ description: 'A text, or an object whose keys are variables' }),
  key: Type.Optional(Type.String({ description: 'The same key is the same run' })),
  parentRunId: Type.Optional(Type.String()),
  depth: Type.Optional(Type.Integer({ description: 'Number of agents above it' })),
  origin: Type.Optional(Origin),
});
export type WorkflowStart = Plain<typeof WorkflowStart>;

export const WorkflowState = Type.Object({ runId: Type.String(), workflowId: Type.String(), state: OneOf(RUN_STATES), output: Type.String(), error: Nullable(Type.String()) });
export type WorkflowState = Plain<typeof WorkflowState>;

export const Workflows = defineService('workflows', '1.1.0', {
  /** Starts a run. Throws `workflows_not_found`, `workflows_agent_gone`. */
  start: method([Actor, WorkflowStart], WorkflowState, { what: 'starts your workflows, whose agents then act with everything you granted to them', changes: true }),
  state: method([Actor, Type.String({ description: 'Id of the run' })], WorkflowState, { what: 'reads what your workflows did' }),
  /** By id, else by name without regard to case. Undefined where the actor sees none. */
  find: method([Actor, Type.String()], Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Undefined()]), { what: 'sees your workflows' }),
});
export type WorkflowsService = Service<typeof Workflows>;
