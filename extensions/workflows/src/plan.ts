/**
 * What a run does next, from its definition and its steps so far: a pure function, so a crash changes nothing.
 *
 * W1  The same steps so far give the same next ones.
 * W2  Nothing of a later step begins before what it stands on has ended.
 * W3  A step that fails ends the run, unless it says `skip`; what depends on a skipped step is skipped.
 * W4  A step inherits what steps before it gave and its prompt does not hold: in a graph, those that it depends on, near and far.
 */
import { holds, passes } from './conditions.js';
import { AGENT_MODES, type Step, type StepRow } from './contract.js';
import { render, type Variables } from './placeholders.js';

/** Begin this: an agent's run, a wait, or a question to a person. */
export interface Start {
  readonly step: Step;
  readonly round: number;
  readonly prompt: string;
  /** What steps before it gave and the prompt does not hold; empty where the step wants none of it. */
  readonly before: string;
}

/** A step that took no time: its result. */
export interface Decision {
  readonly step: Step;
  readonly state: 'done' | 'skipped' | 'failed';
  readonly prompt: string;
  readonly output: string;
  readonly error: string | null;
}

export interface Next {
  readonly starts: readonly Start[];
  readonly records: readonly Decision[];
  /** Set once the run is over. */
  readonly end?: { readonly state: 'completed' | 'failed'; readonly output: string; readonly error: string | null; readonly step: string | null; readonly status: number | null };
}

export interface PlanInput {
  readonly steps: readonly Step[];
  readonly input: string;
  readonly values: ReadonlyMap<string, string>;
  readonly rows: readonly StepRow[];
}

/** Characters of what a step inherits. */
const MAX_INHERITED = 100_000;
const SEPARATOR = '\n\n---\n\n';

interface Settled {
  readonly state: 'done' | 'skipped' | 'failed';
  readonly output: string;
  readonly error: string | null;
  readonly status: number | null;
  /** Of a branch: the step that it leads to. */
  readonly leadsTo?: string;
}

class Planner {
  readonly starts: Start[] = [];
  readonly records: Decision[] = [];
  readonly #values: Map<string, string>;
  readonly #steps = new Map<string, { output: string; input: string; agent: string; duration_ms: number }>();
  readonly #rows: ReadonlyMap<string, StepRow>;
  readonly #all: readonly Step[];

  constructor(given: PlanInput) {
    this.#all = given.steps;
    this.#values = new Map(given.values);
    this.#rows = new Map(given.rows.map((row) => [`${row.step}\n${row.round}`, row]));
  }

  row(step: Step, round = 1): StepRow | undefined {
    return this.#rows.get(`${step.name}\n${round}`);
  }

