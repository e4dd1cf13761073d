/**
 * What grows in a daemon under a fixed load: heap after a collection, memory, open files and sockets, the log of the database.
 *
 * The line through the samples has a slope with an interval: with few samples it says little, so only the full length decides.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inRoot } from '../../../build/paths.mjs';
import { makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { openReader } from '../../databases.mjs';
import { median, megabytes, milliseconds, percentile, round, slopeWithInterval } from '../../figures.mjs';
import { startNode } from '../../processes.mjs';
import { watchLag } from '../../programs/preloaded/probe.mjs';

const MIB = 1_048_576;
const SLOPE_LIMIT = 1;
const LAG_LIMIT_MS = 50;
/** A new daemon compiles code and fills its caches: the samples of the first part are shown and not counted. */
const WARM_UP_SHARE = 0.3;
const QUICK_AGENTS = 75;
const SLOW_AGENTS = 25;
const RATES = { messages: 20, streams: 2, sockets: 2 };
/** A stream lasts two seconds, so that it can be left in the middle. */
const TOKENS = { perSecond: 50, each: 100 };
const QUICK = { minutes: 2, everySeconds: 5 };
const FULL = { minutes: 20, everySeconds: 20 };
const PROBE = inRoot('tools/bench/programs/preloaded/probe.mjs');

const askProbe = (socketPath, method = 'GET', where = '/') =>
  new Promise((resolve, reject) => {
    request({ socketPath, method, path: where }, async (response) => resolve(JSON.parse(await text(response))))
      .once('error', reject)
      .end();
  });

