/**
 * Answers of jobs on their way to webhooks.
 *
 * E1  An answer is a piece of durable work before it is sent; each address has its own. "Delivered" means that the target took it (2xx).
 * E2  It is tried again over 28 hours, then given up. An address that says 410 is not asked again.
 * E3  The same id goes with every attempt: `webhook-id`, by which a receiver drops what it has seen.
 */
import { type Actors, type Clock, type Db, type ExtensionContext, isSvcError, type Journal, type LeasedRun, type Logger } from '@svc/api';
import { CronDelivery, type FireRow } from './contract.js';
import type { Job } from './jobs.js';

export interface DeliveryDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly fetch: ExtensionContext['fetch'];
  readonly closing: AbortSignal;
}

interface DeliveryInput {
  readonly fireId: string;
  readonly url: string;
  readonly body: string;
}

const SECOND_MS = 1_000;
const TIMEOUT_MS = 30 * SECOND_MS;
const MAX_ANSWER_BYTES = 65_536;
const GONE = 410;
/** Waits between attempts, in seconds: 28 hours in all. */
const WAITS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200];
const AT_ONCE = 16;

export interface Deliveries {
  /** One piece of work for each address of the job, durable when this resolves; asked again for the same fire, it is the same work. Answers how many. */
  send(job: Job, fire: FireRow, output: string): Promise<number>;
  /** Looks for attempts that are due. */
  poke(): void;
}

export const createDeliveries = (deps: DeliveryDeps): Deliveries => {
  const worker = deps.journal.worker(CronDelivery, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  return {
    send: async (job, fire, output) => {
      const all = deliveriesOf(job, fire, output);
      for (const [index, input] of all.entries()) {
        const about = job.agent_id === null ? {} : { subject: job.agent_id };
        const { leased } = await deps.journal.open({
          kind: CronDelivery.name,
          actor: deps.actors.of(job.owner_id),
          key: `${fire.id}:${index}`,
          lane: `cron-delivery:${job.id}:${index}`,
          ...about,
          input,
        });
        if (leased) void worker.take(leased);
      }
      return all.length;
    },
    poke: () => worker.poke(),
  };
};

const deliveriesOf = (job: Job, fire: FireRow, output: string): DeliveryInput[] => {
  const { action } = job;
  const isSilent = action.kind === 'agent_turn' && output.trimEnd().split('\n').at(-1)?.trim() === (action.silent_marker ?? '[SILENT]');
  if (isSilent) return [];
  const common = { timestamp: fire.fired_at, job_id: job.id, fire_id: fire.id };
  // Nothing was said: the primary address hears nothing.
  const primary = job.delivery.kind === 'webhook' && output !== '' ? [{ url: job.delivery.url, body: { agent_id: job.agent_id, response: output, ...common } }] : [];
  const targets = [...primary, ...job.delivery_targets.map(({ url }) => ({ url, body: { job: job.name, output, ...common } }))];
  return targets.map(({ url, body }) => ({ fireId: fire.id, url, body: JSON.stringify(body) }));
};

const inputOf = ({ input }: LeasedRun): DeliveryInput => input as DeliveryInput; // what deliveriesOf stored

async function drive(deps: DeliveryDeps, run: LeasedRun): Promise<void> {
  const { fireId, url, body } = inputOf(run);
  const tries = run.steps.length;
  const outcome = await deps.journal.step(run, { seq: tries + 1, kind: 'webhook', key: run.id, replay: 'safe', intent: { attempt: tries + 1 } }, async () => {
    const value = await attempt(deps, run, url, body);
    return { value, outcome: value };
  });
  if (outcome.status >= 200 && outcome.status < 300) {
    const { db } = deps;
    const taken = db.sql(`UPDATE ${db.table('fires')} SET delivered = ? WHERE id = ?`, [await countedUp(deps, fireId), fireId]);
    return deps.journal.advance(run, { finish: { status: 'done', result: { status: outcome.status } }, also: [taken] });
  }
  const waitSecs = WAITS[tries];
  if (outcome.status === GONE || !outcome.retry || waitSecs === undefined)
    return deps.journal.advance(run, { finish: { status: 'failed', error: { code: 'schedules_undelivered', message: outcome.why } } });
  const until = new Date(deps.clock.now() + waitSecs * SECOND_MS).toISOString();
  return deps.journal.wait(run, { reason: 'retry', wakeKey: `cron-delivery:${run.id}`, until, data: { why: outcome.why } });
}

/** `1/2` becomes `2/2`. Deliveries of one fire end one after another as a rule; the total stays. */
const countedUp = async ({ db }: DeliveryDeps, fireId: string): Promise<string> => {
  const row = await db.system('deliveries of a fire').first<Pick<FireRow, 'delivered'>>({ from: 'fires', columns: ['delivered'], where: { id: fireId } });
  const [done = '0', all = '1'] = (row?.delivered ?? '0/1').split('/');
  return `${Math.min(Number(done) + 1, Number(all))}/${all}`;
};

interface Outcome {
  /** 0 where nobody answered. */
  readonly status: number;
  readonly why: string;
  readonly retry: boolean;
}

const attempt = async ({ fetch, closing, clock }: DeliveryDeps, run: LeasedRun, url: string, body: string): Promise<Outcome> => {
  try {
    const headers = { 'content-type': 'application/json', 'webhook-id': run.id, 'webhook-timestamp': String(Math.floor(clock.now() / SECOND_MS)) };
    const answer = await fetch(url, { purpose: 'webhook', method: 'POST', headers, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, signal: AbortSignal.any([run.signal, closing]) });
    answer.cancel();
    return { status: answer.status, why: `the target answered ${answer.status}`, retry: true };
  } catch (error) {
    if (run.signal.aborted || closing.aborted) throw error;
    const why = isSvcError(error) ? error.message : 'the target could not be reached';
    return { status: 0, why, retry: !(isSvcError(error) && error.code === 'fetch_refused_address') };
  }
};
