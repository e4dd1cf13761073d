/** When each agent last began a run: gathered in memory and written together, so that a message costs no commit for it. */
import type { AtOnce, Clock } from '@svc/api';
import type { AgentStore } from '../store.js';

export const FLUSH_EVERY_MS = 15_000;
const MAX_WAITING = 1_000;

export interface LastActive {
  touch(agentId: string): AtOnce<void>;
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
    touch: (agentId) => {
      waiting.set(agentId, clock.iso());
      return waiting.size >= MAX_WAITING ? flush() : undefined;
    },
    waiting: (agentId) => waiting.get(agentId),
    flush,
  };
};
