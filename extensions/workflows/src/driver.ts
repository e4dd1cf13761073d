/**
 * Drives a run of a workflow: what `planNext` says, as agents' runs, waits and questions.
 *
 * V1  A run has the definition that it began with.
 * V2  A step asks its agent once for each attempt: the key of the agent's run is the step and the attempt. After a death the run goes on at its last finished step.
 * V3  A run that waits, for its agents, a time or a person, holds nothing.
 * V4  Cancelling ends what the run began, its retries and its waits at once.
 * V5  Working time counts against limits; waiting for a person or a time does not.
 */
import {
  type Actor,
  type Actors,
  type Clock,
  type Db,
  type Events,
  type Ids,
  isSvcError,
  isTable,
  type Journal,
  type LeasedRun,
  type Logger,
  type Origin,
  type Row,
  uuidOfHex,
  type Write,
} from '@svc/api';
import { createHash } from 'node:crypto';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunEnds, RunInfo, RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { AGENT_MODES, type Step, StepRows, type StepRow, WorkflowChanged, WorkflowEnded, WorkflowRunRows, type WorkflowRunRow } from './contract.js';
import { workflowErrors } from './errors.js';
import { inputOf } from './placeholders.js';
import { type Next, planNext, type Start } from './plan.js';
import { retryAt } from './retries.js';

export interface DriverDeps {
  readonly db: Db;
  readonly events: Events;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid' | 'bytes'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find' | 'list'>;
  readonly runs: Pick<RunsService, 'submit' | 'get' | 'stop'>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly ends: RunEnds;
  readonly closing: AbortSignal;
  maxSecs(): number;
}

const CHECK_MS = 30_000;
const BUSY_MS = 2_000;
/** A run that begins this much later than its step was queued meanwhile. */
const ROOM_MS = 1_000;
const MAX_TURNS = 1_000;
const MAX_SENT = 16_384;
export const wakeKey = (runId: string): string => `workflow:${runId}`;
const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export const isOver = ({ state }: Pick<WorkflowRunRow, 'state'>): boolean => OVER.has(state);

/** JSON columns come as text or as values, by the engine. */
export const jsonOf = <T>(value: unknown): T => (typeof value === 'string' ? (JSON.parse(value) as T) : (value as T));

export async function driveRun(deps: DriverDeps, leased: LeasedRun): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const run = await deps.db.system('a run of a workflow').first<WorkflowRunRow>({ from: WorkflowRunRows.name, where: { id: leased.id } });
    if (!run || run.state === 'cancelled') return deps.journal.advance(leased, { finish: { status: 'cancelled' } });
    if (isOver(run)) return deps.journal.advance(leased, { finish: { status: run.state === 'completed' ? 'done' : 'failed' } });
    if (run.state === 'paused') return deps.journal.wait(leased, { reason: 'paused', wakeKey: wakeKey(run.id) });
    const rows = await stepsOf(deps, run.id);
    const seen = await settleSteps(deps, leased, run, rows);
    if (seen.isChanged) continue;
    const late = overTime(deps, run, rows, seen.queued);
    if (late) return finish(deps, leased, run, late);
    const next = planNext({ steps: jsonOf<Step[]>(run.steps), ...planInput(run), rows });
    if (next.starts.length > 0 || next.records.length > 0) {
      await begin(deps, leased, run, next, rows.length);
      if (next.starts.length > 0) continue;
    }
    if (next.end) return finish(deps, leased, run, next.end);
    if (next.records.length > 0) continue;
    return rest(deps, leased, run, rows, seen.queued);
  }
  throw new Error(`the run ${leased.id} does not come to rest`);
}

export const stepsOf = ({ db }: Pick<DriverDeps, 'db'>, runId: string): Promise<StepRow[]> =>
  db.system('steps of a run').select<StepRow>({ from: StepRows.name, where: { run_id: runId }, order: [{ column: 'seq' }], limit: 10_000 });

/** Ids of steps whose runs wait for room. */
type Queued = ReadonlySet<string>;

/** Working time alone: what waits for a person, a time or room does not count. */
const workedMs = ({ clock }: Pick<DriverDeps, 'clock'>, rows: readonly StepRow[], queued: Queued): number =>
  rows
    .filter(({ id, agent_id: agent }) => agent !== null && !queued.has(id))
    .reduce((sum, row) => sum + (row.ended_at === null ? clock.now() : Date.parse(row.ended_at)) - Date.parse(row.started_at), 0);
const limitSecs = ({ maxSecs }: Pick<DriverDeps, 'maxSecs'>, run: WorkflowRunRow): number => Math.min(run.total_timeout_secs ?? maxSecs(), maxSecs());

