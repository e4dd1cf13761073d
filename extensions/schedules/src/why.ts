/** Why a job did or did not fire, in a sentence or two, from its row and its newest fires. */
import type { FireRow } from './contract.js';
import type { Job } from './jobs.js';

const REMEDY = '`svc cron enable ID` starts it again.';

/** `fires`: newest first, the last one and the last one that was not skipped among them. */
export const whyOf = (job: Job, fires: readonly FireRow[]): string => [standing(job), last(fires)].filter((text) => text !== '').join(' ');

const standing = (job: Job): string => {
  if (job.auto_disabled && !job.enabled) return `It is disabled, because it failed ${job.consecutive_errors} times in a row. ${REMEDY}`;
  if (!job.enabled) return job.schedule.kind === 'at' && job.fire_count > 0 ? 'Its date has passed.' : `It is disabled. ${REMEDY}`;
  return job.next_run === null ? 'It is never due again.' : `It is due next at ${job.next_run}.`;
};

const last = ([newest, ...older]: readonly FireRow[]): string => {
  if (!newest) return 'It has not been due yet.';
  if (newest.status !== 'skipped') return sentence(newest);
  const before = older.find(({ status }) => status !== 'skipped');
  return `It did not fire at ${newest.due_at}: ${newest.reason ?? 'no reason is stored'}.${before ? ` ${sentence(before)}` : ' It has not fired before.'}`;
};

const sentence = ({ fired_at: at, status, reason, run_id: run, delivered }: FireRow): string => {
  const where = run === null ? '' : ` (run ${run})`;
  if (status === 'running') return `It fired at ${at} and goes on${where}.`;
  if (status === 'error') return `It fired last at ${at} and failed${where}: ${reason ?? 'no reason is stored'}.`;
  return `It fired last at ${at} and ended well${where}${delivered === null ? '' : `; ${delivered} targets took its answer`}.`;
};
