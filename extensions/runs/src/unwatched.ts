/**
 * Runs that nobody watches any more.
 *
 * U1  Whether such a run goes on is the agent's word, else `[runs] on_disconnect`, else the channel's: whoever hangs up on
 *     /v1 has given up on the answer, whoever leaves our own channels comes back for it.
 * U2  The word stands in the run's row: after a restart it is kept by whichever process drives the run.
 * U3  A run that waits for a person, or has waited, is left alone: somebody cares for it elsewhere.
 */
import type { Logger, Streams } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import type { RunsConfig } from './config.js';
import type { Channel } from './contract.js';

/** A client that sends again by itself does so within this time. */
export const UNWATCHED_GRACE_MS = 2_000;
const POLL_EVERY_MS = 500;

export type Unwatched = 'finish' | 'cancel';

/** U1. An agent that asked another watches it itself. */
export const unwatchedPolicy = (door: Channel, agent: AgentManifest['autonomous'], config: RunsConfig): Unwatched =>
  door === 'agent' ? 'finish' : (agent.unwatched ?? config.on_disconnect ?? (door === 'openai' ? 'cancel' : 'finish'));

export interface WatchKeeperDeps {
  readonly streams: Pick<Streams, 'here'>;
  readonly log: Logger;
  later(ms: number, fn: () => Promise<void>): void;
  /** Cancels the run, unless it is over or waits for a person. */
  cancel(runId: string): Promise<void>;
}

export interface WatchKeeper {
  /** From now on the run ends when nobody follows its topic. */
  keep(runId: string): void;
}

export const createWatchKeeper = (deps: WatchKeeperDeps): WatchKeeper => {
  /** At most one per live topic, of which there are so many and no more. */
  const kept = new Set<string>();
  let isArmed = false;
  const arm = (): void => {
    if (isArmed) return;
    isArmed = true;
    deps.later(POLL_EVERY_MS, look);
  };
  const look = async (): Promise<void> => {
    isArmed = false;
    for (const runId of [...kept]) {
      const topic = deps.streams.here(runId);
      // Whoever writes it sees all who watch, wherever they are; until it is written anywhere it is validated by nobody.
      if (!topic || topic.ended) kept.delete(runId);
      else if (topic.own && topic.unwatchedMs !== null && topic.unwatchedMs >= UNWATCHED_GRACE_MS) await cancel(runId);
    }
    if (kept.size > 0) arm();
  };
  const cancel = async (runId: string): Promise<void> => {
    try {
      await deps.cancel(runId);
      kept.delete(runId);
    } catch (error) {
      deps.log.warn('a run without watchers could not be cancelled; svc tries again', { run: runId, error: String(error) });
    }
  };
  return {
    keep: (runId) => {
      kept.add(runId);
      arm();
    },
  };
};
