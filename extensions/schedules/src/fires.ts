/**
 * Fires: what happens when a job is due.
 *
 * F1  A fire is a row and a piece of durable work, made in one commit with the job's next time. Of several daemons one makes it.
 * F2  A fire asks its agent once: the run has the fire's id as its key, also after a crash.
 * F3  What does not fire leaves a row that says why: too late, still running, suspended, disabled.
 * F4  A fire holds nothing while its run works or waits for a person.
 * F5  Five failures in a row disable a job, and its owner gets a notice.
 * F6  A fire that is interrupted by a restart, a reload or another fault that passes goes on; what does not pass within minutes ends it with its reason.
 */
import {
  type Actors,
  type Clock,
  type Db,
  type DurableWorker,
  type Events,
  type HookHandle,
  type Ids,
  isSvcError,
  isTable,
  type Journal,
  type LeasedRun,
  type Logger,
  type Origin,
  type Write,
} from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { RunEnds, RunInfo, RunsService } from '@svc/ext-runs/contract';
import type { JobConversations } from './conversations.js';
import { CronFire, CronFired, type FireRow, JobChanged, type JobRow, type StartWorkflow } from './contract.js';
import type { Deliveries } from './delivery.js';
import { scheduleErrors } from './errors.js';
import { type Job, jobOf, originOfJob } from './jobs.js';
import type { Planner } from './plan.js';

export interface FireDeps {
  readonly db: Db;
  readonly events: Events;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly runs: Pick<RunsService, 'submit' | 'get' | 'stop'>;
  readonly workflows: HookHandle<typeof StartWorkflow>;
  readonly planner: Planner;
  readonly conversations: JobConversations;
  readonly deliveries: Deliveries;
  readonly ends: RunEnds;
  concurrency(): number;
  /** Aborted when this generation has no more time. */
  readonly closing: AbortSignal;
  /** Gives its owner a notice, once for each fire. */
  notify(job: Job, fireId: string, why: string): Promise<void>;
}

export interface Fires {
  /** Makes the fires that are due. To be called every second, on each daemon. */
  tick(): Promise<number>;
  /** Jobs were created or changed, here or by another daemon. */
  changed(): void;
  /** Fires a job now, whatever its times and state; its next time stays. */
  fireNow(job: Job): Promise<FireRow>;
  /** Looks at fires whose run ended while the daemon was off: nobody was woken then. */
  look(): Promise<void>;
  /** Stops what the job began and is still going on. */
  stopAll(job: Job): Promise<void>;
}

const DUE_AT_ONCE = 200;
const MAX_CAUGHT_UP = 100;
/** A fire this late was missed: the daemon was off or busy. */
const LATE_MS = 60_000;
const CHECK_MS = 60_000;
const JUMP_MS = 10_000;
/** What another daemon changed unheard is seen by then. */
const LOOK_MS = 15_000;
const MAX_FAILURES = 5;
const RETRY = 'retry';
const MAX_TRIES = 8;
const FIRST_RETRY_MS = 1_000;
const MAX_REASON = 256;
const MAX_WOKEN = 1_000;
export const MAX_OUTPUT = 65_536;

