/** What ten thousand agents that nobody talks to occupy, and what messages cost when a hundred are talked to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, makeAgents, makeHome, startDaemon, startProvider } from '../../daemon.mjs';
import { median, megabytes, perSecond, round } from '../../figures.mjs';
import { fillAgents } from '../../fill.mjs';
import { floorPaths, startFloor } from '../../floor.mjs';
import { figureOf, loadInTurn } from '../../load.mjs';
import { pssBytes } from '../../processes.mjs';
import { against, ratioRow } from '../../ratios.mjs';

const IDLE = 10_000;
const BUSY = 100;
const SETTLE_MS = 3_000;
const LIMIT_BYTES = 30 * 1_048_576;

const restedBytes = async (home, agents) => {
  const daemon = await startDaemon(home);
  try {
    await sleep(SETTLE_MS);
    const bytes = pssBytes(daemon.pid);
    const { total } = await call(daemon.url, 'GET', '/api/agents?limit=1');
    if (total < agents) throw new Error(`the daemon knows ${total} agents, not ${agents}`);
    return bytes;
  } finally {
    await daemon.stop();
  }
};

/** Busy agents in that home; the daemon that made them is stopped. */
const withAgents = async (home, count) => {
  const daemon = await startDaemon(home);
  try {
    return await makeAgents(daemon.url, count);
  } finally {
    await daemon.stop();
  }
};

const messageMany = async (home, agents, floor, plan) => {
  const daemon = await startDaemon(home);
  try {
    const servers = { floor: { server: floor, paths: floorPaths(BUSY) }, product: { server: daemon, paths: agents.map((id) => `/api/agents/${id}/message`) } };
    return await loadInTurn(servers, plan);
  } finally {
    await daemon.stop();
  }
};

const rowsOf = ({ empty, full }, conversations, plan) => {
  const more = median(full) - median(empty);
  const method = `median of ${plan.windows} windows of ${plan.seconds} s in turn, beside ${IDLE.toLocaleString('en')} idle agents`;
  return [
    {
      what: `memory of ${IDLE.toLocaleString('en')} idle agents`,
      value: megabytes(more),
      floor: megabytes(median(empty)),
      ...against(full, empty, 'lower'),
      target: '≤ 30 MB',
      met: more <= LIMIT_BYTES,
      method: `PSS ${SETTLE_MS / 1_000} s after ready, beyond that of an empty daemon (floor); median of ${plan.starts} starts in turn`,
    },
    ratioRow({ what: `CPU per message, ${BUSY} busy agents`, ...figureOf(conversations, 'cpuMsPerRequest'), show: (ms) => `${round(ms)} ms`, better: 'lower', limit: 4, method }),
    ratioRow({ what: `messages of ${BUSY} busy agents`, ...figureOf(conversations, 'rate'), show: perSecond, better: 'higher', limit: 0.3, method }),
  ];
};

export const run = async ({ isQuick }) => {
  const plan = { warmUpSeconds: 6, windows: 5, ...(isQuick ? { starts: 3, seconds: 2 } : { starts: 5, seconds: 5 }) };
  const provider = await startProvider();
  const [none, many] = [await makeHome(provider.url), await makeHome(provider.url)];
  const floor = await startFloor(provider.url);
  const memory = { empty: [], full: [] };
  try {
    const agents = await withAgents(many, BUSY);
    await fillAgents(many.home, agents[0], IDLE);
    for (let start = 0; start < plan.starts; start += 1) {
      memory.empty.push(await restedBytes(none, 0));
      memory.full.push(await restedBytes(many, IDLE + BUSY));
    }
    const conversations = await messageMany(many, agents, floor, plan);
    return { rows: rowsOf(memory, conversations, plan), raw: { memory, conversations } };
  } finally {
    await floor.stop();
    await provider.stop();
    await none.remove();
    await many.remove();
  }
};
