/** The floor of messages: a bare server beside the daemon that does the same work. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { recordModelCall, startServer } from './daemon.mjs';

/** `program` is one of programs/servers that takes a database file, the provider's url, and the file of a model call's body. */
export const startFloor = async (providerUrl, program = 'floor-server') => {
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-floor-'));
  const callFile = path.join(dir, 'model-call.json');
  await writeFile(callFile, await recordModelCall());
  const server = await startServer(`tools/bench/programs/servers/${program}.mjs`, [path.join(dir, 'floor.db'), providerUrl, callFile]);
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
};

/** A conversation for each client. */
export const floorPaths = (clients) => Array.from({ length: clients }, (_, index) => `/talks/${index}`);
