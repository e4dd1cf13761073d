/**
 * Work that begins by itself, put to the crash points: a workflow that a request starts, a job that is due, a trigger that a
 * posted task fires, and the webhook that hears of all of it. Each asks an agent to count once under a mark of its own, with a
 * receiver that honours call ids: a step that is asked twice counts twice, one that is lost does not count.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { linesOf, readEffects } from './countable-tools.js';
import type { Watch } from './crash-points.js';
import { beginLife, createPlace, httpOf, type Life, type Place, until } from './daemon-life.js';
import { ensureAgent } from './entry-points.js';
import { openReadOnly, unfinishedRuns } from './account/ledger.js';
import { type PlannedModel, planText } from './planned-model.js';
import { count } from './scenario.js';

const DUE_MS = 1_200;
const SETTLED_MS = 60_000;
/** Behind the last run of a story, its deliveries and rows are still written. */
const REST_MS = 700;
const TRIES = 3;

/** What a webhook was sent: by event and what it is about, the ids of its deliveries. */
export interface Receiver {
  readonly url: string;
  readonly seen: ReadonlyMap<string, ReadonlySet<string>>;
  close(): Promise<void>;
}

export const startReceiver = async (): Promise<Receiver> => {
  const seen = new Map<string, Set<string>>();
  const server: Server = createServer((req, res) => {
    let body = '';
    req.on('data', (piece) => {
      body += piece;
    });
    req.on('end', () => {
      const { event, data } = JSON.parse(body) as { event: string; data: { run_id?: string; fire_id?: string } };
      const about = `${event} ${data.fire_id ?? data.run_id}`;
      seen.set(about, (seen.get(about) ?? new Set()).add(String(req.headers['webhook-id'])));
      res.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    seen,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
};

/** One of a story's beginnings, and the mark that it counts under. */
interface Tale {
  readonly key: string;
  readonly title: string;
  readonly marks: Readonly<Record<'first step' | 'second step' | 'job' | 'trigger', string>>;
  readonly ids: { workflow: string; job: string; trigger: string };
}

type Http = ReturnType<typeof httpOf>;
const markOf = (what: string): string => `${what.replace(' ', '-')}-${randomUUID()}`;
const counting = (mark: string): string => planText({ mark: `said-${mark}`, rounds: [[{ ...count('keyed'), args: { mark } }]] });

/** Definitions, made before anything is watched: their creation is the story of full.test.ts. */
const prepare = async (http: Http, agent: string): Promise<Tale> => {
  const marks = { 'first step': markOf('first step'), 'second step': markOf('second step'), job: markOf('job'), trigger: markOf('trigger') };
  const steps = (['first step', 'second step'] as const).map((name) => ({ name, agent, input: counting(marks[name]) }));
  const workflow = (await http.expect(201, 'POST', '/api/workflows', { name: 'counted', steps })).body.workflow_id;
  const trigger = (
    await http.expect(201, 'POST', '/api/triggers', { agent_id: agent, pattern: 'task_posted', prompt_template: counting(marks.trigger), cooldown_secs: 0, max_fires: 1, session_mode: 'new' })
  ).body.trigger_id;
  const at = new Date(Date.now() + DUE_MS).toISOString();
  const job = (await http.expect(200, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: { kind: 'at', at }, action: { kind: 'agent_turn', message: counting(marks.job) } })).body.job_id;
  return { key: randomUUID(), title: markOf('task'), marks, ids: { workflow, job, trigger } };
};

/** As often as it is asked, under the same key: what was begun is not begun again. */
const startAll = async (http: Http, { key, title, ids }: Tale): Promise<void> => {
  await http.expect(202, 'POST', `/api/workflows/${ids.workflow}/run?wait=false`, {}, { 'idempotency-key': key });
  const known = (await http.expect(200, 'GET', '/api/tasks/list?limit=200')).body.tasks as Array<{ title?: string | null }>;
  // A task has no key: whoever does not know whether it was posted looks.
  if (!known.some((task) => JSON.stringify(task).includes(title))) await http.expect(200, 'POST', '/api/comms/task', { title });
};

interface World {
  readonly place: Place;
  readonly receiver: Receiver;
  readonly agentName: string;
}

const begin = async ({ place }: World, number: number) => {
  const life = beginLife(place, number);
  const url = await life.url;
  if (url === undefined) throw new Error((await life.gone).errors);
  return { life, url, http: httpOf(url) };
};

const isQuiet = async ({ place, receiver }: World, http: Http, tale: Tale): Promise<boolean> => {
  const { keyed } = readEffects(place.effects);
  if (!Object.values(tale.marks).every((mark) => keyed.includes(mark))) return false;
  const [fire] = (await http.expect(200, 'GET', `/api/cron/jobs/${tale.ids.job}/fires`)).body.fires as Array<{ id: string; status: string }>;
  return fire !== undefined && fire.status !== 'running' && receiver.seen.has(`cron_fired ${fire.id}`) && (await unfinishedRuns(place.database)) === 0;
};

/** What is lost or doubled, in words. */
const problemsOf = async ({ place, receiver }: World, http: Http, tale: Tale): Promise<string[]> => {
  const { keyed } = readEffects(place.effects);
  const problems = Object.entries(tale.marks).flatMap(([what, mark]) => {
    const times = keyed.filter((one) => one === mark).length;
    return times === 1 ? [] : [`${what}: counted ${times} times`];
  });
  const runs = (await http.expect(200, 'GET', `/api/workflows/${tale.ids.workflow}/runs`)).body as Array<{ id: string; state: string }>;
  if (runs.length !== 1 || runs[0]?.state !== 'completed') problems.push(`workflow: ${runs.length} runs, ${runs.map(({ state }) => state).join(', ')}`);
  const { fires } = (await http.expect(200, 'GET', `/api/cron/jobs/${tale.ids.job}/fires`)).body as { fires: Array<{ id: string; status: string; reason: string | null }> };
  if (fires.length !== 1 || fires[0]?.status !== 'ok') problems.push(`job: ${fires.length} fires, ${fires.map(({ status, reason }) => `${status} ${reason ?? ''}`).join(', ')}`);
  const { history } = (await http.expect(200, 'GET', `/api/triggers/${tale.ids.trigger}/history`)).body as { history: Array<{ id: string; status: string }> };
  const fired = history.filter(({ status }) => status === 'ok');
  if (fired.length !== 1) problems.push(`trigger: fired ${fired.length} times`);
  const expected = [`workflow_completed ${runs[0]?.id}`, `cron_fired ${fires[0]?.id}`, `trigger_fired ${fired[0]?.id}`];
  await until(() => expected.every((about) => receiver.seen.has(about)), SETTLED_MS);
  for (const about of expected) {
    const ids = receiver.seen.get(about)?.size ?? 0;
    if (ids !== 1) problems.push(`delivery of ${about}: ${ids} ids`);
  }
  const db = await openReadOnly(place.database);
  try {
    const tasks = (await db.all<{ n: number }>(`SELECT count(*) AS n FROM queue__board WHERE title = '${tale.title}'`))[0]?.n ?? 0;
    if (Number(tasks) !== 1) problems.push(`task: ${tasks} rows`);
  } finally {
    await db.close();
  }
  return problems;
};

/** Lives the story; resolves when all of it is quiet, or when the life has ended. */
const live = async (world: World, { life, http }: Awaited<ReturnType<typeof begin>>, agent: string, watch: Watch): Promise<Tale> => {
  const tale = await prepare(http, agent);
  await life.watch(watch);
  const done = startAll(http, tale).then(() => until(() => isQuiet(world, http, tale), SETTLED_MS));
  await Promise.race([done.catch(() => false), life.gone]);
  await Promise.race([setTimeout(REST_MS), life.gone]);
  return tale;
};

const end = async (life: Life): Promise<void> => {
  life.kill();
  await life.gone;
};

export interface AutomationDeaths {
  /** Where a story without a death passed. */
  readonly points: readonly string[];
  readonly kills: number;
  readonly missed: readonly string[];
  readonly problems: readonly string[];
}

/**
 * One story without a death, which names the points; then a death at each that `choose` keeps, one life after another in one
 * home: the next life takes up what the one before has left, is asked for it, and dies in a story of its own.
 */
export const dieInAutomation = async (model: PlannedModel, choose: (points: readonly string[]) => readonly string[]): Promise<AutomationDeaths> => {
  const place = await createPlace(model.url);
  const receiver = await startReceiver();
  const world: World = { place, receiver, agentName: 'counter' };
  const problems: string[] = [];
  const missed: string[] = [];
  let [number, kills] = [1, 0];
  let now = await begin(world, number);
  try {
    const agent = await ensureAgent(now.url, world.agentName);
    await now.http.expect(200, 'POST', '/api/webhooks', { name: 'all', url: receiver.url, events: ['workflow_completed', 'cron_fired', 'trigger_fired'] });
    const first = await live(world, now, agent, { file: place.points(0) });
    problems.push(...(await problemsOf(world, now.http, first)).map((what) => `without any death: ${what}`));
    const points = linesOf(place.points(0));
    for (const point of choose(points)) {
      let tale: Tale | undefined;
      for (let tries = 0; tries < TRIES && !now.life.isOver(); tries += 1) tale = await live(world, now, agent, { file: place.points(number), killAt: point });
      if (!now.life.isOver()) {
        missed.push(point);
        continue;
      }
      kills += 1;
      number += 1;
      now = await begin(world, number);
      if (tale === undefined) continue;
      const { http } = now;
      await startAll(http, tale);
      const last = tale;
      await until(() => isQuiet(world, http, last), SETTLED_MS);
      problems.push(...(await problemsOf(world, http, tale)).map((what) => `killed at ${point}: ${what}`));
    }
    return { points, kills, missed, problems };
  } finally {
    await end(now.life);
    await receiver.close();
    place.clean();
  }
};
