/** A port of this machine that nobody listens on. */
import { type AddressInfo, createServer } from 'node:net';

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo; // listening, so it has an address
      server.close(() => resolve(port));
    });
  });
