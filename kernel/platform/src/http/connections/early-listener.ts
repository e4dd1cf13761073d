/**
 * The socket opens before anything heavy is loaded. Until the application takes over,
 * `GET /api/health` answers 200 `starting` and everything else 503.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Ids } from '@svc/api';
import { describeError, headersOf, sendJson } from '../replies/answer.js';
import { hasBody } from '../bodies/body.js';
import { type ConnectionCaps, createConnectionCaps } from './connection-caps.js';
import { httpErrors } from '../errors.js';
import type { HttpLimits } from '../limits.js';
import { createTurns, type Turns } from './turns.js';

/** Connections are looked at this often: what is over its time stays at most so much longer. */
const CHECK_MS = 1_000;
const BACKLOG = 1_024;
/** How long a client that was refused has to take its answer. */
const GOODBYE_MS = 1_000;
const HEALTH = new Set(['/api/health', '/api/v1/health']);

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface EarlyListener {
  readonly server: Server;
  listen(where: { host: string; port: number }): Promise<{ address: string; port: number }>;
  /** From now on the application answers. */
  handOver(request: RequestListener, upgrade: UpgradeListener): void;
  connections(): ReturnType<ConnectionCaps['stats']>;
}

export interface EarlyListenerOptions {
  readonly ids: Ids;
  readonly limits: () => HttpLimits;
  /** Its address speaks for many clients. */
  readonly isProxy: (address: string) => boolean;
}

export const createEarlyListener = ({ ids, limits, isProxy }: EarlyListenerOptions): EarlyListener => {
  let request: RequestListener = (req, res) => answerStarting(req, res, ids.uuid());
  let upgrade: UpgradeListener = (_req, socket) => refuseUpgrade(socket, httpErrors.starting(), ids.uuid());
  const { keepAliveMs, headersMs } = limits();
  const server = createServer({
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersMs,
    // Bodies have their own pace (body.ts, streamed-body.ts): a large upload may take its time.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
    noDelay: true,
  });
  const caps = createConnectionCaps(limits, isProxy);
  const guard = guardConnections(server, caps, ids);
  const turns = createTurns((req, res) => {
    if (hasBody(req)) res.once('finish', () => leaveRest(req, limits().lingerMs));
    res.once('prefinish', () => endUnlessTaken(res, limits()));
    if (guard.mayServe(req, res)) request(req, res);
  });
  server.on('request', (req, res) => {
    if (!guard.isRefused(req.socket)) turns.request(req, res);
  });
  server.on('upgrade', (req, socket, head) => {
    // Without a listener a reset of the peer would end the process.
    socket.on('error', () => socket.destroy());
    if (guard.isRefused(socket)) return;
    // Whatever came back would stand in the middle of the answer before it.
    if (turns.endAfterAnswer(socket)) socket.destroy();
    else if (req.headers.upgrade?.toLowerCase() !== 'websocket') serveWithoutUpgrade(server, req, socket, head);
    else if (guard.isReserved(socket)) refuseUpgrade(socket, httpErrors.too_many_connections(), ids.uuid());
    else upgrade(req, socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!guard.isRefused(socket)) answerClientError(error, socket, turns, ids.uuid());
  });
  return {
    server,
    connections: caps.stats,
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port, backlog: BACKLOG }, () => {
          server.off('error', reject);
          const bound = server.address() as AddressInfo; // a TCP server, just bound
          resolve({ address: bound.address, port: bound.port });
        });
      }),
    handOver: (nextRequest, nextUpgrade) => {
      request = nextRequest;
      upgrade = nextUpgrade;
    },
  };
};

