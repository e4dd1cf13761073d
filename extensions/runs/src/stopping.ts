/** Ending runs from outside: by a person, by a purge, or because nobody watches. */
import { RunEnded } from './contract.js';
import { type Actor, type Events, type Journal, type JournalRun, type RunFilter, type Streams, type SvcError, systemActor } from '@svc/api';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { factOf, leftovers } from './beside.js';
import { sayEnd, toRunError } from './loop/endings.js';
import { runErrors } from './errors.js';
import { RUN_KIND, inputOf } from './run-input.js';

export interface StopDeps {
  readonly journal: Journal;
  readonly streams: Streams;
  readonly events: Events;
  readonly sessions: Pick<SessionsService, 'discard'>;
}

export const ACTIVE = ['queued', 'running', 'waiting'] as const;
const PAGE_RUNS = 500;
const SYSTEM = systemActor('runs');

/** Also the runs that it began. Resolves with how many ended. */
export async function stopOne(deps: StopDeps, actor: Actor, run: JournalRun, error: SvcError): Promise<number> {
  let stopped = (await deps.journal.interrupt(run.id, error)) ? 1 : 0;
  if (stopped === 0 && (await deps.journal.cancel(actor, run.id, toRunError(error), [endedEvent(deps, run), ...(await leftovers(deps, inputOf(run)))]))) {
    stopped = 1;
    await sayEnd(deps, run, error);
  }
  for await (const child of eachRun(deps.journal, { actor, kind: RUN_KIND, status: ACTIVE, parentId: run.id })) stopped += await stopOne(deps, actor, child, error);
  return stopped;
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

/** U3 of unwatched.ts: what waits, or has waited, for a person is theirs. */
export async function cancelUnwatched(deps: StopDeps, runId: string): Promise<void> {
  const run = await deps.journal.get(SYSTEM, runId);
  if (run?.wait === null && ACTIVE.some((status) => status === run.status)) await stopOne(deps, SYSTEM, run, runErrors.unwatched());
}

const endedEvent = (deps: StopDeps, run: JournalRun) => deps.events.event(RunEnded, { ...factOf(run), status: 'cancelled' });