const overTime = (deps: DriverDeps, run: WorkflowRunRow, rows: readonly StepRow[], queued: Queued): NonNullable<Next['end']> | undefined => {
  const limit = limitSecs(deps, run);
  const last = rows.at(-1);
  if (workedMs(deps, rows, queued) <= limit * 1_000 || !last || last.state !== 'running') return undefined;
  return { state: 'failed', output: '', error: `the workflow may work ${limit} s`, step: last.step, status: null };
};

/** When steps that work now come to a limit of time; none that has passed. */
const limitsOf = (deps: DriverDeps, run: WorkflowRunRow, rows: readonly StepRow[], queued: Queued): number[] => {
  const now = deps.clock.now();
  const working = rows.filter(({ id, state }) => state === 'running' && !queued.has(id));
  const steps = jsonOf<Step[]>(run.steps);
  const ends = working.map((row) => Date.parse(row.started_at) + (steps.find(({ name }) => name === row.step)?.timeout_secs ?? 0) * 1_000 + 1);
  const leftMs = (limitSecs(deps, run) * 1_000 - workedMs(deps, rows, queued)) / Math.max(1, working.length);
  return [...ends, now + Math.ceil(leftMs) + 1].filter((at) => at > now);
};

const planInput = ({ input }: WorkflowRunRow) => {
  const { text, values } = inputOf(jsonOf(input));
  return { input: text, values };
};

/** Looks at each step that is not over. */
async function settleSteps(deps: DriverDeps, leased: LeasedRun, run: WorkflowRunRow, rows: readonly StepRow[]): Promise<{ readonly isChanged: boolean; readonly queued: Queued }> {
  const steps = jsonOf<Step[]>(run.steps);
  let isChanged = false;
  const queued = new Set<string>();
  for (const row of rows) {
    const step = steps.find(({ name }) => name === row.step);
    if (!step || (row.state !== 'running' && row.state !== 'waiting')) continue;
    const seen = await settleOne(deps, leased, run, step, row);
    if (seen === 'queued') queued.add(row.id);
    else if (seen) isChanged = true;
  }
  return { isChanged, queued };
}

const isDue = ({ clock }: DriverDeps, { due_at: due }: StepRow): boolean => due !== null && Date.parse(due) <= clock.now();

/** True where it changed. */
async function settleOne(deps: DriverDeps, leased: LeasedRun, run: WorkflowRunRow, step: Step, row: StepRow): Promise<boolean | 'queued'> {
  if (row.state === 'waiting') {
    if (!isDue(deps, row)) return false;
    if (step.mode === 'wait') return change(deps, leased, row, { state: 'done', ended_at: deps.clock.iso() });
    if (step.mode === 'operator') return change(deps, leased, row, timedOut(step, deps.clock.iso()));
    // A retry whose rest is over.
    return change(deps, leased, row, { state: 'running', child_run_id: null, due_at: null, started_at: deps.clock.iso() });
  }
  if (row.child_run_id === null) return ask(deps, leased, run, step, row);
  const actor = deps.actors.of(run.owner_id);
  const info = await deps.runs.get(actor, row.child_run_id);
  if (info.status === 'done') return change(deps, leased, row, doneBy(info, deps.clock.iso()));
  if (info.status === 'failed' || info.status === 'cancelled') return change(deps, leased, row, failedBy(deps, step, row, info.error?.message ?? `its run was ${info.status}`));
  if (info.begunAt === null) return 'queued';
  // It works from when there was room for it.
  if (Date.parse(info.begunAt) - Date.parse(row.started_at) > ROOM_MS) return change(deps, leased, row, { started_at: info.begunAt });
  if (info.status === 'running' && deps.clock.now() - Date.parse(row.started_at) > step.timeout_secs * 1_000) {
    await deps.runs.stop(actor, { runId: row.child_run_id }, `the step ${step.name} may work ${step.timeout_secs} s`);
    return change(deps, leased, row, failedBy(deps, step, row, `it timed out after ${step.timeout_secs} s`));
  }
  return false;
}

const doneBy = ({ result }: RunInfo, at: string): Row => ({
  state: 'done',
  output: result?.response ?? '',
  input_tokens: result?.input_tokens ?? 0,
  output_tokens: result?.output_tokens ?? 0,
  cost_usd: result?.cost_usd ?? 0,
  ended_at: at,
});