  variables(input: string): Variables {
    return { input, values: this.#values, steps: this.#steps };
  }

  /** Later steps see it by its name and its variable. */
  publish(step: Step, input: string, output: string, row?: StepRow): void {
    const ms = row?.ended_at ? Date.parse(row.ended_at) - Date.parse(row.started_at) : 0;
    this.#steps.set(step.name, { output, input, agent: row?.agent_name ?? '', duration_ms: ms });
    if (step.output_var) this.#values.set(step.output_var, output);
  }

  begin(step: Step, round: number, input: string): undefined {
    const prompt = render(step.prompt_template, this.variables(input));
    this.starts.push({ step, round, prompt, before: step.inherit_context === false ? '' : this.#inherited(step, prompt) });
    return undefined;
  }

  /** Of agents alone: other steps hand on what they got. The newest ones, within the limit. */
  #inherited(step: Step, prompt: string): string {
    const above = isGraph(this.#all) ? ancestorsOf(this.#all, step) : undefined;
    const kept: string[] = [];
    const said = new Set<string>();
    let left = MAX_INHERITED;
    for (const [name, { output }] of [...this.#steps].reverse()) {
      const text = output.trim();
      if (text === '' || said.has(text) || prompt.includes(text) || above?.has(name) === false || !this.#isOfAgent(name)) continue;
      said.add(text);
      left -= text.length;
      if (left < 0) break;
      kept.unshift(`## ${name}\n${text}`);
    }
    return kept.join('\n\n');
  }

  #isOfAgent(name: string): boolean {
    const step = this.#all.find((one) => one.name === name);
    return step !== undefined && AGENT_MODES.has(step.mode);
  }

  /** Undefined while it works or has just been begun. */
  ended(step: Step, round: number, input: string): Settled | undefined {
    const row = this.row(step, round);
    if (!row) return this.begin(step, round, input);
    if (row.state === 'done') return { state: 'done', output: row.output ?? '', error: null, status: null };
    if (row.state === 'skipped') return { state: 'skipped', output: input, error: null, status: null };
    if (row.state === 'failed' || row.state === 'cancelled')
      return { state: step.error_mode === 'skip' ? 'skipped' : 'failed', output: input, error: row.error ?? 'it was cancelled', status: row.error_status };
    return undefined;
  }

  /** A step that a moment decides. Its record is made once; afterwards its row says the same. */
  decide(step: Step, state: 'done' | 'skipped' | 'failed', output: string, error: string | null = null): Settled {
    if (!this.row(step)) this.records.push({ step, state, prompt: '', output, error });
    return { state, output, error, status: null };
  }

  /** Undefined while it is not over. `gathered`: what a collect joins. */
  settle(step: Step, input: string, gathered: readonly string[]): Settled | undefined {
    switch (step.mode) {
      case 'collect':
        return this.decide(step, 'done', gathered.join(SEPARATOR));
      case 'transform':
        return this.decide(step, 'done', render(step.template ?? '', this.#withPrevious(input)));
      case 'gate':
        return step.gate && passes(step.gate, input) ? this.decide(step, 'done', input) : this.decide(step, 'failed', '', 'its condition is not met');
      case 'branch': {
        const arm = step.arms?.find(({ match_value: value }) => value.trim() === input.trim());
        if (!arm) return this.decide(step, 'failed', '', 'no arm matches its input');
        return { ...this.decide(step, 'done', input), leadsTo: arm.then };
      }
      case 'conditional':
        return holds(step.condition, input) || this.row(step)?.state === 'done' ? this.ended(step, 1, input) : this.decide(step, 'skipped', input);
      case 'loop':
        return this.#loop(step, input);
      default:
        return this.ended(step, 1, input);
    }
  }

  #loop(step: Step, input: string): Settled | undefined {
    let current = input;
    for (let round = 1; round <= step.max_iterations; round += 1) {
      const settled = this.ended(step, round, current);
      if (settled?.state === 'skipped') break;
      if (settled?.state !== 'done') return settled;
      current = settled.output;
      if (step.until !== '' && current.toLowerCase().includes(step.until.toLowerCase())) break;
    }
    return { state: 'done', output: current, error: null, status: null };
  }

  #withPrevious(input: string): Variables {
    const known = this.variables(input);
    const vars = [...known.values].map(([name, value]) => [`vars.${name}`, value] as const);
    const previous = { output: input, input, agent: '', duration_ms: 0 };
    return { ...known, values: new Map([...known.values, ...vars, ['prev', input], ['prev_json', input]]), steps: new Map([...known.steps, ['prev_json', previous]]) };
  }

  next(end?: Next['end']): Next {
    return { starts: this.starts, records: this.records, ...(end === undefined ? {} : { end }) };
  }
}

export const isGraph = (steps: readonly Step[]): boolean => steps.some(({ depends_on: below }) => below.length > 0);

export const planNext = (given: PlanInput): Next => (isGraph(given.steps) ? planGraph(new Planner(given), given) : planSequence(new Planner(given), given));

const failed = (step: Step, { error, status }: Settled): NonNullable<Next['end']> => ({ state: 'failed', output: '', error, step: step.name, status });

const lastRow = (plan: Planner, step: Step): StepRow | undefined => {
  let round = step.mode === 'loop' ? step.max_iterations : 1;
  while (round > 1 && !plan.row(step, round)) round -= 1;
  return plan.row(step, round);
};

function planSequence(plan: Planner, { steps, input }: PlanInput): Next {
  let current = input;
  let gathered: string[] = [];
  for (let at = 0; at < steps.length; ) {
    const group = fanOutAt(steps, at);
    if (group.length === 0) break;
    const isFan = group[0]?.mode === 'fan_out';
    if (isFan) gathered = [];
    // All of a group are begun, whatever the first one does.
    const settled = group.map((step) => plan.settle(step, current, gathered));
    if (settled.some((one) => one === undefined)) return plan.next();
    const before = current;
    let jump: string | undefined;
    for (const [index, step] of group.entries()) {
      const one = settled[index];
      if (!one) return plan.next();
      if (one.state === 'failed') return plan.next(failed(step, one));
      if (one.state === 'skipped') continue;
      plan.publish(step, before, one.output, lastRow(plan, step));
      gathered = step.mode === 'collect' ? [] : [...gathered, one.output];
      current = one.output;
      jump = one.leadsTo ?? jump;
    }
    at = jump === undefined ? at + group.length : steps.findIndex(({ name }) => name === jump);
  }
  return plan.next({ state: 'completed', output: current, error: null, step: null, status: null });
}

/** The steps that begin together: adjacent ones of the mode fan_out, else one. */
const fanOutAt = (steps: readonly Step[], at: number): readonly Step[] => {
  let end = at + 1;
  if (steps[at]?.mode === 'fan_out') while (steps[end]?.mode === 'fan_out') end += 1;
  return steps.slice(at, end);
};

function planGraph(plan: Planner, { steps, input }: PlanInput): Next {
  const settled = new Map<string, Settled>();
  const closed = new Set<string>();
  let isWorking = false;
  for (const step of inOrder(steps)) {
    const below = step.depends_on.map((name) => settled.get(name));
    if (below.some((one) => one === undefined)) {
      isWorking = true;
      continue;
    }
    const done = below.flatMap((one) => (one?.state === 'done' ? [one.output] : []));
    const isLeftOut = closed.has(step.name) || (below.length > 0 && done.length < below.length);
    const current = done.length === 0 ? input : done.join(SEPARATOR);
    const one = isLeftOut ? plan.decide(step, 'skipped', '') : plan.settle(step, step.mode === 'sequential' || step.mode === 'fan_out' ? input : current, done);
    if (!one) {
      isWorking = true;
      continue;
    }
    if (one.state === 'failed') return plan.next(failed(step, one));
    settled.set(step.name, one);
    if (one.state === 'done') plan.publish(step, current, one.output, lastRow(plan, step));
    for (const arm of step.arms ?? []) if (step.mode === 'branch' && arm.then !== one.leadsTo) closed.add(arm.then);
  }
  if (isWorking) return plan.next();
  const last = steps.filter(({ name }) => settled.get(name)?.state === 'done' && !steps.some((other) => other.depends_on.includes(name) && settled.get(other.name)?.state === 'done')).at(-1);
  return plan.next({ state: 'completed', output: last ? (settled.get(last.name)?.output ?? '') : '', error: null, step: null, status: null });
}

/** Steps whose results stand when this one begins anew: those before it, and in a graph all that do not follow from it. */
export const stepsBefore = (steps: readonly Step[], from: string): ReadonlySet<string> => {
  if (!isGraph(steps))
    return new Set(
      steps
        .slice(
          0,
          steps.findIndex(({ name }) => name === from),
        )
        .map(({ name }) => name),
    );
  const after = new Set([from]);
  for (const { name, depends_on: below } of inOrder(steps)) if (below.some((one) => after.has(one))) after.add(name);
  return new Set(steps.map(({ name }) => name).filter((name) => !after.has(name)));
};

const ancestorsOf = (steps: readonly Step[], { depends_on: below }: Step): ReadonlySet<string> => {
  const found = new Set<string>();
  const open = [...below];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    open.push(...(steps.find((one) => one.name === name)?.depends_on ?? []));
  }
  return found;
};

/** Each after those that it depends on; otherwise as they are written. A circle is refused when the workflow is written. */
export const inOrder = (steps: readonly Step[]): readonly Step[] => {
  const placed: Step[] = [];
  const names = new Set<string>();
  while (placed.length < steps.length) {
    const ready = steps.filter((step) => !names.has(step.name) && step.depends_on.every((name) => names.has(name)));
    if (ready.length === 0) break;
    for (const step of ready) names.add(step.name);
    placed.push(...ready);
  }
  return placed;
};
