/**
 * What a stream costs without us: a bare node:http server that makes the model call with undici and hands its bytes through.
 *
 *   node pipe-server.mjs <unused> <provider url> <file of a model call's body>     prints its port
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Pool } from 'undici';

const [, provider, callFile] = process.argv.slice(2);
const modelCall = JSON.parse(readFileSync(callFile, 'utf8'));
const upstream = new Pool(provider, { connections: 1_024 });

const pass = async (request, response) => {
  const { message } = await json(request);
  const { body } = await upstream.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ ...modelCall, messages: [...modelCall.messages.slice(0, -1), { role: 'user', content: message }] }),
  });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await pipeline(body, response);
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  pass(request, response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
