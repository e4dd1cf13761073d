/** Runs in which the model asks for a tool first: two calls of the model and one of a tool, against the floor doing the same. */
import { makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { milliseconds, perSecond, round } from '../../figures.mjs';
import { floorPaths, startFloor } from '../../floor.mjs';
import { loadWindow } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
const WARM_UP_SECONDS = 6;

const gather = async (daemon, floor, agents, { windows, seconds }) => {
  const seen = { floor: [], product: [] };
  const paths = agents.map((id) => `/api/agents/${id}/message`);
  const talks = floorPaths(agents.length);
  await loadWindow(floor, talks, WARM_UP_SECONDS / 2);
  await loadWindow(daemon, paths, WARM_UP_SECONDS);
  for (let index = 0; index < windows; index += 1) {
    seen.floor.push(await loadWindow(floor, talks, seconds));
    seen.product.push(await loadWindow(daemon, paths, seconds));
  }
  return seen;
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { windows: 3, seconds: 2 } : { windows: 5, seconds: 5 };
  const provider = await startServer('tools/bench/programs/servers/tool-provider.mjs');
  const home = await makeHome(provider.url);
  const floor = await startFloor(provider.url);
  const daemon = await startDaemon(home);
  try {
    const agents = await makeAgents(daemon.url, CLIENTS);
    const seen = await gather(daemon, floor, agents, plan);
    const of = (field) => ({
      product: seen.product.map((window) => window[field]),
      floor: seen.floor.map((window) => window[field]),
      method: `median of ${plan.windows} windows of ${plan.seconds} s in turn, ${CLIENTS} clients; two model calls and system_time, four stored messages`,
    });
    return {
      rows: [
        ratioRow({ what: 'CPU per run with a tool call', ...of('cpuMsPerRequest'), show: (ms) => `${round(ms)} ms`, better: 'lower', limit: 4 }),
        ratioRow({ what: `runs with a tool call, ${CLIENTS} clients`, ...of('rate'), show: perSecond, better: 'higher', limit: 0.3 }),
        ratioRow({ what: 'p99 of runs with a tool call', ...of('p99'), show: milliseconds, better: 'lower' }),
      ],
      raw: seen,
    };
  } finally {
    await daemon.stop();
    await floor.stop();
    await provider.stop();
    await home.remove();
  }
};
