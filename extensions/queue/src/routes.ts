/** Tasks and the queue over HTTP. */
import { Nullable, OneOf, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService, Task } from '@svc/ext-runs/contract';
import { taskErrors } from './errors.js';
import { QueueStatus, queueStatus, STATES, stateOf, TaskRecord, taskRecord, TaskStateText } from './records.js';

export interface QueueDeps {
  readonly agents: Pick<AgentsService, 'briefs'>;
  readonly runs: Pick<RunsService, 'tasks' | 'task' | 'taskCounts' | 'queue' | 'retry' | 'stop'>;
}

const route = routeGroup({ area: 'queue' });
const DEFAULT_TASKS = 50;
const MAX_TASKS = 200;
const TaskPath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Task id' }) });
const Count = Type.Integer({ minimum: 0 });
const Counts = Type.Object({ total: Count, pending: Count, in_progress: Count, completed: Count, failed: Count, cancelled: Count }, { 'x-name': 'TaskCounts' });
const WHOSE = 'Owners and admins see the tasks of all agents; others those of their own.';

export const queueRoutes = (deps: QueueDeps): RouteDecl[] => [countTasks(deps), listTasks(deps), cancelTask(deps), retryTask(deps), getQueue(deps)];

const countsOf = async ({ runs }: QueueDeps, actor: Parameters<RunsService['taskCounts']>[0]) => {
  const by = await runs.taskCounts(actor);
  const counts = { pending: by.queued, in_progress: by.running + by.waiting, completed: by.done, failed: by.failed, cancelled: by.cancelled };
  return { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts };
};

const countTasks = (deps: QueueDeps): RouteDecl =>
  route({
    id: 'getTaskCounts',
    method: 'GET',
    path: '/api/tasks/status',
    summary: 'Count tasks by state',
    description: `A task is a run that no other run began: a message to an agent, on any channel. Ended tasks are stored for thirty days. ${WHOSE}`,
    cost: 3,
    responses: { 200: Counts },
    handler: async ({ actor }) => reply(200, await countsOf(deps, actor)),
  });

const listTasks = (deps: QueueDeps): RouteDecl =>
  route({
    id: 'listTasks',
    method: 'GET',
    path: '/api/tasks/list',
    summary: 'List tasks, newest first',
    description: `${WHOSE} A task that waits for an approval is \`in_progress\`. For steps and usage, see \`GET /api/runs/{id}\`: a task and its run have the same id.`,
    cost: 3,
    errors: [404],
    query: Type.Object({
      status: Type.Optional({ ...TaskStateText, description: 'Only tasks in this state' }),
      before: Type.Optional(Type.String({ format: 'uuid', description: 'Only tasks older than this one: `next` of the page before' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_TASKS, description: `How many at most; more than ${MAX_TASKS} is ${MAX_TASKS}` })),
    }),
    responses: {
      200: Type.Object({
        tasks: Type.Array(TaskRecord),
        total: Type.Integer({ description: 'Tasks in this state, on all pages' }),
        next: Nullable(Uuid, { description: 'Send it as `before` to get older ones; null if there are none' }),
      }),
    },
    handler: async ({ actor, query: { status, before, limit = DEFAULT_TASKS } }) => {
      const filter = { ...(status === undefined ? {} : { status: [...STATES[status]] }), ...(before === undefined ? {} : { before: before.toLowerCase() }) };
      const [{ tasks, next }, counts] = await Promise.all([deps.runs.tasks(actor, { ...filter, limit: Math.min(limit, MAX_TASKS) }), countsOf(deps, actor)]);
      const briefs = await deps.agents.briefs(actor, [...new Set(tasks.map(({ agentId }) => agentId))]);
      return reply(200, { tasks: tasks.map((task) => taskRecord(task, briefs[task.agentId]?.name ?? null)), total: counts[status ?? 'total'], next });
    },
  });

const cancelTask = ({ runs }: QueueDeps): RouteDecl =>
  route({
    id: 'cancelTask',
    method: 'DELETE',
    path: '/api/tasks/{id}',
    summary: 'Cancel a task',
    description:
      'Stops a pending task or one in progress, with the runs it started on other agents, as `POST /api/runs/{id}/stop` does. An active task ends a moment later. The text so far stays in the session. For a task that is already cancelled, the status is 200; for one that completed or failed, 409.',
    permission: 'runs.send',
    cost: 5,
    errors: [404, 409],
    params: TaskPath,
    responses: { 200: Type.Object({ status: OneOf(['cancelled']), id: Uuid }) },
    handler: async ({ actor, params }) => {
      const task = await found(runs.task(actor, params.id.toLowerCase()), params.id);
      if (task.endedAt === null && (await runs.stop(actor, { runId: task.id }, 'cancelled by request')) > 0) return reply(200, { status: 'cancelled', id: task.id });
      const now = await found(runs.task(actor, task.id), task.id);
      if (now.status !== 'cancelled') throw taskErrors.ended(task.id, stateOf(now));
      return reply(200, { status: 'cancelled', id: task.id });
    },
  });

const retryTask = ({ runs }: QueueDeps): RouteDecl =>
  route({
    id: 'retryTask',
    method: 'POST',
    path: '/api/tasks/{id}/retry',
    summary: 'Retry a task',
    description:
      'Sends the message of an ended task again, with its attachments, as a new task in the same session. Each task has one retry: a repeated request gets the same new task, with `replayed` true. To try again after that, retry the new task. The status is 409 if the task has not ended, or if its message is no longer stored.',
    permission: 'runs.send',
    cost: 30,
    errors: [404, 409, 412, 429, 503],
    params: TaskPath,
    responses: {
      200: Type.Object({
        status: OneOf(['retried']),
        id: Uuid,
        task_id: Type.String({ format: 'uuid', description: 'The new task' }),
        replayed: Type.Boolean({ description: 'The task was retried before' }),
      }),
    },
    handler: async ({ actor, params }) => {
      const task = await found(runs.task(actor, params.id.toLowerCase()), params.id);
      const { runId, replayed } = await runs.retry(actor, task.id);
      return reply(200, { status: 'retried', id: task.id, task_id: runId, replayed });
    },
  });

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
