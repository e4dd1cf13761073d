/** Waits for the end of a fire, for a request that asks for its answer. */
import type { Clock, Db, Disposable, Events } from '@svc/api';
import { RunChanged, type RunsService } from '@svc/ext-runs/contract';
import type { Actor } from '@svc/api';
import { type FireRow, JobChanged } from './contract.js';

export interface FireWaits {
  /** The fire once it has ended, or its run waits for a person. Rejects with the reason of the signal. */
  end(actor: Actor, fireId: string, signal: AbortSignal): Promise<{ readonly fire: FireRow; readonly isWaiting: boolean }>;
}

export interface WaitDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly runs: Pick<RunsService, 'get'>;
}

/** Another daemon may hold the run: its end is then seen at the next look. */
const LOOK_MS = 2_000;

export const createFireWaits = ({ db, events, clock, runs }: WaitDeps): { readonly waits: FireWaits; readonly listeners: readonly Disposable[] } => {
  const sleepers = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of sleepers) wake();
  };
  const change = async (signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        sleepers.delete(wake);
        resolve();
      };
      sleepers.add(wake);
      clock.sleep(LOOK_MS, either).then(wake, wake);
    });
    over.abort();
    signal.throwIfAborted();
  };
  return {
    listeners: [events.on(JobChanged, wakeAll), events.on(RunChanged, wakeAll)],
    waits: {
      end: async (actor, fireId, signal) => {
        for (;;) {
          const fire = await db.as(actor).first<FireRow>({ from: 'fires', where: { id: fireId } });
          if (!fire) throw new Error(`the fire ${fireId} is gone`);
          if (fire.status !== 'running') return { fire, isWaiting: false };
          if (fire.run_id !== null && fire.agent_id !== null && (await runs.get(actor, fire.run_id)).status === 'waiting') return { fire, isWaiting: true };
          await change(signal);
        }
      },
    },
  };
};
