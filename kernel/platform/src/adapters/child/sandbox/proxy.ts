/**
 * The network of a command in the sandbox: one unix socket, behind which the daemon applies the rules of web_fetch.
 *
 * O1  Only hosts that the manifest grants; every address of a name is checked, and what is connected to is one of them (N2 of fetch-adapter.ts); never the daemon itself (A5 of address-policy.ts).
 * O2  Tunnels (CONNECT) and plain requests to an absolute address, nothing else. Each request of a connection is checked anew.
 * O3  Connections, bytes of both directions and silence are bounded, for one command together.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHostGranted, isSvcError, parsedUrl } from '@svc/api';
import { canonicalHost } from '../../address-policy.js';
import { publicAddresses, type ResolvedAddress, type ResolveHost } from '../../resolved-address.js';

const MAX_CONNECTIONS = 32;
const IDLE_MS = 60_000;
const CONNECT_MS = 10_000;
/** Between the command and the proxy alone. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

export interface ProxyTerms {
  /** As granted by the manifest. */
  readonly hosts: readonly string[];
  /** `[web.fetch] ssrf_allowed_hosts`. */
  readonly allowed: readonly string[];
  /** Where this daemon listens: no command is connected to that. */
  readonly ownPort?: (() => number | undefined) | undefined;
  readonly maxBytes: number;
  readonly resolveHost?: ResolveHost | undefined;
  readonly refused: (host: string, why: string) => void;
}

export interface CommandProxy {
  /** Path of its socket. */
  readonly socket: string;
  close(): Promise<void>;
}

interface Lines {
  readonly terms: ProxyTerms;
  readonly open: Set<Socket>;
  bytes: number;
}

export const openProxy = async (terms: ProxyTerms): Promise<CommandProxy> => {
  const lines: Lines = { terms, open: new Set(), bytes: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'svc-net-'));
  const socket = join(folder, 's');
  const server = createServer({ maxHeaderSize: 32_768 }, (incoming, response) => void pass(lines, incoming, response));
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (one) => keep(lines, one));
  server.on('connect', (incoming, one: Socket, head: Buffer) => void tunnel(lines, incoming.url ?? '', one, head));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve));
  return {
    socket,
    close: async () => {
      const gone = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const one of lines.open) one.destroy();
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Counts what comes through, and ends it all beyond the bound. */
const keep = (lines: Lines, socket: Socket): Socket => {
  lines.open.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => lines.open.delete(socket));
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    lines.bytes += piece.length;
    if (lines.bytes > lines.terms.maxBytes) for (const one of lines.open) one.destroy();
  });
  return socket;
};

/** Throws what web_fetch would refuse. */
const checked = async ({ terms }: Lines, hostname: string, port: string): Promise<ResolvedAddress> => {
  const host = canonicalHost(hostname);
  if (!isHostGranted(terms.hosts, host, port)) throw new Error('this agent may not reach that host; its manifest grants hosts under [capabilities] network');
  const target = { host, port, shown: `${host}:${port}` };
  const [address] = await publicAddresses(target, { granted: terms.hosts, allowed: terms.allowed, ownPort: terms.ownPort?.() }, terms.resolveHost, AbortSignal.timeout(CONNECT_MS));
  if (!address) throw new Error('the name has no address');
  return address;
};

const whyNot = ({ terms }: Lines, host: string, error: unknown): string => {
  const why = error instanceof Error ? error.message : String(error);
  if (isSvcError(error) && error.code === 'fetch_refused_address') terms.refused(host, why);
  return why;
};

const tunnel = async (lines: Lines, where: string, socket: Socket, head: Buffer): Promise<void> => {
  const url = /^[^/?#@\s]+:\d{1,5}$/.test(where) ? parsedUrl(`http://${where}`) : undefined;
  try {
    if (!url) throw new Error(`"${where.slice(0, 200)}" is not a host with a port`);
    const port = url.port || '80';
    const { address } = await checked(lines, url.hostname, port);
    const upstream = keep(lines, connect({ host: address, port: Number(port), timeout: CONNECT_MS }));
    await new Promise<void>((resolve, reject) =>
      upstream
        .once('connect', resolve)
        .once('error', reject)
        .once('close', () => reject(new Error('the connection was closed'))),
    );
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    socket.once('close', () => upstream.destroy());
    upstream.once('close', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  } catch (error) {
    const text = `${whyNot(lines, where, error)}\n`;
    socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }
};

const pass = async (lines: Lines, incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = parsedUrl(incoming.url ?? '');
  try {
    if (url?.protocol !== 'http:' || url.username !== '') throw new Error('only plain http addresses are supported here; use CONNECT for others');
    const port = url.port || '80';
    const { address } = await checked(lines, url.hostname, port);
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
    const upstream = request(
      { host: address, port, method: incoming.method, path: `${url.pathname}${url.search}`, headers: { ...headers, host: url.host }, agent: false, timeout: CONNECT_MS },
      (answer) => {
        const given = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
        response.writeHead(answer.statusCode ?? 502, given);
        answer.pipe(response);
      },
    );
    upstream.on('socket', (socket) => keep(lines, socket));
    upstream.on('error', (error) => refuse(response, 502, error.message));
    response.once('close', () => upstream.destroy());
    incoming.pipe(upstream);
  } catch (error) {
    refuse(response, 403, whyNot(lines, url?.host ?? '', error));
  }
};

const refuse = (response: ServerResponse, status: number, why: string): void => {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${why}\n`);
};
