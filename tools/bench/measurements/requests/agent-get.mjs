/** A read that does little: one agent, with an API key and rate limits on, against a bare server that answers as many bytes. */
import { call, makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { perSecond } from '../../figures.mjs';
import { loadWindow } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
const WARM_UP_SECONDS = 3;
const KEY = 'sk-bench-reader';
const headers = { authorization: `Bearer ${KEY}` };

const withAgent = async (home) => {
  const daemon = await startDaemon(home);
  try {
    const [agent] = await makeAgents(daemon.url, 1);
    return `/api/agents/${agent}`;
  } finally {
    await daemon.stop();
  }
};

const gather = async (daemon, floor, path, { windows, seconds }) => {
  const seen = { floor: [], product: [] };
  const paths = Array.from({ length: CLIENTS }, () => path);
  const window = (server, long) => loadWindow(server, paths, long, { method: 'GET', headers });
  await window(floor, WARM_UP_SECONDS);
  await window(daemon, WARM_UP_SECONDS);
  for (let index = 0; index < windows; index += 1) {
    seen.floor.push(await window(floor, seconds));
    seen.product.push(await window(daemon, seconds));
  }
  return seen;
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { windows: 3, seconds: 2 } : { windows: 5, seconds: 5 };
  const home = await makeHome('http://127.0.0.1:9');
  const path = await withAgent(home);
  const daemon = await startDaemon({ ...home, env: { ...home.env, SVC_API_KEY: KEY } });
  const size = JSON.stringify(await call(daemon.url, 'GET', path, undefined, headers)).length;
  const floor = await startServer('tools/bench/programs/servers/json-server.mjs', [String(size)]);
  try {
    const seen = await gather(daemon, floor, path, plan);
    const of = (field) => ({ product: seen.product.map((window) => window[field]), floor: seen.floor.map((window) => window[field]) });
    const method = `median of ${plan.windows} windows of ${plan.seconds} s in turn, ${CLIENTS} clients, key and rate limits on; floor: bare node:http with a JSON of ${size} bytes`;
    return {
      rows: [
        ratioRow({ what: 'GET of an agent', ...of('rate'), show: perSecond, better: 'higher', limit: 0.25, method }),
        ratioRow({ what: 'CPU per GET of an agent', ...of('cpuMsPerRequest'), show: (ms) => `${Math.round(ms * 1_000)} µs`, better: 'lower', method }),
      ],
      raw: seen,
    };
  } finally {
    await daemon.stop();
    await floor.stop();
    await home.remove();
  }
};
