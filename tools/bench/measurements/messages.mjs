/** Blocking messages against the floor: CPU, rate and latency, in windows that alternate within one run; and what one message waits for. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inRoot } from '../../build/paths.mjs';
import { call, makeAgents, makeHome, recordModelCall, say, startDaemon, startProvider } from '../daemon.mjs';
import { median, milliseconds, perSecond, round, times } from '../figures.mjs';
import { loadWindow } from '../load.mjs';
import { startNode } from '../processes.mjs';

const CLIENTS = 32;
const COUNTED_MESSAGES = 50;
const WARM_UP_SECONDS = 8;

const startFloor = async (providerUrl) => {
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-floor-'));
  const callFile = path.join(dir, 'model-call.json');
  await writeFile(callFile, await recordModelCall());
  const child = startNode([inRoot('tools/bench/programs/floor-server.mjs'), path.join(dir, 'floor.db'), providerUrl, callFile]);
  const url = `http://127.0.0.1:${await child.line()}`;
  return {
    url,
    pid: child.pid,
    stop: async () => {
      await child.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
};

const batchesOf = async (daemon) => (await call(daemon.url, 'GET', '/api/status')).svc_storage_batches;

/** Batches that reach the disk during each message of one client. The median, because now and then a timer writes something as well. */
const waitsPerMessage = async (daemon, agent) => {
  const waits = [];
  for (let index = 0; index < COUNTED_MESSAGES; index += 1) {
    const before = await batchesOf(daemon);
    await say(daemon.url, agent, 'How many waits is this?');
    waits.push((await batchesOf(daemon)) - before);
  }
  return median(waits);
};

const gather = async (daemon, floor, agents, { windows, seconds }) => {
  const seen = { floor: [], product: [], floorOne: [], productOne: [] };
  const productPaths = agents.map((id) => `/api/agents/${id}/message`);
  const floorPaths = agents.map(() => '/');
  // Both have compiled what they run before anything counts: the product needs some thousand messages for that.
  await loadWindow(floor, floorPaths, WARM_UP_SECONDS / 2);
  await loadWindow(daemon, productPaths, WARM_UP_SECONDS);
  for (let index = 0; index < windows; index += 1) {
    seen.floor.push(await loadWindow(floor, floorPaths, seconds));
    seen.product.push(await loadWindow(daemon, productPaths, seconds));
    seen.floorOne.push(await loadWindow(floor, floorPaths.slice(0, 1), seconds / 2));
    seen.productOne.push(await loadWindow(daemon, productPaths.slice(0, 1), seconds / 2));
  }
  return seen;
};

const of = (windows, field) => median(windows.map((window) => window[field]));

const rowsOf = (seen, waits, method) => {
  const cpu = of(seen.product, 'cpuMsPerRequest') / of(seen.floor, 'cpuMsPerRequest');
  const rate = of(seen.product, 'rate') / of(seen.floor, 'rate');
  const one = of(seen.productOne, 'p50') / of(seen.floorOne, 'p50');
  const p99 = of(seen.product, 'p99');
  return [
    {
      what: 'CPU per blocking message',
      value: `${round(of(seen.product, 'cpuMsPerRequest'))} ms`,
      floor: `${round(of(seen.floor, 'cpuMsPerRequest'))} ms`,
      ratio: times(cpu),
      target: '≤ 4 ×, better ≤ 3 ×',
      met: cpu <= 4,
      method,
    },
    { what: 'durable waits per plain message', value: String(round(waits)), target: '2', met: waits <= 2, method: `batches of the writer, median of ${COUNTED_MESSAGES} messages of one client` },
    {
      what: `blocking messages, ${CLIENTS} clients`,
      value: perSecond(of(seen.product, 'rate')),
      floor: perSecond(of(seen.floor, 'rate')),
      ratio: times(rate),
      target: '≥ 0.3 ×',
      met: rate >= 0.3,
      method,
    },
    { what: 'their p99', value: milliseconds(p99), floor: milliseconds(of(seen.floor, 'p99')), target: '≤ 200 ms', met: p99 <= 200, method },
    {
      what: 'one client, p50',
      value: milliseconds(of(seen.productOne, 'p50')),
      floor: milliseconds(of(seen.floorOne, 'p50')),
      ratio: times(one),
      target: '≤ 3 ×',
      met: one <= 3,
      method: `${method}, half as long`,
    },
  ];
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { windows: 3, seconds: 2 } : { windows: 5, seconds: 5 };
  const provider = await startProvider();
  const home = await makeHome(provider.url);
  const floor = await startFloor(provider.url);
  const daemon = await startDaemon(home);
  try {
    const agents = await makeAgents(daemon.url, CLIENTS);
    const seen = await gather(daemon, floor, agents, plan);
    const waits = await waitsPerMessage(daemon, agents[0]);
    return { rows: rowsOf(seen, waits, `median of ${plan.windows} windows of ${plan.seconds} s, floor and product in turn`), raw: { seen, waits } };
  } finally {
    await daemon.stop();
    await floor.stop();
    await provider.stop();
    await home.remove();
  }
};
