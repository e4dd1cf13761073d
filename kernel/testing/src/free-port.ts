/** Ports of this machine that nobody uses now. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The port, or for 0 one that the system chooses; rejects while somebody listens there. */
const tried = async (at: number): Promise<number> => {
  const server = createServer().listen(at, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
};

/** For a server of another program. */
export const freePort = (): Promise<number> => tried(0);

let usual = 0;
let isOne = false;

/** Daemons that are booted from now on have one port, one after the other: a browser has the page's files and compiled scripts by origin. */
export const useOnePort = (isUsed: boolean): void => {
  isOne = isUsed;
};

/** Where a daemon of a test listens; 0 leaves the choice to the system. */
export const nextPort = async (): Promise<number> => {
  if (!isOne) return 0;
  const port = await tried(usual).catch(() => 0); // an earlier daemon still runs
  usual ||= port;
  return port;
};
