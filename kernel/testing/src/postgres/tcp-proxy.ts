/** The way to a server, which a test can cut: so that both ends are told, or so that nobody is. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** The same URL by this way. */
  through(url: string): string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  /** From now on nothing arrives, in either direction, and no connection is closed; new ones are accepted and stay silent. */
  silence(): void;
  /** New connections work again. Those that were silenced stay so. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export const startTcpProxy = async (serverPort: number): Promise<TcpProxy> => {
  const open = new Set<Socket>();
  let isSilent = false;
  const join = (client: Socket): void => {
    if (isSilent) return void follow(client, open);
    const upstream = connect(serverPort, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      follow(from, open);
      from.on('data', (data) => to.write(data));
      from.on('close', () => to.destroy());
    }
  };
  let server = await listen(join, 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const stop = async (): Promise<void> => {
    for (const socket of open) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return {
    port,
    through: (url) => Object.assign(new URL(url), { port: String(port) }).href,
    cut: stop,
    silence: () => {
      isSilent = true;
      // Nobody hears of it: not even that the other end has closed.
      for (const socket of open)
        socket
          .removeAllListeners('data')
          .removeAllListeners('close')
          .on('data', () => undefined);
    },
    restore: async () => {
      isSilent = false;
      if (!server.listening) server = await listen(join, port);
    },
    close: stop,
  };
};

const follow = (socket: Socket, open: Set<Socket>): void => {
  open.add(socket);
  socket.on('error', () => undefined); // its end says the same
  socket.on('close', () => open.delete(socket));
};

const listen = async (join: (client: Socket) => void, port: number): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, join).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
