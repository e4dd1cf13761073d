/** Who is not there to see a job fail hears of it when it is given up. */
import type { Actors, Logger, OptionalHandle } from '@svc/api';
import type { NoticesService } from '@svc/ext-notices/contract';
import type { Job } from './jobs.js';

export interface NotifyDeps {
  readonly notices: OptionalHandle<NoticesService>;
  readonly actors: Actors;
  readonly log: Logger;
  readonly closing: AbortSignal;
}

/** A notice belongs to an agent: a job without one leaves its reason in its row and in the log. */
export const createNotify =
  ({ notices, actors, log, closing }: NotifyDeps) =>
  async (job: Job, fireId: string, why: string): Promise<void> => {
    log.warn('A job was disabled after five failures in a row.', { job: job.id, name: job.name, why });
    if (job.agent_id === null) return;
    await notices.value
      ?.send(actors.of(job.owner_id), {
        agentId: job.agent_id,
        key: `cron:${job.id}:${fireId}`,
        reason: 'A job was disabled',
        summary: `The job "${job.name}" failed five times in a row and was disabled. The last time: ${why}. \`svc cron enable ${job.id}\` starts it again.`,
      })
      .catch((cause: unknown) => {
        if (closing.aborted) throw cause;
        log.warn('Nobody could be given a notice about a job.', { job: job.id, cause });
      });
  };