export const createFires = (deps: FireDeps): Fires => {
  const worker: DurableWorker = deps.journal.worker(CronFire, { concurrency: deps.concurrency, drive: (run) => drive(deps, run) });
  /** Those that are being opened. */
  let opening = 0;
  const open = async (job: Job, due: string, kind: FireRow['kind'], also: readonly Write[]): Promise<FireRow> => {
    const isQueued = worker.active.size + opening >= deps.concurrency();
    opening += 1;
    try {
      return await openFire(deps, worker, { job, due, kind, isQueued }, also);
    } finally {
      opening -= 1;
    }
  };
  const claimDue = async (): Promise<{ readonly made: number; readonly isMore: boolean }> => {
    const due = await deps.db
      .system('jobs that are due')
      .select<JobRow>({ from: 'jobs', where: { enabled: 1, next_run: { lte: deps.clock.iso() } }, order: [{ column: 'next_run' }], limit: DUE_AT_ONCE });
    const made = (await Promise.all(due.map((row) => claim(deps, jobOf(row), open).catch((cause: unknown) => unclaimed(deps, row, cause))))).reduce((sum, one) => sum + one, 0);
    return { made, isMore: due.length === DUE_AT_ONCE && made > 0 };
  };
  let lastTick = deps.clock.now();
  let lastLook = 0;
  let nextDue = 0;
  return {
    tick: async () => {
      // A clock that went ahead, as after a machine slept, makes waits due that no timer knows of.
      if (deps.clock.now() - lastTick > JUMP_MS) for (const one of [worker, deps.deliveries]) one.poke();
      lastTick = deps.clock.now();
      if (lastTick < nextDue && lastTick - lastLook < LOOK_MS) return 0;
      lastLook = lastTick;
      let made = 0;
      for (let isMore = true; isMore; ) {
        const claimed = await claimDue();
        made += claimed.made;
        isMore = claimed.isMore;
      }
      const [first] = await deps.db
        .system('the next job')
        .select<Pick<JobRow, 'next_run'>>({ from: 'jobs', columns: ['next_run'], where: { enabled: 1, next_run: { not: null } }, order: [{ column: 'next_run' }], limit: 1 });
      nextDue = first?.next_run ? Date.parse(first.next_run) : Number.POSITIVE_INFINITY;
      return made;
    },
    changed: () => {
      nextDue = 0;
    },
    fireNow: (job) => open(job, deps.clock.iso(), 'manual', []),
    look: async () => {
      const open = await deps.db.system('fires that wait').select<FireRow>({ from: 'fires', where: { status: 'running', run_id: { not: null } }, limit: MAX_WOKEN });
      for (const { owner_id: owner, run_id: runId } of open) await deps.journal.wake(deps.actors.of(owner), wakeKey(runId ?? ''), {});
    },
    stopAll: async (job) => {
      for (const fire of await running(deps, job)) await stopFire(deps, job, fire, `the job ${job.name} was stopped`);
    },
  };
};

const wakeKey = (runId: string): string => `cron-run:${runId}`;

const running = ({ db }: Pick<FireDeps, 'db'>, { id }: Job): Promise<FireRow[]> =>
  db.system('fires that go on').select<FireRow>({ from: 'fires', where: { job_id: id, status: 'running' }, limit: 100 });

const unclaimed = ({ log }: FireDeps, row: JobRow, cause: unknown): number => {
  // Another daemon made the fire, or a person changed the job: what is due is read again.
  if (!(isSvcError(cause) && cause.code === 'storage_conflict')) log.error('A job that is due could not be started; svc tries again.', { job: row.id, cause });
  return 0;
};

type Open = (job: Job, due: string, kind: FireRow['kind'], also: readonly Write[]) => Promise<FireRow>;

/**
 * Moves the job to its next time, and fires it as its policies say. Answers how many fires that makes. Each fire is one commit with the
 * move past its time, so that a daemon that dies in between loses none of those that `missed = "all"` makes up for.
 */
const claim = async (deps: FireDeps, job: Job, open: Open): Promise<number> => {
  const now = deps.clock.now();
  let at = job;
  for (let made = 0; ; made += 1) {
    const due = at.next_run ?? '';
    const lateMs = now - Date.parse(due);
    const skip = lateSkip(job, lateMs, now) ?? (made === MAX_CAUGHT_UP ? { skip: `missed: ${made} fires before it were made up for at once, and no more are`, from: now } : undefined);
    if (skip) {
      const next = await deps.planner.next(job.schedule, skip.from, Date.parse(due));
      await deps.db.commit([moveTo(deps, at, next), ...skipped(deps, job, due, next === null ? skip.skip : `${skip.skip}; so are all times before ${next}`)]);
      return made;
    }
    const isMadeUp = lateMs > LATE_MS && job.missed === 'all';
    const next = await deps.planner.next(job.schedule, isMadeUp ? Date.parse(due) : now, Date.parse(due));
    const still = isMadeUp || job.overlap === 'allow' || job.overlap === 'queue' ? [] : await running(deps, job);
    if (job.overlap === 'skip' && still.length > 0) {
      await deps.db.commit([moveTo(deps, at, next), ...skipped(deps, job, due, 'overlap: the fire before it still runs')]);
      return made;
    }
    for (const fire of still) await stopFire(deps, job, fire, `the next fire of ${job.name} replaced it`);
    await open(job, due, lateMs > LATE_MS ? 'late' : 'scheduled', [moveTo(deps, at, next)]);
    if (!isMadeUp || next === null || Date.parse(next) > now) return made + 1;
    at = { ...job, next_run: next };
  }
};

