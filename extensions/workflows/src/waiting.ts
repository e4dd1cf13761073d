/** Waits for the end of a run, for a request that asks for its output. */
import type { Actor, Clock, Events } from '@svc/api';
import { RunChanged, type RunsService, untilChange } from '@svc/ext-runs/contract';
import { type StepRow, WorkflowChanged, type WorkflowRunRow } from './contract.js';
import { isOver } from './driver.js';
import type { WorkflowRules } from './service.js';

export interface WaitDeps {
  readonly events: Events;
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
  readonly runs: Pick<RunsService, 'get'>;
  readonly rules: Pick<WorkflowRules, 'run' | 'steps'>;
}

/** The run once it is over, or once nothing works and it waits for a person or a time, or when `untilMs` has come. */
export const endOfRun = async (deps: WaitDeps, actor: Actor, id: string, signal: AbortSignal, untilMs = Number.POSITIVE_INFINITY): Promise<WorkflowRunRow> => {
  for (;;) {
    const row = await deps.rules.run(actor, id);
    if (isOver(row) || row.state === 'paused' || deps.clock.now() >= untilMs) return row;
    if (await waits(deps, actor, await deps.rules.steps(row))) return row;
    await untilChange((wake) => [deps.events.on(WorkflowChanged, wake), deps.events.on(RunChanged, wake)], deps.clock, signal);
  }
};

/** Nothing of it works: a person or a time is what it waits for. */
const waits = async ({ runs }: WaitDeps, actor: Actor, rows: readonly StepRow[]): Promise<boolean> => {
  const open = rows.filter(({ state }) => state === 'running' || state === 'waiting');
  if (open.length === 0) return false;
  const asleep = await Promise.all(
    open.map(async (row) => {
      if (row.state === 'waiting') return row.agent_id === null;
      return row.child_run_id !== null && (await runs.get(actor, row.child_run_id)).status === 'waiting';
    }),
  );
  return asleep.every(Boolean);
};
