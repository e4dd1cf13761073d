/** A daemon of our own: a home in a temporary folder, the instant provider as its model, a rate limit that nobody meets. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inRoot } from '../build/paths.mjs';
import { startNode } from './processes.mjs';

const READY_WAIT_MS = 30_000;
const POLL_MS = 5;

const configText = (providerUrl) => `[api]
rate_limit_per_second = 100000

[default_model]
provider = "openai"
model = "gpt-4o"

[provider_urls]
openai = "${providerUrl}/v1"
`;

export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export const startProvider = async () => {
  const child = startNode([inRoot('fixtures/providers/instant.mjs')]);
  return { url: `http://127.0.0.1:${await child.line()}`, stop: child.stop };
};

/** A home that daemons of one measurement share, one after the other. */
export const makeHome = async (providerUrl) => {
  const home = await mkdtemp(path.join(tmpdir(), 'svc-bench-'));
  await writeFile(path.join(home, 'config.toml'), configText(providerUrl));
  return { home, env: { SVC_HOME: home, OPENAI_API_KEY: 'sk-bench', SVC_API_KEY: '', SVC_CONFIG: '' }, remove: () => rm(home, { recursive: true, force: true }) };
};

/** Starts the built daemon and resolves as soon as /api/ready answers 200; `readyMs` is counted from the start of the process. */
export const startDaemon = async ({ home, env }, nodeArgs = []) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const begun = performance.now();
  const child = startNode([...nodeArgs, inRoot('dist/daemon/main.js')], { env: { ...env, SVC_PORT: String(port) } });
  const isGone = child.ended.then(() => true);
  while (!(await isReady(url))) {
    if (performance.now() - begun > READY_WAIT_MS) throw new Error(`the daemon in ${home} is not ready after ${READY_WAIT_MS / 1_000} s`);
    if (await Promise.race([isGone, sleep(POLL_MS, false)])) throw new Error(`the daemon in ${home} ended at once`);
  }
  return { url, port, pid: child.pid, begun, readyMs: performance.now() - begun, stop: child.stop };
};

const isReady = async (url) => {
  try {
    const response = await fetch(`${url}/api/ready`);
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false; // nobody listens yet: that is what is waited for
  }
};

/** One JSON call; throws on anything but 2xx. */
export const call = async (url, method, where, body) => {
  const response = await fetch(url + where, { method, headers: { 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${where} answered ${response.status}: ${text.slice(0, 300)}`);
  return text === '' ? undefined : JSON.parse(text);
};

/** The body that the daemon sends to its model for one plain message: what the floor has to send as well. */
export const recordModelCall = async () => {
  const bodies = [];
  const server = createHttpServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks).toString('utf8'));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const home = await makeHome(`http://127.0.0.1:${server.address().port}`);
  const daemon = await startDaemon(home);
  try {
    const [agent] = await makeAgents(daemon.url, 1);
    await say(daemon.url, agent, 'What is sent?');
  } finally {
    await daemon.stop();
    await home.remove();
    server.close();
  }
  return bodies.at(-1);
};

/** Agents with plain answers, one per client. */
export const makeAgents = async (url, count) => {
  const made = [];
  for (let index = 0; index < count; index += 1) made.push((await call(url, 'POST', '/api/agents', { name: `bench-${index}` })).agent_id);
  return made;
};

export const say = (url, agentId, message) => call(url, 'POST', `/api/agents/${agentId}/message`, { message });
