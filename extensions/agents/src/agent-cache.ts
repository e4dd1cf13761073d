/**
 * Agents are read for every message: the most recently used ones are kept.
 *
 * A change is announced after its commit; in between, the agent may already
 * differ from what is kept. So whoever prepares a change says so beforehand,
 * and until the announcement (or a few seconds) the agent is read anew.
 *
 * Another process announces its changes too, but what it says can be lost on
 * the way: so no agent is kept for longer than a few seconds.
 */
import type { Clock } from '@svc/api';
import type { Agent } from './contract.js';

const MAX_KEPT = 500;
/** A change of another process that was not heard of is seen after this long. */
const MAX_AGE_MS = 3_000;
const UNSETTLED_MS = 5_000;
const MAX_UNSETTLED = 1_000;

export interface AgentCache {
  get(id: string): Agent | undefined;
  /** Reads through `load`, keeping the result unless a change came in between. */
  load(id: string, load: () => Promise<Agent | undefined>): Promise<Agent | undefined>;
  /** A change of this agent is being prepared by somebody else's commit. */
  willChange(id: string): void;
  changed(id: string): void;
  clear(): void;
}

export const createAgentCache = (clock: Clock): AgentCache => {
  const kept = new Map<string, { readonly agent: Agent; readonly readAt: number }>();
  const unsettled = new Map<string, number>();
  let changes = 0;
  const isUnsettled = (id: string): boolean => {
    const until = unsettled.get(id);
    if (until === undefined || until > clock.mono()) return until !== undefined;
    unsettled.delete(id);
    return false;
  };
  const keep = (id: string, agent: Agent, readAt: number): void => {
    kept.delete(id);
    kept.set(id, { agent, readAt });
    dropOldest(kept, MAX_KEPT);
  };
  return {
    get: (id) => {
      const known = kept.get(id);
      if (!known || clock.mono() - known.readAt >= MAX_AGE_MS) return undefined;
      keep(id, known.agent, known.readAt);
      return known.agent;
    },
    load: async (id, load) => {
      const before = changes;
      const readAt = clock.mono();
      const agent = await load();
      if (agent && before === changes && !isUnsettled(id)) keep(id, agent, readAt);
      return agent;
    },
    willChange: (id) => {
      changes += 1;
      kept.delete(id);
      unsettled.set(id, clock.mono() + UNSETTLED_MS);
      dropOldest(unsettled, MAX_UNSETTLED);
    },
    changed: (id) => {
      changes += 1;
      kept.delete(id);
      unsettled.delete(id);
    },
    clear: () => {
      changes += 1;
      kept.clear();
    },
  };
};

/** A Map keeps the order of insertion: its first key is the oldest. */
const dropOldest = (map: Map<string, unknown>, limit: number): void => {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
};
