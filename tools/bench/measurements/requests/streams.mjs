/** Many streamed answers at once, each with the pace of a model, against a server that hands the provider's bytes through. */
import { inRoot } from '../../../build/paths.mjs';
import { makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { median, microseconds, milliseconds, percentile } from '../../figures.mjs';
import { floorPaths, startFloor } from '../../floor.mjs';
import { startNode } from '../../processes.mjs';
import { ratioRow } from '../../ratios.mjs';

const CONNECTIONS = [100, 500];
const TOKENS_PER_SECOND = 50;
const CPU_LIMIT = 3;
const GAP_LIMIT_MS = 500;
/** So that nobody measures how many requests begin in one instant. */
const BEGIN_SECONDS = 2;
/** Calls of the daemon to one provider at once: more streams than that need a second one. */
const OF_ONE_PROVIDER = 256;

const streamAll = async (server, paths, tokens) => {
  const client = startNode([inRoot('tools/bench/programs/clients/stream-client.mjs'), JSON.stringify({ origin: server.url, pid: server.pid, paths, beginSeconds: BEGIN_SECONDS, tokens })]);
  const result = JSON.parse(await client.line());
  await client.ended;
  if (result.cut > 0) throw new Error(`${result.cut} of ${paths.length} streams of ${server.url} ended without all their tokens`);
  return result;
};

const rowsOf = (connections, { floor, product }, plan) => {
  const perToken = (windows) => windows.map(({ cpuMs, tokens }) => cpuMs / tokens);
  const gaps = (windows) => windows.flatMap((window) => window.gaps);
  const open = Math.min(...product.map((window) => window.open));
  const longest = Math.max(...gaps(product));
  const firstTokens = product.flatMap((window) => window.firstTokens);
  const pace = median(product.map(({ tokens, seconds }) => tokens / seconds / connections));
  const method = `median of ${plan.windows} rounds in turn, ${TOKENS_PER_SECOND} tokens a second for ${plan.seconds} s each; ${pace.toFixed(1)} tokens a second reach each client`;
  return [
    ratioRow({ what: `CPU per token, ${connections} streams`, product: perToken(product), floor: perToken(floor), show: microseconds, better: 'lower', limit: CPU_LIMIT, method }),
    {
      what: `longest gap in any of ${connections} streams`,
      value: milliseconds(longest),
      floor: milliseconds(Math.max(...gaps(floor))),
      target: `≤ ${GAP_LIMIT_MS} ms`,
      met: longest <= GAP_LIMIT_MS,
      method: `between two chunks; of the longest of each stream p50 ${milliseconds(percentile(gaps(product), 50))}, p99 ${milliseconds(percentile(gaps(product), 99))} (floor ${milliseconds(percentile(gaps(floor), 99))})`,
    },
    {
      what: `streams that flow at once, of ${connections}`,
      value: String(open),
      floor: String(Math.min(...floor.map((window) => window.open))),
      target: String(connections),
      met: open === connections,
      method: `had brought a token when the first one ended; begun within ${BEGIN_SECONDS} s; first token p50 ${milliseconds(percentile(firstTokens, 50))}, p99 ${milliseconds(percentile(firstTokens, 99))}`,
    },
  ];
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { windows: 2, seconds: 5 } : { windows: 5, seconds: 10 };
  const providerArgs = [String(TOKENS_PER_SECOND), String(TOKENS_PER_SECOND * plan.seconds)];
  const providers = [];
  for (let index = 0; index < 2; index += 1) providers.push(await startServer('tools/bench/programs/servers/token-provider.mjs', providerArgs));
  const home = await makeHome(...providers.map(({ url }) => url));
  const floor = await startFloor(providers[0].url, 'pipe-server');
  const daemon = await startDaemon(home);
  const raw = {};
  try {
    const agents = await makeAgents(daemon.url, Math.max(...CONNECTIONS), (index) => (index < OF_ONE_PROVIDER ? {} : { model: { provider: 'groq', model: 'llama-3.3-70b-versatile' } }));
    const productPaths = agents.map((id) => `/api/agents/${id}/message/stream`);
    await streamAll(floor, floorPaths(100), TOKENS_PER_SECOND * plan.seconds);
    await streamAll(daemon, productPaths.slice(0, 100), TOKENS_PER_SECOND * plan.seconds);
    for (const connections of CONNECTIONS) {
      const seen = { floor: [], product: [] };
      for (let index = 0; index < plan.windows; index += 1) {
        seen.floor.push(await streamAll(floor, floorPaths(connections), TOKENS_PER_SECOND * plan.seconds));
        seen.product.push(await streamAll(daemon, productPaths.slice(0, connections), TOKENS_PER_SECOND * plan.seconds));
      }
      raw[connections] = seen;
    }
    return { rows: Object.entries(raw).flatMap(([connections, seen]) => rowsOf(Number(connections), seen, plan)), raw };
  } finally {
    await daemon.stop();
    await floor.stop();
    for (const provider of providers) await provider.stop();
    await home.remove();
  }
};
