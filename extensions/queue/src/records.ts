/** Tasks and lanes as the routes answer them. */
import { Nullable, OneOf, type Plain, Type, Uuid } from '@svc/api';
import { LANES, type QueueStanding, type Task } from '@svc/ext-runs/contract';
import type { BoardRow } from './board/board-rows.js';

/** Which states of a run each state of a task stands for. */
export const STATES = { pending: ['queued'], in_progress: ['running', 'waiting'], completed: ['done'], failed: ['failed'], cancelled: ['cancelled'] } as const;
export type TaskState = keyof typeof STATES;

const MAX_TITLE = 80;
const Time = Type.String({ format: 'date-time' });

export const TaskStateText = OneOf(['pending', 'in_progress', 'completed', 'failed', 'cancelled'], {
  description: '`pending`: queued, no daemon works on it. `in_progress`: a daemon works on it, or it waits for somebody, such as for an approval',
});

export const TaskRecord = Type.Object(
  {
    id: Uuid,
    kind: OneOf(['run', 'board'], { description: '`run`: a message to an agent, and its run has the same id. `board`: a task of the task board, for which no run stands' }),
    run_id: Nullable(Uuid, { description: 'The run itself; of a task of the board, the run that claimed it, else the one that was woken for it last' }),
    title: Type.String({ description: 'First line of the message. Empty if the message is not stored: side questions, incognito and stateless requests' }),
    description: Type.String({ description: 'First 300 characters of the message; of a task of the board, all of it' }),
    status: TaskStateText,
    assigned_to: Nullable(Uuid, { description: 'null: a task of the board that any agent may claim' }),
    claimed_by: Nullable(Uuid, { description: 'The agent that works on it' }),
    agent_name: Nullable(Type.String(), { description: 'null if the agent was deleted, or if there is none' }),
    session_id: Nullable(Uuid),
    channel: Type.String({ description: 'Channel of the message: rest, sse, ws, openai or cli; `task_board` of the board' }),
    created_by: Type.String({ description: 'The owner of the agent; `agent:ID` for a task that an agent posted' }),
    created_at: Time,
    claimed_at: Nullable(Time, { description: 'When its first step began, or when it was claimed' }),
    completed_at: Nullable(Time, { description: 'When it ended, whichever way' }),
    waits_for: Nullable(Type.String(), { description: 'What it waits for, such as `approval`' }),
    result: Nullable(Type.String(), { description: 'The answer' }),
    error: Nullable(Type.Object({ code: Type.String(), message: Type.String() }), { description: 'Why it failed or was cancelled' }),
  },
  { 'x-name': 'Task' },
);

export const stateOf = ({ status }: Pick<Task, 'status'>): TaskState =>
  ({ queued: 'pending', running: 'in_progress', waiting: 'in_progress', done: 'completed', failed: 'failed', cancelled: 'cancelled' })[status] as TaskState;

export const taskRecord = (task: Task, agentName: string | null): Plain<typeof TaskRecord> => ({
  id: task.id,
  kind: 'run',
  run_id: task.id,
  title: (task.words.split('\n', 1)[0] ?? '').slice(0, MAX_TITLE),
  description: task.words,
  status: stateOf(task),
  assigned_to: task.agentId,
  claimed_by: task.startedAt === null ? null : task.agentId,
  agent_name: agentName,
  session_id: task.sessionId,
  channel: task.channel,
  created_by: task.ownerId,
  created_at: task.createdAt,
  claimed_at: task.startedAt,
  completed_at: task.endedAt,
  waits_for: task.waitsFor,
  result: task.result?.response ?? null,
  error: task.error && task.endedAt !== null ? { code: task.error.code, message: task.error.message } : null,
});

/** The agent that a task of the board belongs to: whoever claimed it, else whom it is assigned to. */
export const agentOfRow = ({ claimed_by, assigned_to }: BoardRow): string | null => claimed_by ?? assigned_to;

export const boardRecord = (row: BoardRow, agentName: string | null): Plain<typeof TaskRecord> => ({
  id: row.id,
  kind: 'board',
  run_id: row.claim_run ?? row.wake_run,
  title: row.title,
  description: row.description,
  status: row.status as TaskState, // src/board writes no other
  assigned_to: row.assigned_to,
  claimed_by: row.claimed_by,
  agent_name: agentName,
  session_id: null,
  channel: 'task_board',
  created_by: row.creator_id === null ? row.owner_id : `agent:${row.creator_id}`,
  created_at: row.created_at,
  claimed_at: row.claimed_at,
  completed_at: row.completed_at,
  waits_for: null,
  result: row.result,
  error: row.error === null ? null : { code: row.status === 'cancelled' ? 'task_cancelled' : 'task_failed', message: row.error },
});

const Count = Type.Integer({ minimum: 0 });
const Throughput = Type.Object({ completed_last_minute: Count, failed_last_minute: Count, cancelled_last_minute: Count });

export const QueueStatus = Type.Object(
  {
    lanes: Type.Array(
      Type.Object({
        lane: OneOf(LANES, {
          description:
            '`cron` and `trigger`: what jobs, and what triggers, webhooks, tasks and goals began; more than their capacity waits, so that messages of people go first. `main`: tasks. `subagent`: runs that another run began',
        }),
        active: Type.Integer({ description: 'Runs that a daemon works on' }),
        waiting: Type.Integer({ description: 'Runs that wait for somebody, such as for an approval. They take up no capacity' }),
        capacity: Type.Integer({ description: 'Active runs of each daemon at most: [queue.concurrency], and for all lanes together [runs] max_active' }),
        depth: Type.Integer({ description: 'Queued runs' }),
        throughput: Throughput,
      }),
    ),
    depth: Type.Integer({ description: 'Queued runs of all lanes' }),
    throughput: Throughput,
    config: Type.Object(
      { max_depth_per_agent: Count, max_depth_global: Count, task_ttl_secs: Count, max_active: Count, concurrency: Type.Object({ cron_lane: Count, trigger_lane: Count }) },
      { description: '0 means no limit. Set them under [queue] and [runs]' },
    ),
  },
  { 'x-name': 'QueueStatus' },
);

type Ended = QueueStanding['lanes'][number]['lastMinute'];

const throughputOf = (lanes: ReadonlyArray<{ readonly lastMinute: Ended }>): Plain<typeof Throughput> => {
  const sum = (key: keyof Ended): number => lanes.reduce((total, { lastMinute }) => total + lastMinute[key], 0);
  return { completed_last_minute: sum('done'), failed_last_minute: sum('failed'), cancelled_last_minute: sum('cancelled') };
};

export const queueStatus = ({ lanes, capacity, limits }: QueueStanding): Plain<typeof QueueStatus> => ({
  lanes: lanes.map((one) => ({ lane: one.lane, active: one.running, waiting: one.waiting, capacity: one.capacity, depth: one.queued, throughput: throughputOf([one]) })),
  depth: lanes.reduce((total, { queued }) => total + queued, 0),
  throughput: throughputOf(lanes),
  config: {
    max_depth_per_agent: limits.perAgent,
    max_depth_global: limits.global,
    task_ttl_secs: limits.ttlSecs,
    max_active: capacity,
    concurrency: { cron_lane: limits.pools.cron, trigger_lane: limits.pools.trigger },
  },
});