/** Why a fire comes too late, and since when one would not. */
const lateSkip = (job: Job, lateMs: number, now: number): { readonly skip: string; readonly from: number } | undefined => {
  const limitMs = job.missed === 'skip' ? LATE_MS : Math.max(LATE_MS, job.max_late_secs * 1_000);
  if (lateMs <= limitMs) return undefined;
  const late = `missed: it was due ${Math.round(lateMs / 1_000)} s ago, `;
  return { skip: late + (job.missed === 'skip' ? 'and missed fires are skipped' : `more than max_late_secs (${job.max_late_secs})`), from: now - limitMs - 1 };
};

/** All that it led to: runs of agents, and workflows. */
const stopFire = async ({ actors, journal, runs }: FireDeps, job: Job, fire: FireRow, why: string): Promise<void> => {
  const actor = actors.of(job.owner_id);
  const run = await journal.byKey(actor, CronFire.name, keyOf(job, fire));
  if (run) await runs.stop(actor, { rootId: run.id }, why);
};

/** Two daemons that see the same time make one fire. */
const keyOf = (job: Job, fire: Pick<FireRow, 'id' | 'due_at' | 'kind'>): string => (fire.kind === 'manual' ? `manual:${fire.id}` : `${job.id}:${fire.due_at}`);

/** Of two daemons, one finds the job as it was. */
const moveTo = ({ db }: FireDeps, job: Job, next: string | null): Write =>
  db.sql(
    `UPDATE ${db.table('jobs')} SET next_run = ?, enabled = CASE WHEN ? = 1 THEN 0 ELSE enabled END WHERE id = ? AND next_run = ? AND enabled = 1`,
    [next, next === null ? 1 : 0, job.id, job.next_run],
    { expect: 1 },
  );

const fireRow = (deps: FireDeps, job: Job, due: string, kind: FireRow['kind']): FireRow => ({
  id: deps.ids.uuid(),
  owner_id: job.owner_id,
  job_id: job.id,
  agent_id: job.agent_id,
  kind,
  due_at: due,
  fired_at: deps.clock.iso(),
  status: 'running',
  reason: null,
  run_id: null,
  session_id: null,
  output: null,
  delivered: null,
  ended_at: null,
});

const counted = ({ db, clock }: FireDeps, { id }: Job, status: string): Write =>
  db.sql(`UPDATE ${db.table('jobs')} SET last_run = ?, last_status = ?, fire_count = fire_count + 1 WHERE id = ?`, [clock.iso(), status, id]);

const changeOf = ({ events }: FireDeps, job: Job): Write => events.event(JobChanged, { id: job.id, ownerId: job.owner_id, change: 'fired' });

const skipped = (deps: FireDeps, job: Job, due: string, why: string): Write[] => [
  deps.db.insert('fires', [{ ...fireRow(deps, job, due, 'scheduled'), status: 'skipped', reason: why, ended_at: deps.clock.iso() }]),
  deps.db.sql(`UPDATE ${deps.db.table('jobs')} SET last_status = ? WHERE id = ?`, [`skipped: ${why}`.slice(0, MAX_REASON), job.id]),
  changeOf(deps, job),
];

interface Opening {
  readonly job: Job;
  readonly due: string;
  readonly kind: FireRow['kind'];
  /** As many as may be are being driven. */
  readonly isQueued: boolean;
}

const openFire = async (deps: FireDeps, worker: DurableWorker, { job, due, kind, isQueued }: Opening, also: readonly Write[]): Promise<FireRow> => {
  const row = fireRow(deps, job, due, kind);
  const { action } = job;
  const fact = {
    ownerId: job.owner_id,
    jobId: job.id,
    fireId: row.id,
    name: job.name,
    agentId: job.agent_id,
    kind: action.kind,
    text: action.kind === 'system_event' ? action.text : '',
    ...(action.kind === 'system_event' ? await wordsOf(deps, job) : {}),
  };
  const { leased } = await deps.journal.open(
    {
      kind: CronFire.name,
      actor: deps.actors.of(job.owner_id),
      key: keyOf(job, row),
      lane: job.overlap === 'queue' ? `cron:${job.id}` : `cron-fire:${row.id}`,
      ...(job.agent_id === null ? {} : { subject: job.agent_id }),
      cause: kind === 'manual' ? { kind: 'message' } : { kind: 'cron', id: job.id },
      input: { fireId: row.id, jobId: job.id },
      ...(isQueued ? { isQueued } : {}),
    },
    [...also, deps.db.insert('fires', [row]), deps.events.event(CronFired, fact), changeOf(deps, job)],
  );
  if (leased) void worker.take(leased);
  else worker.poke();
  return row;
};

