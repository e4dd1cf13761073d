/** Tasks of the board: somebody posts one, an agent claims it. No run stands for them. */
import { defineConfig, defineEvent, defineTable, defineWork, Nullable, type Plain, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const maybe = { kind: 'text' } as const;
const count = { kind: 'integer', notNull: true } as const;

export const BoardRows = defineTable('board', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    title: text,
    description: text,
    status: text,
    assigned_to: maybe,
    creator_id: maybe,
    creator_run: maybe,
    creator_session: maybe,
    claimed_by: maybe,
    claim_run: maybe,
    claimed_at: maybe,
    wakes: count,
    wake_run: maybe,
    wake_at: maybe,
    round: count,
    resets: count,
    result: maybe,
    error: maybe,
    created_at: text,
    completed_at: maybe,
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'created_at'], ['status', 'created_at'], ['assigned_to'], ['completed_at']],
});
export type BoardRow = RowOf<typeof BoardRows>;

/** Wakes the assignee of a task until somebody claims it. */
export const TaskWake = defineWork('task-wake', '1.0.0', { input: Type.Object({ taskId: Type.String(), round: Type.Integer() }), result: Type.Undefined() });

const Board = Type.Object(
  {
    claim_ttl_secs: Type.Integer({ minimum: 10, maximum: 604_800, default: 600, description: 'A claim returns to the board after this time, unless the run that made it still works' }),
    sweep_interval_secs: Type.Integer({ minimum: 1, maximum: 3_600, default: 30, description: 'How often claims are checked' }),
    max_retries: Type.Integer({ minimum: 0, maximum: 1_000, default: 0, description: 'How many claims of a task may return before it fails; 0: no limit' }),
    assignee_wake: Type.Boolean({ default: true, description: 'Whether a posted task wakes the agent that it is assigned to. `assignee_wake` in agent.toml says it for one agent' }),
    pending_grace_secs: Type.Integer({ minimum: 1, maximum: 86_400, default: 60, description: 'How long a woken agent may leave a task unclaimed before it is woken again; three times at most' }),
  },
  { additionalProperties: false, default: {} },
);
export type BoardConfig = Plain<typeof Board>;
export const TaskBoardSection = defineConfig('task_board', Board);

const TaskFact = Type.Object({
  ownerId: Type.String(),
  taskId: Type.String(),
  title: Type.String(),
  assigneeId: Nullable(Type.String(), { description: 'Of an agent' }),
  creatorId: Nullable(Type.String(), { description: 'Of the agent that posted it; null for a person' }),
  agentId: Nullable(Type.String(), { description: 'The agent that did this; null for a person, and for svc itself' }),
  runId: Nullable(Type.String(), { description: 'The run in which it was done' }),
  result: Type.String({ description: 'Of a completed task; else empty' }),
  round: Type.Integer({ description: 'Grows each time the task is posted anew' }),
});
export type TaskFact = Plain<typeof TaskFact>;
const LIVE = { what: 'task', permission: 'queue.read', owner: 'ownerId', id: 'taskId' } as const;
/** It is on the board: posted, or posted anew because a claim returned. */
export const TaskPosted = defineEvent('task.posted', '1.0.0', TaskFact, { ...LIVE, is: 'pending' });
export const TaskClaimed = defineEvent('task.claimed', '1.0.0', TaskFact, { ...LIVE, is: 'in_progress' });
export const TaskCompleted = defineEvent('task.completed', '1.0.0', TaskFact, { ...LIVE, is: 'completed' });
/** It failed or was cancelled. */
export const TaskEnded = defineEvent('task.ended', '1.0.0', TaskFact, { ...LIVE, is: 'ended' });
