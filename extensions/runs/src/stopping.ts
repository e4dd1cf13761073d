/** Ending runs from outside: by a person, by a purge, or because nobody watches. */
import { RunEnded, type RunHalt } from './contract.js';
import type { Actors, Actor, Events, HookHandle, Journal, JournalRun, Logger, RunFilter, Streams, SvcError } from '@svc/api';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import { factOf, leftovers } from './beside.js';
import { isOver, sayEnd, toRunError } from './loop/endings.js';
import { clientWaitOf } from './client-tools/client-wait.js';
import { runErrors } from './errors.js';
import { RUN_KIND, inputOf } from './run-input.js';

export interface StopDeps {
  readonly journal: Journal;
  readonly streams: Streams;
  readonly events: Events;
  readonly sessions: Pick<SessionsService, 'discard'>;
  readonly tools: Pick<ToolsService, 'forget'>;
  readonly actors: Actors;
  readonly halt: HookHandle<typeof RunHalt>;
  readonly log: Logger;
}

export const ACTIVE = ['queued', 'running', 'waiting'] as const;
const PAGE_RUNS = 500;

/**
 * Also the runs that it began, of a root all that it led to, and what of it other areas drive. Resolves with how many ended.
 */
export async function stopOne(deps: StopDeps, actor: Actor, run: JournalRun, error: SvcError): Promise<number> {
  const isRoot = run.rootId === run.id;
  // Those that hear of it from the run itself may be over when they are looked for again; others begin in this moment.
  const below = new Map<string, JournalRun>();
  const look = async (): Promise<void> => {
    for await (const one of eachRun(deps.journal, { actor, kind: RUN_KIND, status: ACTIVE, ...(isRoot ? { rootId: run.id } : { parentId: run.id }) })) if (one.id !== run.id) below.set(one.id, one);
  };
  await look();
  let stopped = (await endOne(deps, actor, run, error)) ? 1 : 0;
  stopped += await haltOthers(deps, actor, run.id, isRoot, error);
  await look();
  for (const one of below.values()) stopped += isRoot ? ((await endOne(deps, actor, one, error)) ? 1 : 0) : await stopOne(deps, actor, one, error);
  return stopped;
}

/** All that work of another kind led to. */
export async function stopRoot(deps: StopDeps, actor: Actor, rootId: string, error: SvcError): Promise<number> {
  const own = await deps.journal.get(actor, rootId);
  if (own) return stopOne(deps, actor, own, error);
  let stopped = await haltOthers(deps, actor, rootId, true, error);
  for await (const one of eachRun(deps.journal, { actor, kind: RUN_KIND, status: ACTIVE, rootId })) stopped += (await endOne(deps, actor, one, error)) ? 1 : 0;
  return stopped;
}

const haltOthers = async ({ halt, log }: StopDeps, actor: Actor, runId: string, isRoot: boolean, error: SvcError): Promise<number> => {
  if (halt.isEmpty()) return 0;
  const answers = await halt.call({ actor, runId, isRoot, why: error.message });
  for (const { owner, error: failure } of answers) if (failure !== undefined) log.error('what a stopped run led to could not be stopped', { run: runId, extension: owner, error: failure });
  return answers.reduce((sum, { value = 0 }) => sum + value, 0);
};

/** Whoever holds it is told, or its row ends it where nobody does. It may be claimed or fall asleep in between: both are asked until one has. */
async function endOne(deps: StopDeps, actor: Actor, run: JournalRun, error: SvcError): Promise<boolean> {
  for (;;) {
    if (await deps.journal.interrupt(run.id, error)) return true;
    if (await deps.journal.cancel(actor, run.id, toRunError(error), [endedEvent(deps, run), ...(await leftovers(deps, inputOf(run)))])) {
      await sayEnd(deps, run, error);
      return true;
    }
    const now = await deps.journal.get(actor, run.id);
    // Of one that went on when it was looked for, whoever cancelled it meanwhile did so for the same stop.
    if (!now || isOver(now)) return now?.status === 'cancelled' && !isOver(run);
  }
}

/** All that fit, newest first, a page at a time. */
export async function* eachRun(journal: Pick<Journal, 'list'>, filter: RunFilter): AsyncGenerator<JournalRun> {
  let before: string | undefined;
  do {
    const page = await journal.list({ ...filter, ...(before === undefined ? {} : { before }), limit: PAGE_RUNS });
    yield* page;
    before = page.length < PAGE_RUNS ? undefined : page.at(-1)?.id;
  } while (before !== undefined);
}

/** U3 of unwatched.ts: what waits, or has waited, for a person is theirs. Who runs tools for it, and answered its calls, watches it between its waits. */
export async function cancelUnwatched(deps: StopDeps, runId: string): Promise<void> {
  const system = deps.actors.system('unwatched');
  const run = await deps.journal.get(system, runId);
  const isWatched = run && (run.wait === null || (run.status !== 'waiting' && clientWaitOf(run)?.turn !== undefined));
  if (isWatched && ACTIVE.some((status) => status === run.status)) await stopOne(deps, system, run, runErrors.unwatched());
}

export const endedEvent = (deps: StopDeps, run: JournalRun) => deps.events.event(RunEnded, { ...factOf(run), status: 'cancelled' });
