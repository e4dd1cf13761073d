import { request } from 'node:http';
import { connect } from 'node:net';
import { follow, reply, sse, Type, waitFor } from '@svc/api';
import { expect } from 'chai';
import { createEarlyListener } from '../../src/http/connections/early-listener.js';
import { DEFAULT_LIMITS } from '../../src/http/limits.js';
import { answerOf, type Bench, ids, raw, route, startBench, TestAnswer, TestFrames, TestStream, until } from './http-fixture.js';

describe('http start and stop', () => {
  let bench: Bench;
  afterEach(() => bench.stop());

  it('answers health 200 `starting` and all else 503 before the application is loaded, and hands over', async () => {
    const early = createEarlyListener({ ids, limits: () => DEFAULT_LIMITS, isProxy: () => false });
    const { port } = await early.listen({ host: '127.0.0.1', port: 0 });
    const get = (path: string) => answerOf(request({ host: '127.0.0.1', port, path, agent: false }));
    const [health, other] = await Promise.all([get('/api/health'), get('/api/agents')]);
    expect([health.status, health.json]).to.deep.equal([200, { status: 'starting' }]);
    expect(other.headers['x-request-id']).to.be.a('string');
    expect([other.status, other.json.code, other.headers['retry-after']]).to.deep.equal([503, 'starting', '1']);
    early.handOver(
      (_req, res) => void res.writeHead(204).end(),
      (_req, socket) => socket.destroy(),
    );
    expect((await get('/api/agents')).status).to.equal(204);
    early.server.close();
    bench = await startBench();
    expect((await bench.get('/api/agents')).status).to.equal(404);
  });

  it('keeps answering `starting` until admission opens, and refuses while stopping', async () => {
    bench = await startBench();
    bench.area('a', { routes: [route({ path: '/api/health', auth: 'public', responses: { 200: Type.Unknown() }, handler: async () => reply(200, { status: 'ok' }) })] });
    bench.admission = { state: 'starting' };
    expect((await bench.get('/api/health')).json).to.deep.equal({ status: 'starting' });
    bench.admission = { state: 'ready' };
    expect((await bench.get('/api/health')).json).to.deep.equal({ status: 'ok' });
    bench.admission = { state: 'closed', reason: 'auth is not active.' };
    expect((await bench.get('/api/health')).status).to.equal(200);
    bench.admission = { state: 'stopping' };
    expect((await bench.get('/api/health')).json.code).to.equal('stopping');
  });

  it('answers what is not HTTP with an error that carries a request id', async () => {
    bench = await startBench();
    const seen = await raw(bench.port, 'BREW /pot\r\n\r\n', () => false);
    expect(seen)
      .to.match(/^HTTP\/1\.1 400 Bad Request/)
      .and.to.match(/x-request-id: [0-9a-f-]{36}/);
  });

  it('lets an answer in progress end before it closes, and takes no new connection meanwhile', async () => {
    bench = await startBench();
    let release: () => void = () => expect.fail('released too early');
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    bench.area('a', { routes: [route({ path: '/api/slow', responses: { 200: Type.Unknown() }, handler: () => held.then(() => reply(200, 'done')) })] });
    const slow = bench.get('/api/slow');
    await until(() => bench.http.stats().inFlight === 1, 'the request is in');
    const closed = bench.http.close(2_000);
    const refused = await bench.get('/api/slow').catch((error: NodeJS.ErrnoException) => error.code);
    expect(refused).to.equal('ECONNREFUSED');
    release();
    expect((await slow).json).to.equal('done');
    await closed;
  });
});

