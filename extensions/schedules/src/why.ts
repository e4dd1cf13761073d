/** Why a job did or did not fire, in a sentence or two, from its row and its newest fires. */
import type { FireDeliveryRow, FireRow } from './contract.js';
import type { Job } from './jobs.js';
import { deliveredOf } from './routes/shapes.js';

const REMEDY = '`svc cron enable ID` starts it again.';

/** `fires`: newest first, the last one and the last one that was not skipped among them. */
export const whyOf = (job: Job, fires: readonly FireRow[], deliveries: Deliveries): string => [standing(job), last(fires, deliveries)].filter((text) => text !== '').join(' ');

/** By fire. */
type Deliveries = ReadonlyMap<string, readonly FireDeliveryRow[]>;

const standing = (job: Job): string => {
  if (job.auto_disabled && !job.enabled) return `It is disabled, because it failed ${job.consecutive_errors} times in a row. ${REMEDY}`;
  if (!job.enabled) return job.schedule.kind === 'at' && job.fire_count > 0 ? 'Its date has passed.' : `It is disabled. ${REMEDY}`;
  return job.next_run === null ? 'It is never due again.' : `It is due next at ${job.next_run}.`;
};

const last = ([newest, ...older]: readonly FireRow[], deliveries: Deliveries): string => {
  if (!newest) return 'It has not been due yet.';
  if (newest.status !== 'skipped') return sentence(newest, deliveries);
  const before = older.find(({ status }) => status !== 'skipped');
  return `It did not fire at ${newest.due_at}: ${newest.reason ?? 'no reason is stored'}.${before ? ` ${sentence(before, deliveries)}` : ' It has not fired before.'}`;
};

const sentence = (fire: FireRow, deliveries: Deliveries): string => {
  const { fired_at: at, status, reason, run_id: run } = fire;
  const where = run === null ? '' : ` (run ${run})`;
  if (status === 'running') return `It fired at ${at} and goes on${where}.`;
  if (status === 'error') return `It fired last at ${at} and failed${where}: ${reason ?? 'no reason is stored'}.`;
  const sent = deliveries.get(fire.id) ?? [];
  const delivered = deliveredOf(fire, sent);
  return [`It fired last at ${at} and ended well${where}${delivered === null ? '' : `; ${delivered} targets took its answer`}.`, ...sent.flatMap(missing)].join(' ');
};

const STATES: Readonly<Record<string, string>> = { waiting: 'is still on its way', failed: 'did not arrive', unknown: 'may not have arrived' };

const missing = ({ target, status, reason }: FireDeliveryRow): string[] =>
  status === 'sent' ? [] : [`To ${target} it ${STATES[status] ?? status}${reason === null ? '' : `: ${reason.replace(/\.$/, '')}`}.`];
