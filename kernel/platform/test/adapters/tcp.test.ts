import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import type { TcpConnection } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import type { ResolvedAddress } from '../../src/adapters/resolved-address.js';
import { createTcpAdapter, type TcpCaller, type TcpAdapter } from '../../src/adapters/tcp/tcp-adapter.js';
import { createLog } from '../../src/log/log.js';

const clock = systemClock();
const MIB = 1_048_576;

/** For mail.test and 127.0.0.1, of nobody's authority, and good for a hundred years. Made for this test alone. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUNPo8qKgtZXLx+w0mQH+k2lOKe20wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbWFpbC50ZXN0MCAXDTI2MTEyMTIxNTMzNFoYDzIxMjYxMDI4
MjE1MzM0WjAUMRIwEAYDVQQDDAltYWlsLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQYBPkgfkzPDXFZbAvicPIUTgBKzEiqBwY/Ga77pMrpYLZu6nzp8TE3
FyLDAP9x2p1E/K34791a4INbbSz+Y5+Io28wbTAdBgNVHQ4EFgQU+ZTRwb/6x9cm
ThQu4Rbf9HPSJNEwHwYDVR0jBBgwFoAU+ZTRwb/6x9cmThQu4Rbf9HPSJNEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARggltYWlsLnRlc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgVUr+7BjqXtKeKgNDffYSKtabXH9Q7+QplJ2G/OYf2XECIQDb
CwaTYgKV97l4NGPyLHXBDiqDh5GVZlTmpoSD+lP/Ow==
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYWBn/SGuJ7g5qRAE
z1E/DWF7xRFeZOp649/PSNLAw2uhRANCAAQYBPkgfkzPDXFZbAvicPIUTgBKzEiq
BwY/Ga77pMrpYLZu6nzp8TE3FyLDAP9x2p1E/K34791a4INbbSz+Y5+I
-----END PRIVATE KEY-----`;

describe('adapters: tcp', function () {
  this.timeout(20_000);
  const log = createLog({ dir: null, level: 'info', clock, terminal: false });
  let allowed: string[];
  let names: Record<string, readonly ResolvedAddress[]>;
  let adapter: TcpAdapter;
  let servers: Server[];
  let accepted: Socket[];
  let failures: unknown[];
  beforeEach(() => {
    allowed = [];
    names = { 'mail.test': [{ address: '127.0.0.1', family: 4 }] };
    servers = [];
    accepted = [];
    failures = [];
    adapter = createTcpAdapter({
      config: { get: () => ({ fetch: { ssrf_allowed_hosts: allowed } }) },
      clock,
      log: log.logger('tcp'),
      resolveHost: async (host) => names[host] ?? [{ address: host, family: 4 }],
    });
  });
  afterEach(async () => {
    await adapter.close();
    for (const server of servers) server.close();
    for (const socket of accepted) socket.destroy();
  });

  const caller = (...hosts: string[]): TcpCaller => ({ id: 'mail', hosts });
  const local = caller('127.0.0.1');
  const serve = async (handle: (socket: Socket) => void): Promise<number> => {
    const server = createServer((socket) => {
      accepted.push(socket.on('error', () => undefined));
      handle(socket);
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bound = server.address();
    return typeof bound === 'object' && bound ? bound.port : 0;
  };
  const dial = (port: number, more: object = {}, who = local) => adapter.dial(who, { host: '127.0.0.1', port, purpose: 'a test', ...more });
  const listen = (port: number, work: (connection: TcpConnection) => Promise<void>, more: object = {}) => adapter.listen(caller(), { port, ...more }, work, (error) => failures.push(error));
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  const textOf = async (source: AsyncIterable<Uint8Array>): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of source) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  const until = async (fact: () => boolean, what: string): Promise<void> => {
    for (let tries = 0; tries < 1_000 && !fact(); tries++) await clock.sleep(5);
    expect(fact(), what).to.equal(true);
  };

  it('C1 speaks both ways with a server, and reads to its end', async () => {
    const port = await serve((socket) => socket.once('data', (data) => socket.end(`you said ${data}`)));
    const connection = await dial(port);
    expect(connection.remote).to.deep.equal({ address: '127.0.0.1', port });
    await connection.write('HELO');
    expect(await textOf(connection.readable)).to.equal('you said HELO');
    await connection.closed;
    expect(await codeOf(connection.write('more'))).to.equal('tcp_closed');
  });

  it('C1 reaches no private address that no grant names, whatever name it has', async () => {
    let asked = 0;
    const port = await serve(() => asked++);
    for (const who of [caller('*'), caller('*.test', '*:*'), caller('mail.test')]) expect(await codeOf(dial(port, { host: 'mail.test' }, who)), who.hosts.join()).to.equal('fetch_refused_address');
    for (const host of ['localhost', '10.0.0.7', '169.254.169.254', '[::1]', 'metadata.google.internal'])
      expect(await codeOf(dial(port, { host }, caller('*'))), host).to.equal('fetch_refused_address');
    expect(await codeOf(dial(port, { host: '169.254.169.254' }, caller('169.254.169.254')))).to.equal('fetch_refused_address');
    expect(asked).to.equal(0);
    allowed = ['127.0.0.0/8'];
    expect(await codeOf(dial(port, { host: 'mail.test' }, caller('mail.test')))).to.equal('none');
  });

  it('C1 tries each address of a name, and says what cannot be reached', async () => {
    const port = await serve((socket) => socket.end('here'));
    allowed = ['127.0.0.0/8'];
    names['two.test'] = [
      { address: '127.0.0.9', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    expect(await textOf((await dial(port, { host: 'two.test' })).readable)).to.equal('here');
    expect(await codeOf(dial(1))).to.equal('tcp_unreachable');
    for (const bad of [0, -1, 65_536, 1.5]) expect(await codeOf(dial(bad)), String(bad)).to.equal('tcp_bad_port');
  });

  it('C3 validates the certificate for the name that was asked for', async () => {
    const server = createTlsServer({ cert: CERT, key: KEY }, (socket) => socket.end('secret'));
    servers.push(server);
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bound = server.address();
    const port = typeof bound === 'object' && bound ? bound.port : 0;
    allowed = ['127.0.0.0/8'];
    names['evil.test'] = [{ address: '127.0.0.1', family: 4 }];
    expect(await textOf((await dial(port, { host: 'mail.test', tls: { ca: CERT } })).readable)).to.equal('secret');
    expect(await textOf((await dial(port, { tls: { ca: CERT } })).readable)).to.equal('secret');
    expect(await codeOf(dial(port, { host: 'evil.test', tls: { ca: CERT } }))).to.equal('tcp_unreachable');
    expect(await codeOf(dial(port, { host: 'mail.test', tls: true }))).to.equal('tcp_unreachable');
  });

  it('C3 begins TLS on an open connection, for the name that was dialled, and takes nothing that came before it', async () => {
    const port = await serve((socket) => {
      socket.once('data', () => {
        socket.write('OK');
        const secure = new TLSSocket(socket, { isServer: true, cert: CERT, key: KEY });
        secure.on('error', () => undefined);
        secure.on('data', (more) => secure.write(`secret ${more}`));
      });
    });
    allowed = ['127.0.0.0/8'];
    names['evil.test'] = [{ address: '127.0.0.1', family: 4 }];
    const begun = async (host: string): Promise<TcpConnection> => {
      const connection = await dial(port, { host });
      await connection.write('STARTTLS');
      for await (const piece of connection.readable) {
        expect(String(Buffer.from(piece))).to.match(/^OK/);
        return connection;
      }
      throw new Error('nothing came');
    };
    const plain = await begun('mail.test');
    const secure = await plain.startTls({ ca: CERT });
    await secure.write('once');
    for await (const piece of secure.readable) {
      expect(String(Buffer.from(piece))).to.equal('secret once');
      break;
    }
    expect([await codeOf(plain.write('more')), await codeOf(plain.startTls()), await codeOf(secure.startTls())]).to.deep.equal(['tcp_closed', 'tcp_not_securable', 'tcp_not_securable']);
    secure.close();
    await Promise.all([secure.closed, plain.closed]);
    expect(await codeOf((await begun('evil.test')).startTls({ ca: CERT })), 'another name').to.equal('tcp_unreachable');
    expect(await codeOf((await begun('mail.test')).startTls()), 'nobody vouches for it').to.equal('tcp_unreachable');
    const listener = await listen(0, async (connection) => void failures.push(await codeOf(connection.startTls())));
    const client = connect(listener.port, '127.0.0.1').on('error', () => undefined);
    await until(() => failures.length > 0, 'it was accepted');
    client.destroy();
    expect(failures).to.deep.equal(['tcp_not_securable']);
  });

  it('gives an attempt up after its time, or when its caller does', async () => {
    const silent = await serve(() => undefined);
    // The TCP connection stands; the TLS handshake never comes.
    expect(await codeOf(dial(silent, { tls: true, connectTimeoutMs: 60 }))).to.equal('tcp_timeout');
    const controller = new AbortController();
    const waiting = codeOf(dial(silent, { tls: true, signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);
    expect(await waiting).to.equal('tcp_cancelled');
  });

  it('C2 pushes back in both directions, and refuses to send more than may wait', async () => {
    let got = 0;
    let sent = 0;
    const port = await serve((socket) => {
      socket.pause();
      setTimeout(() => socket.on('data', (data) => (got += data.length)).resume(), 300);
      const more = (): void => {
        while (sent < 64 * MIB && socket.write(Buffer.alloc(64 * 1_024))) sent += 64 * 1_024;
      };
      socket.on('drain', more);
      more();
    });
    const connection = await dial(port);
    const codes = await Promise.all(Array.from({ length: 200 }, () => codeOf(connection.write(Buffer.alloc(MIB / 4)))));
    expect(codes).to.include('tcp_send_full').and.include('none');
    await until(() => got === codes.filter((code) => code === 'none').length * (MIB / 4), 'all that was taken arrived');
    expect(sent).to.be.lessThan(64 * MIB);
    connection.close();
  });

  it('C2 closes what is silent, and says so to its reader; a lost connection is another error', async () => {
    const port = await serve((socket) => socket.write('once'));
    const connection = await dial(port, { idleTimeoutMs: 60 });
    expect(await codeOf(textOf(connection.readable))).to.equal('tcp_idle');
    const rude = await serve((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const broken = await dial(rude);
    await broken.write('x');
    expect(await codeOf(textOf(broken.readable))).to.equal('tcp_lost');
  });

  it('listens, serves each connection, and closes it when it is served or its work fails', async () => {
    const listener = await listen(0, async (connection) => {
      const text = await textOf(connection.readable);
      if (text === 'fail') throw new Error('cannot');
      await connection.write(`served ${text}`);
    });
    expect(listener.address).to.equal('127.0.0.1');
    const ask = async (text: string): Promise<string> => {
      const socket = connect({ host: '127.0.0.1', port: listener.port, allowHalfOpen: true });
      socket.end(text);
      return textOf(socket);
    };
    expect(await Promise.all([ask('one'), ask('two')])).to.deep.equal(['served one', 'served two']);
    expect(await ask('fail')).to.equal('');
    expect(failures.map(String)).to.deep.equal(['Error: cannot']);
    await listener.close();
    expect(await codeOf(dial(listener.port))).to.equal('tcp_unreachable');
  });

  it('C2 closes connections beyond the limit at once, and takes new ones when others are gone', async () => {
    let served = 0;
    const listener = await listen(
      0,
      async (connection) => {
        served++;
        await textOf(connection.readable);
      },
      { maxConnections: 3 },
    );
    const sockets = Array.from({ length: 10 }, () => connect(listener.port, '127.0.0.1').on('error', () => undefined));
    const closed = (): number => sockets.filter((socket) => socket.readableEnded || socket.destroyed).length;
    for (const socket of sockets) socket.resume();
    await until(() => closed() === 7, 'seven were closed');
    expect(served).to.equal(3);
    for (const socket of sockets) socket.destroy();
    // Each try may still come before the end of the others is known.
    const tries: Socket[] = [];
    await until(() => {
      if (served < 4) tries.push(connect(listener.port, '127.0.0.1').on('error', () => undefined));
      return served >= 4;
    }, 'a later one is served');
    for (const socket of tries) socket.destroy();
  });

  it('says by name that a port is taken or refused, and gives its own back', async () => {
    const first = await listen(0, async () => undefined);
    expect(await codeOf(listen(first.port, async () => undefined))).to.equal('tcp_port_in_use');
    expect(await codeOf(listen(0, async () => undefined, { host: '203.0.113.9' }))).to.equal('tcp_port_refused');
    await first.close();
    expect(await codeOf(listen(first.port, async () => undefined))).to.equal('none');
  });

  it('closes everything with the adapter, and opens nothing more', async () => {
    const listener = await listen(0, async (connection) => void (await textOf(connection.readable)));
    const port = await serve(() => undefined);
    const connection = await dial(port);
    const client = connect(listener.port, '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    await adapter.close();
    await connection.closed;
    client.resume();
    await until(() => client.destroyed, 'the client was hung up on');
    expect([await codeOf(dial(port)), await codeOf(listen(0, async () => undefined))]).to.deep.equal(['tcp_stopping', 'tcp_stopping']);
  });
});
