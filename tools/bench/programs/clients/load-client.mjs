/**
 * A closed loop of clients in a process of its own: each sends, waits for the answer, sends again.
 *
 *   node load-client.mjs '{"origin": "http://…", "paths": ["/…", …], "seconds": 4}'     one client per path
 *
 * With "rate" all clients together begin so many requests per second, evenly; a latency counts from when the request was due.
 *
 * It posts messages, or with "method": "GET" asks for the paths; "headers" go with either.
 * Each client that conversations begins a new session after ten messages: what grows with a conversation is not what is measured.
 *
 * Prints {requests, failures, seconds, latencies}; the latencies are in milliseconds, at most 20,000 of them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';

const SESSION_MESSAGES = 10;
const MAX_LATENCIES = 20_000;
const { origin, paths, seconds, rate, method = 'POST', headers: more = {} } = JSON.parse(process.argv[2]);
const message = 'Say hello to the bench, please.';
const headers = { 'content-type': 'application/json', ...more };

/** A session of an agent has to be there before a message names it: they are begun before the clock runs, and used again when all were. */
const SESSIONS = 30;
const begin = async (path) => {
  const ids = Array.from({ length: method === 'POST' ? SESSIONS : 0 }, () => randomUUID());
  if (!path.startsWith('/api/agents/')) return ids;
  const client = new Client(origin);
  for (const id of ids) {
    const response = await client.request({ path: path.replace(/\/message.*$/, '/sessions'), method: 'POST', headers, body: JSON.stringify({ session_id: id, activate: false }) });
    await response.body.dump();
  }
  await client.close();
  return ids;
};
const sessions = await Promise.all(paths.map(begin));
console.log('ready');

const latencies = [];
const seen = { requests: 0, failures: 0 };
const begun = performance.now();
const endMs = begun + seconds * 1_000;

const loop = async (path, index) => {
  const client = new Client(origin);
  let body;
  // Client by client, each at its own part of the interval.
  const dueOf = (count) => (rate === undefined ? performance.now() : begun + ((count * paths.length + index) * 1_000) / rate);
  for (let count = 0; performance.now() < endMs && dueOf(count) < endMs; count += 1) {
    if (method === 'POST' && count % SESSION_MESSAGES === 0) body = JSON.stringify({ message, session_id: sessions[index][(count / SESSION_MESSAGES) % SESSIONS] });
    const sent = dueOf(count);
    if (sent > performance.now()) await sleep(sent - performance.now());
    try {
      const response = await client.request({ path, method, headers, body });
      await response.body.dump();
      seen.requests += 1;
      if (response.statusCode !== 200) seen.failures += 1;
    } catch {
      seen.failures += 1; // counted: a measurement with failures is shown as failed
    }
    if (latencies.length < MAX_LATENCIES) latencies.push(performance.now() - sent);
  }
  await client.close();
};

await Promise.all(paths.map(loop));
console.log(JSON.stringify({ ...seen, seconds: (performance.now() - begun) / 1_000, latencies }));
