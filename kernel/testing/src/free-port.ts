/** Ports of this machine that nobody uses now. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** For a server of another program. */
export const freePort = async (): Promise<number> => {
  const server = createServer();
  const port = await listenAt(server, 0);
  server.close();
  await once(server, 'close');
  return port;
};

let usual = 0;
let isOne = false;

/** Daemons that are booted from now on have one port, one after the other: a browser has the page's files and compiled scripts by origin. */
export const useOnePort = (isUsed: boolean): void => {
  isOne = isUsed;
};

/** Where a daemon of a test listens; 0 leaves the choice to the system. */
export const nextPort = async (): Promise<number> => {
  if (!isOne) return 0;
  usual ||= await freePort();
  const server = createServer();
  try {
    await listenAt(server, usual);
  } catch {
    return 0; // an earlier daemon still runs
  }
  server.close();
  await once(server, 'close');
  return usual;
};

const listenAt = async (server: Server, at: number): Promise<number> => {
  await once(server.listen(at, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
};
