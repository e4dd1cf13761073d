/** A definition as people write it, read into one form; and what is wrong with it. */
import { OneOf, type Plain, Type } from '@svc/api';
import { AGENT_MODES, InputRow, MAX_STEPS, Step, STEP_MODES, type Step as StepShape } from './contract.js';
import { workflowErrors } from './errors.js';
import { inOrder, isGraph } from './plan.js';

const { properties: P } = Step;
const optional = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) => Type.Optional(schema);
const Prompt = Type.String({ maxLength: 100_000 });
const Agent = Type.String({ minLength: 1, maxLength: 128 });

export const StepInput = Type.Object(
  {
    name: optional(P.name),
    agent: optional(Agent),
    agent_id: optional(Agent),
    agent_name: optional(Agent),
    input: optional(Prompt),
    prompt: optional(Prompt),
    prompt_template: optional(Prompt),
    mode: optional(OneOf(STEP_MODES)),
    timeout_secs: optional(P.timeout_secs),
    error_mode: Type.Optional(Type.Union([OneOf(['fail', 'skip', 'retry']), Type.Object({ retry: P.retry }, { additionalProperties: false })])),
    max_retries: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    output_var: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Type.Null()])),
    condition: optional(P.condition),
    max_iterations: optional(P.max_iterations),
    until: optional(P.until),
    depends_on: optional(P.depends_on),
    inherit_context: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    session_mode: Type.Optional(Type.Union([P.session_mode, Type.Null()])),
    duration_secs: P.duration_secs,
    gate: P.gate,
    template: P.template,
    arms: P.arms,
    actions: P.actions,
    timeout_action: P.timeout_action,
  },
  { additionalProperties: false, 'x-name': 'WorkflowStepInput' },
);
type StepInput = Plain<typeof StepInput>;

const Fields = {
  name: optional(Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })),
  description: optional(Type.String({ maxLength: 4_096 })),
  layout: Type.Optional(Type.Unknown({ description: 'State of an editor, stored as it is' })),
  total_timeout_secs: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 604_800 }), Type.Null()], { description: 'Working time of a run' })),
  input_schema: Type.Optional(Type.Union([Type.Array(InputRow, { maxItems: 100 }), Type.Null()], { description: 'For a form; a run is not checked against it' })),
};
export const Definition = Type.Object({ ...Fields, steps: Type.Array(StepInput, { minItems: 1, maxItems: MAX_STEPS }) }, { additionalProperties: false, 'x-name': 'WorkflowDraft' });
export const DefinitionChange = Type.Object(
  { ...Fields, steps: Type.Optional(Type.Array(StepInput, { minItems: 1, maxItems: MAX_STEPS })) },
  { additionalProperties: false, 'x-name': 'WorkflowChange' },
);

const DEFAULT_SECS = 120;
const DEFAULT_ROUNDS = 5;

/** Of names for one field, the one that is given. */
const one = (step: StepInput, names: ReadonlyArray<keyof StepInput>): string | undefined => {
  const given = [...new Set(names.flatMap((name) => (step[name] === undefined ? [] : [String(step[name])])))];
  if (given.length > 1) throw workflowErrors.two_values(step.name ?? '', names.join(', '));
  return given[0];
};

const readStep = (step: StepInput, index: number): StepShape => {
  const mode = step.mode ?? 'sequential';
  const retry = typeof step.error_mode === 'object' ? step.error_mode.retry : {};
  return {
    name: step.name ?? `step${index === 0 ? '' : index + 1}`,
    agent: one(step, ['agent', 'agent_name', 'agent_id']) ?? null,
    prompt_template: one(step, ['input', 'prompt', 'prompt_template']) ?? '{{input}}',
    mode,
    timeout_secs: step.timeout_secs ?? DEFAULT_SECS,
    error_mode: typeof step.error_mode === 'object' ? 'retry' : (step.error_mode ?? 'fail'),
    retry: { ...retry, max_retries: step.max_retries ?? retry.max_retries ?? 3 },
    output_var: step.output_var ?? null,
    condition: step.condition ?? '',
    max_iterations: step.max_iterations ?? DEFAULT_ROUNDS,
    until: step.until ?? '',
    depends_on: [...(step.depends_on ?? [])],
    inherit_context: step.inherit_context ?? null,
    session_mode: step.session_mode ?? 'new',
    ...(step.duration_secs === undefined ? {} : { duration_secs: step.duration_secs }),
    ...(step.gate === undefined ? {} : { gate: step.gate }),
    ...(step.template === undefined ? {} : { template: step.template }),
    ...(step.arms === undefined ? {} : { arms: step.arms }),
    ...(step.actions === undefined ? {} : { actions: step.actions }),
    ...(step.timeout_action === undefined ? {} : { timeout_action: step.timeout_action }),
  };
};

/** Throws what is wrong with it, by the name of the step. */
export const readSteps = (given: readonly StepInput[]): StepShape[] => {
  if (given.length === 0) throw workflowErrors.no_steps();
  const steps = given.map(readStep);
  const names = new Set<string>();
  for (const { name } of steps) {
    if (names.has(name)) throw workflowErrors.twice(name);
    names.add(name);
  }
  for (const [index, step] of steps.entries()) checkStep(step, index, steps);
  const ordered = new Set(inOrder(steps).map(({ name }) => name));
  const inCircle = steps.find(({ name }) => !ordered.has(name));
  if (inCircle) throw workflowErrors.cycle(inCircle.name);
  return steps;
};

const NEEDS: Readonly<Record<string, readonly [keyof StepShape, string]>> = {
  wait: ['duration_secs', 'it needs duration_secs'],
  gate: ['gate', 'it needs gate with op and value'],
  transform: ['template', 'it needs template'],
  branch: ['arms', 'it needs arms with match_value and then'],
};

const checkStep = (step: StepShape, index: number, steps: readonly StepShape[]): void => {
  if (AGENT_MODES.has(step.mode) && step.agent === null) throw workflowErrors.bad_step(step.name, 'it names no agent');
  const [field, why] = NEEDS[step.mode] ?? [];
  if (field !== undefined && why !== undefined && step[field] === undefined) throw workflowErrors.bad_step(step.name, why);
  const place = (name: string): number => steps.findIndex((other) => other.name === name);
  for (const name of step.depends_on) if (place(name) < 0) throw workflowErrors.unknown_step(step.name, name);
  for (const { then } of step.mode === 'branch' ? (step.arms ?? []) : []) {
    const at = place(then);
    if (at < 0 || (!isGraph(steps) && at <= index)) throw workflowErrors.unknown_step(step.name, then);
    if (isGraph(steps) && !steps[at]?.depends_on.includes(step.name)) throw workflowErrors.bad_step(step.name, `"${then}" does not depend on it`);
  }
};
