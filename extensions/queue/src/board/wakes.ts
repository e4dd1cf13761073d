/**
 * Wakes the assignee of a posted task.
 *
 * K1  A task wakes its assignee three times at most; then its owner gets a notice. Work that a crash cut short goes on, and wakes nobody twice.
 * K2  The work rests while the agent answers, while it is suspended and in the time it has to claim the task.
 * K3  The text of a task that an agent posted is another agent's: it has the label UntrustedAgent, and is never a slash command.
 */
import { type Actor, type Actors, type Clock, type Db, type DurableWorker, isSvcError, type Journal, type LeasedRun, type Logger, type OptionalHandle, type Write } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { NoticesService } from '@svc/ext-notices/contract';
import type { RunEnds, RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { type BoardConfig, type BoardRow, TaskWake } from './board-rows.js';

export interface WakeDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly runs: Pick<RunsService, 'submit' | 'get'>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly notices: OptionalHandle<NoticesService>;
  readonly ends: RunEnds;
  readonly closing: AbortSignal;
  settings(): BoardConfig;
}

const MAX_WAKES = 3;
const AT_ONCE = 8;
const CHECK_MS = 60_000;
const MAX_REASON = 500;

export interface Wakes {
  /** Commits the writes, with work that wakes the assignee where there is one to wake. */
  commit(row: BoardRow, writes: readonly Write[]): Promise<void>;
}

export const createWakes = (deps: WakeDeps): Wakes => {
  const worker: DurableWorker = deps.journal.worker(TaskWake, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  return {
    commit: async (row, writes) => {
      if (row.assigned_to === null || !deps.settings().assignee_wake) return void (await deps.db.commit(writes));
      const { leased } = await deps.journal.open(
        {
          kind: TaskWake.name,
          actor: deps.actors.of(row.owner_id),
          key: `${row.id}:${row.round}`,
          lane: `task:${row.id}`,
          subject: row.assigned_to,
          // What an agent posts belongs to what the agent was asked: the limits of that root hold for it.
          ...(row.creator_run === null ? {} : { parentId: row.creator_run }),
          cause: { kind: 'task', id: row.id },
          input: { taskId: row.id, round: row.round },
        },
        writes,
      );
      if (leased) void worker.take(leased);
      else worker.poke();
    },
  };
};

const wakeKey = (runId: string): string => `task-wake:${runId}`;
const OVER: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);

async function drive(deps: WakeDeps, run: LeasedRun): Promise<void> {
  const { taskId, round } = run.input as { readonly taskId: string; readonly round: number }; // what `commit` stored
  const row = await deps.db.system('a task that wakes').first<BoardRow>({ from: 'board', where: { id: taskId } });
  const owner = deps.actors.of(run.ownerId);
  // Claimed, cancelled, posted anew, or its agent is gone: there is nobody to wake.
  const agent = row?.assigned_to ? await deps.agents.find(owner, row.assigned_to) : undefined;
  if (!row || !agent || row.round !== round || row.status !== 'pending' || agent.manifest.assignee_wake === false) return deps.journal.advance(run, { finish: { status: 'done' } });
  if (row.wake_run !== null) return followed(deps, run, row, owner, row.wake_run);
  const waitMs = Date.parse(row.wake_at ?? '1970-01-01T00:00:00Z') - deps.clock.now();
  if (waitMs > 0) return rest(deps, run, 'grace', waitMs);
  if (row.wakes >= MAX_WAKES) return giveUp(deps, run, row, agent, owner);
  if (agent.state === 'Suspended') return rest(deps, run, 'suspended', CHECK_MS);
  return wake(deps, run, row, agent, owner);
}

const rest = (deps: WakeDeps, run: LeasedRun, reason: string, ms: number): Promise<void> =>
  deps.journal.wait(run, { reason, wakeKey: wakeKey(run.id), until: new Date(deps.clock.now() + ms).toISOString() });

