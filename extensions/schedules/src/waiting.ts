/** Waits for the end of a fire, for a request that asks for its answer. */
import type { Actor, Clock, Db, Events } from '@svc/api';
import { RunChanged, type RunsService, untilChange } from '@svc/ext-runs/contract';
import { type FireRow, JobChanged } from './contract.js';
import { scheduleErrors } from './errors.js';

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

export const createFireWaits = ({ db, events, clock, runs }: WaitDeps): FireWaits => {
  return {
    end: async (actor, fireId, signal) => {
      for (;;) {
        const fire = await db.as(actor).first<FireRow>({ from: 'fires', where: { id: fireId } });
        if (!fire) throw scheduleErrors.job_not_found(fireId);
        if (fire.status !== 'running') return { fire, isWaiting: false };
        if (fire.run_id !== null && fire.agent_id !== null && (await runs.get(actor, fire.run_id)).status === 'waiting') return { fire, isWaiting: true };
        await untilChange((wake) => [events.on(JobChanged, wake), events.on(RunChanged, wake)], clock, signal);
      }
    },
  };
};
