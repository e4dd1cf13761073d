/**
 * What the queue may hold (`[queue]`).
 *
 * D1  A run that starts at once needs no room. One that would be queued beyond a limit is refused, on every channel; the
 *     journal counts in the commit that accepts it, so that of many at once, in any process, none is too many.
 * D2  A run that nobody has begun within task_ttl_secs is cancelled. One that was begun and waits since, for a person perhaps, is not.
 * D3  A clock that is set back ends no run early. A run that it now dates later than the present has the whole time from when that is seen.
 */
import { type Clock, isSvcError, type Journal, type JournalRun, type RunFilter } from '@svc/api';
import { leftovers } from '../beside.js';
import type { QueueConfig } from '../config.js';
import { runErrors } from '../errors.js';
import { sayEnd, toRunError } from '../loop/endings.js';
import { RUN_KIND, inputOf } from '../run-input.js';
import { endedEvent, type StopDeps } from '../stopping.js';

type Opening = Parameters<Journal['open']>;

const RETRY_AFTER_SECS = '5';
const ENDED_AT_ONCE = 500;

/** Throws `run_queue_full`, `run_root_full`. */
export async function openWithin(
  journal: Pick<Journal, 'open'>,
  { queue, maxRuns }: { readonly queue: Partial<QueueConfig>; readonly maxRuns: number },
  request: Opening[0],
  also: Opening[1],
  first: Opening[2],
): ReturnType<Journal['open']> {
  const { max_depth_per_agent: subject = 0, max_depth_global: kind = 0 } = queue;
  const room = { ...(subject > 0 ? { subject } : {}), ...(kind > 0 ? { kind } : {}), ...(request.parentId !== undefined && maxRuns > 0 ? { root: maxRuns } : {}) };
  try {
    return await journal.open({ ...request, room }, also, first);
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'journal_queue_full') throw error;
    // As the journal puts it (opening.ts).
    const { by, limit } = error.details as { by: 'subject' | 'kind' | 'root'; limit: number };
    if (by === 'root') throw runErrors.root_full(limit);
    const scope = by === 'subject' ? 'agent' : 'all';
    throw runErrors.queue_full(scope === 'agent' ? 'this agent' : 'all agents', limit).with({ details: { scope, limit }, headers: { 'retry-after': RETRY_AFTER_SECS } });
  }
}

type LimitDeps = StopDeps & { readonly clock: Pick<Clock, 'now' | 'mono'> };

/** D2, D3. Ends what waited too long whenever it is called. */
export const createWaitLimit = (deps: LimitDeps): ((limits: QueueConfig) => Promise<void>) => {
  const actor = deps.actors.system('queue');
  /** By id of a run from the future: when it was first seen, as mono() counts. */
  let ahead = new Map<string, number>();
  const list = (filter: Pick<RunFilter, 'since' | 'unclaimedBefore'>) => deps.journal.list({ actor, kind: RUN_KIND, status: ['queued'], ...filter, limit: ENDED_AT_ONCE });
  return async ({ task_ttl_secs: secs }) => {
    if (secs === 0) return;
    const [now, mono] = [deps.clock.now(), deps.clock.mono()];
    const late = await list({ unclaimedBefore: new Date(now - secs * 1_000).toISOString() });
    const early = (await list({ since: new Date(now).toISOString() })).filter(({ createdAt }) => Date.parse(createdAt) > now);
    ahead = new Map(early.map(({ id }) => [id, ahead.get(id) ?? mono]));
    for (const run of [...late, ...early.filter(({ id }) => mono - (ahead.get(id) ?? mono) > secs * 1_000)]) await endOne(deps, run, secs);
  };
};

const endOne = async (deps: StopDeps, run: JournalRun, secs: number): Promise<void> => {
  const why = runErrors.waited_too_long(secs);
  const also = [endedEvent(deps, run), ...(await leftovers(deps, inputOf(run)))];
  if (await deps.journal.cancel(deps.actors.system('queue'), run.id, toRunError(why), also, 'unclaimed')) await sayEnd(deps, run, why);
};