const fileBytes = (file) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** Rows by table. */
const rowsOf = async (home) => {
  const { ask, close } = await openReader(home);
  const tables = await ask("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
  const counts = {};
  for (const { name } of tables) counts[name] = (await ask(`SELECT count(*) AS n FROM "${name}"`))[0].n;
  await close();
  return counts;
};

const kindsOf = (resources) =>
  Object.entries(resources)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');

const sampleUntil = async (probe, data, { minutes, everySeconds }, snapshots) => {
  const idle = watchLag();
  const samples = [];
  const begun = performance.now();
  for (let at = 0; at <= minutes * 60; at += everySeconds) {
    await sleep(Math.max(0, begun + at * 1_000 - performance.now()));
    const floorLag = idle.stop();
    const seen = await askProbe(probe);
    idle.restart();
    samples.push({ hours: (performance.now() - begun) / 3_600_000, ...seen, floorLag, walBytes: await fileBytes(path.join(data, 'svc.db-wal')) });
    const isFirst = at < minutes * 60 * WARM_UP_SHARE && at + everySeconds >= minutes * 60 * WARM_UP_SHARE;
    const isLast = at + everySeconds > minutes * 60;
    if (snapshots && (isFirst || isLast)) await askProbe(probe, 'POST', `/?${encodeURIComponent(path.join(snapshots, isFirst ? 'first.heapsnapshot' : 'last.heapsnapshot'))}`);
  }
  idle.stop();
  return samples;
};

/** The delay that a share of the whole time stays below. */
const lagAt = (lags, share) => {
  const delays = lags.flatMap(({ count, shares }) => shares.map(([part, ms]) => ({ weight: part * count, ms }))).toSorted((a, b) => a.ms - b.ms);
  const wanted = share * delays.reduce((sum, { weight }) => sum + weight, 0);
  let below = 0;
  for (const { weight, ms } of delays) {
    below += weight;
    if (below >= wanted) return ms;
  }
  return delays.at(-1)?.ms ?? 0;
};

const tableOf = ({ samples, load, grown, minutes, isQuick }) => {
  const counted = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const last = counted.at(-1);
  const slopeOf = (field) => slopeWithInterval(counted.map((sample) => [sample.hours, sample[field] / MIB]));
  const perHour = ({ slope, margin }) => `${round(slope)} ± ${round(margin)} MB/h`;
  const rangeOf = (read) => `${Math.min(...counted.map(read))} to ${Math.max(...counted.map(read))}`;
  const heap = slopeOf('heapBytes');
  const lags = counted.map(({ lag }) => lag);
  const lag = lagAt(lags, 0.999);
  const floorLag = lagAt(
    counted.map((sample) => sample.floorLag),
    0.999,
  );
  const method = `${minutes} minutes of ${RATES.messages} messages, ${RATES.streams} streams and ${RATES.sockets} sockets a second on ${QUICK_AGENTS + SLOW_AGENTS} agents, the first ${WARM_UP_SHARE * 100} % not counted`;
  const note = (what, value, how) => ({ what, value, target: '', met: true, method: how });
  return [
    {
      what: 'soak: heap slope',
      value: perHour(heap),
      target: isQuick ? '' : `< ${SLOPE_LIMIT} MB/h`,
      // Minutes cannot tell a leak of a megabyte an hour from noise.
      met: isQuick || heap.slope < SLOPE_LIMIT,
      method: `${method}; least squares through ${counted.length} samples after two forced collections, with the interval of 95 %; ${megabytes(counted[0].heapBytes)} to ${megabytes(last.heapBytes)}`,
    },
    {
      what: 'soak: loop lag, p99.9',
      value: milliseconds(lag),
      floor: milliseconds(floorLag),
      target: `≤ ${LAG_LIMIT_MS} ms`,
      met: lag <= LAG_LIMIT_MS,
      method: `monitorEventLoopDelay, without the forced collections; p50 ${milliseconds(lagAt(lags, 0.5))}, longest ${milliseconds(lagAt(lags, 1))}; floor: a process that does nothing, at the same time`,
    },
    note('soak: memory (RSS)', perHour(slopeOf('rssBytes')), `${megabytes(counted[0].rssBytes)} to ${megabytes(last.rssBytes)}`),
    note(
      'soak: open files',
      rangeOf(({ files }) => files),
      `of the process; ${last.files} at the end`,
    ),
    note(
      'soak: open handles',
      rangeOf(({ resources }) => Object.values(resources).reduce((sum, count) => sum + count, 0)),
      `at the end ${kindsOf(last.resources)}`,
    ),
    note(
      'soak: log of the database',
      megabytes(last.walBytes),
      `median ${megabytes(median(counted.map(({ walBytes }) => walBytes)))}, largest ${megabytes(Math.max(...counted.map(({ walBytes }) => walBytes)))}`,
    ),
    {
      what: 'soak: requests that failed',
      value: String(Object.values(load.failed).reduce((sum, count) => sum + count, 0)),
      target: '0',
      met: Object.keys(load.failed).length === 0,
      method: `of ${load.sent}${Object.entries(load.failed)
        .map(([why, count]) => `; ${count} ${why}`)
        .join('')}; messages p50 ${milliseconds(percentile(load.latencies, 50))}, p99 ${milliseconds(percentile(load.latencies, 99))}`,
    },
    note(
      'soak: rows',
      String(Object.values(grown).reduce((sum, count) => sum + count, 0)),
      `more at the end than at the start: ${Object.entries(grown)
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 8)
        .map(([table, count]) => `${table} ${count}`)
        .join(', ')}`,
    ),
  ];
};

export const run = async ({ isQuick }) => {
  const form = isQuick ? QUICK : FULL;
  const plan = { ...form, minutes: Number(process.env.SOAK_MINUTES ?? form.minutes) };
  const providers = [
    await startServer('tools/bench/programs/servers/streaming-provider.mjs'),
    await startServer('tools/bench/programs/servers/token-provider.mjs', [String(TOKENS.perSecond), String(TOKENS.each)]),
  ];
  const home = await makeHome(...providers.map(({ url }) => url));
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-soak-'));
  const probe = path.join(dir, 'probe');
  const daemon = await startDaemon({ ...home, env: { ...home.env, SVC_BENCH_PROBE: probe } }, { nodeArgs: ['--expose-gc', '--import', pathToFileURL(PROBE).href] });
  try {
    const agents = await makeAgents(daemon.url, QUICK_AGENTS + SLOW_AGENTS, (index) => (index < QUICK_AGENTS ? {} : { model: { provider: 'groq', model: 'llama-3.3-70b-versatile' } }));
    const data = path.join(home.home, 'data');
    const before = await rowsOf(home.home);
    const client = startNode([
      inRoot('tools/bench/programs/clients/soak-client.mjs'),
      JSON.stringify({ origin: daemon.url, quick: agents.slice(0, QUICK_AGENTS), slow: agents.slice(QUICK_AGENTS), rates: RATES }),
    ]);
    const samples = await sampleUntil(probe, data, plan, process.env.SOAK_SNAPSHOTS);
    process.kill(client.pid, 'SIGTERM');
    const load = JSON.parse(await client.line());
    const after = await rowsOf(home.home);
    const grown = Object.fromEntries(Object.entries(after).flatMap(([table, count]) => (count > (before[table] ?? 0) ? [[table, count - (before[table] ?? 0)]] : [])));
    return { rows: tableOf({ samples, load, grown, minutes: plan.minutes, isQuick: plan.minutes < FULL.minutes }), raw: { samples, load: { ...load, latencies: undefined }, after } };
  } finally {
    await daemon.stop();
    for (const provider of providers) await provider.stop();
    await home.remove();
    await rm(dir, { recursive: true, force: true });
  }
};