interface FireInput {
  readonly fireId: string;
  readonly jobId: string;
}

async function drive(deps: FireDeps, run: LeasedRun): Promise<void> {
  const { fireId, jobId } = run.input as FireInput; // what openFire stored
  const reader = deps.db.system('a fire');
  const [fire, row] = await Promise.all([reader.first<FireRow>({ from: 'fires', where: { id: fireId } }), reader.first<JobRow>({ from: 'jobs', where: { id: jobId } })]);
  // Deleted meanwhile, with its agent or by a person.
  if (!fire || !row) return deps.journal.advance(run, { finish: { status: 'cancelled' } });
  const job = jobOf(row);
  try {
    await step(deps, run, job, fire);
  } catch (cause) {
    if (deps.closing.aborted || (isSvcError(cause) && cause.code === 'journal_lease_lost')) throw cause;
    const tries = triesOf(run) + 1;
    if (isPassing(cause) && tries <= MAX_TRIES) return again(deps, run, { tries, job, fire, cause });
    deps.log.warn('A job failed.', { job: job.id, fire: fire.id, cause });
    await settle(deps, run, job, fire, { status: 'error', output: '', reason: reasonOf(cause) });
  }
}

const reasonOf = (cause: unknown): string => (isSvcError(cause) ? cause.message : `an internal error, ${MAX_TRIES + 1} times in a row; the log has the cause`);

/** Of areas that stop, start or are reloaded, and of a database or a hook that is late: the fire goes on when they are back. */
const isPassing = (cause: unknown): boolean => !isSvcError(cause) || cause.retry || cause.code === scheduleErrors.no_workflows().code;

/** In a row: a fire that went on meanwhile waits for something else. */
const triesOf = ({ wait }: LeasedRun): number => (wait?.reason === RETRY && isTable(wait.data) ? Number(wait.data.tries ?? 0) : 0);

const again = async (
  { journal, clock, log }: FireDeps,
  run: LeasedRun,
  { tries, job, fire, cause }: { readonly tries: number; readonly job: Job; readonly fire: FireRow; readonly cause: unknown },
): Promise<void> => {
  const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), CHECK_MS);
  log.warn('A fire could not go on; svc tries again.', { job: job.id, fire: fire.id, wait_ms: waitMs, cause });
  await journal.wait(run, { reason: RETRY, wakeKey: wakeKey(fire.run_id ?? fire.id), until: new Date(clock.now() + waitMs).toISOString(), data: { tries } });
};

interface Ending {
  readonly status: 'ok' | 'error' | 'skipped';
  readonly output: string;
  readonly reason: string | null;
}

async function step(deps: FireDeps, run: LeasedRun, job: Job, fire: FireRow): Promise<void> {
  const { action } = job;
  if (action.kind === 'system_event') return settle(deps, run, job, fire, { status: 'ok', output: action.text, reason: null });
  if (action.kind === 'workflow') return followWorkflow(deps, run, job, fire, action);
  const actor = deps.actors.of(job.owner_id);
  const agent = await deps.agents.get(actor, job.agent_id ?? '');
  if (fire.run_id === null && agent.state === 'Suspended') return settle(deps, run, job, fire, { status: 'skipped', output: '', reason: `${agent.name} is suspended` });
  const runId = fire.run_id ?? (await ask(deps, run, job, fire, agent, action.message));
  const info = await deps.runs.get(actor, runId);
  const ending = endingOf(info);
  if (ending) return settle(deps, run, job, fire, ending);
  const limit = action.timeout_secs;
  // What it waited for room is not its work.
  if (limit !== undefined && info.status === 'running' && deps.clock.now() - Date.parse(info.begunAt ?? fire.fired_at) > limit * 1_000)
    await deps.runs.stop(actor, { runId }, `the job ${job.name} may work ${limit} s`);
  return rest(deps, run, runId, limit);
}

/** Until the run ends; looked after in between, because a daemon may die before it tells. */
const rest = async (deps: FireDeps, run: LeasedRun, runId: string, limit = CHECK_MS / 1_000): Promise<void> => {
  const until = new Date(deps.clock.now() + Math.min(CHECK_MS, limit * 1_000)).toISOString();
  const owner = deps.actors.of(run.ownerId);
  deps.ends.watch(runId, () => deps.journal.wake(owner, wakeKey(runId), {}));
  await deps.journal.wait(run, { reason: 'run', wakeKey: wakeKey(runId), until });
  // It may have ended before anybody could be woken.
  if (endingOf(await deps.runs.get(owner, runId))) await deps.journal.wake(owner, wakeKey(runId), {});
};