/** Validates each connection once, and remembers those that are not served like others. */
function guardConnections(server: Server, caps: ConnectionCaps, ids: Ids) {
  const known = new WeakSet<Duplex>();
  const reserved = new WeakSet<Duplex>();
  const refused = new WeakSet<Duplex>();
  // Before node's own: a connection is validated before it is read.
  server.prependListener('connection', (socket: Socket) => {
    // Handed back by an offer that was passed over.
    if (known.has(socket)) return;
    known.add(socket);
    const verdict = caps.admit(socket);
    if (verdict === 'reserve') reserved.add(socket);
    if (verdict !== 'refused') return;
    refused.add(socket);
    socket.on('error', () => socket.destroy());
    refuseUpgrade(socket, httpErrors.too_many_connections(), ids.uuid());
  });
  return {
    isRefused: (socket: Duplex) => refused.has(socket),
    isReserved: (socket: Duplex) => reserved.has(socket),
    mayServe: (req: IncomingMessage, res: ServerResponse): boolean => {
      if (!reserved.has(req.socket)) return true;
      res.shouldKeepAlive = false;
      if (HEALTH.has(pathOf(req))) return true;
      const id = ids.uuid();
      const answer = describeError(httpErrors.too_many_connections(), id);
      sendJson(res, { id, origin: undefined }, answer.status, answer.body, answer.headers);
      return false;
    },
  };
}

/** The rest of a body that nobody wants may come for a while, so that the answer arrives; then the connection ends. */
const leaveRest = (req: IncomingMessage, lingerMs: number): void => {
  if (req.complete) return;
  const timer = setTimeout(() => req.socket.destroy(), lingerMs);
  req.once('close', () => clearTimeout(timer));
};

/** All of the answer was written. A client that takes it too slowly gives the connection up. */
const endUnlessTaken = (res: ServerResponse, { lingerMs, bodyBytesPerSecond }: HttpLimits): void => {
  const { socket } = res;
  if (!socket || socket.writableLength === 0) return;
  const timer = setTimeout(() => socket.destroy(), lingerMs + (socket.writableLength / bodyBytesPerSecond) * 1_000);
  res.once('close', () => clearTimeout(timer));
};

const answerClientError = (error: NodeJS.ErrnoException, socket: Duplex, turns: Turns, id: string): void => {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else if (turns.endAfterAnswer(socket)) {
    if (isLate) socket.destroy();
  } else if (isLate) refuseUpgrade(socket, httpErrors.request_timeout(), id);
  else refuseUpgrade(socket, httpErrors.invalid_request(error.code === 'HPE_HEADER_OVERFLOW' ? 'The request line and headers are too long.' : 'The request is not valid HTTP.'), id);
};

/**
 * An offer to go on in a protocol that is not spoken here is passed over (RFC 9110, 7.8): curl and Java offer `h2c` by
 * themselves. node has taken the connection out of HTTP by now, so the request is put back without its offer. It is
 * the last of its connection: whoever offers again and again has to connect again and again.
 */
const serveWithoutUpgrade = (server: Server, req: IncomingMessage, socket: Duplex, head: Buffer): void => {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`, 'Connection: close'];
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    if (!OFFER_HEADERS.has(String(req.rawHeaders[at]).toLowerCase())) lines.push(`${req.rawHeaders[at]}: ${req.rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
};

const OFFER_HEADERS = new Set(['upgrade', 'connection', 'http2-settings']);

export const answerStarting = (req: IncomingMessage, res: ServerResponse, id: string): void => {
  const head = { id, origin: undefined };
  if ((req.method === 'GET' || req.method === 'HEAD') && HEALTH.has(pathOf(req))) {
    sendJson(res, head, 200, { status: 'starting' }, {});
    return;
  }
  const answer = describeError(httpErrors.starting(), id);
  sendJson(res, head, answer.status, answer.body, answer.headers);
};

const pathOf = (req: IncomingMessage): string => (req.url ?? '').split('?', 1)[0] ?? '';

/** Answers a connection that has no response object: refused upgrades and what is not HTTP. */
export const refuseUpgrade = (socket: Duplex, error: unknown, id: string): void => {
  const answer = describeError(error, id);
  const body = JSON.stringify(answer.body);
  const headers = {
    ...headersOf({ id, origin: undefined }, 'application/json; charset=utf-8', answer.headers),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n]/g, ' ')}`);
  socket.end(`HTTP/1.1 ${answer.status} ${STATUS_TEXT[answer.status] ?? 'Refused'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  // A client that neither takes the answer nor leaves would stay for ever: connections may be half open.
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
};

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
