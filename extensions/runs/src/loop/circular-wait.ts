/**
 * Who waits for whom among runs: a sender waits for the run it asked for, and a queued run for those before it in
 * its session. A run that is asked for and would wait for its own sender can never begin, so it is refused.
 *
 * Validated after the new run is committed: of senders that cross each other the later one sees both.
 */
import type { Actors, Events, Journal, JournalRun, Streams, ToolCall } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { factOf } from '../beside.js';
import { RunEnded, type Submitted } from '../contract.js';
import { runErrors } from '../errors.js';
import { RUN_KIND, inputOf } from '../run-input.js';
import { sayEnd, toRunError } from './endings.js';

export interface CircularWaitDeps {
  readonly journal: Journal;
  readonly streams: Streams;
  readonly events: Events;
  readonly agents: AgentsService;
  readonly actors: Actors;
}

export interface CircularWaits {
  /** Cancels what was just submitted, and throws `run_circular_wait` with the chain, when it would wait for its sender. */
  refuse(call: ToolCall, submitted: Submitted): Promise<void>;
}

/** Runs looked at in one search: more than any chain that `max_depth` allows, times what may queue between. */
const PURPOSE = 'circular waits';
const MAX_SEARCHED = 1_000;
const UNFINISHED: ReadonlySet<string> = new Set(['queued', 'running', 'waiting']);

export const createCircularWaits = (deps: CircularWaitDeps): CircularWaits => {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    refuse: (call, submitted) => {
      // One at a time: of two that see the same circle only one has to go.
      const decided = turn.then(() => decide(deps, call, submitted));
      turn = decided.catch(() => undefined); // it is the caller's
      return decided;
    },
  };
};

async function decide(deps: CircularWaitDeps, call: ToolCall, submitted: Submitted): Promise<void> {
  const system = deps.actors.system(PURPOSE);
  const asked = await deps.journal.get(system, submitted.runId);
  // Only what is still in the queue waits for anybody but its own calls.
  if (asked?.status !== 'queued') return;
  const path = await pathToLane(deps, call.runId, asked.lane);
  if (!path) return;
  const error = runErrors.circular_wait(await chainOf(deps, call, [...path, asked]));
  const ended = deps.events.event(RunEnded, { ...factOf(asked), status: 'cancelled' });
  if (!(await deps.journal.cancel(system, asked.id, toRunError(error), [ended]))) return;
  await sayEnd(deps, asked, error);
  throw error;
}

/** From a run that holds a place in the lane to the sender, each waiting for the next; undefined when nobody there does. */
async function pathToLane(deps: CircularWaitDeps, senderId: string, lane: string | null): Promise<JournalRun[] | undefined> {
  const sender = await deps.journal.get(deps.actors.system(PURPOSE), senderId);
  if (!sender || lane === null) return undefined;
  const waitsFor = new Map<string, JournalRun | undefined>([[sender.id, undefined]]);
  const open = [sender];
  for (let run = open.shift(); run && waitsFor.size < MAX_SEARCHED; run = open.shift()) {
    if (run.lane === lane) return pathFrom(run, waitsFor);
    for (const waiter of await waitersOf(deps, run)) {
      if (waitsFor.has(waiter.id)) continue;
      waitsFor.set(waiter.id, run);
      open.push(waiter);
    }
  }
  return undefined;
}

function pathFrom(start: JournalRun, waitsFor: ReadonlyMap<string, JournalRun | undefined>): JournalRun[] {
  const path: JournalRun[] = [];
  for (let run: JournalRun | undefined = start; run; run = waitsFor.get(run.id)) path.push(run);
  return path;
}

/** Who cannot go on before this run has ended. */
async function waitersOf({ journal, actors }: CircularWaitDeps, run: JournalRun): Promise<JournalRun[]> {
  const system = actors.system(PURPOSE);
  const parent = run.parentId === null ? undefined : await journal.get(system, run.parentId);
  const senders = parent && UNFINISHED.has(parent.status) ? [parent] : [];
  if (run.lane === null) return senders;
  const queued = await journal.list({ actor: system, kind: RUN_KIND, lane: run.lane, status: ['queued'], limit: MAX_SEARCHED });
  // Newest first: what stands before it in the list stands behind it in the queue.
  const place = queued.findIndex(({ id }) => id === run.id);
  const behind = place < 0 ? queued : queued.slice(0, place);
  // For one that nobody asked for nobody waits.
  return [...senders, ...behind.filter(({ parentId }) => parentId !== null)];
}

/** Names of agents, each waiting for the next; one that the caller may not see has none. */
async function chainOf(deps: CircularWaitDeps, call: ToolCall, runs: readonly JournalRun[]): Promise<string> {
  const ids = runs.map((run) => inputOf(run).agentId).filter((id, index, all) => id !== all[index - 1]);
  const names = await Promise.all(ids.map(async (id) => (await deps.agents.find(call.actor, id))?.name ?? 'another agent'));
  return names.join(' → ');
}
