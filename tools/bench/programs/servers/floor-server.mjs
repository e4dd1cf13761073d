/**
 * What the work itself costs: a bare node:http server that stores the question durably, makes the model call
 * with undici, stores the answer durably, and replies. Every insert of one turn of the event loop shares one commit.
 *
 * The body of the model call is what the product sends: the file holds one, of which only the messages are changed.
 * Each path has one conversation, kept in memory, until a message names another session. Asked for a tool, it knows the time.
 *
 *   node floor-server.mjs <database file> <provider url> <file of a model call's body>     prints its port
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { json, text } from 'node:stream/consumers';
import sqlite3 from 'sqlite3';
import { Pool } from 'undici';

const [file, provider, callFile] = process.argv.slice(2);
const modelCall = JSON.parse(readFileSync(callFile, 'utf8'));
const upstream = new Pool(provider, { connections: 128 });

const db = new sqlite3.Database(file);
const exec = (sql) => new Promise((resolve, reject) => db.exec(sql, (error) => (error ? reject(error) : resolve())));
await exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL)');
const insert = db.prepare("INSERT INTO entries(kind, text) SELECT value ->> 'kind', value ->> 'text' FROM json_each(?)");

let waiting = [];
let writing = false;

const pump = () => {
  const batch = waiting;
  waiting = [];
  if (batch.length === 0) {
    writing = false;
    return;
  }
  insert.run(JSON.stringify(batch.map(({ row }) => row)), (error) => {
    for (const one of batch) error ? one.reject(error) : one.resolve();
    pump();
  });
};

const store = (kind, body) =>
  new Promise((resolve, reject) => {
    waiting.push({ row: { kind, text: body }, resolve, reject });
    if (writing) return;
    writing = true;
    setImmediate(pump);
  });

/** The text of an OpenAI event stream, and the tool calls in it; the calls come whole. */
const readAnswer = (events) => {
  const said = { text: '', calls: [] };
  for (const line of events.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
    said.text += delta?.content ?? '';
    for (const { id, type, function: asked } of delta?.tool_calls ?? []) said.calls.push({ id, type, function: asked });
  }
  return said;
};

const think = async (messages) => {
  const { body } = await upstream.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ ...modelCall, messages: [...modelCall.messages.slice(0, -1), ...messages] }),
  });
  return readAnswer(await text(body));
};

const conversations = new Map();
const conversationOf = (path, session) => {
  if (conversations.get(path)?.session !== session) conversations.set(path, { session, messages: [] });
  return conversations.get(path).messages;
};

const keep = (conversation, message) => {
  conversation.push(message);
  return store(message.role, JSON.stringify(message));
};

const answer = async (request) => {
  const { message, session_id } = await json(request);
  const conversation = conversationOf(request.url, session_id);
  await keep(conversation, { role: 'user', content: message });
  let said = await think(conversation);
  while (said.calls.length > 0) {
    await keep(conversation, { role: 'assistant', content: null, tool_calls: said.calls });
    for (const call of said.calls)
      await keep(conversation, { role: 'tool', tool_call_id: call.id, content: JSON.stringify({ utc: new Date().toISOString(), unix_ms: Date.now(), weekday: 'Sunday' }) });
    said = await think(conversation);
  }
  await keep(conversation, { role: 'assistant', content: said.text });
  return JSON.stringify({ response: said.text });
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  answer(request).then(
    (reply) => response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) }).end(reply),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
