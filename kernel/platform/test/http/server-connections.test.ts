import { connect, type Socket } from 'node:net';
import { reply, Type } from '@svc/api';
import { expect } from 'chai';
import { createConnectionCaps } from '../../src/http/connections/connection-caps.js';
import { type Bench, raw, route, startBench, until } from './http-fixture.js';

const HEAD = 'host: 127.0.0.1\r\n';
const OFFER = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
const count = (text: string, part: string): number => text.split(part).length - 1;

describe('connections', function () {
  // node looks at its connections once a second.
  this.timeout(10_000);
  /** Fails by the time of the test. */
  const eventually = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  let bench: Bench;
  const open: Socket[] = [];
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    await bench?.stop();
  });

  interface Client {
    readonly socket: Socket;
    seen: string;
    isClosed: boolean;
  }
  const client = async (text = ''): Promise<Client> => {
    const socket = connect({ port: bench.port, host: '127.0.0.1', allowHalfOpen: true });
    open.push(socket);
    const made: Client = { socket, seen: '', isClosed: false };
    socket.on('data', (chunk) => {
      made.seen += chunk.toString('latin1');
    });
    socket.on('error', () => undefined); // being hung up on is what is expected
    // The server's side alone: this client never closes its own.
    socket.on('end', () => {
      made.isClosed = true;
    });
    socket.on('close', () => {
      made.isClosed = true;
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    if (text !== '') socket.write(text);
    return made;
  };
  /** A route that answers when it is told to, and counts what is inside it. */
  const held = () => {
    const inside: Array<() => void> = [];
    let most = 0;
    bench.area('a', {
      routes: [
        route({
          path: '/api/held/{n}',
          responses: { 200: Type.Unknown() },
          handler: (req) =>
            new Promise((resolve) => {
              inside.push(() => resolve(reply(200, { n: (req as { params: { n: string } }).params.n })));
              most = Math.max(most, inside.length);
            }),
        }),
        route({ path: '/api/quick', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 'quick') }),
        route({ path: '/api/health', auth: 'public', responses: { 200: Type.Unknown() }, handler: async () => reply(200, { status: 'ok' }) }),
        route({ method: 'POST', path: '/api/echo', body: Type.Unknown(), responses: { 200: Type.Unknown() }, handler: async (req) => reply(200, (req as { body: unknown }).body) }),
      ],
    });
    return { inside, most: () => most };
  };

  it('Q1 have one request handled at a time, in order, however many come in one packet', async () => {
    bench = await startBench();
    const { inside, most } = held();
    const { socket } = await client([1, 2, 3, 4].map((n) => `GET /api/held/${n} HTTP/1.1\r\n${HEAD}\r\n`).join(''));
    let seen = '';
    socket.on('data', (chunk) => {
      seen += chunk.toString();
    });
    for (let answered = 1; answered <= 4; answered++) {
      await until(() => inside.length === 1, `request ${answered} is inside`);
      inside.pop()?.();
      await until(() => count(seen, 'HTTP/1.1 200') === answered, `answer ${answered}`);
    }
    expect(most()).to.equal(1);
    expect([...seen.matchAll(/"n":"(\d)"/g)].map(([, n]) => n)).to.deep.equal(['1', '2', '3', '4']);
  });

  it('Q1 go on to be read after those that waited', async () => {
    bench = await startBench();
    held();
    const ask = `GET /api/quick HTTP/1.1\r\n${HEAD}\r\n`;
    const one = await client(ask.repeat(20));
    await until(() => count(one.seen, '"quick"') === 20, 'the first twenty');
    one.socket.write(`POST /api/echo HTTP/1.1\r\n${HEAD}content-length: 6\r\n\r\n"ech`);
    one.socket.write(`o"${ask}`);
    await until(() => count(one.seen, '"quick"') === 21 && one.seen.includes('"echo"'), 'a body and one more');
  });

  it('Q2 end with the answer that is going on when more wait than may, when bytes follow that are not HTTP, or an upgrade', async () => {
    bench = await startBench();
    const { inside } = held();
    const first = `GET /api/held/1 HTTP/1.1\r\n${HEAD}\r\n`;
    for (const more of [`GET /api/quick HTTP/1.1\r\n${HEAD}\r\n`.repeat(500), 'NONSENSE\r\n\r\n']) {
      const one = await client(first + more);
      await until(() => inside.length === 1, 'the first is inside');
      inside.pop()?.();
      await until(() => one.isClosed, 'it is closed');
      expect(one.seen).to.match(/^HTTP\/1\.1 200 OK[\s\S]*"n":"1"/);
      expect(count(one.seen, 'HTTP/1.1')).to.equal(1);
    }
    const upgrading = await client(`${first}GET /api/t/7/ws HTTP/1.1\r\n${HEAD}connection: Upgrade\r\nupgrade: websocket\r\n\r\n`);
    await until(() => upgrading.isClosed, 'it is closed');
    expect(upgrading.seen).to.equal('');
  });

  it('that offer another protocol get one answer, whatever they send behind it', async () => {
    bench = await startBench();
    let handled = 0;
    bench.authenticate = () => {
      handled++;
      return undefined;
    };
    held();
    const one = await client(`GET /api/quick HTTP/1.1\r\n${HEAD}${OFFER}\r\n`.repeat(600));
    await until(() => one.isClosed, 'it is closed');
    expect(one.seen).to.match(/^HTTP\/1\.1 401/);
    expect([count(one.seen, 'HTTP/1.1'), handled]).to.deep.equal([1, 1]);
  });

  it('are ended when a head or a body does not come in time, and when nothing comes at all', async () => {
    bench = await startBench({ limits: { headersMs: 50, bodyGraceMs: 50, bodyBytesPerSecond: 1_000_000, lingerMs: 50 } });
    held();
    const silent = await client();
    const half = await client(`GET /api/quick HTTP/1.1\r\n${HEAD}`);
    const slow = await client(`POST /api/echo HTTP/1.1\r\n${HEAD}content-length: 1000\r\n\r\n"`);
    await eventually(() => silent.isClosed && half.isClosed && slow.isClosed);
    expect(half.seen)
      .to.match(/^HTTP\/1\.1 408/)
      .and.to.contain('request_timeout');
    expect(slow.seen)
      .to.match(/^HTTP\/1\.1 408/)
      .and.to.contain('body_too_slow');
    await eventually(() => bench.http.stats().connections === 0);
  });

  it('are ended when they stay idle after an answer, and when a refused one neither leaves nor sends the rest', async () => {
    bench = await startBench({ limits: { keepAliveMs: 50, lingerMs: 50 } });
    held();
    const idle = await client(`GET /api/quick HTTP/1.1\r\n${HEAD}\r\n`);
    const half = await client(`POST /api/nothing HTTP/1.1\r\n${HEAD}content-length: 1000\r\n\r\n"`);
    await eventually(() => idle.isClosed && half.isClosed);
    expect(half.seen).to.match(/^HTTP\/1\.1 404/);
  });

  it('are ended when an answer is not taken', async () => {
    bench = await startBench({ limits: { lingerMs: 50, bodyBytesPerSecond: 1_000_000_000 } });
    bench.area('a', { routes: [route({ path: '/api/large', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 'x'.repeat(30_000_000)) })] });
    const one = await client(`GET /api/large HTTP/1.1\r\n${HEAD}\r\n`);
    one.socket.pause();
    await eventually(() => bench.http.stats().requests === 1);
    await eventually(() => bench.http.stats().connections === 0);
  });

  it('that were refused an upgrade do not stay half open', async () => {
    bench = await startBench();
    const one = await client(`GET /api/nothing HTTP/1.1\r\n${HEAD}connection: Upgrade\r\nupgrade: websocket\r\n\r\n`);
    await until(() => one.seen.includes('not_found'), 'the refusal');
    // The client's own side is open; only the server can end it.
    await eventually(() => bench.http.stats().connections === 0);
  });

  it('C4 beyond the cap are refused, but this machine may still ask about health', async () => {
    bench = await startBench({ limits: { maxConnections: 2 } });
    held();
    await client();
    await client();
    await until(() => bench.http.stats().connections === 2, 'two are open');
    const quick = await raw(bench.port, `GET /api/quick HTTP/1.1\r\n${HEAD}\r\n`, () => false);
    expect(quick)
      .to.match(/^HTTP\/1\.1 503/)
      .and.to.contain('too_many_connections')
      .and.to.match(/retry-after: 1/i);
    const health = await raw(bench.port, `GET /api/health HTTP/1.1\r\n${HEAD}\r\n`, () => false);
    expect(health)
      .to.match(/^HTTP\/1\.1 200/)
      .and.to.match(/connection: close/i);
    for (let more = 0; more < 32; more++) await client();
    await until(() => bench.http.stats().connections === 34, 'the reserve is used up');
    const refused = await client();
    await until(() => refused.isClosed, 'it is refused');
    expect(refused.seen).to.contain('too_many_connections');
    expect(bench.http.stats().refusedConnections).to.equal(1);
  });

  it('C1 to C3 are counted by address, an IPv6 client by its /64, but for this machine and proxies', () => {
    const caps = createConnectionCaps(
      () => ({ maxConnections: 100, maxConnectionsPerAddress: 2 }),
      (address) => address === '10.0.0.9',
    );
    const leave: Array<() => void> = [];
    // What the caps use of a socket.
    const from = (remoteAddress: string) => caps.admit({ remoteAddress, once: (_event: string, fn: () => void) => leave.push(fn) } as unknown as Socket);
    expect([from('2001:db8::1'), from('2001:db8:0:0:ffff::2'), from('2001:db8:0:0::3'), from('2001:db8:0:1::3')]).to.deep.equal(['open', 'open', 'refused', 'open']);
    expect([from('::ffff:192.0.2.1'), from('192.0.2.1'), from('192.0.2.1'), from('192.0.2.2')]).to.deep.equal(['open', 'open', 'refused', 'open']);
    for (const address of ['127.0.0.1', '::1', '10.0.0.9']) expect([from(address), from(address), from(address)], address).to.deep.equal(['open', 'open', 'open']);
    leave[0]?.();
    expect(from('2001:db8::9')).to.equal('open');
    expect(caps.stats().refused).to.equal(2);
  });
});
