/** What the providers of the bench share: the events of chat completions, and a server that answers each call at once. */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const base = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'bench' };
const frame = (value) => `data: ${JSON.stringify({ ...base, ...value })}\n\n`;

export const event = (delta, finish = null) => frame({ choices: [{ index: 0, delta, finish_reason: finish }] });
export const ending = (finish, usage) => `${event({}, finish)}${frame({ choices: [], usage })}data: [DONE]\n\n`;

/** `answer(body, response, size)` is called for each model call, with its body and the bytes of it, `answerGet(path)` for anything else. Resolves when it listens; prints its port. */
export const serveCalls = (answer, answerGet = () => ({ object: 'list', data: [{ id: 'bench', object: 'model' }] })) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerGet(request.url)));
      return;
    }
    answer(await json(request), response, Number(request.headers['content-length']));
  });
  server.on('connection', (socket) => socket.setNoDelay(true));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
};

export const sendAtOnce = (response, events) => response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': Buffer.byteLength(events) }).end(events);
