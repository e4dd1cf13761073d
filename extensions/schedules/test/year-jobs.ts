/** A mixed schedule, from fire to fire over months, and what became of each time of it beside what an independent reckoning says. */
import { cronYears } from '@svc/fixtures/cron/answers';
import type { TestHttp, TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { FireRow, JobRow } from '../src/contract.js';
import type { YearClock } from './year-clock.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WORK_SECS = 5_400;
const STEP_MS = 20 * MINUTE_MS;
const LATE_MS = 60_000;
const MONDAY = 1;

interface YearJob {
  readonly id: string;
  readonly name: string;
  readonly missed: string;
  readonly overlap: string;
  readonly times: readonly number[];
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface YearWorld {
  readonly clock: YearClock;
  readonly span: Span;
  /** The daemons that run now. */
  kernels(): readonly TestKernel[];
  readonly jobs: YearJob[];
  /** When no daemon ran. */
  readonly off: Span[];
}

const httpOf = ({ kernels }: YearWorld): TestHttp => {
  const [first] = kernels();
  if (!first) throw new Error('no daemon runs');
  return first.http;
};

const dbOf = ({ kernels }: YearWorld) => {
  const [first] = kernels();
  if (!first) throw new Error('no daemon runs');
  return first.daemon.parts.storage.dbFor({ id: 'schedules', tables: ['jobs', 'fires'], isPlatform: true }).system('a test');
};

const days = ({ from, to }: Span, fits: (day: Date) => boolean, hours: readonly number[]): number[] => {
  const found: number[] = [];
  for (let day = Math.floor(from / DAY_MS) * DAY_MS; day < to; day += DAY_MS) if (fits(new Date(day))) found.push(...hours.map((hour) => day + hour * HOUR_MS));
  return found.filter((at) => at > from && at < to);
};

/** How often the two kinds of jobs come that make up most of a year. */
interface Often {
  readonly everyHours: number;
  readonly overlapping: { readonly schedule: string; readonly fits: (day: Date) => boolean };
}

const WEEKLY: Often = { everyHours: 6, overlapping: { schedule: '0 10-13 * * 1', fits: (day) => day.getUTCDay() === MONDAY } };
export const MONTHLY: Often = { everyHours: 24, overlapping: { schedule: '0 10-13 1 * *', fits: (day) => day.getUTCDate() === 1 } };

/** All kinds of jobs, each with the times that it must be due at. */
export const makeJobs = async (world: YearWorld, { everyHours, overlapping }: Often = WEEKLY): Promise<void> => {
  const { span, clock } = world;
  const http = httpOf(world);
  const agent = (await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'yearly' } })).body.agent_id;
  const workflow = async (name: string, step: object): Promise<string> => (await http.expect(201, 'POST', '/api/workflows', { name, steps: [{ name: 'only', ...step }] })).body.workflow_id;
  const [long, never] = [await workflow('long', { mode: 'wait', duration_secs: WORK_SECS }), await workflow('never', { mode: 'gate', gate: { op: 'eq', value: 'never' } })];
  const add = async (name: string, times: readonly number[], fields: { missed?: string; overlap?: string } & Record<string, unknown>): Promise<string> => {
    const body = { name, action: { kind: 'system_event', text: name }, missed: 'once', overlap: 'skip', ...fields };
    const { job_id: id } = (await http.expect(200, 'POST', '/api/cron/jobs', body)).body;
    world.jobs.push({ id, name, missed: body.missed, overlap: body.overlap, times });
    return id;
  };
  const policies = ['once', 'all', 'skip'] as const;
  for (const [index, { expression, zone, times }] of cronYears().entries()) {
    const wanted = times.filter((at) => at > span.from && at < span.to);
    const query = new URLSearchParams({ expr: expression, tz: zone, count: '5' });
    const { times: shown } = (await http.expect(200, 'GET', `/api/cron/next?${query}`)).body;
    const next = times.filter((at) => at > clock.now()).slice(0, 5);
    expect(
      shown.map(({ at }: { at: string }) => Date.parse(at)),
      `${expression} in ${zone}`,
    ).to.deep.equal(next);
    await add(`${expression} ${zone}`, wanted, {
      schedule: { kind: 'cron', expr: expression, tz: zone },
      missed: policies[index % policies.length] ?? 'once',
      max_late_secs: index < policies.length ? 86_400 : 7_200,
    });
  }
  const every = await add('every', [], { schedule: { kind: 'every', every_secs: everyHours * 3_600 }, missed: 'all' });
  const first = Date.parse((await http.expect(200, 'GET', `/api/cron/jobs/${every}`)).body.next_run);
  world.jobs.splice(-1, 1, {
    ...world.jobs.at(-1),
    times: Array.from({ length: Math.ceil((span.to - first) / (everyHours * HOUR_MS)) }, (_, count) => first + count * everyHours * HOUR_MS),
  } as YearJob); // the one just added
  const at = span.from + 5 * DAY_MS + 7 * HOUR_MS;
  await add('at', [at], { schedule: { kind: 'at', at: new Date(at).toISOString() } });
  await add('disabled', [], { schedule: '0 1 * * *', enabled: false });
  const mornings = days(span, () => true, [5]);
  await add('failing', mornings.slice(0, 5), { schedule: '0 5 * * *', action: { kind: 'workflow', workflow_id: never } });
  for (const overlap of ['skip', 'queue', 'allow', 'cancel'])
    await add(`overlap ${overlap}`, days(span, overlapping.fits, [10, 11, 12, 13]), { schedule: overlapping.schedule, overlap, action: { kind: 'workflow', workflow_id: long } });
  const turn = { kind: 'agent_turn', message: 'what is new?' };
  await add(
    'agent',
    days(span, (day) => [1, 11, 21].includes(day.getUTCDate()), [7]),
    { schedule: '0 7 1,11,21 * *', action: turn, agent_id: agent, session_mode: 'new' },
  );
};

