/**
 * An agent works at a goal, turn by turn.
 *
 * N1  Each turn is one run, asked once, also after a crash. What is under way survives a restart.
 * N2  It ends when the goal is done, cancelled or blocked, after its turns, over a limit, and after three failed turns in a row. Its row says why.
 * N3  Of several starts the newest goes on. A stop ends the turn under way.
 * N4  It holds nothing while the agent answers, waits for a person or is suspended.
 */
import { type Actor, type Actors, type Clock, type Db, type DurableWorker, type Ids, isSvcError, type Journal, type LeasedRun, type Logger } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { RunEnds, RunInfo, RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { Goal } from './contract.js';
import { goalErrors } from './errors.js';
import { type GoalPhase, type GoalRunRow, GoalRunRows, GoalWork } from './runs.js';
import { saidBy, turnPrompt } from './turn.js';

export interface RunnerDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly runs: Pick<RunsService, 'submit' | 'get' | 'stop'>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly ends: RunEnds;
  readonly closing: AbortSignal;
  goal(owner: Actor, id: string): Promise<Goal | undefined>;
  report(owner: Actor, id: string, change: Partial<Pick<Goal, 'status' | 'progress'>>): Promise<unknown>;
}

export interface Runner {
  /** Ends an earlier one of the same goal. Throws `goals_no_agent`. */
  start(actor: Actor, goal: Goal, most: number): Promise<GoalRunRow>;
  /** The newest. */
  latest(actor: Actor, goalId: string): Promise<GoalRunRow | undefined>;
  /** False where nothing went on. */
  stop(actor: Actor, goalId: string, why: string): Promise<boolean>;
  /** Ends what a stopped run or root began. Answers how many. */
  halt(actor: Actor, runId: string, isRoot: boolean, why: string): Promise<number>;
}

const AT_ONCE = 8;
const GAP_MS = 2_000;
const CHECK_MS = 60_000;
const MAX_FAILURES = 3;
const MAX_REASON = 500;
const OVER_LIMIT = /root_|budget|quota|token_limit/;
const RATE_LIMITED = /rate_limited/;

