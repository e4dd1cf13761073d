/** From the provider's first byte to the first byte of it that a client reads, provider and client sharing this process's clock. */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { makeAgents, makeHome, startDaemon } from '../../daemon.mjs';
import { milliseconds, percentile } from '../../figures.mjs';

const CLIENTS = 4;
const LIMIT_MS = 5;
/** Between the question and the first token, as a fast model takes. */
const THINK_MS = 20;

const delta = (text, finish) =>
  `data: ${JSON.stringify({ id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, delta: { content: text }, finish_reason: finish }] })}\n\n`;

/** Remembers when it wrote the first byte for each marker, a word of the question that comes back in the answer. */
const startModel = async () => {
  const firstByte = new Map();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const marker = /marker-\d+(?!.*marker-\d)/s.exec(Buffer.concat(chunks).toString('utf8'))?.[0] ?? 'none';
    await sleep(THINK_MS);
    firstByte.set(marker, performance.now());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(delta(`The ${marker} `, null));
    await sleep(THINK_MS);
    response.end(`${delta('it is.', 'stop')}data: [DONE]\n\n`);
  });
  server.on('connection', (socket) => socket.setNoDelay(true));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, firstByte, close: () => server.close() };
};

/** Milliseconds of one streamed message. */
const streamOnce = async (client, agent, marker, firstByte) => {
  const response = await client.request({
    path: `/api/agents/${agent}/message/stream`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: `Say ${marker}` }),
  });
  let text = '';
  let seenMs;
  for await (const chunk of response.body) {
    text += chunk;
    if (seenMs === undefined && text.includes(`The ${marker}`)) seenMs = performance.now();
  }
  if (seenMs === undefined) throw new Error(`the stream ended without its first token: ${text.slice(0, 300)}`);
  return seenMs - firstByte.get(marker);
};

export const run = async ({ isQuick }) => {
  const messages = isQuick ? 100 : 500;
  const model = await startModel();
  const home = await makeHome(model.url);
  const daemon = await startDaemon(home);
  const raw = [];
  try {
    const agents = await makeAgents(daemon.url, CLIENTS);
    let sent = 0;
    const loop = async (agent) => {
      const client = new Client(daemon.url);
      while (sent < messages + CLIENTS * 5) {
        sent += 1;
        raw.push(await streamOnce(client, agent, `marker-${sent}`, model.firstByte));
      }
      await client.close();
    };
    await Promise.all(agents.map(loop));
  } finally {
    await daemon.stop();
    model.close();
    await home.remove();
  }
  // The first ones compile the code they run.
  const warm = raw.slice(CLIENTS * 5);
  const p99 = percentile(warm, 99);
  const row = {
    what: "first SSE byte after the provider's first byte, p99",
    value: milliseconds(p99),
    target: `≤ ${LIMIT_MS} ms`,
    met: p99 <= LIMIT_MS,
    method: `${warm.length} streams, ${CLIENTS} clients, p50 ${milliseconds(percentile(warm, 50))}; to the first token, not to the phase frame`,
  };
  return { rows: [row], raw };
};
