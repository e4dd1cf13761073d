import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebSocketOptions } from '@svc/api';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ResolvedAddress } from '../../src/adapters/resolved-address.js';
import { createTcpAdapter, type TcpAdapter, type TcpCaller } from '../../src/adapters/tcp/tcp-adapter.js';
import { createWebSocketAdapter, type WebSocketAdapter, webSocketTarget } from '../../src/adapters/web-socket/web-socket-adapter.js';
import { systemClock } from '../../src/clock/clock.js';
import { createLog } from '../../src/log/log.js';

const clock = systemClock();

describe('adapters: WebSocket', function () {
  this.timeout(20_000);
  const log = createLog({ dir: null, level: 'info', clock, terminal: false });
  const names: Record<string, readonly ResolvedAddress[]> = { 'chat.test': [{ address: '127.0.0.1', family: 4 }], 'far.test': [{ address: '192.0.2.7', family: 4 }] };
  let tcp: TcpAdapter;
  let adapter: WebSocketAdapter;
  let server: WebSocketServer;
  let connections: WebSocket[];
  let port: number;
  beforeEach(async () => {
    tcp = createTcpAdapter({ config: { get: () => ({}) }, clock, log: log.logger('tcp'), resolveHost: async (host) => names[host] ?? [{ address: host, family: 4 }] });
    adapter = createWebSocketAdapter({ tcp, clock });
    connections = [];
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => connections.push(socket.on('error', () => undefined)));
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    await tcp.close();
    for (const one of connections) one.terminate();
    server.close();
  });

  const caller = (...hosts: string[]): TcpCaller => ({ id: 'chat', hosts });
  const local = caller('127.0.0.1');
  const open = (more: WebSocketOptions = {}, who = local, url = `ws://127.0.0.1:${port}/gateway`) => adapter.open(who, webSocketTarget(url), more);
  const codeOf = (work: () => Promise<unknown> | unknown): Promise<string> =>
    Promise.resolve()
      .then(work)
      .then(
        () => 'none',
        (error: { code?: string; message: string }) => error.code ?? error.message,
      );
  const until = async (fact: () => boolean, what: string): Promise<void> => {
    for (let tries = 0; tries < 1_000 && !fact(); tries++) await clock.sleep(5);
    expect(fact(), what).to.equal(true);
  };
  const far = async (): Promise<WebSocket> => {
    await until(() => connections.length > 0, 'a connection came');
    const [socket] = connections;
    if (!socket) throw new Error('no connection');
    return socket;
  };

  it('V1 speaks both ways, also what comes with the handshake, and says how it ended', async () => {
    server.on('connection', (socket) => {
      socket.send('hello at once');
      socket.on('message', (data) => {
        socket.send(Buffer.from(`you said ${data}`));
        socket.close(4_004, 'that was all');
      });
    });
    const connection = await open();
    await connection.ping();
    await connection.send('x');
    const messages: string[] = [];
    for await (const message of connection.messages) messages.push(typeof message === 'string' ? message : Buffer.from(message).toString());
    expect(messages).to.deep.equal(['hello at once', 'you said x']);
    expect(await connection.closed).to.deep.equal({ code: 4_004, reason: 'that was all' });
    for (const late of [() => connection.send('y'), () => connection.ping()]) expect(await codeOf(late)).to.equal('websocket_closed');
  });

  it('V1 reaches no private address that no grant names, whatever its name', async () => {
    for (const [who, url] of [
      [caller('*'), `ws://chat.test:${port}`],
      [caller('chat.test'), `ws://chat.test:${port}`],
      [caller('*'), `ws://127.0.0.1:${port}`],
      [caller('*'), 'ws://169.254.169.254/latest'],
      [caller('*'), `ws://[::ffff:127.0.0.1]:${port}`],
      [caller('far.test'), `ws://far.test:${port}`],
    ] as const)
      expect(await codeOf(() => open({}, who, url)), url).to.equal('fetch_refused_address');
    expect(connections.length).to.equal(0);
    for (const url of [`http://127.0.0.1:${port}`, `ws://user:pw@127.0.0.1:${port}`, 'ws://', `ws://127.0.0.1:${port}/#x`])
      expect(await codeOf(() => open({}, local, url)), url).to.equal('websocket_bad_url');
  });

  it('V1 follows no redirect, and says what answered instead', async () => {
    const http: Server = createHttpServer().on('upgrade', (_req, socket) => void socket.end(`HTTP/1.1 302 Found\r\nlocation: ws://127.0.0.1:${port}/\r\n\r\n`));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const at = (http.address() as AddressInfo).port;
    const refusal = await open({}, local, `ws://127.0.0.1:${at}/`).catch((error: Error) => error.message);
    expect(refusal).to.contain('answered 302');
    expect(connections.length).to.equal(0);
    http.close();
  });

  it('V2 a message that is too long, silence and the signal end it', async () => {
    const long = await open({ maxMessageBytes: 1_000 });
    (await far()).send('x'.repeat(1_001));
    expect((await long.closed).code).to.be.oneOf([1_006, 1_009]);
    const idle = await open({ idleTimeoutMs: 30 });
    expect((await idle.closed).code).to.equal(1_006);
    const ending = new AbortController();
    const ended = await open({ signal: ending.signal, closeCode: 4_000 });
    ending.abort();
    expect((await ended.closed).code).to.equal(4_000);
    expect(await codeOf(() => open({ signal: ending.signal }))).to.be.oneOf(['websocket_cancelled', 'tcp_cancelled']);
  });

  it('V2 what is not read holds the other side up, and nothing is lost', async () => {
    const connection = await open();
    const socket = await far();
    const total = 3_000;
    for (let at = 0; at < total; at++) socket.send(`${at} ${'x'.repeat(8_000)}`);
    await clock.sleep(300);
    expect(socket.bufferedAmount, 'bytes wait at the other side').to.be.greaterThan(1_000_000);
    const numbers: number[] = [];
    for await (const message of connection.messages) {
      numbers.push(Number.parseInt(String(message), 10));
      if (numbers.length === total) connection.close();
    }
    expect(numbers).to.deep.equal(Array.from({ length: total }, (_, at) => at));
  });
});
