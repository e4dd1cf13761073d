/** A provider that answers at once, and keeps the last request. */
import { createServer } from 'node:http';

const ANSWER = 'data: {"choices":[{"index":0,"delta":{"content":"Noted."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

export const startRecorder = async () => {
  let last;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    last = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    last: () => last,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
};
