/** One TCP connection as an extension uses it: bounded in what waits, never read ahead of who asks, closed when it is silent. */
import type { Socket } from 'node:net';
import type { TcpConnection } from '@svc/api';
import type { TimerClock } from '../../clock/clock.js';
import { tcpErrors } from '../errors.js';

/** Written, and not yet taken by the other side. */
const MAX_UNSENT_BYTES = 1_048_576;
export const IDLE_TIMEOUT_MS = 300_000;

export interface ConnectionTerms {
  /** As messages name the other side. */
  readonly shown: string;
  readonly clock: TimerClock;
  readonly idleTimeoutMs: number;
  /** TLS over the same socket. Left out for connections that were accepted, and for those that have it. */
  readonly secure?: (socket: Socket, options: { readonly ca?: string }) => Promise<TcpConnection>;
}

/** The socket is connected and paused. */
export const connectionOf = (socket: Socket, { shown, clock, idleTimeoutMs, secure }: ConnectionTerms): TcpConnection => {
  let isIdle = false;
  let isBegun = false;
  let isSpent = false;
  let next: TcpConnection | undefined;
  const stopWatching = watchIdle(socket, clock, idleTimeoutMs, () => {
    isIdle = true;
    socket.destroy();
  });
  let failure: Error | undefined;
  socket.on('error', (error) => {
    failure = error;
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      stopWatching();
      resolve();
    });
    if (socket.destroyed) resolve();
  });
  const ending = (): Error | undefined => (isIdle ? tcpErrors.idle(shown, idleTimeoutMs) : failure && tcpErrors.lost(shown).with({ cause: failure }));
  return {
    remote: { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 },
    readable: {
      [Symbol.asyncIterator]: () => {
        if (isBegun) throw new Error('a connection is read once');
        isBegun = true;
        return pieces(socket, ending, () => isSpent);
      },
    },
    write: (data) =>
      new Promise((resolve, reject) => {
        if (isSpent || !socket.writable) return reject(ending() ?? tcpErrors.closed(shown));
        if (socket.writableLength + Buffer.byteLength(data) > MAX_UNSENT_BYTES) return reject(tcpErrors.send_full(shown, MAX_UNSENT_BYTES));
        socket.write(data, (error) => (error ? reject(ending() ?? tcpErrors.closed(shown).with({ cause: error })) : resolve()));
      }),
    end: () => void (isSpent || socket.end()),
    startTls: async (options = {}) => {
      if (!secure) throw tcpErrors.not_securable(shown, 'it is encrypted already, or it was accepted');
      if (isSpent) throw tcpErrors.not_securable(shown, 'it was secured before');
      isSpent = true;
      stopWatching();
      if (socket.readableLength > 0 || socket.destroyed) {
        socket.destroy();
        throw tcpErrors.not_securable(shown, 'bytes came before TLS, or it was closed');
      }
      next = await secure(socket, options);
      return next;
    },
    close: () => {
      next?.close();
      socket.destroy();
    },
    closed,
  };
};

/** Gives what ends the watch. */
const watchIdle = (socket: Socket, clock: TimerClock, idleMs: number, late: () => void): (() => void) => {
  let seen = -1;
  let cancel = (): void => undefined;
  const look = (): void => {
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    if (moved === seen) late();
    else cancel = clock.schedule(idleMs, look);
    seen = moved;
  };
  look();
  return () => cancel();
};

async function* pieces(socket: Socket, ending: () => Error | undefined, isSpent: () => boolean): AsyncGenerator<Uint8Array> {
  while (!isSpent()) {
    const piece: Buffer | null = socket.read();
    if (piece !== null) {
      yield piece;
      continue;
    }
    if (socket.readableEnded) return;
    if (socket.destroyed) {
      const error = ending();
      if (error) throw error;
      return;
    }
    await moved(socket);
  }
}

const moved = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const events = ['readable', 'end', 'close'];
    const wake = (): void => {
      for (const event of events) socket.off(event, wake);
      resolve();
    };
    for (const event of events) socket.once(event, wake);
  });
