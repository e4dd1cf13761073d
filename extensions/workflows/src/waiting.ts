/** Waits for the end of a run, for a request that asks for its output. */
import type { Actor, Clock, Disposable, Events } from '@svc/api';
import { RunChanged, type RunsService } from '@svc/ext-runs/contract';
import { type StepRow, WorkflowChanged, type WorkflowRunRow } from './contract.js';
import { isOver } from './driver.js';
import type { WorkflowRules } from './service.js';

export interface WaitDeps {
  readonly events: Events;
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
  readonly runs: Pick<RunsService, 'get'>;
  readonly rules: Pick<WorkflowRules, 'run' | 'steps'>;
}

const LOOK_MS = 2_000;

/** The run once it is over, or once nothing works and it waits for a person or a time, or when `untilMs` has come. */
export const endOfRun = async (deps: WaitDeps, actor: Actor, id: string, signal: AbortSignal, untilMs = Number.POSITIVE_INFINITY): Promise<WorkflowRunRow> => {
  for (;;) {
    const row = await deps.rules.run(actor, id);
    if (isOver(row) || row.state === 'paused' || deps.clock.now() >= untilMs) return row;
    if (await waits(deps, actor, await deps.rules.steps(row))) return row;
    await change(deps, signal);
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

const change = async ({ events, clock }: WaitDeps, signal: AbortSignal): Promise<void> => {
  const over = new AbortController();
  let listeners: readonly Disposable[] = [];
  await new Promise<void>((resolve) => {
    const wake = (): void => resolve();
    listeners = [events.on(WorkflowChanged, wake), events.on(RunChanged, wake)];
    clock.sleep(LOOK_MS, AbortSignal.any([signal, over.signal])).then(wake, wake);
  });
  over.abort();
  for (const listener of listeners) listener.dispose();
  signal.throwIfAborted();
};
