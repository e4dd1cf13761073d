/**
 * The socket opens before anything heavy is loaded. Until the application takes over,
 * `GET /api/health` answers 200 `starting` and everything else 503.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Ids } from '@svc/api';
import { describeError, sendJson } from './answer.js';
import { httpErrors } from './errors.js';

const KEEP_ALIVE_TIMEOUT_MS = 70_000;
const HEADERS_TIMEOUT_MS = 30_000;
const BACKLOG = 1_024;

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => void;
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface EarlyListener {
  readonly server: Server;
  listen(where: { host: string; port: number }): Promise<{ address: string; port: number }>;
  /** From now on the application answers. */
  handOver(request: RequestListener, upgrade: UpgradeListener): void;
}

export const createEarlyListener = (ids: Ids): EarlyListener => {
  let request: RequestListener = (req, res) => answerStarting(req, res, ids.uuid());
  let upgrade: UpgradeListener = (_req, socket) => refuseUpgrade(socket, httpErrors.starting(), ids.uuid());
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS, noDelay: true }, (req, res) => request(req, res));
  server.on('upgrade', (req, socket, head) => {
    // Without a listener a reset of the peer would end the process.
    socket.on('error', () => socket.destroy());
    if (req.headers.upgrade?.toLowerCase() === 'websocket') upgrade(req, socket, head);
    else serveWithoutUpgrade(server, req, socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuseUpgrade(socket, httpErrors.invalid_request(error.code === 'HPE_HEADER_OVERFLOW' ? 'The request line and headers are too long.' : 'The request is not valid HTTP.'), ids.uuid());
  });
  return {
    server,
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

/**
 * An offer to go on in a protocol that is not spoken here is passed over (RFC 9110, 7.8): curl and Java offer `h2c` by
 * themselves. node has taken the connection out of HTTP by now, so the request is put back without its offer.
 */
const serveWithoutUpgrade = (server: Server, req: IncomingMessage, socket: Duplex, head: Buffer): void => {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    if (!OFFER_HEADERS.has(String(req.rawHeaders[at]).toLowerCase())) lines.push(`${req.rawHeaders[at]}: ${req.rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
};

const OFFER_HEADERS = new Set(['upgrade', 'connection', 'http2-settings']);

export const answerStarting = (req: IncomingMessage, res: ServerResponse, id: string): void => {
  const head = { id, origin: undefined };
  const path = (req.url ?? '').split('?', 1)[0];
  if ((req.method === 'GET' || req.method === 'HEAD') && (path === '/api/health' || path === '/api/v1/health')) {
    sendJson(res, head, 200, { status: 'starting' }, {});
    return;
  }
  const answer = describeError(httpErrors.starting(), id);
  sendJson(res, head, answer.status, answer.body, answer.headers);
};

/** Answers a connection that has no response object: refused upgrades and what is not HTTP. */
export const refuseUpgrade = (socket: Duplex, error: unknown, id: string): void => {
  const answer = describeError(error, id);
  const body = JSON.stringify(answer.body);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': id,
    'x-api-version': 'v1',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...answer.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n]/g, ' ')}`);
  socket.end(`HTTP/1.1 ${answer.status} ${STATUS_TEXT[answer.status] ?? 'Refused'}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
};

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
