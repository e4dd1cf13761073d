/**
 * The rules of workflows.
 *
 * O1  A workflow belongs to one person, acts with that person's rights, and nobody else sees it, its runs or their steps.
 * O2  What is accepted is a row before it is answered; the same key is the same run.
 * O3  A paused run goes on for whoever has the token of that pause. Only its digest is stored.
 */
import { type Actor, isSvcError, type Write } from '@svc/api';
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type OPERATOR_ACTIONS,
  type Step,
  StepRows,
  type StepRow,
  WorkflowChanged,
  WorkflowEnded,
  WorkflowRows,
  type WorkflowRow,
  WorkflowRun,
  WorkflowRunRows,
  type WorkflowRunRow,
  type WorkflowStart,
  WorkflowStarted,
} from './contract.js';
import { readSteps } from './definition.js';
import { type DriverDeps, isOver, jsonOf, stepsOf, stopChildren, wakeKey } from './driver.js';
import { workflowErrors } from './errors.js';
import { parsed } from './placeholders.js';
import { stepsBefore } from './plan.js';

export type Definition = Parameters<typeof readSteps>[0];

export interface WorkflowDraft {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly steps?: Definition | undefined;
  readonly layout?: unknown;
  readonly total_timeout_secs?: number | null | undefined;
  readonly input_schema?: readonly unknown[] | null | undefined;
}

export interface Answer {
  readonly action: (typeof OPERATOR_ACTIONS)[number];
  readonly field?: string | undefined;
  readonly payload?: unknown;
}

export interface ServiceDeps extends DriverDeps {
  poke(): void;
  take(run: NonNullable<Awaited<ReturnType<DriverDeps['journal']['open']>>['leased']>): void;
}

const DEFAULT_ACTIONS = ['approve', 'reject'] as const;
const TOKEN_BYTES = 24;
const MAX_INPUT_CHARS = 262_144;

/** What the functions of the rules share. */
const basics = (deps: ServiceDeps) => {
  const { db, events } = deps;
  const changed = (id: string, ownerId: string, change: 'created' | 'updated' | 'deleted' | 'run'): Write => events.event(WorkflowChanged, { id, ownerId, change });
  const get = async (actor: Actor, id: string): Promise<WorkflowRow> => {
    const row = await db.as(actor).first<WorkflowRow>({ from: WorkflowRows.name, where: { id: id.toLowerCase() } });
    if (!row) throw workflowErrors.not_found(id);
    return row;
  };
  const find = async (actor: Actor, name: string): Promise<WorkflowRow | undefined> => {
    const byId = await db.as(actor).first<WorkflowRow>({ from: WorkflowRows.name, where: { id: name.toLowerCase() } });
    if (byId) return byId;
    const all = await db.as(actor).select<WorkflowRow>({ from: WorkflowRows.name, search: { text: name, columns: ['name'] }, limit: 100 });
    return all.find((one) => one.name.toLowerCase() === name.toLowerCase() && one.owner_id === actor.ownerId) ?? all.find((one) => one.name.toLowerCase() === name.toLowerCase());
  };
  const run = async (actor: Actor, id: string): Promise<WorkflowRunRow> => {
    const row = await db.as(actor).first<WorkflowRunRow>({ from: WorkflowRunRows.name, where: { id: id.toLowerCase() } });
    if (!row) throw workflowErrors.run_not_found(id);
    return row;
  };
  const open = (actor: Actor, id: string): Promise<WorkflowRunRow> =>
    run(actor, id).then((row) => {
      if (isOver(row)) throw workflowErrors.over(row.state);
      return row;
    });
  /** Throws where a step names an agent that the owner does not see. */
  const checkAgents = async (actor: Actor, steps: readonly Step[]): Promise<void> => {
    for (const name of new Set(steps.flatMap(({ agent }) => (agent === null ? [] : [agent])))) if (!(await deps.agents.find(actor, name))) throw workflowErrors.agent_not_found(name);
  };
  /** Of two that settle one run, the second finds it as the first left it. */
  const moved = (row: WorkflowRunRow, to: string): Write => db.sql(`UPDATE ${db.table(WorkflowRunRows.name)} SET state = ? WHERE id = ? AND state = ?`, [to, row.id, row.state], { expect: 1 });
  const commit = (writes: readonly Write[], id: string) =>
    db.commit(writes).catch((error: unknown) => {
      throw isSvcError(error) && error.code === 'storage_conflict' ? workflowErrors.changed(id).with({ cause: error }) : error;
    });
  return { changed, get, find, run, open, checkAgents, moved, commit };
};
type Basics = ReturnType<typeof basics>;

