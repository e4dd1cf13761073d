/**
 * A fixed load, whatever the daemon makes of it: each kind of client begins so often a second, and none waits for another.
 *
 *   node soak-client.mjs '{"origin", "quick": ["<agent>", …], "slow": ["<agent>", …], "rates": {"messages", "streams", "sockets"}}'
 *
 * Messages go to the quick agents in turn, so each conversation grows all the time. Streams and sockets are of the slow agents:
 * of three streams one is left in the middle and one is followed again from where it was left; of three sockets one closes at
 * once, one in the middle of an answer, one after it.
 *
 * Runs until SIGTERM; prints {sent, failed, latencies} when all that had begun has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, WebSocket } from 'undici';

const { origin, quick, slow, rates } = JSON.parse(process.argv[2]);
const MAX_LATENCIES = 20_000;
const LEFT_AFTER_MS = 600;
const question = `Where would you keep the spare keys of a house that nobody lives in during the winter? ${'I have thought about the shed. '.repeat(7)}`;

const dispatcher = new Agent({ connections: 256, bodyTimeout: 0, headersTimeout: 0 });
const seen = { sent: 0, failed: {}, latencies: [] };
let isOver = false;
const inTurn = (list) => {
  let next = -1;
  return () => {
    next = (next + 1) % list.length;
    return list[next];
  };
};
const nextQuick = inTurn(quick);
const nextSlow = inTurn(slow);

const post = (path, body, signal, headers = {}) =>
  dispatcher.request({ origin, path, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body), ...(signal ? { signal } : {}) });

const sendMessage = async () => {
  const begun = performance.now();
  const response = await post(`/api/agents/${nextQuick()}/message`, { message: question });
  await response.body.dump();
  if (seen.latencies.length < MAX_LATENCIES) seen.latencies.push(performance.now() - begun);
  if (response.statusCode !== 200) throw new Error(`message ${response.statusCode}`);
};

/** Reads until it is left or the stream ends; gives the id of the last event. */
const readEvents = async (asking, leaving) => {
  let last;
  try {
    const { statusCode, body } = await asking;
    if (statusCode !== 200) throw new Error(`stream ${statusCode}`);
    for await (const chunk of body) for (const [, id] of chunk.toString().matchAll(/^id: ?(\S+)$/gm)) last = id;
  } catch (error) {
    if (!leaving?.aborted) throw error;
  }
  return last;
};

const stream = async (count) => {
  const agent = nextSlow();
  const leaving = new AbortController();
  const timer = count % 3 === 0 ? undefined : setTimeout(() => leaving.abort(), LEFT_AFTER_MS);
  const path = `/api/agents/${agent}/message/stream`;
  const last = await readEvents(post(path, { message: question }, leaving.signal), leaving.signal);
  clearTimeout(timer);
  if (count % 3 !== 2 || last === undefined) return;
  await readEvents(post(path, { message: question }, undefined, { 'last-event-id': last }));
};

const socket = async (count) => {
  const ws = new WebSocket(`${origin.replace('http', 'ws')}/api/agents/${nextSlow()}/ws`);
  const ended = new Promise((resolve, reject) => {
    ws.addEventListener('close', resolve);
    ws.addEventListener('error', () => reject(new Error('socket')));
    ws.addEventListener('message', ({ data }) => {
      if (/"type":"(response|error)"/.test(data)) ws.close();
    });
  });
  ws.addEventListener('open', async () => {
    if (count % 3 === 0) return ws.close();
    ws.send(JSON.stringify({ type: 'message', content: question }));
    if (count % 3 === 1) {
      await sleep(LEFT_AFTER_MS);
      ws.close();
    }
  });
  await ended;
};

const begin = async (work, perSecond) => {
  const begun = performance.now();
  const under = new Set();
  for (let count = 0; !isOver; count += 1) {
    await sleep(Math.max(0, begun + (count / perSecond) * 1_000 - performance.now()));
    seen.sent += 1;
    const one = work(count).catch((error) => {
      seen.failed[error.message] = (seen.failed[error.message] ?? 0) + 1;
    });
    under.add(one);
    void one.finally(() => under.delete(one));
  }
  await Promise.all(under);
};

process.once('SIGTERM', () => {
  isOver = true;
});
await Promise.all([begin(sendMessage, rates.messages), begin(stream, rates.streams), begin(socket, rates.sockets)]);
console.log(JSON.stringify(seen));
await dispatcher.close();
