/**
 * TCP for protocols that are not HTTP.
 *
 * C1  A dial goes to an address that was validated like one of the fetch adapter, and to no other; the name is not looked up again.
 * C2  Connections are limited in number, of one extension and of one listener; one that is silent is closed; nothing is buffered without end.
 * C3  The certificate of the other side is always validated, for the name that was asked for; also where TLS begins later. What came before it is refused.
 */
import { errnoOf } from '../../config/errno.js';
import { connect, createServer, isIP, type Server, type Socket } from 'node:net';
import { isSvcError, type TcpConnection, type TcpListener } from '@svc/api';
import type { DialOptions, ListenOptions } from '@svc/api/internal';
import type { TimerClock } from '../../clock/clock.js';
import type { ScopedLogger } from '../../log/log.js';
import { readHost } from '../address-policy.js';
import { tcpErrors } from '../errors.js';
import { publicAddresses, type ResolvedAddress, type ResolveHost } from '../resolved-address.js';
import { connectionOf, IDLE_TIMEOUT_MS } from './connection.js';

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_PER_LISTENER = 256;
const MAX_OF_ONE = 1_024;
const MAX_PORT = 65_535;

export interface TcpAdapterDeps {
  config: { get(section: string): unknown };
  clock: TimerClock;
  log: ScopedLogger;
  /** Where this daemon listens, once it does. */
  ownPort?: () => number | undefined;
  /** Name resolution; default the system's. */
  resolveHost?: ResolveHost;
}

/** Who asks: the extension, and the patterns of hosts that it was granted. */
export interface TcpCaller {
  readonly id: string;
  readonly hosts: readonly string[];
  /** What an operator configured: private networks too. */
  readonly isServer?: (host: string, port: number) => boolean;
}

export interface TcpAdapter {
  /** A connected socket, for an adapter that speaks a protocol over it. It is counted, and closed with the others. */
  socket(caller: TcpCaller, options: DialOptions): Promise<Socket>;
  dial(caller: TcpCaller, options: DialOptions): Promise<TcpConnection>;
  /** `failed` hears of what `serve` throws. */
  listen(caller: TcpCaller, options: ListenOptions, serve: (connection: TcpConnection) => Promise<void>, failed: (error: unknown) => void): Promise<TcpListener>;
  /** Closes all. */
  close(): Promise<void>;
}

interface AdapterState {
  readonly deps: TcpAdapterDeps;
  readonly open: Map<Socket, string>;
  readonly servers: Set<Server>;
  closed: boolean;
}

export const createTcpAdapter = (deps: TcpAdapterDeps): TcpAdapter => {
  const state: AdapterState = { deps, open: new Map(), servers: new Set(), closed: false };
  return {
    socket: async (caller, options) => (await dialled(state, caller, options)).socket,
    dial: (caller, options) => dial(state, caller, options),
    listen: (caller, options, serve, failed) => listen(state, caller, options, serve, failed),
    close: async () => {
      state.closed = true;
      for (const server of state.servers) server.close();
      for (const socket of state.open.keys()) socket.destroy();
    },
  };
};

const countOf = (state: AdapterState, id: string): number => [...state.open.values()].filter((owner) => owner === id).length;

/** Counts it until it is closed. */
const keep = (state: AdapterState, id: string, socket: Socket): void => {
  state.open.set(socket, id);
  socket.once('close', () => state.open.delete(socket));
};

const assertPort = (port: number, least: number): void => {
  if (!Number.isInteger(port) || port < least || port > MAX_PORT) throw tcpErrors.bad_port(String(port));
};

const dial = async (state: AdapterState, caller: TcpCaller, options: DialOptions): Promise<TcpConnection> => {
  const { socket, ...where } = await dialled(state, caller, options);
  const terms = { shown: where.shown, clock: state.deps.clock, idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS };
  if (options.tls) return connectionOf(socket, terms);
  return connectionOf(socket, { ...terms, secure: async (plain, { ca }) => connectionOf(await secured(state, caller.id, plain, { ...where, ca }), terms) });
};

interface Dialled extends Omit<Securing, 'ca'> {
  readonly socket: Socket;
}

const dialled = async (state: AdapterState, caller: TcpCaller, asked: DialOptions): Promise<Dialled> => {
  const host = readHost(asked.host);
  if (host === undefined) throw tcpErrors.bad_host(asked.host);
  const options = { ...asked, host };
  const shown = `${host.includes(':') ? `[${host}]` : host}:${options.port}`;
  assertPort(options.port, 1);
  if (state.closed) throw tcpErrors.stopping();
  if (countOf(state, caller.id) >= MAX_OF_ONE) throw tcpErrors.too_many(MAX_OF_ONE);
  const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const ending = new AbortController();
  const cancel = state.deps.clock.schedule(timeoutMs, () => ending.abort(tcpErrors.timeout(shown, timeoutMs)));
  const signal = options.signal ? AbortSignal.any([options.signal, ending.signal]) : ending.signal;
  try {
    const addresses = await addressesOf(state, caller, options, shown, signal);
    const socket = await connected(state, caller.id, addresses, options, shown, signal);
    const onAbort = (): void => void socket.destroy();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('close', () => options.signal?.removeEventListener('abort', onAbort));
    return { socket, host, shown, timeoutMs };
  } finally {
    cancel();
  }
};