export const createWorkflows = (deps: ServiceDeps) => {
  const shared = basics(deps);
  const { get, find, run } = shared;
  return {
    get,
    find,
    run,
    steps: (row: WorkflowRunRow) => stepsOf(deps, row.id),
    ...definitions(deps, shared),
    ...starting(deps, shared),
    /** A new run of the workflow as it is now, with the same input; `from`: what steps before it gave stands. */
    again: async (actor: Actor, row: WorkflowRunRow, from?: string): Promise<WorkflowRunRow> => {
      const steps = jsonOf<Step[]>((await get(actor, row.workflow_id)).steps);
      if (from !== undefined && !steps.some(({ name }) => name === from)) throw workflowErrors.step_not_found(from);
      const before = from === undefined ? new Set<string>() : stepsBefore(steps, from);
      const taken = (await stepsOf(deps, row.id)).filter(({ step, state }) => before.has(step) && (state === 'done' || state === 'skipped'));
      return starting(deps, shared).start(actor, { workflow: row.workflow_id, input: jsonOf(row.input), ...(row.origin === null ? {} : { origin: jsonOf(row.origin) }) }, taken);
    },
    ...steering(deps, shared),
    ...asking(deps, shared),
  };
};

const definitions = ({ actors, clock, db, ids }: ServiceDeps, { changed, checkAgents, commit, get }: Basics) => ({
  create: async (actor: Actor, draft: WorkflowDraft): Promise<WorkflowRow> => {
    const steps = readSteps(draft.steps ?? []);
    await checkAgents(actor, steps);
    const now = clock.iso();
    const row = {
      id: ids.uuid(),
      owner_id: actor.ownerId,
      name: draft.name?.trim() ?? 'unnamed',
      description: draft.description ?? '',
      steps: JSON.stringify(steps),
      layout: draft.layout === undefined || draft.layout === null ? null : JSON.stringify(draft.layout),
      input_schema: draft.input_schema && draft.input_schema.length > 0 ? JSON.stringify(draft.input_schema) : null,
      total_timeout_secs: draft.total_timeout_secs ?? null,
      revision: 1,
      created_at: now,
      updated_at: now,
    };
    await db.commit([db.insert(WorkflowRows.name, [row]), changed(row.id, row.owner_id, 'created')]);
    return get(actor, row.id);
  },
  update: async (actor: Actor, id: string, draft: WorkflowDraft): Promise<WorkflowRow> => {
    const before = await get(actor, id);
    const steps = draft.steps === undefined ? undefined : readSteps(draft.steps);
    if (steps) await checkAgents(actors.of(before.owner_id), steps);
    const set = {
      ...(draft.name === undefined ? {} : { name: draft.name.trim() }),
      ...(draft.description === undefined ? {} : { description: draft.description }),
      ...(steps === undefined ? {} : { steps: JSON.stringify(steps) }),
      ...(draft.layout === undefined ? {} : { layout: draft.layout === null ? null : JSON.stringify(draft.layout) }),
      ...(draft.input_schema === undefined ? {} : { input_schema: draft.input_schema === null || draft.input_schema.length === 0 ? null : JSON.stringify(draft.input_schema) }),
      ...(draft.total_timeout_secs === undefined ? {} : { total_timeout_secs: draft.total_timeout_secs }),
    };
    const bump = db.sql(`UPDATE ${db.table(WorkflowRows.name)} SET revision = revision + 1 WHERE id = ? AND revision = ?`, [before.id, before.revision], { expect: 1 });
    await commit([bump, db.update(WorkflowRows.name, ['id'], [{ id: before.id, updated_at: clock.iso(), ...set }]), changed(before.id, before.owner_id, 'updated')], id);
    return get(actor, id);
  },
  remove: async (actor: Actor, id: string): Promise<void> => {
    const row = await get(actor, id);
    await db.commit([db.remove(WorkflowRows.name, { id: row.id }, { expect: 'any' }), changed(row.id, row.owner_id, 'deleted')]);
  },
});

