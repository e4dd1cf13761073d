/** Work that begins by itself: jobs that are due at once beside messages, steps of workflows against plain turns, webhooks beside one whose target hangs. */
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, makeAgents, makeHome, say, startDaemon, startProvider } from '../../daemon.mjs';
import { median, milliseconds, percentile, times } from '../../figures.mjs';
import { cpuMs } from '../../processes.mjs';

const JOBS = 500;
const JOB_AGENTS = 10;
const CLAIM_TARGET_MS = 5_000;
const BESIDE_TARGET = 2;
const LEAD_MS = 30_000;
const CALM_MS = 5_000;
const END_WAIT_MS = 120_000;
const STEPS = 10;
const STEP_TARGET = 1.5;
const HANG_TARGET = 1.2;

const SETTINGS = `
[schedules]
max_jobs_per_agent = ${JOBS}
[web.fetch]
ssrf_allowed_hosts = ["127.0.0.1"]
`;

let made = 0;
/** Agents of names that nobody had yet. */
const newAgents = (url, count) =>
  makeAgents(url, count, () => {
    made += 1;
    return { name: `worker-${made}` };
  });

/** One client that writes one message after the other, until it is stopped; each with its begin and how long it took. */
const keepWriting = (url, agent) => {
  const seen = [];
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      const begun = performance.now();
      const at = Date.now();
      await say(url, agent, 'How late is this?');
      seen.push({ at, took: performance.now() - begun });
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await writing;
      return seen;
    },
  };
};

const firesOf = async (url, jobs) => {
  const found = [];
  for (const id of jobs) found.push((await call(url, 'GET', `/api/cron/jobs/${id}/fires`)).fires);
  return found;
};

/** All jobs have one time; from then on until the last has ended counts as beside them. */
const measureJobs = async (url) => {
  const [writer, ...agents] = await newAgents(url, JOB_AGENTS + 1);
  await say(url, writer, 'Are you there?');
  const due = Math.ceil((Date.now() + LEAD_MS) / 1_000) * 1_000;
  const jobs = [];
  for (let index = 0; index < JOBS; index += 1) {
    const body = { name: `job ${index}`, agent_id: agents[index % agents.length], schedule: { kind: 'at', at: new Date(due).toISOString() }, prompt: 'What is new?', session_mode: 'new' };
    jobs.push((await call(url, 'POST', '/api/cron/jobs', body)).job_id);
  }
  const spareMs = due - CALM_MS - Date.now();
  if (spareMs < 0) throw new Error(`it took too long to create ${JOBS} jobs`);
  await sleep(spareMs);
  const client = keepWriting(url, writer);
  await sleep(due - Date.now());
  const deadline = due + END_WAIT_MS;
  for (;;) {
    await sleep(250);
    const { counts } = await endedOf(url);
    if (counts >= JOBS || Date.now() > deadline) break;
  }
  const ended = Date.now();
  const messages = await client.stop();
  const fires = (await firesOf(url, jobs)).flat();
  const claims = fires.map(({ fired_at: at }) => Date.parse(at) - due);
  const beside = messages.filter(({ at }) => at >= due && at < ended).map(({ took }) => took);
  const calm = messages.filter(({ at }) => at < due).map(({ took }) => took);
  return { claims, ok: fires.filter(({ status }) => status === 'ok').length, lastedMs: ended - due, calm, beside };
};

/** By the list of jobs: those that fired and ended. */
const endedOf = async (url) => {
  const { jobs } = await call(url, 'GET', '/api/cron/jobs?limit=500');
  return { counts: jobs.filter(({ last_status: status }) => status === 'ok').length };
};

/** The same number of turns, by messages and by a workflow, in turn. */
const measureSteps = async (daemon, rounds) => {
  const [plain, stepped] = await newAgents(daemon.url, 2);
  const steps = Array.from({ length: STEPS }, (_, index) => ({ name: `step-${index}`, agent: stepped, input: 'How late is this?', inherit_context: false }));
  const { workflow_id: id } = await call(daemon.url, 'POST', '/api/workflows', { name: 'steps', steps });
  const seen = { plain: [], step: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const before = cpuMs(daemon.pid);
    for (let index = 0; index < STEPS; index += 1) await say(daemon.url, plain, 'How late is this?');
    const between = cpuMs(daemon.pid);
    await call(daemon.url, 'POST', `/api/workflows/${id}/run`, { input: 'x' });
    const after = cpuMs(daemon.pid);
    if (round === 0) continue; // warms up
    seen.plain.push((between - before) / STEPS);
    seen.step.push((after - between) / STEPS);
  }
  return seen;
};

