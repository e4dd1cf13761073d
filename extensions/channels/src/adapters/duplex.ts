/** A connection as libraries expect one: a Duplex of Node with the methods of a socket that they call. */
import { Duplex } from 'node:stream';
import type { TcpConnection } from '@svc/api';

/** Called on sockets by libraries; each answers with the socket. */
const itself = function <T>(this: T): T {
  return this;
};
const SOCKET_METHODS = { setTimeout: itself, setKeepAlive: itself, setNoDelay: itself, ref: itself, unref: itself };

class SocketLike extends Duplex {
  readonly #connection: TcpConnection;
  readonly #pieces: AsyncIterator<Uint8Array>;

  constructor(connection: TcpConnection) {
    // When the other side ends, so does this one, as a socket does.
    super({ allowHalfOpen: false });
    // The adapter for TCP has its own limits.
    Object.assign(this, SOCKET_METHODS);
    this.#connection = connection;
    this.#pieces = connection.readable[Symbol.asyncIterator]();
  }

  override _read(): void {
    this.#pieces.next().then(
      ({ value, done }) => this.push(done ? null : value),
      (error: Error) => this.destroy(error),
    );
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk).then(() => done(), done);
  }

  override _final(done: () => void): void {
    this.#connection.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#connection.close();
    done(error);
  }
}

export const duplexOf = (connection: TcpConnection): Duplex => new SocketLike(connection);
