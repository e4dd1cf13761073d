/** Runs of workflows over HTTP: started, followed, paused, answered and cancelled. */
import { defineList, Nullable, OneOf, readList, reply, type RouteDecl, routeGroup, type Db, Type, Uuid } from '@svc/api';
import { AGENT_MODES, OPERATOR_ACTIONS, RUN_STATES, type Step, StepRows, type StepRow, WorkflowRunRows, type WorkflowRunRow } from '../contract.js';
import { isOver, jsonOf, type DriverDeps } from '../driver.js';
import { workflowErrors } from '../errors.js';
import { inputOf, render } from '../placeholders.js';
import type { WorkflowRules } from '../service.js';
import { detailOf, RunDetail, runOf, RunSummary, StepResult, stepResultOf } from '../shapes.js';
import { endOfRun, type WaitDeps } from '../waiting.js';
import { WorkflowPath } from './workflows.js';

export interface RunRouteDeps extends WaitDeps {
  readonly rules: WorkflowRules;
  readonly db: Db;
  readonly agents: DriverDeps['agents'];
}

const route = routeGroup({ area: 'workflows' });
const RUN_COST = 100;
const MAX_WAIT_MS = 3_600_000;
const RunPath = Type.Object({ run_id: Type.String({ format: 'uuid', description: 'Run id' }) });
const Input = Type.Union([Type.String({ maxLength: 262_144 }), Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.Unknown())], {
  description: 'A text, or an object: each of its keys is a variable',
});
const RunBody = Type.Object({ input: Type.Optional(Input) }, { additionalProperties: false });
const runs = defineList({ item: RunSummary, as: [], sort: ['started_at'], filters: { state: OneOf(RUN_STATES, { description: 'Only those in this state' }) }, limit: { default: 100, max: 500 } });
const Ran = Type.Object({ run_id: Uuid, status: OneOf(['completed']), output: Type.String(), step_results: Type.Array(StepResult) });
const Started = Type.Object({ run_id: Uuid, status: OneOf(['running', 'paused', 'waiting']) });

export const runRoutes = (deps: RunRouteDeps): RouteDecl[] => [...starting(deps), ...reading(deps), ...steering(deps), ...operating(deps)];

const stepsById = async (db: Db, rows: readonly WorkflowRunRow[]): Promise<ReadonlyMap<string, StepRow[]>> => {
  const found =
    rows.length === 0
      ? []
      : await db.system('steps of listed runs').select<StepRow>({ from: StepRows.name, columns: ['run_id', 'state', 'cost_usd'], where: { run_id: rows.map(({ id }) => id) }, limit: 10_000 });
  return found.reduce((map, row) => map.set(row.run_id, [...(map.get(row.run_id) ?? []), row]), new Map<string, StepRow[]>());
};