/** A target that answers at once, and one that never does. */
const startTargets = async () => {
  const arrivals = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/hangs') return;
    arrivals.push(performance.now());
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    arrivals,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const measureDeliveries = async (url, targets, count) => {
  await call(url, 'POST', '/api/webhooks', { name: 'quick', url: `${targets.url}/quick`, events: ['agent_spawned'] });
  const deliver = async () => {
    const took = [];
    for (let index = 0; index < count; index += 1) {
      const known = targets.arrivals.length;
      const begun = performance.now();
      await newAgents(url, 1);
      while (targets.arrivals.length === known) await sleep(1);
      took.push(targets.arrivals[known] - begun);
    }
    return took;
  };
  await deliver();
  const without = await deliver();
  await call(url, 'POST', '/api/webhooks', { name: 'hangs', url: `${targets.url}/hangs`, events: ['agent_spawned'] });
  return { without, beside: await deliver() };
};

export const run = async ({ isQuick }) => {
  const counts = isQuick ? { rounds: 15, deliveries: 20 } : { rounds: 60, deliveries: 100 };
  const provider = await startProvider();
  const targets = await startTargets();
  const home = await makeHome(provider.url);
  await appendFile(path.join(home.home, 'config.toml'), SETTINGS);
  const daemon = await startDaemon(home);
  try {
    const steps = await measureSteps(daemon, counts.rounds);
    const deliveries = await measureDeliveries(daemon.url, targets, counts.deliveries);
    const jobs = await measureJobs(daemon.url);
    return { rows: rowsOf({ steps, deliveries, jobs }), raw: { steps, deliveries, jobs } };
  } finally {
    await daemon.stop();
    await provider.stop();
    targets.stop();
    await home.remove();
  }
};

const rowsOf = ({ steps, deliveries, jobs }) => {
  const lastClaim = Math.max(...jobs.claims);
  const [calm, beside] = [percentile(jobs.calm, 99), percentile(jobs.beside, 99)];
  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const [plain, step] = [sum(steps.plain) / steps.plain.length, sum(steps.step) / steps.step.length];
  const [without, hung] = [median(deliveries.without), median(deliveries.beside)];
  const isWhole = jobs.claims.length === JOBS && jobs.ok === JOBS;
  return [
    {
      what: `the last of ${JOBS} jobs due at once is claimed after`,
      value: milliseconds(lastClaim),
      target: `≤ ${CLAIM_TARGET_MS / 1_000} s`,
      met: isWhole && lastClaim <= CLAIM_TARGET_MS,
      method: `${jobs.claims.length} fires, ${jobs.ok} ended well, all over after ${(jobs.lastedMs / 1_000).toFixed(1)} s; each asks an agent in a new conversation`,
    },
    {
      what: 'p99 of a message beside them',
      value: milliseconds(beside),
      floor: milliseconds(calm),
      ratio: times(beside / calm),
      target: `≤ ${BESIDE_TARGET} ×`,
      met: beside <= BESIDE_TARGET * calm,
      method: `${jobs.beside.length} messages beside, ${jobs.calm.length} in the ${CALM_MS / 1_000} s before; one client`,
    },
    {
      what: 'CPU per step of a workflow',
      value: milliseconds(step),
      floor: milliseconds(plain),
      ratio: times(step / plain),
      target: `≤ ${STEP_TARGET} ×`,
      met: step <= STEP_TARGET * plain,
      method: `${steps.step.length} runs of ${STEPS} steps and as many messages in turn; the floor is a message`,
    },
    {
      what: 'a webhook beside one whose target hangs, p50',
      value: milliseconds(hung),
      floor: milliseconds(without),
      ratio: times(hung / without),
      target: `≤ ${HANG_TARGET} ×`,
      met: hung <= HANG_TARGET * without,
      method: `${deliveries.beside.length} events with and without it, from the request that causes one to its arrival`,
    },
  ];
};
