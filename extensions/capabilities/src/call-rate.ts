/**
 * How many tools an agent calls in a minute. Counted in memory: a restart begins anew,
 * and each replica counts for itself.
 */
import type { Clock } from '@svc/api';

const WINDOW_MS = 60_000;
/** Beyond that the agents that called longest ago are forgotten. */
const MAX_AGENTS = 10_000;

export interface CallRate {
  /** Counts the call, or says in how many milliseconds the next one is possible. */
  take(agentId: string, limit: number): number | undefined;
}

export const createCallRate = (clock: Pick<Clock, 'mono'>): CallRate => {
  const calls = new Map<string, number[]>();
  return {
    take: (agentId, limit) => {
      const now = clock.mono();
      const recent = (calls.get(agentId) ?? []).filter((at) => at > now - WINDOW_MS);
      const full = recent.length >= limit;
      if (!full) recent.push(now);
      // Set anew, so that the order of the map is the order of use.
      calls.delete(agentId);
      calls.set(agentId, recent);
      if (calls.size > MAX_AGENTS) calls.delete(calls.keys().next().value ?? '');
      return full ? (recent[recent.length - limit] ?? now) + WINDOW_MS - now : undefined;
    },
  };
};
