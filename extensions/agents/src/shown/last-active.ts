/** When each agent last began a run: gathered in memory and written together, so that a message costs no commit for it. */
import type { Clock } from '@svc/api';
import type { AgentStore } from '../store.js';

export const FLUSH_EVERY_MS = 15_000;
const MAX_WAITING = 1_000;

export interface LastActive {
  touch(agentId: string): Promise<void>;
  /** What is not written yet. */
  waiting(agentId: string): string | undefined;
  flush(): Promise<void>;
}

export const createLastActive = (store: AgentStore, clock: Clock): LastActive => {
  let waiting = new Map<string, string>();
  const flush = async (): Promise<void> => {
    if (waiting.size === 0) return;
    const batch = waiting;
    waiting = new Map();
    await store.commit([store.touch(batch)]);
  };
  return {
    touch: async (agentId) => {
      waiting.set(agentId, clock.iso());
      if (waiting.size >= MAX_WAITING) await flush();
    },
    waiting: (agentId) => waiting.get(agentId),
    flush,
  };
};
