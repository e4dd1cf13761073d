/** Who is not there to see a job fail hears of it when it is given up. */
import type { Actors, Logger, OptionalHandle } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { NoticesService } from '@svc/ext-notices/contract';
import type { Job } from './jobs.js';

export interface NotifyDeps {
  readonly notices: OptionalHandle<NoticesService>;
  readonly agents: Pick<AgentsService, 'list'>;
  readonly actors: Actors;
  readonly log: Logger;
  readonly closing: AbortSignal;
}

/** A notice belongs to an agent. A job without one, which starts a workflow, sends it by the first agent of its owner. */
export const createNotify =
  ({ notices, agents, actors, log, closing }: NotifyDeps) =>
  async (job: Job, fireId: string, why: string): Promise<void> => {
    log.warn('A job was disabled after five failures in a row.', { job: job.id, name: job.name, why });
    const owner = actors.of(job.owner_id);
    const agentId = job.agent_id ?? (await agents.list(owner)).find(({ ownerId }) => ownerId === job.owner_id)?.id;
    // Its reason stands in its row and in the log.
    if (agentId === undefined) return;
    await notices.value
      ?.send(owner, {
        agentId,
        key: `cron:${job.id}:${fireId}`,
        reason: 'A job was disabled',
        summary: `The job "${job.name}" failed five times in a row and was disabled. The last time: ${why}. \`svc cron enable ${job.id}\` starts it again.`,
      })
      .catch((cause: unknown) => {
        if (closing.aborted) throw cause;
        log.warn('Nobody could be given a notice about a job.', { job: job.id, cause });
      });
  };
