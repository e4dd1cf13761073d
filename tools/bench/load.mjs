/** One window of load on one server: rate, latencies and CPU per request, as the server's process used it. */
import { inRoot } from '../build/paths.mjs';
import { percentile } from './figures.mjs';
import { cpuMs, startNode } from './processes.mjs';

/** `server` is {url, pid}; `request` is {method, headers} of what is no message. Rejects when any request failed. */
export const loadWindow = (server, paths, seconds, request = {}) => loadWindowOn([{ server, paths }], seconds, request);

/** The same on several servers at once, each with its own clients; the processor time is that of all of them. */
export const loadWindowOn = async (parts, seconds, request = {}) => {
  const clients = parts.map(({ server, paths }) => startNode([inRoot('tools/bench/programs/clients/load-client.mjs'), JSON.stringify({ origin: server.url, paths, seconds, ...request })]));
  // They have begun their sessions, which is not what is measured.
  await Promise.all(clients.map((client) => client.line()));
  const used = () => parts.reduce((sum, { server }) => sum + cpuMs(server.pid), 0);
  const before = used();
  const results = await Promise.all(clients.map(async (client) => JSON.parse(await client.line())));
  await Promise.all(clients.map((client) => client.ended));
  results.forEach(({ failures, requests }, index) => {
    if (failures > 0) throw new Error(`${failures} of ${requests} requests to ${parts[index].server.url} failed`);
  });
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const latencies = results.flatMap((result) => result.latencies);
  return {
    clients: parts.reduce((sum, { paths }) => sum + paths.length, 0),
    requests,
    rate: results.reduce((sum, result) => sum + result.requests / result.seconds, 0),
    cpuMsPerRequest: (used() - before) / requests,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
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