/** Tried again where the step says so. */
const failedBy = (deps: DriverDeps, step: Step, row: StepRow, why: string, status: number | null = null): Row => {
  const most = step.retry.max_retries ?? 3;
  if (step.error_mode === 'retry' && row.attempt <= most)
    return { state: 'waiting', attempt: row.attempt + 1, error: why, due_at: retryAt(step, row.attempt, deps.clock.now(), deps.ids.bytes(1)[0] ?? 0) };
  const error = step.error_mode === 'retry' && most > 0 ? `${why} (after ${most} ${most === 1 ? 'retry' : 'retries'})` : why;
  return { state: 'failed', error, error_status: status, ended_at: deps.clock.iso() };
};

const timedOut = ({ timeout_action: action = 'continue' }: Step, at: string): Row =>
  action === 'reject' || action === 'fail'
    ? { state: 'failed', error: action === 'fail' ? 'nobody answered in time' : 'it was rejected, because nobody answered in time', ended_at: at }
    : { state: 'done', ended_at: at };

const change = async (deps: DriverDeps, leased: LeasedRun, row: StepRow, to: Row): Promise<boolean> => {
  await deps.journal.advance(leased, { also: [deps.db.update(StepRows.name, ['id'], [{ id: row.id, ...to }]), changeOf(deps, leased)] });
  return true;
};

const changeOf = ({ events }: DriverDeps, { id, ownerId }: LeasedRun): Write => events.event(WorkflowChanged, { id, ownerId, change: 'run' });

/** Asks the agent of a step. Where there is no room for its run, the step waits for it. */
async function ask(deps: DriverDeps, leased: LeasedRun, run: WorkflowRunRow, step: Step, row: StepRow): Promise<boolean> {
  const actor = deps.actors.of(run.owner_id);
  const agent = await deps.agents.find(actor, step.agent ?? '');
  if (!agent) return change(deps, leased, row, { state: 'failed', error: workflowErrors.agent_not_found(step.agent ?? '').message, error_status: 404, ended_at: deps.clock.iso() });
  try {
    const sessionId = await sessionOf(deps, actor, run, step, row, agent.id);
    const { runId } = await deps.runs.submit(actor, {
      agentId: agent.id,
      sessionId,
      parts: [{ type: 'text', text: row.prompt ?? '' }],
      door: 'internal',
      key: `workflow:${row.id}:${row.attempt}`,
      parentRunId: leased.id,
      // Agents that start a workflow whose agents start it again end where agents that ask each other do.
      depth: isTable(leased.input) ? Number(leased.input.depth ?? 0) : 0,
      cause: { kind: 'workflow', id: run.workflow_id },
      ...(run.origin === null ? {} : { origin: jsonOf<Origin>(run.origin) }),
    });
    return await change(deps, leased, row, { child_run_id: runId, agent_id: agent.id, agent_name: agent.name });
  } catch (error) {
    if (deps.closing.aborted || !isSvcError(error) || error.code === 'journal_lease_lost') throw error;
    if (error.retry) return change(deps, leased, row, { state: 'waiting', due_at: new Date(deps.clock.now() + BUSY_MS).toISOString(), error: error.message });
    return change(deps, leased, row, failedBy(deps, step, row, error.message, error.status));
  }
}