/** Until the agent has answered; then it has some time left to claim the task. */
const followed = async (deps: WakeDeps, run: LeasedRun, row: BoardRow, owner: Actor, runId: string): Promise<void> => {
  const isOver = async (): Promise<boolean> =>
    deps.runs.get(owner, runId).then(
      ({ status }) => OVER.has(status),
      (error: unknown) => {
        if (isSvcError(error) && error.status === 404) return true;
        throw error;
      },
    );
  if (await isOver()) {
    const wakeAt = new Date(deps.clock.now() + deps.settings().pending_grace_secs * 1_000).toISOString();
    const set = deps.db.update('board', ['id', 'round'], [{ id: row.id, round: row.round, wake_run: null, wake_at: wakeAt }]);
    return deps.journal.wait(run, { reason: 'grace', wakeKey: wakeKey(run.id), until: wakeAt }, { also: [set] });
  }
  deps.ends.watch(runId, () => deps.journal.wake(owner, wakeKey(run.id), {}));
  await rest(deps, run, 'run', CHECK_MS);
  // It may have ended before anybody could be woken.
  if (await isOver()) await deps.journal.wake(owner, wakeKey(run.id), {});
};

const wake = async (deps: WakeDeps, run: LeasedRun, row: BoardRow, agent: Agent, owner: Actor): Promise<void> => {
  const next = row.wakes + 1;
  try {
    const sessionId = await conversationOf(deps, owner, agent, row);
    const { runId } = await deps.runs.submit(owner, {
      agentId: agent.id,
      sessionId,
      parts: [{ type: 'text', text: textOf(row, next) }],
      door: 'internal',
      key: `task:${row.id}:${row.round}:${next}`,
      parentRunId: run.id,
      cause: { kind: 'task', id: row.id },
      ...(row.creator_id === null ? {} : { origin: { labels: ['UntrustedAgent'], source: 'another agent', ...(row.creator_session ? { sessionId: row.creator_session } : {}) } }),
    });
    await deps.db.commit([deps.db.update('board', ['id', 'round'], [{ id: row.id, round: row.round, wakes: next, wake_run: runId }])]);
    return followed(deps, run, { ...row, wakes: next, wake_run: runId }, owner, runId);
  } catch (error) {
    if (deps.closing.aborted || !isSvcError(error)) throw error;
    // Over a limit, say: it counts as a try.
    const wakeAt = new Date(deps.clock.now() + deps.settings().pending_grace_secs * 1_000).toISOString();
    const set = deps.db.update('board', ['id', 'round'], [{ id: row.id, round: row.round, wakes: next, wake_at: wakeAt, error: error.message.slice(0, MAX_REASON) }]);
    return deps.journal.wait(run, { reason: 'grace', wakeKey: wakeKey(run.id), until: wakeAt }, { also: [set] });
  }
};

/** A conversation of the task's own, the same for each wake. */
const conversationOf = async ({ db, sessions }: WakeDeps, owner: Actor, agent: Agent, row: BoardRow): Promise<string> => {
  const { writes } = await sessions.create(owner, agent.id, { id: row.id, label: 'task' });
  await db.commit(writes).catch((error: unknown) => {
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  return row.id;
};

const textOf = ({ id, title, description }: BoardRow, time: number): string =>
  [
    time === 1 ? 'A task was assigned to you on the task board.' : 'A task that is assigned to you still waits on the task board.',
    `Task: ${id}\nTitle: ${title}`,
    description,
    'Claim it with task_claim, do it, and report the result with task_complete.',
  ]
    .filter((part) => part !== '')
    .join('\n\n');

const giveUp = async (deps: WakeDeps, run: LeasedRun, row: BoardRow, agent: Agent, owner: Actor): Promise<void> => {
  const why = row.error === null ? '' : ` The last try failed: ${row.error}`;
  await deps.notices.value
    ?.send(owner, {
      agentId: agent.id,
      sessionId: row.id,
      key: `task:${row.id}:${row.round}`,
      reason: 'A task waits',
      summary: `${agent.name} was woken ${MAX_WAKES} times for the task "${row.title}" and did not claim it.${why} It stays on the task board.`,
    })
    .catch((cause: unknown) => {
      if (deps.closing.aborted) throw cause;
      deps.log.warn('Nobody could be given a notice about a task.', { task: row.id, cause });
    });
  deps.log.warn('A task was not claimed; its assignee is woken no more.', { task: row.id, agent: agent.id });
  return deps.journal.advance(run, { finish: { status: 'done' } });
};