/** Goes on until `to`, from one fire to the next, each time until all that is due has been claimed and all that is quick has ended. */
export const goOn = async (world: YearWorld, to: number): Promise<void> => {
  const { clock } = world;
  while (clock.now() < to) {
    await settled(world);
    const [next] = await dbOf(world).select<JobRow>({ from: 'jobs', where: { enabled: 1, next_run: { not: null } }, order: [{ column: 'next_run' }], limit: 1 });
    const busy = await dbOf(world).count('fires', { status: 'running' });
    const target = Math.min(to, next?.next_run ? Date.parse(next.next_run) : to, busy > 0 ? clock.now() + STEP_MS : to);
    clock.setAhead(Math.max(target - clock.now(), 0) + 1);
  }
  await settled(world);
};

/** Of work that takes long, only what has lasted long enough is waited for. */
export const settled = async (world: YearWorld): Promise<void> => {
  const { clock, jobs } = world;
  const byId = new Map(jobs.map((job) => [job.id, job]));
  for (let looks = 1; ; looks += 1) {
    const now = clock.now();
    const due = await dbOf(world).count('jobs', { enabled: 1, next_run: { lte: new Date(now).toISOString() } });
    const running = await dbOf(world).select<FireRow>({ from: 'fires', where: { status: 'running' }, limit: 100 });
    const open = running.filter((fire) => {
      const job = byId.get(fire.job_id);
      if (!job?.name.startsWith('overlap')) return true;
      return job.overlap === 'queue' ? false : fire.run_id === null || Date.parse(fire.fired_at) + WORK_SECS * SECOND_MS < now;
    });
    if (due === 0 && open.length === 0) return;
    if (looks > 2_000) throw new Error(`it does not settle: ${due} due, ${open.map((fire) => `${byId.get(fire.job_id)?.name} of ${fire.due_at}`).join()}`);
    await new Promise((resolve) => setTimeout(resolve, 4));
    if (looks % 8 === 0) clock.setAhead(SECOND_MS);
  }
};

/** Nothing runs for a time, which is then set ahead. */
export const switchedOff = async (world: YearWorld, ms: number, stop: () => Promise<void>, start: () => Promise<void>): Promise<void> => {
  const from = world.clock.now();
  await stop();
  world.clock.setAhead(ms);
  await start();
  world.off.push({ from, to: world.clock.now() });
  await settled(world);
};

/** None lost, none doubled, each skip with its reason. */
export const checkAll = async (world: YearWorld): Promise<Record<string, number>> => {
  const tally: Record<string, number> = {};
  const wrong: string[] = [];
  const end = world.clock.now();
  for (const job of world.jobs) {
    const fires = await dbOf(world).select<FireRow>({ from: 'fires', where: { job_id: job.id }, order: [{ column: 'due_at' }], limit: 10_000 });
    for (const { status } of fires) tally[status] = (tally[status] ?? 0) + 1;
    wrong.push(...faultsOf(world, job, fires, end).map((fault) => `${job.name} (${job.missed}): ${fault}`));
  }
  expect(wrong).to.deep.equal([]);
  const failing = await dbOf(world).first<JobRow>({ from: 'jobs', where: { name: 'failing' } });
  expect([failing?.auto_disabled, failing?.consecutive_errors].map(Number)).to.deep.equal([1, 5]);
  return tally;
};

const faultsOf = (world: YearWorld, job: YearJob, fires: readonly FireRow[], end: number): string[] => {
  const faults: string[] = [];
  const rows = new Map<number, FireRow>();
  const wanted = new Set(job.times);
  for (const fire of fires) {
    const at = Date.parse(fire.due_at);
    if (!wanted.has(at)) faults.push(`fired at ${fire.due_at}, when it is not due`);
    if (rows.has(at)) faults.push(`fired twice for ${fire.due_at}`);
    rows.set(at, fire);
    if (fire.status === 'skipped' && !/^(missed|overlap): /.test(fire.reason ?? '')) faults.push(`skipped ${fire.due_at} because of "${fire.reason}"`);
    const known = statusesOf(job);
    if (!known.includes(fire.status)) faults.push(`${fire.status} for ${fire.due_at}: ${fire.reason}`);
  }
  const runs = fires.flatMap(({ run_id: run }) => run ?? []);
  if (new Set(runs).size !== runs.length) faults.push('two fires have one run');
  for (const at of job.times) if (at <= end && !rows.has(at) && !isCovered(world, job, fires, at)) faults.push(`lost ${new Date(at).toISOString()}`);
  return faults;
};

const statusesOf = ({ name, overlap }: YearJob): readonly string[] => {
  if (name === 'failing') return ['error', 'skipped'];
  return overlap === 'cancel' ? ['ok', 'error', 'skipped'] : overlap === 'skip' ? ['ok', 'skipped'] : ['ok', 'skipped'];
};

/** It came while no daemon ran, and a row says for it what became of it: one late fire stands for all that `once` missed, one skip for those that were too late. */
const isCovered = (world: YearWorld, job: YearJob, fires: readonly FireRow[], at: number): boolean => {
  if (!world.off.some(({ from, to }) => at >= from - SECOND_MS && at <= to + LATE_MS)) return false;
  return fires.some(({ due_at: due, fired_at: fired, kind, status, reason }) => {
    const until = /so are all times before (\S+)$/.exec(reason ?? '')?.[1];
    if (status === 'skipped') return Date.parse(due) < at && until !== undefined && at < Date.parse(until);
    return job.missed === 'once' && kind === 'late' && Date.parse(due) < at && at <= Date.parse(fired);
  });
};
