/**
 * Answers of jobs on their way to webhooks and chats.
 *
 * E1  An answer is a row and a piece of durable work before it is sent; each place has its own. "Delivered" means that the target took it: an address
 *     with 2xx, a platform as the outbox of channels says.
 * E2  An address is tried again over 28 hours, then given up; one that says 410 is not asked again. A chat is tried as the outbox does.
 * E3  One fire is one message: the same id goes with every attempt, as `webhook-id`, or as the key of the message to a chat.
 * E4  What was not delivered has its reason in the row.
 */
import { isSvcError, type LeasedRun, type Write } from '@svc/api';
import { createChatDelivery, type DeliveryDeps, type Ending } from './chat-delivery.js';
import { CronDelivery, type FireDeliveryRow, type FireRow, JobChanged, type Message, type Target } from './contract.js';
import type { Job } from './jobs.js';
import { targetText } from './targets.js';

interface DeliveryInput {
  readonly fireId: string;
  readonly url?: string;
  readonly body?: string;
  readonly message?: Message;
}

const SECOND_MS = 1_000;
const TIMEOUT_MS = 30 * SECOND_MS;
const MAX_ANSWER_BYTES = 65_536;
const MAX_REASON = 500;
const GONE = 410;
/** Waits between attempts, in seconds: 28 hours in all. */
const WAITS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200];
const AT_ONCE = 16;

export interface Deliveries {
  /** One piece of work for each place that the job names, durable when this resolves; asked again for the same fire, it is the same work. Answers how many. */
  send(job: Job, fire: FireRow, output: string): Promise<number>;
  /** Looks for attempts that are due. */
  poke(): void;
}

export const createDeliveries = (deps: DeliveryDeps): Deliveries => {
  const toChat = createChatDelivery(deps, { again: (run, why, tries) => again(deps, run, why, tries), end: (run, ending) => end(deps, run, ending) });
  const worker = deps.journal.worker(CronDelivery, {
    concurrency: AT_ONCE,
    drive: (run) => {
      const { message } = inputOf(run);
      return message ? toChat(run, message) : toWebhook(deps, run);
    },
  });
  return {
    send: async (job, fire, output) => {
      const all = deliveriesOf(job, fire, output);
      for (const [index, { target, input }] of all.entries()) {
        const about = job.agent_id === null ? {} : { subject: job.agent_id };
        const id = `${fire.id}:${index}`;
        const row: FireDeliveryRow = {
          ...{ id, owner_id: job.owner_id, agent_id: job.agent_id, fire_id: fire.id, job_id: job.id, position: index, target: targetText(target) },
          ...{ status: 'waiting', reason: null, updated_at: deps.clock.iso() },
        };
        const { leased } = await deps.journal.open({ kind: CronDelivery.name, actor: deps.actors.of(job.owner_id), key: id, lane: `cron-delivery:${job.id}:${index}`, ...about, input }, [
          deps.db.insert('fire_deliveries', [row], { ifAbsent: true }),
        ]);
        if (leased) void worker.take(leased);
      }
      return all.length;
    },
    poke: () => worker.poke(),
  };
};

interface Planned {
  readonly target: Target;
  readonly input: DeliveryInput;
}

const deliveriesOf = (job: Job, fire: FireRow, output: string): Planned[] => {
  const { action } = job;
  const isSilent = action.kind === 'agent_turn' && output.trimEnd().split('\n').at(-1)?.trim() === (action.silent_marker ?? '[SILENT]');
  if (isSilent) return [];
  const common = { timestamp: fire.fired_at, job_id: job.id, fire_id: fire.id };
  // Nothing was said: the primary place hears nothing.
  const isPrimary = job.delivery.kind !== 'none' && output !== '';
  const primary = isPrimary ? [plannedFor(job, fire, job.delivery as Target, output, { agent_id: job.agent_id, response: output, ...common })] : [];
  return [...primary, ...job.delivery_targets.map((target) => plannedFor(job, fire, target, output, { job: job.name, output, ...common }))];
};

const plannedFor = (job: Job, { id: fireId }: FireRow, target: Target, output: string, body: object): Planned => {
  if (target.kind === 'webhook') return { target, input: { fireId, url: target.url, body: JSON.stringify(body) } };
  const subject = target.kind === 'email' ? { subject: (target.subject_template ?? 'Cron: {job}').replaceAll('{job}', () => job.name) } : {};
  return { target, input: { fireId, message: { to: target, agentId: job.agent_id, text: output.trim() === '' ? `The job ${job.name} ran and had nothing to say.` : output, ...subject } } };
};

const inputOf = ({ input }: LeasedRun): DeliveryInput => input as DeliveryInput; // what deliveriesOf stored

/** The row of a piece of work has its key as id; work of an earlier version has none. */
const rowOf = ({ db, clock }: DeliveryDeps, run: LeasedRun, state: Ending['state'], reason: string | null): Write =>
  db.update('fire_deliveries', ['id'], [{ id: run.key ?? '', status: state, reason: reason?.slice(0, MAX_REASON) ?? null, updated_at: clock.iso() }]);

const end = async (deps: DeliveryDeps, run: LeasedRun, { state, reason, status = 0 }: Ending): Promise<void> => {
  const row = await deps.db.system('a delivery of a fire').first<FireDeliveryRow>({ from: 'fire_deliveries', where: { id: run.key ?? '' } });
  const finish = state === 'sent' ? { status: 'done' as const, result: { status } } : { status: 'failed' as const, error: { code: 'schedules_undelivered', message: reason ?? state } };
  const changed = row ? [deps.events.event(JobChanged, { id: row.job_id, ownerId: row.owner_id, change: 'fired' })] : [];
  await deps.journal.advance(run, { finish, also: [rowOf(deps, run, state, reason), ...changed] });
};

/** Waits for the next attempt, or gives up. */
const again = (deps: DeliveryDeps, run: LeasedRun, why: string, tries: number): Promise<void> => {
  const waitSecs = WAITS[tries];
  if (waitSecs === undefined) return end(deps, run, { state: 'failed', reason: why });
  const until = new Date(deps.clock.now() + waitSecs * SECOND_MS).toISOString();
  return deps.journal.wait(run, { reason: 'retry', wakeKey: `cron-delivery:${run.id}`, until, data: { why } }, { also: [rowOf(deps, run, 'waiting', why)] });
};

async function toWebhook(deps: DeliveryDeps, run: LeasedRun): Promise<void> {
  const { url = '', body = '' } = inputOf(run);
  const tries = run.steps.length;
  const outcome = await deps.journal.step(run, { seq: tries + 1, kind: 'webhook', key: run.id, replay: 'safe', intent: { attempt: tries + 1 } }, async () => {
    const value = await attempt(deps, run, url, body);
    return { value, outcome: value };
  });
  if (outcome.status >= 200 && outcome.status < 300) return end(deps, run, { state: 'sent', reason: null, status: outcome.status });
  if (outcome.status === GONE || !outcome.retry) return end(deps, run, { state: 'failed', reason: outcome.why });
  return again(deps, run, outcome.why, tries);
}

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