const addressesOf = (state: AdapterState, caller: TcpCaller, { host, port, purpose }: DialOptions, shown: string, signal: AbortSignal): Promise<readonly ResolvedAddress[]> => {
  // The section was validated at load; here it is only read.
  const { fetch = {} } = (state.deps.config.get('web') ?? {}) as { fetch?: { ssrf_allowed_hosts?: readonly string[] } };
  const target = { host, port: String(port), shown };
  return publicAddresses(
    target,
    { granted: caller.hosts, allowed: fetch.ssrf_allowed_hosts ?? [], isConfigured: caller.isServer?.(host, port) ?? false, ownPort: state.deps.ownPort?.() },
    state.deps.resolveHost,
    signal,
  ).catch((error: unknown) => {
    state.deps.log.warn('A connection was not opened.', { extension: caller.id, host: shown, purpose, why: String(error) });
    throw isSvcError(error) ? error : tcpErrors.cancelled(shown).with({ cause: error });
  });
};

/** Tries one address after the other, over one deadline. */
const connected = async (state: AdapterState, id: string, addresses: readonly ResolvedAddress[], options: DialOptions, shown: string, signal: AbortSignal): Promise<Socket> => {
  let last: unknown;
  for (const { address } of addresses) {
    if (signal.aborted) break;
    try {
      return await connectTo(state, id, address, options, signal);
    } catch (error) {
      last = error;
    }
  }
  if (isSvcError(signal.reason)) throw signal.reason;
  if (signal.aborted) throw tcpErrors.cancelled(shown).with({ cause: signal.reason });
  throw tcpErrors.unreachable(shown, errnoOf(last) ?? 'unknown').with({ cause: last });
};

const connectTo = async (state: AdapterState, id: string, address: string, { host, port, tls }: DialOptions, signal: AbortSignal): Promise<Socket> => {
  const secure = tls ? await import('node:tls') : undefined;
  const where = { host: address, port, noDelay: true };
  // The address is pinned; the certificate is validated for the name. No name is sent for an address (RFC 6066).
  const socket = secure ? secure.connect({ ...where, ...(isIP(host) ? {} : { servername: host }), ...(typeof tls === 'object' ? { ca: tls.ca } : {}) }) : connect(where);
  keep(state, id, socket);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => fail(signal.reason);
    const done = (): void => {
      socket.off('error', fail);
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    };
    socket.once('error', fail);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    socket.once(secure ? 'secureConnect' : 'connect', done);
  });
};

interface Securing {
  readonly host: string;
  readonly ca: string | undefined;
  readonly shown: string;
  readonly timeoutMs: number;
}

/** TLS over a connection that stands, for the name that was dialled. */
const secured = async (state: AdapterState, id: string, plain: Socket, { host, ca, shown, timeoutMs }: Securing): Promise<Socket> => {
  const { connect: secure } = await import('node:tls');
  const socket = secure({ socket: plain, ...(isIP(host) ? { host } : { servername: host }), ...(ca === undefined ? {} : { ca }) });
  keep(state, id, socket);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      cancel();
      socket.destroy();
      plain.destroy();
      reject(isSvcError(error) ? error : tcpErrors.unreachable(shown, errnoOf(error) ?? 'unknown').with({ cause: error }));
    };
    const cancel = state.deps.clock.schedule(timeoutMs, () => fail(tcpErrors.timeout(shown, timeoutMs)));
    const onClose = (): void => fail(tcpErrors.lost(shown));
    socket.once('error', fail);
    socket.once('close', onClose);
    socket.once('secureConnect', () => {
      cancel();
      socket.off('error', fail);
      socket.off('close', onClose);
      socket.pause();
      resolve(socket);
    });
  });
};

const listen = async (state: AdapterState, caller: TcpCaller, options: ListenOptions, serve: (connection: TcpConnection) => Promise<void>, failed: (error: unknown) => void): Promise<TcpListener> => {
  assertPort(options.port, 0);
  if (state.closed) throw tcpErrors.stopping();
  const host = options.host ?? '127.0.0.1';
  const most = Math.min(options.maxConnections ?? MAX_PER_LISTENER, MAX_PER_LISTENER);
  const own = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    if (own.size >= most || countOf(state, caller.id) >= MAX_OF_ONE) return void socket.destroy();
    own.add(socket);
    keep(state, caller.id, socket);
    socket.once('close', () => own.delete(socket));
    const shown = `${socket.remoteAddress}:${socket.remotePort}`;
    void serveOne(socket, connectionOf(socket, { shown, clock: state.deps.clock, idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS }), serve, failed);
  });
  const bound = await opened(server, host, options.port);
  state.servers.add(server);
  return {
    ...bound,
    close: async () => {
      state.servers.delete(server);
      const gone = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of own) socket.destroy();
      await gone;
    },
  };
};

const serveOne = async (socket: Socket, connection: TcpConnection, serve: (connection: TcpConnection) => Promise<void>, failed: (error: unknown) => void): Promise<void> => {
  try {
    await serve(connection);
    // What was written still goes out.
    socket.destroySoon();
  } catch (error) {
    connection.close();
    failed(error);
  }
};

const opened = (server: Server, host: string, port: number): Promise<{ address: string; port: number }> =>
  new Promise((resolve, reject) => {
    server.on('error', (error) =>
      reject((errnoOf(error) === 'EADDRINUSE' ? tcpErrors.port_in_use(host, port) : tcpErrors.port_refused(host, port, errnoOf(error) ?? 'unknown')).with({ cause: error })),
    );
    server.listen({ host, port }, () => {
      const bound = server.address();
      if (bound === null || typeof bound === 'string') reject(tcpErrors.port_refused(host, port, 'no address'));
      else resolve({ address: bound.address, port: bound.port });
    });
  });
