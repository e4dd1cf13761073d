/** Tasks and the queue over HTTP. */
import { type Actor, openResource, reply, type RouteDecl, routeGroup } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService, Task } from '@svc/ext-runs/contract';
import type { Board } from './board/board.js';
import type { BoardRow } from './board/board-rows.js';
import { DEFAULT_TASKS, MAX_TASKS, Tasks } from './contract.js';
import { taskErrors } from './errors.js';
import { agentOfRow, boardRecord, QueueStatus, queueStatus, STATES, stateOf, taskRecord, type TaskState } from './records.js';

export interface QueueDeps {
  readonly agents: Pick<AgentsService, 'briefs'>;
  readonly board: Board;
  readonly runs: Pick<RunsService, 'tasks' | 'task' | 'taskCounts' | 'queue' | 'retry' | 'stop'>;
}

const route = routeGroup({ area: 'queue' });

export const queueRoutes = (deps: QueueDeps): RouteDecl[] => [...tasksOf(deps).routes, getQueue(deps)];

const countsOf = async ({ runs, board }: QueueDeps, actor: Actor) => {
  const [by, posted] = await Promise.all([runs.taskCounts(actor), board.counts(actor)]);
  const counts = {
    pending: by.queued + posted.pending,
    in_progress: by.running + by.waiting + posted.in_progress,
    completed: by.done + posted.completed,
    failed: by.failed + posted.failed,
    cancelled: by.cancelled + posted.cancelled,
  };
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
};

interface Asked {
  readonly status?: TaskState | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

type Either = { readonly at: string; readonly run?: Task; readonly row?: BoardRow };

/** Both kinds by their time, newest first: as many of each as the page could hold, then the page of them. */
const pageOf = async ({ runs, board }: QueueDeps, actor: Actor, { status, before = '', limit }: Asked) => {
  const [runId = '', rowId = ''] = before.toLowerCase().split('~');
  const last = rowId === '' ? undefined : await board.find(actor, rowId);
  if (rowId !== '' && !last) throw taskErrors.not_found(rowId);
  const [{ tasks, next }, rows] = await Promise.all([
    runs.tasks(actor, { ...(status === undefined ? {} : { status: [...STATES[status]] }), ...(runId === '' ? {} : { before: runId }), limit }),
    board.page(actor, { status, before: last?.created_at, limit: limit + 1 }),
  ]);
  const all: Either[] = [...tasks.map((run) => ({ at: run.createdAt, run })), ...rows.map((row) => ({ at: row.created_at, row }))];
  const page = all.sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0)).slice(0, limit);
  const shownRun = page.findLast(({ run }) => run)?.run?.id ?? runId;
  const shownRow = page.findLast(({ row }) => row)?.row?.id ?? rowId;
  const isMore = next !== null || all.length > page.length;
  return { page, next: isMore ? `${shownRun}${shownRow === '' ? '' : `~${shownRow}`}` : null };
};

const tasksOf = (deps: QueueDeps) =>
  openResource(Tasks, {
    list: async ({ actor, query: { status, before, limit = DEFAULT_TASKS } }) => {
      const [{ page, next }, counts] = await Promise.all([pageOf(deps, actor, { status, before, limit: Math.min(limit, MAX_TASKS) }), countsOf(deps, actor)]);
      const agentOf = ({ run, row }: Either): string | null => (run ? run.agentId : row ? agentOfRow(row) : null);
      const briefs = await deps.agents.briefs(actor, [...new Set(page.map(agentOf).filter((id) => id !== null))]);
      const named = (one: Either): string | null => briefs[agentOf(one) ?? '']?.name ?? null;
      return { tasks: page.flatMap((one) => (one.run ? [taskRecord(one.run, named(one))] : one.row ? [boardRecord(one.row, named(one))] : [])), total: counts[status ?? 'total'], next };
    },
    actions: {
      post: async ({ actor, body: { title, description, assigned_to: assignedTo } }) => {
        const row = await deps.board.post(actor, { title, description, assignedTo: assignedTo ?? undefined });
        return { ok: true as const, task_id: row.id, assigned_to: row.assigned_to };
      },
      count: ({ actor }) => countsOf(deps, actor),
      cancel: ({ actor, key }) => cancel(deps, actor, key),
      retry: ({ actor, key }) => retry(deps, actor, key),
    },
  });

const retry = async ({ runs, board }: QueueDeps, actor: Actor, key: string): Promise<{ status: 'retried'; id: string; task_id: string; replayed: boolean }> => {
  const row = await board.find(actor, key);
  if (row) {
    if (row.completed_at === null) throw taskErrors.not_ended(row.id, row.status);
    await board.retry(actor, row);
    return { status: 'retried', id: row.id, task_id: row.id, replayed: false };
  }
  const { id } = await found(runs.task(actor, key.toLowerCase()), key);
  const { runId, replayed } = await runs.retry(actor, id);
  return { status: 'retried', id, task_id: runId, replayed };
};

const cancel = async ({ runs, board }: QueueDeps, actor: Actor, id: string): Promise<{ status: 'cancelled'; id: string }> => {
  const row = await board.find(actor, id);
  if (row) {
    if (row.completed_at !== null && row.status !== 'cancelled') throw taskErrors.ended(row.id, row.status);
    if (row.completed_at === null) await board.cancel(actor, row);
    return { status: 'cancelled', id: row.id };
  }
  const task = await found(runs.task(actor, id.toLowerCase()), id);
  if (task.endedAt === null && (await runs.stop(actor, { runId: task.id }, 'cancelled by request')) > 0) return { status: 'cancelled', id: task.id };
  const now = await found(runs.task(actor, task.id), task.id);
  if (now.status !== 'cancelled') throw taskErrors.ended(task.id, stateOf(now));
  return { status: 'cancelled', id: task.id };
};

const getQueue = ({ runs }: QueueDeps): RouteDecl =>
  route({
    id: 'getQueueStatus',
    method: 'GET',
    path: '/api/queue/status',
    summary: 'Get depth, capacity and throughput of the queue',
    description:
      'Counts the runs of all daemons on this database. A run is queued if its session has another run, if all daemons are full, or if their lane is. Owners and admins see the runs of all agents; others those of their own.',
    cost: 3,
    responses: { 200: QueueStatus },
    handler: async ({ actor }) => reply(200, queueStatus(await runs.queue(actor))),
  });

const found = async (looking: Promise<Task | undefined>, id: string): Promise<Task> => {
  const task = await looking;
  if (!task) throw taskErrors.not_found(id);
  return task;
};
