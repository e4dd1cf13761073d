/** An npm registry in a process of its own: verdaccio over a folder of its own, on a free port, without a way to any other. Says its address when it listens. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { runServer } from 'verdaccio';

const [folder = ''] = process.argv.slice(2);
const anybody = { access: '$all', publish: '$all', unpublish: '$all' };
const settings = {
  storage: join(folder, 'storage'),
  self_path: folder,
  auth: {},
  uplinks: {},
  packages: { '@*/*': anybody, '**': anybody },
  log: { type: 'stdout', format: 'json', level: 'fatal' },
  web: { enable: false },
  max_body_size: '100mb',
};

// It types its settings as what its own parser made of a file.
const server: Server = await runServer(settings as unknown as Parameters<typeof runServer>[0]);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
process.send?.(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
process.on('disconnect', () => process.exit());