export const createRunner = (deps: RunnerDeps): Runner => {
  const worker: DurableWorker = deps.journal.worker(GoalWork, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  const latest = (actor: Actor, goalId: string): Promise<GoalRunRow | undefined> =>
    deps.db.as(actor).first<GoalRunRow>({
      from: GoalRunRows.name,
      where: { goal_id: goalId },
      order: [
        { column: 'started_at', descending: true },
        { column: 'id', descending: true },
      ],
    });
  const stop = async (actor: Actor, goalId: string, why: string): Promise<boolean> => {
    const row = await latest(actor, goalId);
    if (row?.phase !== 'running') return false;
    await stopped(deps, row, why);
    return true;
  };
  return {
    latest,
    stop,
    start: async (actor, goal, most) => {
      if (goal.agent_id === null || goal.agent_id === '') throw goalErrors.no_agent();
      await stop(actor, goal.id, 'it was started anew');
      await deps.report(actor, goal.id, { status: 'in_progress' });
      const now = deps.clock.iso();
      const row: GoalRunRow = {
        id: deps.ids.uuid(),
        owner_id: goal.owner_id,
        goal_id: goal.id,
        agent_id: goal.agent_id,
        phase: 'running',
        iteration: 0,
        max_iterations: most,
        failures: 0,
        turn_run: null,
        last_progress: null,
        last_error: null,
        started_at: now,
        updated_at: now,
      };
      const { leased } = await deps.journal.open(
        {
          kind: GoalWork.name,
          actor: deps.actors.of(goal.owner_id),
          key: `goal:${row.id}`,
          lane: `goal:${row.id}`,
          subject: row.agent_id,
          cause: { kind: 'goal', id: goal.id },
          input: { goalRunId: row.id },
        },
        [deps.db.insert(GoalRunRows.name, [row])],
      );
      if (leased) void worker.take(leased);
      else worker.poke();
      return row;
    },
    halt: async (actor, runId, isRoot, why) => {
      const begun = await deps.journal.list({ actor, kind: GoalWork.name, status: ['queued', 'running', 'waiting'], ...(isRoot ? { rootId: runId } : { parentId: runId }) });
      for (const { input } of begun) {
        const row = await rowOf(deps, idOf(input));
        if (row?.phase === 'running') await stopped(deps, row, why);
      }
      return begun.length;
    },
  };
};

const idOf = (input: unknown): string => (input as { readonly goalRunId: string }).goalRunId; // what `start` stored
const wakeKey = (id: string): string => `goal-run:${id}`;
const rowOf = ({ db }: Pick<RunnerDeps, 'db'>, id: string): Promise<GoalRunRow | undefined> => db.system('work at a goal').first<GoalRunRow>({ from: GoalRunRows.name, where: { id } });

const stopped = async (deps: RunnerDeps, row: GoalRunRow, why: string): Promise<void> => {
  const owner = deps.actors.of(row.owner_id);
  await deps.db.commit([ended(deps, row, 'stopped', why)]);
  if (row.turn_run !== null) await deps.runs.stop(owner, { runId: row.turn_run }, why);
  await deps.journal.wake(owner, wakeKey(row.id), {});
};

/** A stop that came meanwhile stands. */
const ended = ({ db, clock }: Pick<RunnerDeps, 'db' | 'clock'>, { id, last_error: before }: GoalRunRow, phase: GoalPhase, why: string | null) =>
  db.sql(`UPDATE ${db.table(GoalRunRows.name)} SET phase = ?, last_error = ?, turn_run = NULL, updated_at = ? WHERE id = ? AND phase = 'running'`, [
    phase,
    why === null ? before : why.slice(0, MAX_REASON),
    clock.iso(),
    id,
  ]);

async function drive(deps: RunnerDeps, run: LeasedRun): Promise<void> {
  const row = await rowOf(deps, idOf(run.input));
  const over = (): Promise<void> => deps.journal.advance(run, { finish: { status: 'done' } });
  // Stopped, or deleted with its agent or owner.
  if (row?.phase !== 'running') return over();
  const owner = deps.actors.of(row.owner_id);
  const end = (phase: GoalPhase, why: string | null): Promise<void> => deps.journal.advance(run, { finish: { status: 'done' }, also: [ended(deps, row, phase, why)] });
  try {
    const [goal, agent] = await Promise.all([deps.goal(owner, row.goal_id), deps.agents.find(owner, row.agent_id)]);
    if (!goal || !agent) return await end('stopped', goal ? 'its agent is gone' : 'the goal is gone');
    if (row.turn_run !== null) return await afterTurn(deps, run, row, owner, goal, row.turn_run);
    const newest = await deps.db
      .system('newest work at a goal')
      .first<Pick<GoalRunRow, 'id'>>({ from: GoalRunRows.name, columns: ['id'], where: { goal_id: goal.id, started_at: { gt: row.started_at } } });
    if (newest) return await end('stopped', 'it was started anew');
    const phase = phaseBy(goal);
    if (phase) return await end(phase, null);
    if (row.iteration >= row.max_iterations) return await end('max_iterations_reached', null);
    if (agent.state === 'Suspended') return await rest(deps, run, row, CHECK_MS);
    return await ask(deps, run, row, owner, goal, agent);
  } catch (cause) {
    if (deps.closing.aborted || !isSvcError(cause)) throw cause;
    deps.log.warn('An agent could not work at its goal.', { goal: row.goal_id, cause });
    return failed(deps, run, row, cause.code, cause.message);
  }
}

/** What the goal itself says; undefined where there is more to do. */
const phaseBy = ({ status }: Goal): GoalPhase | undefined => (status === 'completed' ? 'finished' : status === 'cancelled' ? 'stopped' : undefined);

const rest = ({ journal, clock }: RunnerDeps, run: LeasedRun, { id }: GoalRunRow, ms: number): Promise<void> =>
  journal.wait(run, { reason: 'goal', wakeKey: wakeKey(id), until: new Date(clock.now() + ms).toISOString() });

const ask = async (deps: RunnerDeps, run: LeasedRun, row: GoalRunRow, owner: Actor, goal: Goal, agent: Agent): Promise<void> => {
  const { writes } = await deps.sessions.create(owner, agent.id, { id: row.id, label: 'goal' });
  await deps.db.commit(writes).catch((error: unknown) => {
    // The first turn made it.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  const { runId } = await deps.runs.submit(owner, {
    agentId: agent.id,
    sessionId: row.id,
    parts: [{ type: 'text', text: turnPrompt(goal, row.iteration + 1, row.max_iterations) }],
    door: 'internal',
    // A turn that failed is another one.
    key: `goal:${row.id}:${row.iteration}:${row.failures}`,
    parentRunId: run.id,
    cause: { kind: 'goal', id: goal.id },
  });
  await deps.db.commit([deps.db.update(GoalRunRows.name, ['id'], [{ id: row.id, turn_run: runId, updated_at: deps.clock.iso() }])]);
  await untilTurn(deps, run, row, owner, runId);
};

/** Looked after in between, because a daemon may die before it tells. */
const untilTurn = async (deps: RunnerDeps, run: LeasedRun, row: GoalRunRow, owner: Actor, runId: string): Promise<void> => {
  const wake = (): Promise<unknown> => deps.journal.wake(owner, wakeKey(row.id), {});
  deps.ends.watch(runId, wake);
  await rest(deps, run, row, CHECK_MS);
  // It may have ended, or somebody may have stopped it, before anybody could be woken.
  const [info, now] = await Promise.all([deps.runs.get(owner, runId), rowOf(deps, row.id)]);
  if (isOver(info)) await wake();
  else if (now?.phase !== 'running') await deps.runs.stop(owner, { runId }, 'the work at the goal was stopped');
};

const isOver = ({ status }: RunInfo): boolean => status === 'done' || status === 'failed' || status === 'cancelled';

const afterTurn = async (deps: RunnerDeps, run: LeasedRun, row: GoalRunRow, owner: Actor, goal: Goal, turnRun: string): Promise<void> => {
  const info = await deps.runs.get(owner, turnRun);
  if (!isOver(info)) return untilTurn(deps, run, row, owner, turnRun);
  const { status, result, error } = info;
  if (status === 'cancelled') return deps.journal.advance(run, { finish: { status: 'done' }, also: [ended(deps, row, 'stopped', error?.message ?? 'its turn was stopped')] });
  if (status === 'failed') return failed(deps, run, row, error?.code ?? '', error?.message ?? 'its turn failed');
  const { progress, isDone, blocked } = saidBy(result?.response ?? '');
  if (isDone) await deps.report(owner, goal.id, { status: 'completed', progress: 100 });
  else if (progress !== undefined && progress !== goal.progress) await deps.report(owner, goal.id, { progress });
  const iteration = row.iteration + 1;
  const counted = { id: row.id, iteration, failures: 0, turn_run: null, last_progress: isDone ? 100 : (progress ?? goal.progress), last_error: null, updated_at: deps.clock.iso() };
  const write = deps.db.update(GoalRunRows.name, ['id'], [counted]);
  const phase = isDone ? 'finished' : blocked !== undefined ? 'blocked' : (phaseBy(goal) ?? (iteration >= row.max_iterations ? 'max_iterations_reached' : undefined));
  const now = { ...row, ...counted };
  if (phase) return deps.journal.advance(run, { finish: { status: 'done' }, also: [write, ended(deps, now, phase, blocked ?? null)] });
  const until = new Date(deps.clock.now() + GAP_MS).toISOString();
  return deps.journal.wait(run, { reason: 'goal', wakeKey: wakeKey(row.id), until }, { also: [write] });
};

/** N2. Waits longer after each failure. */
const failed = (deps: RunnerDeps, run: LeasedRun, row: GoalRunRow, code: string, why: string): Promise<void> => {
  const failures = row.failures + 1;
  const phase = OVER_LIMIT.test(code) ? 'over_limit' : failures < MAX_FAILURES ? undefined : RATE_LIMITED.test(code) ? 'rate_limited' : 'failed';
  const write = deps.db.update(GoalRunRows.name, ['id'], [{ id: row.id, failures, turn_run: null, last_error: why.slice(0, MAX_REASON), updated_at: deps.clock.iso() }]);
  if (phase) return deps.journal.advance(run, { finish: { status: 'done' }, also: [write, ended(deps, row, phase, why)] });
  const until = new Date(deps.clock.now() + GAP_MS * (1 + failures)).toISOString();
  return deps.journal.wait(run, { reason: 'goal', wakeKey: wakeKey(row.id), until }, { also: [write] });
};
