/**
 * WebSockets to servers.
 *
 * V1  A WebSocket runs over a socket of the TCP adapter: what that one does not reach is not reached here either, and no redirect is followed.
 * V2  Messages are bounded in size, what waits to be read and to be sent is bounded, and silence closes the connection.
 */
import { isSvcError, parsedUrl, type WebSocketConnection, type WebSocketEnd, type WebSocketOptions } from '@svc/api';
import type { WebSocket } from 'ws';
import type { TimerClock } from '../../clock/clock.js';
import { websocketErrors } from '../errors.js';
import type { TcpAdapter, TcpCaller } from '../tcp/tcp-adapter.js';

const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 300_000;
/** Between goodbye and cutting it off. */
const CLOSE_WAIT_MS = 2_000;
const MAX_MESSAGE_BYTES = 4_194_304;
const MAX_UNSENT_BYTES = 1_048_576;
/** Messages that wait to be read before the other side is held up. */
const MAX_UNREAD = 64;
const MAX_REASON_BYTES = 123;
const ABNORMAL = 1_006;
const GOING_AWAY = 1_001;
const PORTS: Readonly<Record<string, number>> = { 'ws:': 80, 'wss:': 443 };

export interface WebSocketTarget {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
}

export interface WebSocketAdapter {
  open(caller: TcpCaller, target: WebSocketTarget, options: WebSocketOptions): Promise<WebSocketConnection>;
}

/** Where a URL leads. Throws `websocket_bad_url`. */
export const webSocketTarget = (text: string): WebSocketTarget => {
  const url = parsedUrl(text);
  if (!url || url.hostname === '') throw websocketErrors.bad_url('it is not a URL');
  const port = PORTS[url.protocol];
  if (port === undefined) throw websocketErrors.bad_url(`${url.protocol.slice(0, -1)} is neither ws nor wss`);
  if (url.username !== '' || url.password !== '') throw websocketErrors.bad_url('it contains a user name or password');
  if (url.hash !== '') throw websocketErrors.bad_url('it contains a fragment');
  return { url, host: url.hostname, port: url.port === '' ? port : Number(url.port) };
};

export const createWebSocketAdapter = ({ tcp, clock }: { readonly tcp: Pick<TcpAdapter, 'socket'>; readonly clock: TimerClock }): WebSocketAdapter => ({
  open: async (caller, { url, host, port }, options) => {
    const shown = `${host}:${port}`;
    const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    const late = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => late.abort(websocketErrors.timeout(shown, timeoutMs)));
    // Of the attempt alone: afterwards there is a goodbye first.
    const giveUp = (): void => late.abort(options.signal?.reason);
    options.signal?.addEventListener('abort', giveUp, { once: true });
    if (options.signal?.aborted) giveUp();
    const { signal } = late;
    try {
      const socket = await tcp.socket(caller, { host, port, purpose: options.purpose ?? 'a WebSocket', tls: url.protocol === 'wss:', connectTimeoutMs: timeoutMs, signal });
      const { WebSocket: Client } = await import('ws');
      const client = new Client(url, { createConnection: () => socket, followRedirects: false, perMessageDeflate: false, maxPayload: options.maxMessageBytes ?? MAX_MESSAGE_BYTES });
      const connection = connectionOf(client, clock, shown, options);
      await opened(client, signal, shown).catch((error: unknown) => {
        client.terminate();
        socket.destroy();
        throw error;
      });
      return connection;
    } finally {
      cancel();
      options.signal?.removeEventListener('abort', giveUp);
    }
  },
});

const opened = (client: WebSocket, signal: AbortSignal, shown: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(isSvcError(signal.reason) ? signal.reason : websocketErrors.cancelled(shown).with({ cause: signal.reason }));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    client.once('open', () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    client.once('unexpected-response', (_request, { statusCode }) => reject(websocketErrors.refused(shown, `it answered ${statusCode}`)));
    client.once('error', (error) => reject(websocketErrors.refused(shown, 'no WebSocket came of it').with({ cause: error })));
    client.once('close', () => reject(websocketErrors.refused(shown, 'it hung up')));
  });

/** Listens from before the handshake: a message may come with its end. */
const connectionOf = (client: WebSocket, clock: TimerClock, shown: string, options: WebSocketOptions): WebSocketConnection => {
  const unread: Array<string | Uint8Array> = [];
  const idleMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
  let isBegun = false;
  let isOver = false;
  let moved = (): void => undefined;
  let frames = 0;
  client.on('error', () => undefined); // `close` follows
  client.on('message', (data: Buffer, isBinary) => {
    frames += 1;
    unread.push(isBinary ? new Uint8Array(data) : data.toString('utf8'));
    if (unread.length >= MAX_UNREAD) client.pause();
    moved();
  });
  for (const frame of ['ping', 'pong'] as const) client.on(frame, () => (frames += 1));
  const stopWatching = watchIdle(
    clock,
    idleMs,
    // Held up by whoever reads here, the other side is not silent.
    () => (client.isPaused ? Number.NaN : frames),
    () => client.terminate(),
  );
  const closed = new Promise<WebSocketEnd>((resolve) => {
    client.once('close', (code, reason) => {
      isOver = true;
      stopWatching();
      moved();
      resolve({ code: code === 1_005 ? 1_000 : code || ABNORMAL, reason: reason.toString('utf8') });
    });
  });
  const close = (code = 1_000, reason = ''): void => {
    if (isOver) return;
    client.resume();
    client.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
    clock.schedule(CLOSE_WAIT_MS, () => client.terminate());
  };
  const onAbort = (): void => close(options.closeCode ?? GOING_AWAY);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  void closed.then(() => options.signal?.removeEventListener('abort', onAbort));
  async function* read(): AsyncGenerator<string | Uint8Array> {
    for (;;) {
      const next = unread.shift();
      if (next !== undefined) {
        if (client.isPaused && unread.length < MAX_UNREAD / 2) client.resume();
        yield next;
      } else if (isOver) return;
      else
        await new Promise<void>((resolve) => {
          moved = resolve;
        });
    }
  }
  return {
    messages: {
      [Symbol.asyncIterator]: () => {
        if (isBegun) throw new Error('a connection is read once');
        isBegun = true;
        return read();
      },
    },
    send: (data) =>
      new Promise((resolve, reject) => {
        if (client.readyState !== client.OPEN) return reject(websocketErrors.closed(shown));
        if (client.bufferedAmount + Buffer.byteLength(data) > MAX_UNSENT_BYTES) return reject(websocketErrors.send_full(shown, MAX_UNSENT_BYTES));
        client.send(data, (error) => (error ? reject(websocketErrors.closed(shown).with({ cause: error })) : resolve()));
      }),
    ping: () =>
      new Promise((resolve, reject) => {
        if (client.readyState !== client.OPEN) return reject(websocketErrors.closed(shown));
        const gone = (): void => reject(websocketErrors.closed(shown));
        client.once('close', gone);
        client.once('pong', () => {
          client.off('close', gone);
          resolve();
        });
        client.ping();
      }),
    close,
    closed,
  };
};

/** Gives what ends the watch. `seen`: a number that changes while frames come; NaN is never the same. */
const watchIdle = (clock: TimerClock, idleMs: number, seen: () => number, late: () => void): (() => void) => {
  let last = -1;
  let cancel = (): void => undefined;
  const look = (): void => {
    if (seen() === last) late();
    else cancel = clock.schedule(idleMs, look);
    last = seen();
  };
  look();
  return () => cancel();
};
