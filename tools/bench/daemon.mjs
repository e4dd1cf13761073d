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

/** Providers that speak the wire of chat completions: the default one, and one more for what a single one does not take. */
const PROVIDERS = ['openai', 'groq'];

const configText = (providerUrls) => `[api]
rate_limit_per_second = 100000

[default_model]
provider = "openai"
model = "gpt-4o"

[provider_urls]
${providerUrls.map((url, index) => `${PROVIDERS[index]} = "${url}/v1"\n`).join('')}`;

/** Below what Linux gives to outgoing connections: one that asks again and again for a port where nobody listens yet can be given that very port, and holds it. */
const PORTS = { first: 20_000, count: 12_000 };

const freePort = async () => {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
};

const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** A program that prints its port: a provider, a floor. */
export const startServer = async (file, args = []) => {
  const child = startNode([inRoot(file), ...args]);
  return { url: `http://127.0.0.1:${await child.line()}`, pid: child.pid, stop: child.stop };
};

export const startProvider = () => startServer('fixtures/providers/instant.mjs');

/** A home that daemons of one measurement share, one after the other. With a second url there is a second provider, `groq`; without any, the home is empty. */
export const makeHome = async (...providerUrls) => {
  const home = await mkdtemp(path.join(tmpdir(), 'svc-bench-'));
  if (providerUrls.length > 0) await writeFile(path.join(home, 'config.toml'), configText(providerUrls));
  const keys = { OPENAI_API_KEY: 'sk-bench', GROQ_API_KEY: providerUrls.length > 1 ? 'sk-bench' : '' };
  return { home, env: { SVC_HOME: home, ...keys, SVC_API_KEY: '', SVC_CONFIG: '' }, remove: () => rm(home, { recursive: true, force: true }) };
};

/** Starts the built daemon and resolves as soon as /api/ready answers 200; `readyMs` is counted from the start of the process. */
export const startDaemon = (home, { nodeArgs = [], dist = inRoot('dist') } = {}) => startByEntryPoint(home, [...nodeArgs, path.join(dist, 'daemon/main.js')]);

/** The same by another way to start it: `node args`, which may end before the daemon does. */
export const startByEntryPoint = async ({ home, env }, args, cwd) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const begun = performance.now();
  const child = startNode(args, { env: { ...env, SVC_PORT: String(port) }, cwd });
  const failed = child.ended.then((code) => code !== 0);
  while (!(await isReady(url))) {
    if (performance.now() - begun > READY_WAIT_MS) throw new Error(`the daemon in ${home} is not ready after ${READY_WAIT_MS / 1_000} s`);
    if (await Promise.race([failed, sleep(POLL_MS, false)])) throw new Error(`the daemon in ${home} ended at once`);
  }
  return { url, port, pid: child.pid, begun, readyMs: performance.now() - begun, stop: child.stop, ended: child.ended };
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
export const call = async (url, method, where, body, headers = {}) => {
  const response = await fetch(url + where, { method, headers: { 'content-type': 'application/json', ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
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

/** Agents with plain answers, one per client; `fieldsOf` says what else of the request differs from one to the next. */
export const makeAgents = async (url, count, fieldsOf = () => ({})) => {
  const made = [];
  for (let index = 0; index < count; index += 1) made.push((await call(url, 'POST', '/api/agents', { name: `bench-${index}`, ...fieldsOf(index) })).agent_id);
  return made;
};

export const say = (url, agentId, message) => call(url, 'POST', `/api/agents/${agentId}/message`, { message });
