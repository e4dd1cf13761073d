/**
 * Agents are read for every message: the most recently used ones are kept.
 *
 * A change is announced after its commit; in between, the agent may already
 * differ from what is kept. So whoever prepares a change says so beforehand,
 * and until the announcement (or a few seconds) the agent is read anew.
 */
import type { Clock } from '@svc/api';
import type { Agent } from './contract.js';

const MAX_KEPT = 500;
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
  const kept = new Map<string, Agent>();
  const unsettled = new Map<string, number>();
  let changes = 0;
  const isUnsettled = (id: string): boolean => {
    const until = unsettled.get(id);
    if (until === undefined || until > clock.mono()) return until !== undefined;
    unsettled.delete(id);
    return false;
  };
  const keep = (id: string, agent: Agent): void => {
    kept.delete(id);
    kept.set(id, agent);
    dropOldest(kept, MAX_KEPT);
  };
  return {
    get: (id) => {
      const agent = kept.get(id);
      if (agent) keep(id, agent);
      return agent;
    },
    load: async (id, load) => {
      const before = changes;
      const agent = await load();
      if (agent && before === changes && !isUnsettled(id)) keep(id, agent);
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
