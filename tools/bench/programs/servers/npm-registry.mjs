/** An npm registry of one package: its packument, and its archive. Prints its port. `argv`: the archive, its name, its version. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [file, name, version] = process.argv.slice(2);
const archive = readFileSync(file);
const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;

const server = createServer((request, response) => {
  if (request.url?.endsWith('.tgz')) return response.end(archive);
  const dist = { tarball: `http://127.0.0.1:${server.address().port}/${name}-${version}.tgz`, integrity };
  response.setHeader('content-type', 'application/json');
  return response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist } } }));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
