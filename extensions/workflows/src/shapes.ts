/** What the routes of workflows answer. */
import { Nullable, OneOf, Type, Uuid } from '@svc/api';
import { InputRow, RUN_STATES, STEP_STATES, Step, type Step as StepShape, type StepRow, type WorkflowRow, type WorkflowRunRow } from './contract.js';
import { jsonOf } from './driver.js';

const Time = Type.String({ format: 'date-time' });
const Count = Type.Integer({ minimum: 0 });

export const Workflow = Type.Object(
  {
    id: Uuid,
    owner_id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    steps: Type.Array(Step),
    layout: Type.Unknown(),
    total_timeout_secs: Nullable(Type.Integer()),
    input_schema: Nullable(Type.Array(InputRow)),
    created_at: Time,
    updated_at: Time,
  },
  { 'x-name': 'Workflow' },
);

export const WorkflowSummary = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    description: Type.String(),
    steps: Count,
    created_at: Time,
    updated_at: Time,
    run_count: Count,
    cancelled_count: Count,
    success_rate: Nullable(Type.Number(), { description: 'Completed of completed and failed; null where there are none' }),
    last_run: Nullable(Type.Object({ state: OneOf(RUN_STATES), started_at: Time, completed_at: Nullable(Time) })),
  },
  { 'x-name': 'WorkflowSummary' },
);

export const StepResult = Type.Object(
  {
    step_name: Type.String(),
    state: OneOf(STEP_STATES),
    agent_id: Nullable(Type.String()),
    agent_name: Nullable(Type.String()),
    run_id: Nullable(Type.String(), { description: "The agent's run" }),
    attempt: Type.Integer(),
    prompt: Nullable(Type.String()),
    output: Nullable(Type.String()),
    error: Nullable(Type.String()),
    input_tokens: Count,
    output_tokens: Count,
    cost_usd: Type.Number(),
    started_at: Time,
    ended_at: Nullable(Time),
    duration_ms: Nullable(Type.Integer()),
    due_at: Nullable(Time, { description: 'When it goes on, where it waits for a time' }),
  },
  { 'x-name': 'WorkflowStepResult' },
);

export const RunSummary = Type.Object(
  {
    id: Uuid,
    run_id: Uuid,
    workflow_id: Type.String(),
    workflow_name: Type.String(),
    state: OneOf(RUN_STATES),
    input: Type.Unknown(),
    error: Nullable(Type.String()),
    steps_completed: Count,
    cost_usd: Type.Number(),
    started_at: Time,
    completed_at: Nullable(Time),
  },
  { 'x-name': 'WorkflowRun' },
);

export const RunDetail = Type.Object(
  { ...RunSummary.properties, output: Nullable(Type.String()), pause_reason: Nullable(Type.String()), steps: Type.Array(Step), step_results: Type.Array(StepResult) },
  { 'x-name': 'WorkflowRunDetail' },
);

export const workflowOf = (row: WorkflowRow) => ({
  id: row.id,
  owner_id: row.owner_id,
  name: row.name,
  description: row.description,
  steps: jsonOf<StepShape[]>(row.steps),
  layout: row.layout === null ? null : jsonOf(row.layout),
  total_timeout_secs: row.total_timeout_secs,
  input_schema: row.input_schema === null ? null : jsonOf<Array<{ name: string; param_type: 'string'; required: boolean }>>(row.input_schema),
  created_at: row.created_at,
  updated_at: row.updated_at,
});

const nameOf = ({ step, round }: StepRow, isLoop: boolean): string => (isLoop ? `${step} (iter ${round})` : step);

export const stepResultOf = (row: StepRow, steps: readonly StepShape[]) => ({
  step_name: nameOf(row, steps.find(({ name }) => name === row.step)?.mode === 'loop'),
  state: row.state as (typeof STEP_STATES)[number],
  agent_id: row.agent_id,
  agent_name: row.agent_name,
  run_id: row.child_run_id,
  attempt: row.attempt,
  prompt: row.prompt,
  output: row.output,
  error: row.error,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cost_usd: row.cost_usd,
  started_at: row.started_at,
  ended_at: row.ended_at,
  duration_ms: row.ended_at === null ? null : Date.parse(row.ended_at) - Date.parse(row.started_at),
  due_at: row.due_at,
});

export const runOf = (row: WorkflowRunRow, rows: readonly Pick<StepRow, 'state' | 'cost_usd'>[]) => ({
  id: row.id,
  run_id: row.id,
  workflow_id: row.workflow_id,
  workflow_name: row.workflow_name,
  state: row.state as (typeof RUN_STATES)[number],
  input: jsonOf<unknown>(row.input),
  error: row.error,
  steps_completed: rows.filter(({ state }) => state === 'done').length,
  cost_usd: rows.reduce((sum, one) => sum + one.cost_usd, 0),
  started_at: row.started_at,
  completed_at: row.completed_at,
});

export const detailOf = (row: WorkflowRunRow, rows: readonly StepRow[]) => {
  const steps = jsonOf<StepShape[]>(row.steps);
  return { ...runOf(row, rows), output: row.output, pause_reason: row.pause_reason, steps, step_results: rows.map((one) => stepResultOf(one, steps)) };
};
