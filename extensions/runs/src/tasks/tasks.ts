/**
 * Tasks: the runs that no other run began, as people and clients asked for them, whatever the channel. They are rows of the
 * journal and no list of their own.
 */
import type { Actor, Clock, Journal, JournalRun, JournalStep, RunFilter } from '@svc/api';
import { conversationOf } from '../beside.js';
import { poolsOf, type QueueConfig, type RunsConfig } from '../config.js';
import { type Cause, LANES, type QueueStanding, type RunInfo, type RunsService, type Task } from '../contract.js';
import { runErrors } from '../errors.js';
import { isOver } from '../loop/endings.js';
import { answerOf, inputOf, RUN_KIND, wordsOf } from '../run-input.js';

type Lane = (typeof LANES)[number];

interface TaskDeps {
  readonly journal: Pick<Journal, 'get' | 'list' | 'stepsOf' | 'tally'>;
  readonly clock: Pick<Clock, 'now'>;
  config(): Pick<RunsConfig, 'max_active'>;
  limits(): QueueConfig;
}

const MINUTE_MS = 60_000;
const NONE = { queued: 0, running: 0, waiting: 0, done: 0, failed: 0, cancelled: 0 };

export const isTask = ({ kind, parentId }: JournalRun): boolean => kind === RUN_KIND && parentId === null;

export const toInfo = (run: JournalRun): RunInfo => ({
  id: run.id,
  agentId: inputOf(run).agentId,
  sessionId: conversationOf(inputOf(run)),
  status: run.status,
  createdAt: run.createdAt,
  begunAt: run.begunAt,
  result: answerOf(run),
  error: run.error,
});

/** As people read it: what no area gave a cause is a message, of a person or of an agent. */
export const causeOf = ({ cause, parentId }: Pick<JournalRun, 'cause' | 'parentId'>): Cause => cause ?? { kind: parentId === null ? 'message' : 'agent' };

const toTask = (run: JournalRun, steps: readonly JournalStep[]): Task => ({
  ...toInfo(run),
  ownerId: run.ownerId,
  words: wordsOf(inputOf(run)),
  channel: inputOf(run).via?.channel ?? inputOf(run).door,
  via: inputOf(run).via ?? null,
  cause: causeOf(run),
  startedAt: steps[0]?.startedAt ?? null,
  endedAt: isOver(run) ? run.updatedAt : null,
  waitsFor: run.status === 'waiting' ? (run.wait?.reason ?? null) : null,
});

type Asked = Parameters<RunsService['tasks']>[1];

export async function listTasks({ journal }: TaskDeps, actor: Actor, { status, before, limit }: Asked): ReturnType<RunsService['tasks']> {
  // After one that is not there nothing follows, which would look like the end.
  if (before !== undefined && !(await journal.get(actor, before))) throw runErrors.not_found(before);
  const filter = { ...(status === undefined ? {} : { status }), ...(before === undefined ? {} : { before }) };
  const found = await journal.list({ actor, kind: RUN_KIND, isTopLevel: true, ...filter, limit: limit + 1 });
  const page = found.slice(0, limit);
  const steps = await journal.stepsOf(
    actor,
    page.map(({ id }) => id),
  );
  return { tasks: page.map((run) => toTask(run, steps.get(run.id) ?? [])), next: found.length > limit ? (page.at(-1)?.id ?? null) : null };
}

export async function getTask({ journal }: TaskDeps, actor: Actor, id: string): Promise<Task | undefined> {
  const run = await journal.get(actor, id);
  return run && isTask(run) ? toTask(run, (await journal.stepsOf(actor, [run.id])).get(run.id) ?? []) : undefined;
}

export const countTasks = async ({ journal }: TaskDeps, actor: Actor): ReturnType<RunsService['taskCounts']> => ({ ...NONE, ...(await journal.tally({ actor, kind: RUN_KIND, isTopLevel: true })) });

export async function queueStanding(deps: TaskDeps, actor: Actor): Promise<QueueStanding> {
  const { max_depth_per_agent: perAgent, max_depth_global: global, task_ttl_secs: ttlSecs } = deps.limits();
  const endedSince = new Date(deps.clock.now() - MINUTE_MS).toISOString();
  const maxActive = deps.config().max_active;
  const pools = poolsOf(deps.limits());
  const laneOf = async (lane: Lane): Promise<QueueStanding['lanes'][number]> => {
    const isPool = lane === 'cron' || lane === 'trigger';
    const filter: RunFilter = { actor, kind: RUN_KIND, ...(isPool ? { pool: lane } : { pool: null, isTopLevel: lane === 'main' }) };
    const [open, ended] = await Promise.all([deps.journal.tally({ ...filter, status: ['queued', 'running', 'waiting'] }), deps.journal.tally({ ...filter, endedSince })]);
    const { queued, running, waiting } = { ...NONE, ...open };
    const { done, failed, cancelled } = { ...NONE, ...ended };
    return { lane, capacity: isPool ? Math.min(pools[lane], maxActive) : maxActive, queued, running, waiting, lastMinute: { done, failed, cancelled } };
  };
  return { lanes: await Promise.all(LANES.map(laneOf)), capacity: maxActive, limits: { perAgent, global, ttlSecs, pools } };
}
