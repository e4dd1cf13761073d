/**
 * Sessions that nobody needs any more: those of agents that are gone, and what [session] says of age and number.
 * A session in which something is going on stays, and an agent's current one is never among the too many.
 */
import type { Actors, Clock } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { SessionConfig } from '../config.js';
import type { Listing } from '../listing.js';
import type { Closing } from './closing.js';
import type { ClosingStore } from './closing-store.js';

const PURPOSE = 'cleanup';

export interface CleanupDeps {
  readonly store: ClosingStore;
  readonly actors: Pick<Actors, 'system'>;
  readonly closing: Pick<Closing, 'eraseAll'>;
  readonly agents: Pick<AgentsService, 'briefs' | 'find'>;
  readonly listing: Pick<Listing, 'active'>;
  readonly clock: Pick<Clock, 'now' | 'iso'>;
  config(): SessionConfig;
}

export interface Cleaned {
  readonly deleted: number;
  /** Of agents that are gone. */
  readonly orphaned: number;
  readonly expired: number;
  /** Of agents that had more than they may have. */
  readonly surplus: number;
}

const PAGE = 500;
const DAY_MS = 86_400_000;

export const cleanUp = async (deps: CleanupDeps): Promise<Cleaned> => {
  const active = await deps.listing.active(deps.actors.system(PURPOSE));
  const orphaned = await cleanOrphans(deps);
  const expired = await cleanExpired(deps, active);
  const surplus = await cleanSurplus(deps, active);
  return { deleted: orphaned + expired + surplus, orphaned, expired, surplus };
};

const before = ({ clock }: CleanupDeps, days: number): string => new Date(clock.now() - days * DAY_MS).toISOString();

async function cleanOrphans({ store, actors, closing, agents, clock }: CleanupDeps): Promise<number> {
  const agentIds = await store.agentIds();
  const there = await agents.briefs(actors.system(PURPOSE), agentIds);
  let count = 0;
  for (const agentId of agentIds.filter((id) => there[id] === undefined)) {
    const next = (): Promise<string[]> => store.ofAgent(agentId, clock.iso(), PAGE);
    for (let ids = await next(); ids.length > 0; ids = await next()) {
      await closing.eraseAll(agentId, ids);
      count += ids.length;
    }
  }
  return count;
}

async function cleanExpired(deps: CleanupDeps, active: ReadonlySet<string>): Promise<number> {
  const days = deps.config().retention_days;
  if (days === 0) return 0;
  let count = 0;
  let after = { createdAt: '', id: '' };
  for (;;) {
    const page = await deps.store.restingSince(before(deps, days), after, PAGE);
    const last = page.at(-1);
    if (!last) return count;
    after = last;
    const resting = page.filter(({ id, isResting }) => isResting && !active.has(id));
    for (const agentId of new Set(resting.map((session) => session.agentId))) {
      const ids = resting.filter((session) => session.agentId === agentId).map(({ id }) => id);
      await deps.closing.eraseAll(agentId, ids);
      count += ids.length;
    }
  }
}

async function cleanSurplus({ actors, store, closing, agents, config }: CleanupDeps, active: ReadonlySet<string>): Promise<number> {
  const max = config().max_sessions_per_agent;
  if (max === 0) return 0;
  let count = 0;
  for (const agentId of await store.crowded(max)) {
    const current = (await agents.find(actors.system(PURPOSE), agentId))?.sessionId;
    const ids = (await store.beyond(agentId, max, PAGE)).filter((id) => id !== current && !active.has(id));
    await closing.eraseAll(agentId, ids);
    count += ids.length;
  }
  return count;
}
