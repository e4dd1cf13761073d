/** A read that does little: one agent, with an API key and rate limits on, against a bare server that answers as many bytes. */
import { call, makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { perSecond } from '../../figures.mjs';
import { figureOf, loadInTurn } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
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

export const run = async ({ isQuick }) => {
  const plan = { warmUpSeconds: 3, windows: 5, seconds: isQuick ? 2 : 5 };
  const home = await makeHome('http://127.0.0.1:9');
  const path = await withAgent(home);
  const daemon = await startDaemon({ ...home, env: { ...home.env, SVC_API_KEY: KEY } });
  const size = JSON.stringify(await call(daemon.url, 'GET', path, undefined, headers)).length;
  const floor = await startServer('tools/bench/programs/servers/json-server.mjs', [String(size)]);
  try {
    const paths = Array.from({ length: CLIENTS }, () => path);
    const seen = await loadInTurn({ floor: { server: floor, paths }, product: { server: daemon, paths } }, plan, { method: 'GET', headers });
    const method = `median of ${plan.windows} windows of ${plan.seconds} s in turn, ${CLIENTS} clients, key and rate limits on; floor: bare node:http with a JSON of ${size} bytes`;
    return {
      rows: [
        ratioRow({ what: 'GET of an agent', ...figureOf(seen, 'rate'), show: perSecond, better: 'higher', limit: 0.25, method }),
        ratioRow({ what: 'CPU per GET of an agent', ...figureOf(seen, 'cpuMsPerRequest'), show: (ms) => `${Math.round(ms * 1_000)} µs`, better: 'lower', method }),
      ],
      raw: seen,
    };
  } finally {
    await daemon.stop();
    await floor.stop();
    await home.remove();
  }
};
