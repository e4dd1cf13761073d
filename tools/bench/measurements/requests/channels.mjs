/** Channels: how much later the model is asked by a signed webhook or over MQTT than by REST, and how fast the outbox delivers to an instant destination. */
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import mqtt from 'mqtt';
import { call, makeHome, say, startDaemon } from '../../daemon.mjs';
import { median, milliseconds, perSecond } from '../../figures.mjs';

const SECRET = 'a secret of the bench';
const CHATS = 32;
const LATER_MS = 15;
const LEAST_PER_SECOND = 200;
const WARM_UP = 30;

/** A server in this process that gives each body with the time of its arrival to whoever waits. */
const startListener = async (answer) => {
  const waiting = [];
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    answer(response, Buffer.concat(chunks).toString('utf8'), at);
    waiting.shift()?.(at);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const answerAsModel = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
};

const postSigned = async (url, message) => {
  const body = JSON.stringify(message);
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const response = await fetch(`${url}/api/channels/webhook/webhook`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-webhook-signature': signature }, body });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`the webhook answered ${response.status}`);
};

/** Mosquitto, where it is installed, with a client that writes and reads. */
const startBroker = async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-bench-mqtt-'));
  const port = 32_100 + (process.pid % 500);
  await writeFile(path.join(folder, 'mosquitto.conf'), `listener ${port} 127.0.0.1\nallow_anonymous true\nuser root\n`);
  const child = spawn('/usr/sbin/mosquitto', ['-c', path.join(folder, 'mosquitto.conf')], { stdio: 'ignore' });
  const isThere = await new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
  const end = async () => {
    child.kill('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  };
  if (!isThere) {
    await end();
    return undefined;
  }
  const url = `mqtt://127.0.0.1:${port}`;
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 50 });
  const waiting = [];
  client.on('message', () => waiting.shift()?.());
  await client.subscribeAsync('bench/answer', { qos: 1 });
  return {
    url,
    write: (text) => client.publishAsync('bench/ask', text, { qos: 1 }),
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop: async () => {
      await client.endAsync();
      await end();
    },
  };
};

/** From the request to the question to the model, each way in turn; each is over before the next begins. A way is begun, and resolves when it is over. */
const compare = async (model, ways, count) => {
  const seen = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let index = 0; index < WARM_UP + count; index += 1)
    for (const [name, way] of Object.entries(ways)) {
      const asked = model.next();
      const begun = performance.now();
      const over = way();
      const lasted = (await asked) - begun;
      await over;
      if (index >= WARM_UP) seen[name].push(lasted);
    }
  return seen;
};

const untilConnected = async (daemon, name) => {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await call(daemon.url, 'GET', `/api/channels/${name}`)).state === 'connected') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} does not connect`);
};

/** Messages to several chats at once, each chat in its order. */
const deliver = async (daemon, arrived, count) => {
  const each = Math.ceil(count / CHATS);
  const total = each * CHATS;
  arrived.length = 0;
  const begun = performance.now();
  const chat = async (name) => {
    for (let index = 0; index < each; index += 1) await call(daemon.url, 'POST', '/api/comms/send', { to: `webhook:${name}`, content: String(index) });
  };
  await Promise.all(Array.from({ length: CHATS }, (_, index) => chat(`chat-${index}`)));
  const deadline = performance.now() + 120_000;
  while (arrived.length < total && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
  const lasted = (arrived.at(-1)?.at ?? performance.now()) - begun;
  const last = new Map();
  let disordered = 0;
  for (const { body } of arrived) {
    const { recipient_id: to, message } = JSON.parse(body);
    if (Number(message) !== (last.get(to) ?? -1) + 1) disordered += 1;
    last.set(to, Number(message));
  }
  return { rate: arrived.length / (lasted / 1_000), arrived: arrived.length, total, disordered };
};

export const run = async ({ isQuick }) => {
  const counts = isQuick ? { messages: 60, deliveries: 640 } : { messages: 300, deliveries: 3_200 };
  const arrived = [];
  const model = await startListener(answerAsModel);
  const receiver = await startListener((response, body, at) => {
    arrived.push({ body, at });
    response.end();
  });
  const home = await makeHome(model.url);
  await appendFile(path.join(home.home, 'config.toml'), '\n[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n');
  const daemon = await startDaemon(home);
  const broker = await startBroker();
  try {
    await call(daemon.url, 'POST', '/api/channels/webhook/configure', { fields: { secret_env: SECRET, callback_url: receiver.url } });
    const { agents } = await call(daemon.url, 'GET', '/api/agents');
    const [agent] = agents;
    if (broker) {
      await call(daemon.url, 'POST', '/api/channels/mqtt/configure', { fields: { broker_url: broker.url, topic_in: 'bench/ask', topic_out: 'bench/answer' } });
      await untilConnected(daemon, 'mqtt');
    }
    const ways = {
      rest: () => say(daemon.url, agent.id, 'How late is this?'),
      webhook: () => Promise.all([receiver.next(), postSigned(daemon.url, { sender_id: 'bench', message: 'How late is this?' })]),
      ...(broker ? { mqtt: () => Promise.all([broker.next(), broker.write('How late is this?')]) } : {}),
    };
    const seen = await compare(model, ways, counts.messages);
    const outbox = await deliver(daemon, arrived, counts.deliveries);
    const rest = median(seen.rest);
    const late = (name, what) => ({
      what: `${what} to the request to the model, p50`,
      value: milliseconds(median(seen[name])),
      floor: milliseconds(rest),
      target: `≤ ${LATER_MS} ms more than REST`,
      met: median(seen[name]) - rest <= LATER_MS,
      method: `${counts.messages} of each in turn, one at a time; the floor is REST`,
    });
    const isWhole = outbox.arrived === outbox.total && outbox.disordered === 0;
    return {
      rows: [
        late('webhook', 'webhook'),
        ...(broker ? [late('mqtt', 'MQTT')] : []),
        {
          what: 'outbox to an instant destination',
          value: perSecond(outbox.rate),
          target: `≥ ${LEAST_PER_SECOND}/s`,
          met: outbox.rate >= LEAST_PER_SECOND && isWhole,
          method: `${outbox.arrived} of ${outbox.total} arrived, ${outbox.disordered} out of their order; ${CHATS} chats at once, from the first request to the last arrival`,
        },
      ],
      raw: { seen, outbox },
    };
  } finally {
    await daemon.stop();
    await broker?.stop();
    model.stop();
    receiver.stop();
    await home.remove();
  }
};
