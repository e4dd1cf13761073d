/**
 * A bare node:http server that makes a JSON of that many bytes for each request.
 *
 *   node json-server.mjs <bytes>     prints its port
 */
import { createServer } from 'node:http';

const bytes = Number(process.argv[2]);
const value = { id: 'an agent', fields: [] };
while (JSON.stringify(value).length < bytes - 24) value.fields.push({ name: 'a field' });

const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
  const text = JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