const starting = (deps: ServiceDeps, { changed, checkAgents, find, run }: Basics) => ({
  /** `taken`: results of another run that stand at the beginning of this one. */
  start: async (actor: Actor, { workflow, input, key, parentRunId, depth, origin }: WorkflowStart, taken: readonly StepRow[] = []): Promise<WorkflowRunRow> => {
    const row = await find(actor, workflow);
    if (!row) throw workflowErrors.not_found(workflow);
    if (JSON.stringify(input ?? '').length > MAX_INPUT_CHARS) throw workflowErrors.bad_step('input', `it has more than ${MAX_INPUT_CHARS} characters`);
    const owner = deps.actors.of(row.owner_id);
    await checkAgents(owner, jsonOf<Step[]>(row.steps));
    const id = deps.ids.uuid();
    const made = {
      id,
      owner_id: row.owner_id,
      workflow_id: row.id,
      workflow_name: row.name,
      steps: JSON.stringify(jsonOf(row.steps)),
      total_timeout_secs: row.total_timeout_secs,
      input: JSON.stringify(input ?? ''),
      origin: origin === undefined ? null : JSON.stringify(origin),
      state: 'running',
      output: null,
      error: null,
      failed_step: null,
      error_status: null,
      pause_reason: null,
      resume_hash: null,
      started_at: deps.clock.iso(),
      completed_at: null,
      worked_ms: 0,
    };
    const fact = deps.events.event(WorkflowStarted, { ownerId: row.owner_id, workflowId: row.id, runId: id, name: row.name });
    const opened = await deps.journal.open(
      {
        id,
        kind: WorkflowRun.name,
        actor: owner,
        ...(key === undefined ? {} : { key }),
        lane: `workflow:${id}`,
        ...(parentRunId === undefined ? {} : { parentId: parentRunId }),
        cause: { kind: 'workflow', id: row.id },
        input: { workflowId: row.id, ...(depth === undefined ? {} : { depth }) },
      },
      [
        deps.db.insert(WorkflowRunRows.name, [made]),
        ...(taken.length === 0
          ? []
          : [
              deps.db.insert(
                StepRows.name,
                taken.map((row, at) => takenBy(id, deps.ids.uuid(), row, at)),
              ),
            ]),
        fact,
        changed(row.id, row.owner_id, 'run'),
      ],
    );
    if (opened.leased) deps.take(opened.leased);
    else deps.poke();
    return run(actor, opened.run.id);
  },
});

/** It was paid for, and worked, in the run that it comes from. */
const takenBy = (runId: string, id: string, row: StepRow, at: number): StepRow => ({
  ...row,
  id,
  run_id: runId,
  seq: at + 1,
  agent_id: null,
  child_run_id: null,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
});

const steering = (deps: ServiceDeps, { changed, commit, moved, open, run }: Basics) => ({
  cancel: async (actor: Actor, id: string, why = 'the workflow was cancelled'): Promise<WorkflowRunRow> => {
    const row = await open(actor, id);
    const ended = deps.events.event(WorkflowEnded, { ownerId: row.owner_id, workflowId: row.workflow_id, runId: row.id, name: row.workflow_name, state: 'cancelled', error: why });
    await commit(
      [moved(row, 'cancelled'), deps.db.update(WorkflowRunRows.name, ['id'], [{ id: row.id, error: why, completed_at: deps.clock.iso() }]), ended, changed(row.id, row.owner_id, 'run')],
      id,
    );
    await stopChildren(deps, row, why);
    await deps.journal.wake(deps.actors.of(row.owner_id), wakeKey(row.id), {});
    return run(actor, id);
  },
  pause: async (actor: Actor, id: string, reason = ''): Promise<{ readonly run: WorkflowRunRow; readonly token: string }> => {
    const row = await open(actor, id);
    if (row.state === 'paused') throw workflowErrors.paused();
    const token = Buffer.from(deps.ids.bytes(TOKEN_BYTES)).toString('base64url');
    await commit([moved(row, 'paused'), deps.db.update(WorkflowRunRows.name, ['id'], [{ id: row.id, pause_reason: reason, resume_hash: digest(token) }]), changed(row.id, row.owner_id, 'run')], id);
    return { run: await run(actor, id), token };
  },
  resume: async (actor: Actor, id: string, token: string): Promise<WorkflowRunRow> => {
    const row = await run(actor, id);
    if (row.state !== 'paused' || row.resume_hash === null) throw workflowErrors.not_paused();
    if (!timingSafeEqual(Buffer.from(row.resume_hash), Buffer.from(digest(token)))) throw workflowErrors.wrong_token();
    await commit([moved(row, 'running'), deps.db.update(WorkflowRunRows.name, ['id'], [{ id: row.id, pause_reason: null, resume_hash: null }]), changed(row.id, row.owner_id, 'run')], id);
    await deps.journal.wake(deps.actors.of(row.owner_id), wakeKey(row.id), {});
    return run(actor, id);
  },
});