describe('http streams', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench.stop());

  const stream = () => {
    bench.shows({ encode: ({ type, data, id }) => (type === 'hidden' ? undefined : sse(type, data, id)) });
    return bench.area('a', {
      routes: [
        route({
          path: '/api/s',
          handler: async (req) => follow('run', TestStream, undefined, { after: req.headers['last-event-id'] ?? 0, headers: { 'x-svc-run': 'run' } }),
        }),
      ],
    });
  };

  it('sends frames as server-sent events to the final one, each with its id', async () => {
    stream();
    bench.streams.open(TestFrames, 'run');
    bench.streams.publish(TestFrames, 'run', 'chunk', { content: 'hi', done: false });
    bench.streams.publish(TestFrames, 'run', 'hidden', {});
    const reading = bench.get('/api/s');
    await until(() => bench.http.stats().openStreams === 1, 'the stream is open');
    bench.streams.publish(TestFrames, 'run', 'done', { done: true });
    const answer = await reading;
    expect(answer.headers).to.include({ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no', 'x-svc-run': 'run' });
    expect(answer.headers['x-request-id']).to.be.a('string');
    expect(answer.text).to.equal('id: run.1.1\nevent: chunk\ndata: {"content":"hi","done":false}\n\nid: run.1.3\nevent: done\ndata: {"done":true}\n\n');
    expect(bench.http.stats().openStreams).to.equal(0);
  });

  it('resumes exactly after Last-Event-ID', async () => {
    stream();
    bench.streams.open(TestFrames, 'run');
    for (const type of ['n', 'n', 'done'] as const) bench.streams.publish(TestFrames, 'run', type, 7);
    expect((await bench.get('/api/s', { 'last-event-id': 'run.1.2' })).text).to.equal('id: run.1.3\nevent: done\ndata: 7\n\n');
  });

  it('hangs up on a client who missed a part of what another process goes on with, and keeps one who did not', async () => {
    stream();
    bench.streams.open(TestFrames, 'run');
    bench.streams.publish(TestFrames, 'run', 'n', 1);
    const cut = bench.get('/api/s').then(
      () => 'ended',
      () => 'hung up',
    );
    await until(() => bench.http.stats().openStreams === 1, 'the stream is open');
    bench.streams.open(TestFrames, 'run', { attempt: 2, reached: { attempt: 1, seq: 2 } });
    const whole = bench.get('/api/s', { 'last-event-id': 'run.1.2' });
    await until(() => bench.http.stats().openStreams === 2, 'the other is open');
    bench.streams.publish(TestFrames, 'run', 'done', 2);
    expect(await cut).to.equal('hung up');
    expect((await whole).text).to.equal('id: run.2.1\nevent: done\ndata: 2\n\n');
  });

  it('holds no generation and survives the area', async () => {
    const area = stream();
    bench.streams.open(TestFrames, 'run');
    const reading = bench.get('/api/s');
    await until(() => bench.http.stats().openStreams === 1, 'the stream is open');
    expect(await area.lifetime.drain(500)).to.equal(true);
    bench.remove(area);
    bench.streams.publish(TestFrames, 'run', 'done', 'after');
    expect((await reading).text).to.contain('after');
  });

  it('answers 404 as JSON when there is no such topic', async () => {
    stream();
    expect((await bench.get('/api/s')).json.code).to.equal('stream_not_found');
  });

  it('writes to no client faster than it reads, and says why it hangs up when the ring overtakes it', async () => {
    await bench.stop();
    bench = await startBench({ streams: { maxFramesPerTopic: 64, maxBytesPerTopic: 65_536 * 64 } });
    stream();
    bench.streams.open(TestFrames, 'run');
    const socket = connect(bench.port, '127.0.0.1', () => socket.write('GET /api/s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'));
    socket.pause();
    await until(() => bench.http.stats().openStreams === 1, 'the stream is open');
    globalThis.gc?.();
    const before = process.memoryUsage().arrayBuffers;
    const data = 'x'.repeat(60_000);
    for (let n = 0; n < 1_500; n++) {
      bench.streams.publish(TestFrames, 'run', 'n', data);
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    globalThis.gc?.();
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(30_000_000);
    let size = 0;
    let end = '';
    socket.on('data', (chunk) => {
      size += chunk.length;
      end = `${end}${chunk}`.slice(-2_000);
    });
    socket.on('error', () => undefined); // being hung up on is what is expected
    socket.resume();
    await until(() => bench.http.stats().openStreams === 0, 'the slow client is let go');
    expect(size).to.be.lessThan(60_000 * 1_500);
    await until(() => end.includes('stream_reader_too_slow'), 'the client is told why');
    bench.streams.publish(TestFrames, 'run', 'done', {});
    expect((await bench.get('/api/s')).text).to.contain('event: done');
  });

  it('takes little memory for 150 clients that read nothing', async function () {
    this.timeout(120_000);
    await bench.stop();
    bench = await startBench({ keepAliveMs: 60_000, streams: { maxFramesPerTopic: 16, maxBytesPerTopic: 262_144 } });
    stream();
    bench.streams.open(TestFrames, 'run');
    const sockets = Array.from({ length: 150 }, () => {
      const socket = connect(bench.port, '127.0.0.1', () => socket.write('GET /api/s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'));
      socket.pause();
      return socket.on('error', () => undefined); // being hung up on is what is expected
    });
    try {
      await until(() => bench.http.stats().openStreams === 150, 'all streams are open');
      globalThis.gc?.();
      const used = (): number => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
      const before = used();
      const data = 'x'.repeat(16_000);
      for (let n = 0; n < 60; n++) {
        bench.streams.publish(TestFrames, 'run', 'n', data);
        if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      globalThis.gc?.();
      // 150 clients times 60 frames are 144 MB. What node holds of each is shared: the bytes of a frame are made once.
      expect(used() - before).to.be.lessThan(24_000_000);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await until(() => bench.http.stats().openStreams === 0, 'all have left');
  });

  it('hangs up on a client that reads nothing for four beats', async () => {
    await bench.stop();
    bench = await startBench({ keepAliveMs: 20 });
    stream();
    bench.streams.open(TestFrames, 'run');
    const socket = connect(bench.port, '127.0.0.1', () => socket.write('GET /api/s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'));
    socket.pause().on('error', () => undefined); // being hung up on is what is expected
    await until(() => bench.http.stats().openStreams === 1, 'the stream is open');
    const data = 'x'.repeat(60_000);
    for (let n = 0; n < 200; n++) {
      bench.streams.publish(TestFrames, 'run', 'n', data);
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => bench.http.stats().openStreams === 0, 'the client that reads nothing is let go');
    socket.destroy();
  });

  it('lets go of the topic when the client leaves, for streams and for waits', async () => {
    bench.streams.open(TestFrames, 'run');
    bench.answers({ answer: () => reply(200, {}) });
    bench.area('w', { routes: [route({ path: '/api/w', handler: async () => waitFor('run', TestAnswer, undefined) })] });
    stream();
    for (const path of ['/api/w', '/api/s']) {
      const asked = request({ host: '127.0.0.1', port: bench.port, path, agent: false });
      asked.on('error', () => undefined); // we hang up ourselves
      asked.end();
      await until(() => bench.streams.stats().followers === 1, `${path} is attached`);
      asked.destroy();
      await until(() => bench.streams.stats().followers === 0, `${path} is gone`);
    }
  });

  it('answers 503 where the area that shows the frames is off: no such projection, or one of the other kind', async () => {
    bench.streams.open(TestFrames, 'run');
    bench.area('w', {
      routes: [
        route({ id: 'w', path: '/api/w', handler: async () => waitFor('run', TestAnswer, undefined) }),
        route({ id: 's', path: '/api/s', handler: async () => follow('run', TestStream, undefined) }),
      ],
    });
    for (const path of ['/api/w', '/api/s']) {
      const answer = await bench.get(path);
      expect([answer.status, answer.json.code], path).to.deep.equal([503, 'stream_unknown_projection']);
    }
    bench.shows({ encode: () => 'x' });
    expect((await bench.get('/api/w')).json.code).to.equal('stream_unknown_projection');
    expect(bench.streams.stats().followers).to.equal(0);
  });

  it('answers HEAD of a stream with its headers and ends', async () => {
    stream();
    bench.streams.open(TestFrames, 'run');
    const answer = await bench.send('HEAD', '/api/s');
    expect([answer.status, answer.headers['content-type'], answer.text]).to.deep.equal([200, 'text/event-stream; charset=utf-8', '']);
  });

  it('ends open streams when the server closes', async () => {
    stream();
    bench.streams.open(TestFrames, 'run');
    const reading = answerOf(request({ host: '127.0.0.1', port: bench.port, path: '/api/s', agent: false }));
    await until(() => bench.http.stats().openStreams === 1, 'the stream is open');
    await bench.http.close(1_000);
    expect((await reading).status).to.equal(200);
  });

  it('sends comments while a stream is silent', async () => {
    await bench.stop();
    bench = await startBench({ keepAliveMs: 10 });
    stream();
    bench.streams.open(TestFrames, 'run');
    const seen = await raw(bench.port, 'GET /api/s HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n', (text) => text.split(': keep-alive\n\n').length > 2);
    expect(seen).to.contain('200 OK');
  });
});
