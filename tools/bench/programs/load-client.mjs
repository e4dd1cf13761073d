/**
 * A closed loop of clients in a process of its own: each sends, waits for the answer, sends again.
 *
 *   node load-client.mjs '{"origin": "http://…", "paths": ["/…", …], "seconds": 4}'     one client per path
 *
 * Each begins a new session after ten messages: what grows with a conversation is not what is measured.
 *
 * Prints {requests, failures, seconds, latencies}; the latencies are in milliseconds, at most 20,000 of them.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'undici';

const SESSION_MESSAGES = 10;
const MAX_LATENCIES = 20_000;
const { origin, paths, seconds } = JSON.parse(process.argv[2]);
const message = 'Say hello to the bench, please.';
const headers = { 'content-type': 'application/json' };

/** A session has to be there before a message names it: they are begun before the clock runs, and used again when all were. */
const SESSIONS = 30;
const begin = async (path) => {
  const client = new Client(origin);
  const agent = path.replace(/\/message.*$/, '');
  const ids = [];
  for (let made = 0; made < (agent.startsWith('/api/agents/') ? SESSIONS : 0); made += 1) {
    const id = randomUUID();
    const response = await client.request({ path: `${agent}/sessions`, method: 'POST', headers, body: JSON.stringify({ session_id: id, activate: false }) });
    await response.body.dump();
    ids.push(id);
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
  let body = '';
  for (let count = 0; performance.now() < endMs; count += 1) {
    if (count % SESSION_MESSAGES === 0) body = JSON.stringify({ message, session_id: sessions[index][(count / SESSION_MESSAGES) % SESSIONS] });
    const sent = performance.now();
    try {
      const response = await client.request({ path, method: 'POST', headers, body });
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