const asking = (deps: ServiceDeps, { changed, commit, open, run }: Basics) => ({
  /** The step that asks a person now. Throws where none does. */
  question: async (actor: Actor, id: string): Promise<{ readonly run: WorkflowRunRow; readonly row: StepRow; readonly step: Step }> => {
    const found = await open(actor, id);
    const steps = jsonOf<Step[]>(found.steps).filter(({ mode }) => mode === 'operator');
    const row = (await stepsOf(deps, found.id)).find((one) => one.state === 'waiting' && steps.some(({ name }) => name === one.step));
    const step = steps.find(({ name }) => name === row?.step);
    if (!row || !step) throw workflowErrors.no_question();
    return { run: found, row, step };
  },
  questions: async (actor: Actor): Promise<StepRow[]> => {
    const waiting = await deps.db.as(actor).select<StepRow>({ from: StepRows.name, where: { state: 'waiting', child_run_id: null }, limit: 500 });
    const found = await Promise.all([...new Set(waiting.map(({ run_id: id }) => id))].map((id) => run(actor, id)));
    const modes = new Map(found.flatMap((row) => jsonOf<Step[]>(row.steps).map(({ name, mode }) => [`${row.id}\n${name}`, isOver(row) ? '' : mode] as const)));
    return waiting.filter((row) => modes.get(`${row.run_id}\n${row.step}`) === 'operator');
  },
  answer: async (actor: Actor, asked: { readonly run: WorkflowRunRow; readonly row: StepRow; readonly step: Step }, { action, field, payload }: Answer): Promise<void> => {
    const allowed = asked.step.actions ?? DEFAULT_ACTIONS;
    if (!allowed.some((one) => one === action)) throw workflowErrors.bad_action(action, allowed.join(', '));
    const by = `${actor.id}`;
    const end =
      action === 'reject'
        ? { state: 'failed', error: `rejected by ${by}${payload === undefined ? '' : `: ${textOf(payload)}`}` }
        : { state: 'done', output: outputOf(asked.row.output ?? '', action, field, payload) };
    const taken = deps.db.sql(`UPDATE ${deps.db.table(StepRows.name)} SET state = 'running' WHERE id = ? AND state = 'waiting'`, [asked.row.id], { expect: 1 });
    await commit([taken, deps.db.update(StepRows.name, ['id'], [{ id: asked.row.id, ...end, ended_at: deps.clock.iso() }]), changed(asked.run.id, asked.run.owner_id, 'run')], asked.run.id);
    await deps.journal.wake(deps.actors.of(asked.run.owner_id), wakeKey(asked.run.id), {});
  },
});
export type WorkflowRules = ReturnType<typeof createWorkflows>;

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What goes on to the next step: the input of the question, or what the person made of it. */
const outputOf = (input: string, action: Answer['action'], field: string | undefined, payload: unknown): string => {
  if (action === 'approve' || payload === undefined) return input;
  if (field === undefined) return textOf(payload);
  const object = parsed(input);
  return JSON.stringify({ ...(typeof object === 'object' && object !== null && !Array.isArray(object) ? object : { input }), [field]: payload });
};