/** A conversation of the step alone, or of the run and the agent. */
const sessionOf = async ({ db, sessions }: DriverDeps, actor: Actor, run: WorkflowRunRow, step: Step, row: StepRow, agentId: string): Promise<string> => {
  const about = step.session_mode === 'persistent' ? `${run.id}:${agentId}` : row.id;
  const id = uuidOfHex(createHash('sha256').update(`workflow-session:${about}`).digest('hex').slice(0, 32));
  const { writes } = await sessions.create(actor, agentId, { id, label: `${run.workflow_name}: ${step.session_mode === 'persistent' ? 'run' : step.name}`.slice(0, 100) });
  await db.commit(writes).catch((error: unknown) => {
    // It was made for an earlier step, or before the daemon died.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  return id;
};

const emptyRow = (deps: DriverDeps, run: WorkflowRunRow, step: Step, seq: number): StepRow => ({
  id: deps.ids.uuid(),
  owner_id: run.owner_id,
  run_id: run.id,
  seq,
  step: step.name,
  round: 1,
  attempt: 1,
  state: 'running',
  agent_id: null,
  agent_name: null,
  prompt: null,
  output: null,
  error: null,
  error_status: null,
  child_run_id: null,
  due_at: null,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  started_at: deps.clock.iso(),
  ended_at: null,
});

const begin = async (deps: DriverDeps, leased: LeasedRun, run: WorkflowRunRow, { starts, records }: Next, count: number): Promise<void> => {
  const at = deps.clock.iso();
  const made = [
    ...records.map(({ step, state, output, error }, index) => ({ ...emptyRow(deps, run, step, count + index + 1), state, output, error, ended_at: at })),
    ...(await Promise.all(starts.map(async (start, index) => begun(deps, run, await inheriting(deps, run, start), count + records.length + index + 1)))),
  ];
  await deps.journal.advance(leased, { also: [deps.db.insert(StepRows.name, made), changeOf(deps, leased)] });
};

/** A step that does not say whether it inherits goes by the manifest of its agent. */
const inheriting = async ({ agents, actors }: DriverDeps, run: WorkflowRunRow, start: Start): Promise<Start> => {
  const { step, prompt, before } = start;
  if (before === '' || (step.inherit_context === null && !AGENT_MODES.has(step.mode))) return start;
  const agent = step.inherit_context === null ? await agents.find(actors.of(run.owner_id), step.agent ?? '') : undefined;
  return agent?.manifest.inherit_parent_context === false ? start : { ...start, prompt: `${before}\n\n${prompt}` };
};

const begun = (deps: DriverDeps, run: WorkflowRunRow, { step, round, prompt }: Start, seq: number): StepRow => {
  const row = { ...emptyRow(deps, run, step, seq), round, prompt };
  if (AGENT_MODES.has(step.mode)) return row;
  const secs = step.mode === 'wait' ? step.duration_secs : step.timeout_action === undefined ? undefined : step.timeout_secs;
  return { ...row, state: 'waiting', output: prompt, due_at: secs === undefined ? null : new Date(deps.clock.now() + secs * 1_000).toISOString() };
};

const finish = async (deps: DriverDeps, leased: LeasedRun, run: WorkflowRunRow, end: NonNullable<Next['end']>): Promise<void> => {
  const { db, clock, events } = deps;
  // Branches that are still under way have nothing left to do.
  if (end.state === 'failed') await stopChildren(deps, run, `the step ${end.step ?? ''} failed`);
  const error = end.error === null ? null : `step "${end.step ?? ''}": ${end.error}`;
  await deps.journal.advance(leased, {
    finish: end.state === 'completed' ? { status: 'done' } : { status: 'failed', error: { code: 'workflows_failed', message: error ?? '' } },
    also: [
      db.update(WorkflowRunRows.name, ['id'], [{ id: run.id, state: end.state, output: end.output, error, failed_step: end.step, error_status: end.status, completed_at: clock.iso() }]),
      changeOf(deps, leased),
      events.event(WorkflowEnded, { ownerId: run.owner_id, workflowId: run.workflow_id, runId: run.id, name: run.workflow_name, state: end.state, error, output: end.output.slice(0, MAX_SENT) }),
    ],
  });
};

export const stopChildren = async (deps: Pick<DriverDeps, 'db' | 'runs' | 'actors' | 'clock'>, run: WorkflowRunRow, why: string): Promise<void> => {
  const open = (await stepsOf(deps, run.id)).filter(({ state }) => state === 'running' || state === 'waiting');
  for (const { child_run_id: child } of open) if (child !== null) await deps.runs.stop(deps.actors.of(run.owner_id), { runId: child }, why);
  if (open.length > 0)
    await deps.db.commit([
      deps.db.update(
        StepRows.name,
        ['id'],
        open.map(({ id }) => ({ id, state: 'cancelled', error: why, ended_at: deps.clock.iso() })),
      ),
    ]);
};

/** Holds nothing until a step's run ends, a time comes or a person answers. */
const rest = async (deps: DriverDeps, leased: LeasedRun, run: WorkflowRunRow, rows: readonly StepRow[], queued: Queued): Promise<void> => {
  const actor = deps.actors.of(run.owner_id);
  const open = rows.filter(({ state }) => state === 'running' || state === 'waiting');
  const times = open.flatMap(({ due_at: due }) => (due === null ? [] : [Date.parse(due)]));
  const working = open.flatMap(({ child_run_id: child, state }) => (child === null || state !== 'running' ? [] : [child]));
  for (const child of working) deps.ends.watch(child, () => deps.journal.wake(actor, wakeKey(run.id), {}));
  const latest = working.length > 0 ? [deps.clock.now() + CHECK_MS, ...limitsOf(deps, run, rows, queued)] : [];
  const until = Math.min(...times, ...latest);
  await deps.journal.wait(leased, { reason: working.length > 0 ? 'agents' : 'waiting', wakeKey: wakeKey(run.id), ...(Number.isFinite(until) ? { until: new Date(until).toISOString() } : {}) });
  // One may have ended before anybody could be woken.
  for (const child of working) {
    const { status } = await deps.runs.get(actor, child);
    if (status === 'done' || status === 'failed' || status === 'cancelled') {
      await deps.journal.wake(actor, wakeKey(run.id), {});
      return;
    }
  }
};
