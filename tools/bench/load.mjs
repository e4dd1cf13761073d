/** One window of load on one server: rate, latencies and CPU per request, as the server's process used it. */
import { inRoot } from '../build/paths.mjs';
import { percentile } from './figures.mjs';
import { cpuMs, startNode } from './processes.mjs';

/** `server` is {url, pid}; `request` is {method, headers} of what is no message. Rejects when any request failed. */
export const loadWindow = async (server, paths, seconds, request = {}) => {
  const client = startNode([inRoot('tools/bench/programs/clients/load-client.mjs'), JSON.stringify({ origin: server.url, paths, seconds, ...request })]);
  // It has begun its sessions, which is not what is measured.
  await client.line();
  const before = cpuMs(server.pid);
  const result = JSON.parse(await client.line());
  await client.ended;
  if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} requests to ${server.url} failed`);
  return {
    clients: paths.length,
    requests: result.requests,
    rate: result.requests / result.seconds,
    cpuMsPerRequest: (cpuMs(server.pid) - before) / result.requests,
    p50: percentile(result.latencies, 50),
    p99: percentile(result.latencies, 99),
  };
};

/**
 * Windows of load on several servers in turn, after each has compiled what it runs. `servers` is {<name>: {server, paths}};
 * resolves with {<name>: [window, …]}.
 */
export const loadInTurn = async (servers, { windows, seconds, warmUpSeconds }, request = {}) => {
  const seen = Object.fromEntries(Object.keys(servers).map((name) => [name, []]));
  for (const { server, paths } of Object.values(servers)) await loadWindow(server, paths, warmUpSeconds, request);
  for (let index = 0; index < windows; index += 1) for (const [name, { server, paths }] of Object.entries(servers)) seen[name].push(await loadWindow(server, paths, seconds, request));
  return seen;
};

/** One figure of all windows: {<name>: [value, …]}. */
export const figureOf = (seen, field) => Object.fromEntries(Object.entries(seen).map(([name, windows]) => [name, windows.map((window) => window[field])]));
