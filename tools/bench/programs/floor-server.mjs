/**
 * What the work itself costs: a bare node:http server that stores the question durably, makes the model call
 * with undici, stores the answer durably, and replies. Every insert of one turn of the event loop shares one commit.
 *
 * The body of the model call is what the product sends: the file holds one, of which only the messages are changed.
 *
 *   node floor-server.mjs <database file> <provider url> <file of a model call's body>     prints its port
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
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

const store = (kind, text) =>
  new Promise((resolve, reject) => {
    waiting.push({ row: { kind, text }, resolve, reject });
    if (writing) return;
    writing = true;
    setImmediate(pump);
  });

const bodyOf = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

/** The text of an OpenAI event stream. */
const textOf = (events) => {
  let text = '';
  for (const line of events.split('\n')) if (line.startsWith('data: {')) text += JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? '';
  return text;
};

const answer = async (request) => {
  const { message } = JSON.parse(await bodyOf(request));
  await store('user', message);
  const { body } = await upstream.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ ...modelCall, messages: [...modelCall.messages.slice(0, -1), { role: 'user', content: message }] }),
  });
  const text = textOf(await bodyOf(body));
  await store('assistant', text);
  return JSON.stringify({ response: text });
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  answer(request).then(
    (text) => response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
