/** What is stored of an agent that works at a goal. */
import { defineTable, defineWork, Nullable, OneOf, type Plain, type RowOf, Type, Uuid } from '@svc/api';

export const GOAL_PHASES = ['running', 'finished', 'blocked', 'max_iterations_reached', 'over_limit', 'rate_limited', 'failed', 'stopped'] as const;
export type GoalPhase = (typeof GOAL_PHASES)[number];
export const DEFAULT_ITERATIONS = 25;
export const MAX_ITERATIONS = 500;

export const GoalRun = Type.Object(
  {
    run_id: Uuid,
    goal_id: Uuid,
    agent_id: Uuid,
    phase: OneOf(GOAL_PHASES, { description: 'How it stands: `blocked` waits for you, `over_limit` met a budget or [roots]' }),
    iteration: Type.Integer({ description: 'Turns that have ended' }),
    max_iterations: Type.Integer(),
    last_progress: Nullable(Type.Integer(), { description: 'Percent that its last turn reported' }),
    last_error: Nullable(Type.String(), { description: 'Why it ended, or why its last turn failed' }),
    started_at: Type.String(),
    updated_at: Type.String(),
  },
  { 'x-name': 'GoalRun' },
);
export type GoalRun = Plain<typeof GoalRun>;

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;
export const GoalRunRows = defineTable('goal_runs', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    goal_id: text,
    agent_id: text,
    phase: text,
    iteration: count,
    max_iterations: count,
    failures: count,
    turn_run: { kind: 'text' },
    last_progress: { kind: 'integer' },
    last_error: { kind: 'text' },
    started_at: text,
    updated_at: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [
    ['goal_id', 'started_at'],
    ['owner_id', 'started_at'],
  ],
});
export type GoalRunRow = RowOf<typeof GoalRunRows>;

/** Turns of one agent at one goal, one after another. */
export const GoalWork = defineWork('goal-run', '1.0.0', { input: Type.Object({ goalRunId: Type.String() }), result: Type.Undefined() });

export const shownRun = ({ id, owner_id: _owner, failures: _failures, turn_run: _turn, phase, ...row }: GoalRunRow): GoalRun => ({ run_id: id, ...row, phase: phase as GoalPhase }); // the runner writes no other
