/**
 * Clients that each keep one conversation while it grows. All go through the bands of a conversation together, so that the CPU between
 * two bands belongs to talks of one length.
 *
 *   node growing-client.mjs '{"servers": {"floor": {"origin", "pid", "paths"}, …}, "provider": "http://…", "bands": [[1, 1], [2, 3], …], "conversations": 4, "warmUps": 1}'
 *
 * A band is its first and last exchange (a question and its answer). The servers take turns, a conversation each; those that warm up are not told.
 *
 * Prints {<server>: [{bands: [{cpuMs, seconds, messages}, …], requestBytes}, …]}; the bytes are of the last request that reached the provider.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'undici';
import { fineCpuMs } from '../../processes.mjs';

const { servers, provider, bands, conversations, warmUps } = JSON.parse(process.argv[2]);
const headers = { 'content-type': 'application/json' };
const MESSAGE_CHARS = 300;
const WORDS = 'the garden spare key under blue pot door shed winter we keep lamp bread letters neighbour comes back on friday morning ask her whether she has seen it or moved'.split(' ');

const questionOf = (client, exchange) => {
  let text = `Question ${exchange} of ${client}:`;
  for (let word = 0; text.length < MESSAGE_CHARS; word += 1) text += ` ${WORDS[(word * 7 + exchange * 3 + client) % WORDS.length]}`;
  return `${text}?`;
};

const post = async (client, path, body) => {
  const response = await client.request({ path, method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}: ${text.slice(0, 300)}`);
};

/** A new session for each client; its connection it keeps. */
const beginConversations = ({ clients, paths }) =>
  Promise.all(
    paths.map(async (path, index) => {
      const conversation = { client: clients[index], path, index, session: randomUUID() };
      if (path.startsWith('/api/agents/')) await post(conversation.client, path.replace(/\/message$/, '/sessions'), { session_id: conversation.session, activate: false });
      return conversation;
    }),
  );

const runBand = async (server, begun, [first, last]) => {
  const cpu = fineCpuMs(server.pid);
  const startedMs = performance.now();
  const grow = async ({ client, path, index, session }) => {
    for (let exchange = first; exchange <= last; exchange += 1) await post(client, path, { message: questionOf(index, exchange), session_id: session });
  };
  await Promise.all(begun.map(grow));
  return { cpuMs: fineCpuMs(server.pid) - cpu, seconds: (performance.now() - startedMs) / 1_000, messages: begun.length * (last - first + 1) };
};

const runConversations = async (server) => {
  const begun = await beginConversations(server);
  const measured = [];
  for (const band of bands) measured.push(await runBand(server, begun, band));
  const { bytes } = await (await fetch(`${provider}/v1/models`)).json();
  return { bands: measured, requestBytes: bytes };
};

for (const server of Object.values(servers)) server.clients = server.paths.map(() => new Client(server.origin));
const seen = Object.fromEntries(Object.keys(servers).map((name) => [name, []]));
for (let round = 0; round < warmUps + conversations; round += 1) for (const [name, server] of Object.entries(servers)) seen[name].push(await runConversations(server));
console.log(JSON.stringify(Object.fromEntries(Object.entries(seen).map(([name, all]) => [name, all.slice(warmUps)]))));
process.exit(); // connections that are kept would keep it
