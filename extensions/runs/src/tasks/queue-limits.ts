/**
 * What the queue may hold (`[queue]`).
 *
 * D1  A run that starts at once needs no room. One that would be queued beyond a limit is refused, on every channel; the
 *     journal counts in the commit that accepts it, so that of many at once, in any process, none is too many.
 * D2  A run that nobody has begun within task_ttl_secs is cancelled. One that was begun and waits since, for a person perhaps, is not.
 */
import { isSvcError, type Journal, type JournalRun } from '@svc/api';
import { leftovers } from '../beside.js';
import type { QueueConfig } from '../config.js';
import { runErrors } from '../errors.js';
import { sayEnd, toRunError } from '../loop/endings.js';
import { RUN_KIND, inputOf } from '../run-input.js';
import { endedEvent, type StopDeps } from '../stopping.js';

type Opening = Parameters<Journal['open']>;

const RETRY_AFTER_SECS = '5';
const ENDED_AT_ONCE = 500;

/** Throws `run_queue_full`. */
export async function openWithin(journal: Pick<Journal, 'open'>, limits: QueueConfig, request: Opening[0], also: Opening[1], first: Opening[2]): ReturnType<Journal['open']> {
  const { max_depth_per_agent: subject, max_depth_global: kind } = limits;
  const room = { ...(subject > 0 ? { subject } : {}), ...(kind > 0 ? { kind } : {}) };
  try {
    return await journal.open({ ...request, room }, also, first);
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'journal_queue_full') throw error;
    // As the journal puts it (opening.ts).
    const { by, limit } = error.details as { by: keyof typeof room; limit: number };
    const scope = by === 'subject' ? 'agent' : 'all';
    throw runErrors.queue_full(scope === 'agent' ? 'this agent' : 'all agents', limit).with({ details: { scope, limit }, headers: { 'retry-after': RETRY_AFTER_SECS } });
  }
}

/** D2. */
export async function endWaited(deps: StopDeps & { readonly clock: { now(): number } }, { task_ttl_secs: secs }: QueueConfig): Promise<void> {
  if (secs === 0) return;
  const actor = deps.actors.system('queue');
  const unclaimedBefore = new Date(deps.clock.now() - secs * 1_000).toISOString();
  for (const run of await deps.journal.list({ actor, kind: RUN_KIND, status: ['queued'], unclaimedBefore, limit: ENDED_AT_ONCE })) await endOne(deps, run, secs);
}

const endOne = async (deps: StopDeps, run: JournalRun, secs: number): Promise<void> => {
  const why = runErrors.waited_too_long(secs);
  const also = [endedEvent(deps, run), ...(await leftovers(deps, inputOf(run)))];
  if (await deps.journal.cancel(deps.actors.system('queue'), run.id, toRunError(why), also, 'unclaimed')) await sayEnd(deps, run, why);
};