const starting = (deps: RunRouteDeps): RouteDecl[] => [
  route({
    id: 'runWorkflow',
    method: 'POST',
    path: '/api/workflows/{id}/run',
    summary: 'Run a workflow',
    description:
      'Waits for the end and answers with the output. It goes on if you disconnect. With `wait=false`, when it begins to wait for a person or a time, or after `timeout_ms`, the answer is 202. A failed run answers with the status of its failed step, and names the step. With an `Idempotency-Key` the same request is the same run.',
    cost: RUN_COST,
    audit: 'workflow_run',
    params: WorkflowPath,
    query: Type.Object({ wait: Type.Optional(Type.Boolean({ default: true })), timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_WAIT_MS })) }),
    body: RunBody,
    examples: { 'a text': { input: 'solar power' }, 'variables for its prompts': { input: { topic: 'solar power', audience: 'children' } }, 'without input': {} },
    errors: [404, 409, 429, 500],
    responses: { 200: Ran, 202: Started },
    handler: async ({ actor, params, query, body, headers, signal }) => {
      await deps.rules.get(actor, params.id);
      const key = headers['idempotency-key'];
      const begun = await deps.rules.start(actor, { workflow: params.id, input: body.input ?? '', ...(key === undefined ? {} : { key: `request:${key}` }) });
      if (query.wait === false) return reply(202, { run_id: begun.id, status: 'running' as const });
      const until = query.timeout_ms === undefined ? undefined : deps.clock.now() + query.timeout_ms;
      const row = await endOfRun(deps, actor, begun.id, signal, until);
      if (row.state === 'completed') {
        const steps = jsonOf<Step[]>(row.steps);
        return reply(200, { run_id: row.id, status: 'completed' as const, output: row.output ?? '', step_results: (await deps.rules.steps(row)).map((one) => stepResultOf(one, steps)) });
      }
      if (isOver(row)) throw failureOf(row);
      return reply(202, { run_id: row.id, status: row.state === 'paused' ? ('paused' as const) : until !== undefined && deps.clock.now() >= until ? ('running' as const) : ('waiting' as const) });
    },
  }),
  route({
    id: 'runWorkflowAgain',
    method: 'POST',
    path: '/api/workflows/runs/{run_id}/rerun',
    summary: 'Run a workflow again with the same input',
    description: 'A new run of the workflow as it is now. With `from_step`, what the steps before it gave stands, and is not paid for again.',
    cost: RUN_COST,
    audit: 'workflow_run',
    params: RunPath,
    query: Type.Object({ from_step: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Name of the step to begin with' })) }),
    errors: [404],
    responses: { 202: Type.Object({ run_id: Uuid, status: OneOf(['running']) }) },
    handler: async ({ actor, params, query }) => {
      const { id } = await deps.rules.again(actor, await deps.rules.run(actor, params.run_id), query.from_step);
      return reply(202, { run_id: id, status: 'running' as const });
    },
  }),
  route({
    id: 'previewWorkflow',
    method: 'POST',
    path: '/api/workflows/{id}/dry-run',
    summary: 'Show what a workflow would ask',
    description: 'Asks no model: each step with its agent and its prompt, in which what earlier steps would give stays a placeholder.',
    cost: 5,
    params: WorkflowPath,
    body: RunBody,
    examples: { 'a text': { input: 'solar power' }, 'variables for its prompts': { input: { topic: 'solar power' } }, 'without input': {} },
    errors: [404],
    responses: {
      200: Type.Object({
        valid: Type.Boolean(),
        steps: Type.Array(
          Type.Object({
            step_name: Type.String(),
            agent_name: Nullable(Type.String()),
            agent_found: Type.Boolean(),
            resolved_prompt: Type.String(),
            skipped: Type.Boolean(),
            skip_reason: Nullable(Type.String()),
          }),
        ),
      }),
    },
    handler: async ({ actor, params, body }) => {
      const row = await deps.rules.get(actor, params.id);
      const { text, values } = inputOf(body.input ?? '');
      const steps = await Promise.all(
        jsonOf<Step[]>(row.steps).map(async (step, index) => {
          const agent = step.agent === null ? undefined : await deps.agents.find(actor, step.agent);
          const needsNone = !AGENT_MODES.has(step.mode);
          const isFirst = index === 0 || step.depends_on.length === 0;
          const prompt = render(step.prompt_template, { input: isFirst && index === 0 ? text : '{{input}}', values, steps: new Map() });
          return {
            step_name: step.name,
            agent_name: agent?.name ?? step.agent,
            agent_found: needsNone || agent !== undefined,
            resolved_prompt: needsNone ? '' : prompt,
            skipped: needsNone,
            skip_reason: needsNone ? `${step.mode} asks no agent` : null,
          };
        }),
      );
      return reply(200, { valid: steps.every(({ agent_found: found }) => found), steps });
    },
  }),
];

/** As a message to its failed step would have answered. */
const failureOf = (row: WorkflowRunRow): Error => {
  const [step, why] = [row.failed_step ?? row.state, row.error ?? `the run is ${row.state}`];
  const kinds: Readonly<Record<number, typeof workflowErrors.failed>> = { 404: workflowErrors.step_without_agent, 429: workflowErrors.step_over_limit };
  const failure = row.state === 'cancelled' ? workflowErrors.run_cancelled(why) : (kinds[row.error_status ?? 0] ?? workflowErrors.failed)(step, why);
  return failure.with({ details: { run_id: row.id, step: row.failed_step, state: row.state } });
};

const reading = ({ rules, db }: RunRouteDeps): RouteDecl[] => [
  route({
    id: 'listWorkflowRuns',
    method: 'GET',
    path: '/api/workflows/{id}/runs',
    summary: 'List the runs of a workflow, newest first',
    description: 'A bare list; the headers `X-Total-Count` and `X-Next` help to page. Runs of a deleted workflow are listed as long as they are stored.',
    params: WorkflowPath,
    query: runs.query,
    errors: [404],
    responses: { 200: runs.answer },
    handler: async ({ actor, params, query }) => {
      const where = { workflow_id: params.id.toLowerCase(), ...(query.state === undefined ? {} : { state: query.state }) };
      const found = await readList(db.as(actor), runs, query, { from: WorkflowRunRows.name, where });
      if (found.total === 0) await rules.get(actor, params.id);
      const rows = found.rows as unknown as readonly WorkflowRunRow[];
      const steps = await stepsById(db, rows);
      return runs.reply(query, { ...found, rows: rows.map((row) => runOf(row, steps.get(row.id) ?? [])) });
    },
  }),
  route({
    id: 'getWorkflowRun',
    method: 'GET',
    path: '/api/workflows/runs/{run_id}',
    summary: 'Get a run of a workflow',
    description: 'With the definition that it began with, and each step with its prompt, output, tokens and cost.',
    params: RunPath,
    errors: [404],
    responses: { 200: RunDetail },
    handler: async ({ actor, params }) => {
      const row = await rules.run(actor, params.run_id);
      return reply(200, detailOf(row, await rules.steps(row)));
    },
  }),
];

const steering = ({ rules }: RunRouteDeps): RouteDecl[] => [
  route({
    id: 'cancelWorkflowRun',
    method: 'POST',
    path: '/api/workflows/runs/{run_id}/cancel',
    summary: 'Cancel a run of a workflow',
    description: 'At once, with everything it began.',
    audit: 'workflow_cancelled',
    params: RunPath,
    errors: [404, 409],
    responses: { 200: Type.Object({ run_id: Uuid, state: OneOf(['cancelled']) }) },
    handler: async ({ actor, params }) => {
      const { id } = await rules.cancel(actor, params.run_id);
      return reply(200, { run_id: id, state: 'cancelled' as const });
    },
  }),
  route({
    id: 'pauseWorkflowRun',
    method: 'POST',
    path: '/api/workflows/runs/{run_id}/pause',
    summary: 'Pause a run of a workflow',
    description: 'Steps under way end, and no other begins. The `resume_token` is shown this once.',
    audit: 'workflow_paused',
    params: RunPath,
    body: Type.Object({ reason: Type.Optional(Type.String({ maxLength: 1_000 })) }, { additionalProperties: false }),
    examples: { 'with a reason': { reason: 'the sources are being checked' }, 'another reason': { reason: 'holiday' }, 'without a reason': {} },
    errors: [404, 409],
    responses: { 200: Type.Object({ run_id: Uuid, resume_token: Type.String() }) },
    handler: async ({ actor, params, body }) => {
      const { run, token } = await rules.pause(actor, params.run_id, body.reason);
      return reply(200, { run_id: run.id, resume_token: token });
    },
  }),
  route({
    id: 'resumeWorkflowRun',
    method: 'POST',
    path: '/api/workflows/runs/{run_id}/resume',
    summary: 'Resume a paused run of a workflow',
    description: 'With the token of its pause.',
    audit: 'workflow_resumed',
    params: RunPath,
    body: Type.Object({ resume_token: Type.String({ minLength: 1, maxLength: 200 }) }, { additionalProperties: false }),
    examples: {
      'the token of the pause': { resume_token: 'mQ4v0cE1y2JrXkqk1d8oPq0lX2s6w9aB' },
      'of another pause': { resume_token: 'uT9w3sLkVbN5c7XzQ1m2p4R6y8A0dFgH' },
      'a third': { resume_token: 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY' },
    },
    errors: [401, 404, 409],
    responses: { 200: Type.Object({ run_id: Uuid, state: OneOf(['running']) }) },
    handler: async ({ actor, params, body }) => {
      const { id } = await rules.resume(actor, params.run_id, body.resume_token);
      return reply(200, { run_id: id, state: 'running' as const });
    },
  }),
];

const Question = Type.Object(
  { run_id: Uuid, step_name: Type.String(), input: Type.String(), actions: Type.Array(OneOf(OPERATOR_ACTIONS)), asked_at: Type.String(), due_at: Nullable(Type.String()) },
  { 'x-name': 'WorkflowQuestion' },
);

const operating = ({ rules }: RunRouteDeps): RouteDecl[] => [
  route({
    id: 'listWorkflowQuestions',
    method: 'GET',
    path: '/api/workflows/operator/pending',
    summary: 'List what workflows ask people',
    description: 'Steps of the mode `operator` that wait for an answer.',
    responses: { 200: Type.Object({ pending: Type.Array(Type.Object({ run_id: Uuid, step_name: Type.String(), input: Type.String(), asked_at: Type.String() })), total: Type.Integer() }) },
    handler: async ({ actor }) => {
      const rows = await rules.questions(actor);
      return reply(200, { pending: rows.map((row) => ({ run_id: row.run_id, step_name: row.step, input: row.output ?? '', asked_at: row.started_at })), total: rows.length });
    },
  }),
  route({
    id: 'getWorkflowQuestion',
    method: 'GET',
    path: '/api/workflows/runs/{run_id}/operator',
    summary: 'Get what a run asks a person',
    description: '409 where it asks nothing now.',
    params: RunPath,
    errors: [404, 409],
    responses: { 200: Question },
    handler: async ({ actor, params }) => {
      const { row, step } = await rules.question(actor, params.run_id);
      return reply(200, {
        run_id: row.run_id,
        step_name: row.step,
        input: row.output ?? '',
        actions: [...(step.actions ?? (['approve', 'reject'] as const))],
        asked_at: row.started_at,
        due_at: row.due_at,
      });
    },
  }),
  route({
    id: 'answerWorkflowQuestion',
    method: 'POST',
    path: '/api/workflows/runs/{run_id}/operator',
    summary: 'Answer what a run asks',
    description: 'The first answer counts. `payload` takes the place of the input for the next step, or of one `field` of it.',
    audit: 'workflow_answered',
    params: RunPath,
    body: Type.Object(
      { action: OneOf(OPERATOR_ACTIONS), field: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })), payload: Type.Optional(Type.Unknown()) },
      { additionalProperties: false },
    ),
    examples: {
      approve: { action: 'approve' },
      'reject with a reason': { action: 'reject', payload: 'The figures are from last year.' },
      'another text': { action: 'edit', payload: 'Dear readers, …' },
    },
    errors: [404, 409],
    responses: { 200: Type.Object({ run_id: Uuid, step_name: Type.String(), action: OneOf(OPERATOR_ACTIONS) }) },
    handler: async ({ actor, params, body }) => {
      const question = await rules.question(actor, params.run_id);
      await rules.answer(actor, question, body);
      return reply(200, { run_id: question.run.id, step_name: question.row.step, action: body.action });
    },
  }),
];
