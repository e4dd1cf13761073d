/** Runs in which the model asks for a tool first: two calls of the model and one of a tool, against the floor doing the same. */
import { makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { milliseconds, perSecond, round } from '../../figures.mjs';
import { floorPaths, startFloor } from '../../floor.mjs';
import { figureOf, loadInTurn } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;

export const run = async ({ isQuick }) => {
  const plan = { warmUpSeconds: 6, windows: 5, seconds: isQuick ? 2 : 5 };
  const provider = await startServer('tools/bench/programs/servers/tool-provider.mjs');
  const home = await makeHome(provider.url);
  const floor = await startFloor(provider.url);
  const daemon = await startDaemon(home);
  try {
    const agents = await makeAgents(daemon.url, CLIENTS);
    const servers = { floor: { server: floor, paths: floorPaths(CLIENTS) }, product: { server: daemon, paths: agents.map((id) => `/api/agents/${id}/message`) } };
    const seen = await loadInTurn(servers, plan);
    const method = `median of ${plan.windows} windows of ${plan.seconds} s in turn, ${CLIENTS} clients; two model calls and system_time, four stored messages`;
    return {
      rows: [
        ratioRow({ what: 'CPU per run with a tool call', ...figureOf(seen, 'cpuMsPerRequest'), method, show: (ms) => `${round(ms)} ms`, better: 'lower', limit: 4 }),
        ratioRow({ what: `runs with a tool call, ${CLIENTS} clients`, ...figureOf(seen, 'rate'), method, show: perSecond, better: 'higher', limit: 0.3 }),
        ratioRow({ what: 'p99 of runs with a tool call', ...figureOf(seen, 'p99'), method, show: milliseconds, better: 'lower' }),
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
