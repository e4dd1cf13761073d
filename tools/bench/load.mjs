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
