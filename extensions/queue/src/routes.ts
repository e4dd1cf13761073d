/** Tasks and the queue over HTTP. */
import { type Actor, openResource, reply, type RouteDecl, routeGroup } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService, Task } from '@svc/ext-runs/contract';
import { DEFAULT_TASKS, MAX_TASKS, Tasks } from './contract.js';
import { taskErrors } from './errors.js';
import { QueueStatus, queueStatus, STATES, stateOf, taskRecord } from './records.js';

export interface QueueDeps {
  readonly agents: Pick<AgentsService, 'briefs'>;
  readonly runs: Pick<RunsService, 'tasks' | 'task' | 'taskCounts' | 'queue' | 'retry' | 'stop'>;
}

const route = routeGroup({ area: 'queue' });

export const queueRoutes = (deps: QueueDeps): RouteDecl[] => [...tasksOf(deps).routes, getQueue(deps)];

const countsOf = async ({ runs }: QueueDeps, actor: Actor) => {
  const by = await runs.taskCounts(actor);
  const counts = { pending: by.queued, in_progress: by.running + by.waiting, completed: by.done, failed: by.failed, cancelled: by.cancelled };
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
};

const tasksOf = (deps: QueueDeps) =>
  openResource(Tasks, {
    list: async ({ actor, query: { status, before, limit = DEFAULT_TASKS } }) => {
      const filter = { ...(status === undefined ? {} : { status: [...STATES[status]] }), ...(before === undefined ? {} : { before: before.toLowerCase() }) };
      const [{ tasks, next }, counts] = await Promise.all([deps.runs.tasks(actor, { ...filter, limit: Math.min(limit, MAX_TASKS) }), countsOf(deps, actor)]);
      const briefs = await deps.agents.briefs(actor, [...new Set(tasks.map(({ agentId }) => agentId))]);
      return { tasks: tasks.map((task) => taskRecord(task, briefs[task.agentId]?.name ?? null)), total: counts[status ?? 'total'], next };
    },
    actions: {
      count: ({ actor }) => countsOf(deps, actor),
      cancel: ({ actor, key }) => cancel(deps, actor, key),
      retry: async ({ actor, key }) => {
        const { id } = await found(deps.runs.task(actor, key.toLowerCase()), key);
        const { runId, replayed } = await deps.runs.retry(actor, id);
        return { status: 'retried', id, task_id: runId, replayed };
      },
    },
  });

const cancel = async ({ runs }: QueueDeps, actor: Actor, id: string): Promise<{ status: 'cancelled'; id: string }> => {
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
      'Counts the runs of all daemons on this database. A run is queued if its session has another run, or if all daemons are full. Owners and admins see the runs of all agents; others those of their own.',
    cost: 3,
    responses: { 200: QueueStatus },
    handler: async ({ actor }) => reply(200, queueStatus(await runs.queue(actor))),
  });

const found = async (looking: Promise<Task | undefined>, id: string): Promise<Task> => {
  const task = await looking;
  if (!task) throw taskErrors.not_found(id);
  return task;
};
