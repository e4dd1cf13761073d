/** A daemon is killed with a thousand runs in the middle of a model call: how long until the next one continues the first of them, and the last. */
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram } from '../../bundle.mjs';
import { call, makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { openReader } from '../../databases.mjs';
import { median, milliseconds } from '../../figures.mjs';
import { ratioRow } from '../../ratios.mjs';

const RUNS = 1_000;
const LIMIT_MS = 2_000;
const POLL_MS = 10;
const PATIENCE_MS = 120_000;
const RUNNING = "SELECT count(*) AS n FROM journal__runs WHERE status = 'running'";
const CALLING = "SELECT count(*) AS n FROM journal__steps WHERE status = 'intent'";

const epochNow = () => performance.timeOrigin + performance.now();

const until = async (isDone, what) => {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
    await sleep(POLL_MS);
  }
};

/** One message each to as many agents; whoever sent them loses the connection. */
const interrupt = async (daemon, reader) => {
  const countOf = async (sql) => Number((await reader.ask(sql))[0].n);
  const agents = await makeAgents(daemon.url, RUNS);
  const sent = agents.map((id) => call(daemon.url, 'POST', `/api/agents/${id}/message`, { message: 'Are you still there?' }).catch(() => undefined)); // it is killed
  await until(async () => (await countOf(CALLING)) === RUNS, `${RUNS} runs in the middle of a call`);
  await daemon.stop('SIGKILL');
  await Promise.all(sent);
};

const measureOnce = async (databaseUrl) => {
  const provider = await startServer('tools/bench/programs/servers/held-provider.mjs');
  const home = await makeHome(provider.url);
  if (databaseUrl !== undefined) await appendFile(path.join(home.home, 'config.toml'), `\n[storage]\nurl = "${databaseUrl}"\n`);
  let daemon = await startDaemon(home);
  const reader = await openReader(home.home, databaseUrl);
  try {
    await interrupt(daemon, reader);
    await call(provider.url, 'GET', '/release');
    const begunAt = epochNow();
    daemon = await startDaemon(home);
    const { readyMs } = daemon;
    await until(async () => Number((await reader.ask(RUNNING))[0].n) === 0, 'every run has ended');
    const lastMs = epochNow() - begunAt;
    const { calls, firstAt } = await call(provider.url, 'GET', '/');
    const [{ n: done }] = await reader.ask("SELECT count(*) AS n FROM journal__runs WHERE status = 'done'");
    if (Number(done) !== RUNS) throw new Error(`${done} of ${RUNS} runs ended with an answer`);
    await daemon.stop();
    daemon = await startDaemon(home);
    return { readyMs, firstMs: firstAt - begunAt, lastMs, calls, idleReadyMs: daemon.readyMs };
  } finally {
    await daemon.stop();
    await reader.close();
    await provider.stop();
    await home.remove();
  }
};

export const run = async ({ isQuick }) => {
  const rounds = isQuick ? 1 : 3;
  const postgres = await startProgram('postgres-server');
  const raw = { SQLite: [], PostgreSQL: [] };
  try {
    const urls = JSON.parse(await postgres.line());
    for (let round = 0; round < rounds; round += 1) {
      raw.SQLite.push(await measureOnce());
      raw.PostgreSQL.push(await measureOnce(urls[round]));
    }
  } finally {
    await postgres.stop();
  }
  const rowsOf = ([engine, seen]) => {
    const of = (field) => seen.map((one) => one[field]);
    const what = `${RUNS.toLocaleString('en')} interrupted runs, ${engine}`;
    const method = `killed with ${RUNS.toLocaleString('en')} runs in a model call; median of ${rounds} restarts, from the start of the process; ready after ${milliseconds(median(of('readyMs')))}; floor: ready with nothing to continue, in the same home`;
    const first = ratioRow({
      what: `restart to the first continued step, ${what}`,
      product: of('firstMs'),
      floor: of('idleReadyMs'),
      show: milliseconds,
      better: 'lower',
      target: `≤ ${LIMIT_MS / 1_000} s`,
      method,
    });
    return [
      { ...first, met: median(of('firstMs')) <= LIMIT_MS },
      ratioRow({
        what: `restart to the last answer, ${what}`,
        product: of('lastMs'),
        floor: of('idleReadyMs'),
        show: milliseconds,
        better: 'lower',
        method: `${method}; ${median(of('calls'))} model calls`,
      }),
    ];
  };
  return { rows: Object.entries(raw).flatMap(rowsOf), raw };
};