const wordsOf = async ({ db }: FireDeps, job: Job): Promise<{ readonly origin?: Origin }> => {
  const origin = await originOfJob(db, job);
  return origin === undefined ? {} : { origin };
};

const ask = async (deps: FireDeps, run: LeasedRun, job: Job, fire: FireRow, agent: Agent, message: string): Promise<string> => {
  const actor = deps.actors.of(job.owner_id);
  const sessionId = await deps.conversations.of(actor, job, agent, fire.id);
  const { runId } = await deps.runs.submit(actor, {
    agentId: agent.id,
    sessionId,
    parts: [{ type: 'text', text: message }],
    door: 'internal',
    key: `cron:${fire.id}`,
    parentRunId: run.id,
    cause: { kind: 'cron', id: job.id },
    ...(await wordsOf(deps, job)),
  });
  await deps.db.commit([deps.db.update('fires', ['id'], [{ id: fire.id, run_id: runId, session_id: sessionId }])]);
  return runId;
};

const endingOf = ({ status, result, error }: RunInfo): Ending | undefined => {
  if (status === 'done') return { status: 'ok', output: result?.response ?? '', reason: null };
  if (status === 'failed' || status === 'cancelled') return { status: 'error', output: result?.response ?? '', reason: error?.message ?? `the run was ${status}` };
  return undefined;
};

const followWorkflow = async (deps: FireDeps, run: LeasedRun, job: Job, fire: FireRow, action: { readonly workflow_id: string; readonly input?: string }): Promise<void> => {
  const actor = deps.actors.of(job.owner_id);
  const standing = await deps.workflows.call({ actor, workflow: action.workflow_id, input: action.input ?? '', key: fire.id, jobId: job.id, parentRunId: run.id, ...(await wordsOf(deps, job)) });
  if (!standing) throw deps.workflows.isEmpty() ? scheduleErrors.no_workflows() : scheduleErrors.workflow_not_found(action.workflow_id);
  if (standing.runId !== null && fire.run_id !== standing.runId) await deps.db.commit([deps.db.update('fires', ['id'], [{ id: fire.id, run_id: standing.runId }])]);
  if (standing.status === 'done') return settle(deps, run, job, fire, { status: 'ok', output: standing.output, reason: null });
  if (standing.status === 'failed' || standing.status === 'cancelled')
    return settle(deps, run, job, fire, { status: 'error', output: standing.output, reason: standing.error ?? `the workflow was ${standing.status}` });
  const wait = { reason: 'workflow', wakeKey: wakeKey(standing.runId ?? fire.id), until: new Date(deps.clock.now() + CHECK_MS / 60).toISOString() };
  return deps.journal.wait(run, wait);
};

/** The end of a fire: its row, the job's counters and the deliveries, in one commit. */
const settle = async (deps: FireDeps, run: LeasedRun, job: Job, fire: FireRow, { status, output, reason }: Ending): Promise<void> => {
  const short = reason === null ? status : `${status}: ${reason}`.slice(0, MAX_REASON);
  const failures = status === 'error' ? job.consecutive_errors + 1 : status === 'ok' ? 0 : job.consecutive_errors;
  const isGivenUp = status === 'error' && failures >= MAX_FAILURES && job.enabled;
  if (isGivenUp) await deps.notify(job, fire.id, short);
  const { db } = deps;
  if (status === 'ok') await deps.deliveries.send(job, fire, output);
  await deps.journal.advance(run, {
    finish: { status: status === 'error' ? 'failed' : 'done', ...(status === 'error' ? { error: { code: 'schedules_fire_failed', message: short } } : {}) },
    also: [
      db.update('fires', ['id'], [{ id: fire.id, status, reason, output: output.slice(0, MAX_OUTPUT), ended_at: deps.clock.iso() }]),
      counted(deps, job, short),
      db.sql(
        `UPDATE ${db.table('jobs')} SET consecutive_errors = ?, auto_disabled = ?, enabled = CASE WHEN ? = 1 THEN 0 ELSE enabled END, next_run = CASE WHEN ? = 1 THEN NULL ELSE next_run END WHERE id = ?`,
        [failures, Number(isGivenUp || job.auto_disabled), Number(isGivenUp), Number(isGivenUp), job.id],
      ),
      changeOf(deps, job),
    ],
  });
};
