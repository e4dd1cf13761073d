import { request } from 'node:http';
import { connect } from 'node:net';
import { defineErrors, defineSocket, follow, type SocketDecl } from '@svc/api';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type Answer, answerOf, type Bench, owner, startBench, TestFrames, TestStream, until } from './http-fixture.js';

const errors = defineErrors('test', { bad_id: { status: 400, retry: false, message: () => 'not a uuid' } });

describe('sockets', () => {
  let bench: Bench;
  const clients: WebSocket[] = [];
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    await bench.stop();
  });

  const socket = (extra: Partial<SocketDecl> = {}): SocketDecl =>
    defineSocket({
      id: 'test.ws',
      path: '/api/t/{id}/ws',
      summary: 'A socket of a test',
      auth: 'bearer',
      permission: 'test.read',
      cost: 1,
      upgrade: async (req) => {
        if (req.params.id === 'bad') throw errors.bad_id();
        return { seen: 0 };
      },
      opened: (conn) => conn.send({ type: 'connected', id: conn.params.id, q: conn.query }),
      message: (conn, text) => {
        conn.state.seen = Number(conn.state.seen) + 1;
        conn.send({ echo: text, seen: conn.state.seen });
      },
      ...extra,
    });

  interface Client {
    readonly ws: WebSocket;
    readonly got: unknown[];
    readonly closed: Promise<{ code: number; reason: string }>;
    readonly requestId: () => string | undefined;
  }
  const open = async (path = '/api/t/7/ws', protocols: string[] = [], options: object = {}): Promise<Client> => {
    const ws = new WebSocket(`ws://127.0.0.1:${bench.port}${path}`, protocols, options);
    clients.push(ws);
    const got: unknown[] = [];
    let id: string | undefined;
    ws.on('message', (data) => got.push(JSON.parse(String(data))));
    ws.on('upgrade', (res) => {
      id = res.headers['x-request-id'] as string | undefined; // sent once
    });
    const closed = new Promise<{ code: number; reason: string }>((resolve) => ws.once('close', (code, reason) => resolve({ code, reason: String(reason) })));
    await new Promise((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
    });
    return { ws, got, closed, requestId: () => id };
  };
  const refused = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    answerOf(
      request({
        host: '127.0.0.1',
        port: bench.port,
        path,
        agent: false,
        headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers },
      }),
    );

  it('opens with a request id, parameters and query, and answers messages in order', async () => {
    bench.area('a', {
      sockets: [
        socket({
          message: async (conn, text) => {
            await new Promise((resolve) => setTimeout(resolve, text === 'slow' ? 20 : 0));
            conn.send(JSON.stringify(text));
          },
        }),
      ],
    });
    const client = await open('/api/t/7/ws?a=1');
    expect(client.requestId()).to.match(/^[0-9a-f-]{36}$/);
    client.ws.send('slow');
    client.ws.send('fast');
    await until(() => client.got.length === 3, 'all frames came');
    expect(client.got).to.deep.equal([{ type: 'connected', id: '7', q: { a: '1' } }, 'slow', 'fast']);
  });

  it('refuses with an HTTP answer, its status and its request id, before any handshake', async () => {
    bench.area('a', { sockets: [socket()] });
    const cases: Array<[path: string, status: number, code: string, arrange?: (() => unknown) | undefined, headers?: Record<string, string>]> = [
      ['/api/unknown', 404, 'not_found'],
      ['/api/t/bad/ws', 400, 'test_bad_id'],
      ['/api/t/%E0%A4%A/ws', 400, 'bad_path_encoding'],
      ['/api/t/7/ws', 403, 'forbidden_host', undefined, { host: 'evil.example' }],
      ['/api/t/7/ws', 403, 'forbidden_origin', undefined, { origin: 'https://evil.example' }],
      ['/api/t/7/ws', 429, 'rate_limited', () => Object.assign(bench, { upgrade: () => ({ deny: 'too many', code: 'rate_limited' }) })],
      ['/api/t/7/ws', 401, 'unauthorized', () => Object.assign(bench, { authenticate: () => undefined })],
      ['/api/t/7/ws', 503, 'security_unavailable', () => Object.assign(bench, { authenticate: undefined })],
      ['/api/t/7/ws', 503, 'stopping', () => Object.assign(bench, { admission: { state: 'stopping' } })],
    ];
    for (const [path, status, code, arrange, headers] of cases) {
      arrange?.();
      const answer = await refused(path, headers);
      expect([answer.status, answer.json.code], path).to.deep.equal([status, code]);
      expect(answer.headers['x-request-id']).to.equal(answer.json.request_id);
      expect(answer.headers.connection).to.equal('close');
    }
    expect(bench.http.openSockets()).to.equal(0);
  });

  it('gives a plain GET the same refusals, and else says that the path speaks WebSocket', async () => {
    bench.area('a', { sockets: [socket()] });
    expect((await bench.get('/api/t/bad/ws')).json.code).to.equal('test_bad_id');
    expect((await bench.get('/api/t/7/ws')).status).to.equal(426);
    expect((await bench.send('POST', '/api/t/7/ws')).headers.allow).to.equal('GET');
  });

  it('takes the key as the subprotocol bearer.<token> and echoes it', async () => {
    bench.area('a', { sockets: [socket()] });
    bench.authenticate = (call) => (call.headers.authorization === 'Bearer abc' ? owner : undefined);
    const client = await open('/api/t/7/ws', ['chat', 'bearer.abc']);
    expect(client.ws.protocol).to.equal('bearer.abc');
    const wrong = await refused('/api/t/7/ws', { 'sec-websocket-protocol': 'bearer.no' });
    expect(wrong.status).to.equal(401);
  });

  it('hands messages of an open socket to the new generation after a reload, with its state', async () => {
    const old = bench.area('a', { sockets: [socket()] });
    const client = await open();
    client.ws.send('one');
    await until(() => client.got.length === 2, 'the old code answered');
    bench.area('a', { sockets: [socket({ message: (conn, text) => conn.send({ now: text, seen: conn.state.seen }) })] }, old);
    expect(await old.lifetime.drain(500)).to.equal(true);
    client.ws.send('two');
    await until(() => client.got.length === 3, 'the new code answered');
    expect(client.got.at(-1)).to.deep.equal({ now: 'two', seen: 1 });
  });

  it('closes with 1012 when the area goes without a successor', async () => {
    const area = bench.area('a', { sockets: [socket()] });
    const client = await open();
    bench.remove(area);
    expect((await client.closed).code).to.equal(1012);
    await until(() => bench.http.openSockets() === 0, 'the socket is forgotten');
  });

  it('closes the sockets of one area on demand', async () => {
    bench.area('a', { sockets: [socket()] });
    bench.area('b', { sockets: [socket({ id: 'b.ws', path: '/api/b/ws' })] });
    const [first, second] = [await open(), await open('/api/b/ws')];
    bench.http.closeSockets('a', 4001);
    expect((await first.closed).code).to.equal(4001);
    expect(second.ws.readyState).to.equal(WebSocket.OPEN);
  });

  it('says so and closes with 1009 when a frame is larger than the socket takes', async () => {
    bench.area('a', { sockets: [socket({ maxFrameBytes: 1_000 })] });
    const client = await open();
    client.ws.send('x'.repeat(1_000));
    client.ws.send('x'.repeat(1_001));
    expect((await client.closed).code).to.equal(1009);
    expect(client.got).to.have.length(3);
    expect(JSON.stringify(client.got[2])).to.contain('at most 1000 bytes').and.to.contain('format_error');
  });

  it('takes messages from the rate limit and answers an error frame when it is used up', async () => {
    bench.area('a', { sockets: [socket({ messageCost: 30 })] });
    const client = await open();
    bench.admit = (call) => (call.cost === 30 ? { deny: 'Rate limit exceeded', code: 'rate_limited' } : undefined);
    client.ws.send('x');
    await until(() => client.got.length === 2, 'the refusal came');
    expect(client.got[1]).to.deep.equal({ type: 'error', content: 'Rate limit exceeded', code: 'rate_limited' });
  });

  it('answers an error frame without internals when a handler fails, and stays open', async () => {
    bench.area('a', {
      sockets: [
        socket({
          message: () => {
            throw new Error('password=hunter2');
          },
        }),
      ],
    });
    const client = await open();
    client.ws.send('x');
    client.ws.send('y');
    await until(() => client.got.length === 3, 'both failed');
    expect(client.got[2]).to.deep.equal({ type: 'error', content: 'Internal server error', code: 'internal_error' });
    expect(JSON.stringify(bench.logged)).to.contain('hunter2');
  });

  it('pumps a topic to the socket, also across the end of the area', async () => {
    bench.shows({ encode: ({ type, data }) => (type === 'hidden' ? undefined : JSON.stringify(data)) });
    bench.streams.open(TestFrames, 'run');
    bench.streams.publish(TestFrames, 'run', 'n', 1);
    bench.area('a', { sockets: [socket({ opened: (conn) => conn.follow(follow('run', TestStream, undefined)) })] });
    const client = await open();
    await until(() => client.got.length === 1, 'what was there came');
    bench.streams.publish(TestFrames, 'run', 'hidden', 2);
    bench.streams.publish(TestFrames, 'run', 'done', 3);
    await until(() => client.got.length === 2, 'the rest came');
    expect(client.got).to.deep.equal([1, 3]);
    expect(bench.streams.stats().followers).to.equal(0);
    client.ws.close();
    await until(() => bench.http.openSockets() === 0, 'the socket is closed');
  });

  it('closes with 1012 for a client who missed a part of what another process goes on with: it comes back and resumes', async () => {
    bench.streams.open(TestFrames, 'run');
    bench.streams.publish(TestFrames, 'run', 'n', 1);
    bench.shows({ encode: ({ data }) => JSON.stringify(data) });
    bench.area('a', { sockets: [socket({ opened: (conn) => conn.follow(follow('run', TestStream, undefined)) })] });
    const client = await open();
    await until(() => client.got.length === 1, 'what was there came');
    bench.streams.open(TestFrames, 'run', { attempt: 2, reached: { attempt: 1, seq: 2 } });
    bench.streams.publish(TestFrames, 'run', 'n', 2);
    expect((await client.closed).code).to.equal(1012);
    expect(client.got).to.deep.equal([1]);
  });

  it('hangs up on a client that does not read, and follows topics no further', async () => {
    await bench.stop();
    bench = await startBench({ streams: { maxFramesPerTopic: 32 } });
    bench.shows({ encode: ({ data }) => JSON.stringify(data) });
    bench.streams.open(TestFrames, 'run');
    bench.area('a', { sockets: [socket({ opened: (conn) => conn.follow(follow('run', TestStream, undefined)) })] });
    const client = connect(bench.port, '127.0.0.1', () =>
      client.write('GET /api/t/7/ws HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'),
    );
    client.on('error', () => undefined); // being hung up on is what is expected
    client.pause();
    await until(() => bench.streams.stats().followers === 1, 'the topic is followed');
    const data = 'x'.repeat(60_000);
    for (let n = 0; n < 1_500 && bench.http.openSockets() > 0; n++) {
      bench.streams.publish(TestFrames, 'run', 'n', data);
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    client.resume();
    await until(() => bench.http.openSockets() === 0, 'the slow client is let go');
    expect(bench.streams.stats().followers).to.equal(0);
  });

  it('tells a client that fell behind and reads again why it is hung up on, and where to resume', async () => {
    await bench.stop();
    bench = await startBench({ streams: { maxFramesPerTopic: 32 } });
    bench.shows({ encode: ({ id, data }) => JSON.stringify(typeof data === 'object' ? { id, ...data } : data) });
    bench.streams.open(TestFrames, 'run');
    bench.area('a', { sockets: [socket({ opened: (conn) => conn.follow(follow('run', TestStream, undefined)) })] });
    const client = new WebSocket(`ws://127.0.0.1:${bench.port}/api/t/7/ws`);
    let last = '';
    client.on('message', (text) => {
      last = String(text);
    });
    const closed = new Promise<[number, string]>((resolve) => client.on('close', (code, reason) => resolve([code, String(reason)])));
    // Before it is open, a pause does nothing.
    await until(() => bench.streams.stats().followers === 1 && client.readyState === WebSocket.OPEN, 'the topic is followed');
    client.pause();
    const data = 'x'.repeat(60_000);
    for (let n = 0; n < 1_500 && bench.streams.stats().followers > 0; n++) {
      bench.streams.publish(TestFrames, 'run', 'n', data);
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    client.resume();
    const [code, reason] = await closed;
    expect(code).to.equal(1013);
    expect(reason).to.contain('stream_reader_too_slow');
    expect(JSON.parse(last)).to.include({ code: 'stream_reader_too_slow' });
    expect(JSON.parse(last).id).to.match(/^run\.1\.\d+$/);
  });

  it('takes little memory for 150 clients that read nothing', async function () {
    this.timeout(120_000);
    await bench.stop();
    bench = await startBench({ keepAliveMs: 60_000, streams: { maxFramesPerTopic: 16, maxBytesPerTopic: 262_144 } });
    bench.shows({ encode: ({ data }) => JSON.stringify(data) });
    bench.streams.open(TestFrames, 'run');
    bench.area('a', { sockets: [socket({ opened: (conn) => conn.follow(follow('run', TestStream, undefined)) })] });
    const clients = Array.from({ length: 150 }, () => {
      const client = new WebSocket(`ws://127.0.0.1:${bench.port}/api/t/7/ws`);
      client.on('open', () => client.pause());
      return client.on('error', () => undefined); // being hung up on is what is expected
    });
    try {
      await until(() => bench.streams.stats().followers === 150, 'all follow');
      const used = (): number => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
      globalThis.gc?.();
      const before = used();
      const data = 'x'.repeat(16_000);
      for (let n = 0; n < 60; n++) {
        bench.streams.publish(TestFrames, 'run', 'n', data);
        if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      globalThis.gc?.();
      // 150 clients times 60 frames are 144 MB. The bytes of a frame are made once, and at most 256 KiB wait for each client.
      expect(used() - before).to.be.lessThan(24_000_000);
    } finally {
      for (const client of clients) client.terminate();
    }
    await until(() => bench.streams.stats().followers === 0, 'all have left');
  });

  it('tells the area when a socket has closed, and counts sockets per address', async () => {
    const closed: string[] = [];
    const counts: number[] = [];
    bench.upgrade = ({ openFromIp }) => void counts.push(openFromIp);
    bench.area('a', { sockets: [socket({ closed: (conn) => void closed.push(conn.params.id ?? '') })] });
    const first = await open('/api/t/1/ws');
    await open('/api/t/2/ws');
    first.ws.close();
    await until(() => closed.length === 1, 'the area was told');
    await until(() => bench.http.openSockets() === 1, 'one is left');
    await open('/api/t/3/ws');
    expect(closed).to.deep.equal(['1']);
    expect(counts).to.deep.equal([0, 1, 1]);
  });

  it('closes open sockets with 1012 when the server closes: they may come back', async () => {
    bench.area('a', { sockets: [socket()] });
    const client = await open();
    await bench.http.close(1_000);
    expect((await client.closed).code).to.equal(1012);
  });

  it('hangs up on a peer that answers none of two pings, and keeps one that does', async () => {
    await bench.stop();
    bench = await startBench({ pingMs: 20 });
    bench.area('a', { sockets: [socket()] });
    const [alive, dead] = [await open(), await open('/api/t/8/ws', [], { autoPong: false })];
    expect((await dead.closed).code).to.equal(1006);
    expect(alive.ws.readyState).to.equal(WebSocket.OPEN);
  });
});
