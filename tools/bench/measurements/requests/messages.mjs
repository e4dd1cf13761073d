/** Blocking messages against the floor: CPU, rate and latency, in windows that alternate within one run; and what one message waits for. */
import { call, makeAgents, makeHome, say, startDaemon, startProvider } from '../../daemon.mjs';
import { median, milliseconds, perSecond, round } from '../../figures.mjs';
import { floorPaths, startFloor } from '../../floor.mjs';
import { figureOf, loadWindow } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
const COUNTED_MESSAGES = 50;
const WARM_UP_SECONDS = 8;
const P99_LIMIT_MS = 200;

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
  const conversations = floorPaths(agents.length);
  // Both have compiled what they run before anything counts: the product needs some thousand messages for that.
  await loadWindow(floor, conversations, WARM_UP_SECONDS / 2);
  await loadWindow(daemon, productPaths, WARM_UP_SECONDS);
  for (let index = 0; index < windows; index += 1) {
    seen.floor.push(await loadWindow(floor, conversations, seconds));
    seen.product.push(await loadWindow(daemon, productPaths, seconds));
    seen.floorOne.push(await loadWindow(floor, conversations.slice(0, 1), seconds / 2));
    seen.productOne.push(await loadWindow(daemon, productPaths.slice(0, 1), seconds / 2));
  }
  return seen;
};

const rowsOf = (seen, waits, method) => {
  const { floor, product, floorOne, productOne } = seen;
  const p99 = figureOf({ floor, product }, 'p99');
  const isLate = median(p99.product) > P99_LIMIT_MS;
  return [
    ratioRow({
      what: 'CPU per blocking message',
      ...figureOf({ floor, product }, 'cpuMsPerRequest'),
      method,
      show: (ms) => `${round(ms)} ms`,
      better: 'lower',
      limit: 4,
      target: '≤ 4 ×, better ≤ 3 ×',
    }),
    { what: 'durable waits per plain message', value: String(round(waits)), target: '2', met: waits <= 2, method: `batches of the writer, median of ${COUNTED_MESSAGES} messages of one client` },
    ratioRow({ what: `blocking messages, ${CLIENTS} clients`, ...figureOf({ floor, product }, 'rate'), method, show: perSecond, better: 'higher', limit: 0.3 }),
    { what: 'their p99', value: milliseconds(median(p99.product)), floor: milliseconds(median(p99.floor)), target: `≤ ${P99_LIMIT_MS} ms`, met: !isLate, method },
    ratioRow({ what: 'one client, p50', ...figureOf({ floor: floorOne, product: productOne }, 'p50'), show: milliseconds, better: 'lower', limit: 2.5, method: `${method}, half as long` }),
  ];
};

export const run = async ({ isQuick }) => {
  const plan = { windows: 5, seconds: isQuick ? 2 : 5 };
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
