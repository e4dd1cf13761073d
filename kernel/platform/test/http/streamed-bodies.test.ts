import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reply, type Req, type RouteDecl, sendFile, stream } from '@svc/api';
import { expect } from 'chai';
import { openDir } from '../../src/adapters/files/files-adapter.js';
import { answerOf, type Bench, raw, route, startBench, until } from './http-fixture.js';

const KIB = 1_024;
const MIB = 1_048_576;

async function* pieces(count: number, size: number, made?: () => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at++) {
    made?.();
    yield Buffer.alloc(size, 97 + (at % 26));
  }
}

describe('http: streamed bodies', function () {
  this.timeout(20_000);
  let bench: Bench;
  afterEach(() => bench.stop());

  const upload = (handler: (req: Req) => Promise<ReturnType<typeof reply>>, more: Partial<RouteDecl> = {}): RouteDecl => route({ path: '/up', method: 'POST', streamBody: true, handler, ...more });
  const sizeOf = async (req: Req): Promise<number> => {
    let bytes = 0;
    for await (const piece of req.stream) bytes += piece.byteLength;
    return bytes;
  };

  it('give a handler the bytes as they come, before the body is whole', async () => {
    bench = await startBench({ checkReplies: false });
    const seen: string[] = [];
    bench.area('media', {
      routes: [
        upload(async (req) => {
          for await (const piece of req.stream) seen.push(Buffer.from(piece).toString());
          return reply(200, { seen });
        }),
      ],
    });
    const req = request({ host: '127.0.0.1', port: bench.port, method: 'POST', path: '/up', agent: false });
    req.write('first');
    await until(() => seen.includes('first'), 'the first piece');
    expect((await answerOf(req, 'last')).json).to.deep.equal({ seen: ['first', 'last'] });
  });

  it('take what is larger than any buffer, up to the cap of the route', async () => {
    bench = await startBench({ checkReplies: false });
    bench.area('media', { routes: [upload(async (req) => reply(200, { bytes: await sizeOf(req) }), { maxBodyBytes: 40 * MIB })] });
    expect((await bench.send('POST', '/up', Buffer.alloc(40 * MIB), { 'content-type': 'video/mp4' })).json).to.deep.equal({ bytes: 40 * MIB });
  });

  it('refuse with 413 what announces more than the cap, without asking the handler, and what turns out to be more', async () => {
    bench = await startBench({ checkReplies: false });
    let asked = 0;
    bench.area('media', {
      routes: [
        upload(
          async (req) => {
            asked++;
            return reply(200, { bytes: await sizeOf(req) });
          },
          { maxBodyBytes: 100 },
        ),
      ],
    });
    expect(await bench.send('POST', '/up', Buffer.alloc(101))).to.deep.include({ status: 413 });
    expect(asked).to.equal(0);
    const unsaid = request({ host: '127.0.0.1', port: bench.port, method: 'POST', path: '/up', agent: false });
    unsaid.write(Buffer.alloc(80));
    expect((await answerOf(unsaid, Buffer.alloc(80))).json).to.include({ code: 'body_too_large' });
    expect(asked).to.equal(1);
  });

  it('push back: a handler that does not read holds the sender up', async () => {
    bench = await startBench({ checkReplies: false });
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    bench.area('media', {
      routes: [
        upload(
          async (req) => {
            await held;
            return reply(200, { bytes: await sizeOf(req) });
          },
          { maxBodyBytes: 64 * MIB },
        ),
      ],
    });
    const req = request({ host: '127.0.0.1', port: bench.port, method: 'POST', path: '/up', agent: false, headers: { 'content-length': 48 * MIB } });
    const answer = answerOf(req, Buffer.alloc(48 * MIB));
    await until(() => (req.socket?.bytesWritten ?? 0) > 0, 'the head was sent');
    // Most of it is still with the sender when all buffers between are full.
    let before = -1;
    await until(() => {
      const now = req.socket?.writableLength ?? 0;
      const isStill = now === before;
      before = now;
      return isStill && now > 0;
    }, 'the sender stands still');
    expect(before).to.be.greaterThan(24 * MIB);
    go();
    expect((await answer).json).to.deep.equal({ bytes: 48 * MIB });
  });

  it('do not blame a client for the time that the handler takes, and end one that pauses too long', async () => {
    bench = await startBench({ checkReplies: false, limits: { bodyGraceMs: 150 } });
    bench.area('media', {
      routes: [
        upload(async (req) => {
          await new Promise((resolve) => setTimeout(resolve, 400));
          return reply(200, { bytes: await sizeOf(req) });
        }),
      ],
    });
    expect((await bench.send('POST', '/up', Buffer.alloc(10 * KIB))).json).to.deep.equal({ bytes: 10 * KIB });
    const seen = await raw(bench.port, 'POST /up HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\nhalf', (text) => text.includes('body_too_slow'));
    expect(seen).to.contain('408');
  });

  it('throw in the handler, and abort its signal, when the caller goes', async () => {
    bench = await startBench({ checkReplies: false });
    const ends: string[] = [];
    bench.area('media', {
      routes: [
        upload(async (req) => {
          req.signal.addEventListener('abort', () => ends.push('signal'));
          try {
            await sizeOf(req);
          } catch (error) {
            ends.push((error as { code: string }).code);
            throw error;
          }
          return reply(200, {});
        }),
      ],
    });
    const socket = connect(bench.port, '127.0.0.1', () => socket.write('POST /up HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\nhalf', () => socket.destroy()));
    await until(() => ends.length === 2, 'both were told');
    expect(ends.sort()).to.deep.equal(['body_aborted', 'signal']);
  });

  it('leave the connection usable when the handler did not read to the end', async () => {
    bench = await startBench({ checkReplies: false });
    bench.area('media', { routes: [upload(async () => reply(200, { enough: true })), route({ path: '/after', handler: async () => reply(200, { after: true }) })] });
    const body = 'x'.repeat(1_000);
    const seen = await raw(bench.port, `POST /up HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\n${body}GET /after HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`, (text) => text.includes('after"'));
    expect(seen).to.contain('{"enough":true}').and.contain('{"after":true}');
  });

  it('end with `reloading` when the area stops in the middle', async () => {
    bench = await startBench({ checkReplies: false });
    let begun = 0;
    const area = bench.area('media', {
      routes: [
        upload(async (req) => {
          begun++;
          return reply(200, { bytes: await sizeOf(req) });
        }),
      ],
    });
    const req = request({ host: '127.0.0.1', port: bench.port, method: 'POST', path: '/up', agent: false });
    const answer = new Promise<number>((resolve) => req.once('response', (res) => resolve(res.statusCode ?? 0)));
    req.write('half');
    await until(() => begun === 1, 'the handler reads');
    expect(area.lifetime.holds()).to.deep.equal(['POST /up']);
    await area.lifetime.close();
    expect(await answer).to.equal(503);
    req.destroy();
  });

  it('are refused beside another form of the body', async () => {
    bench = await startBench({ checkReplies: false });
    expect(() => bench.area('media', { routes: [upload(async () => reply(200, {}), { rawBody: true })] })).to.throw('declares another form');
  });
});

describe('http: streamed answers', function () {
  this.timeout(20_000);
  let bench: Bench;
  afterEach(() => bench.stop());

  const down = (source: () => AsyncIterable<Uint8Array>, headers: Record<string, string> = {}): RouteDecl => route({ path: '/down', handler: async () => stream(200, 'video/mp4', source(), headers) });

  it('arrive whole, with their type and headers', async () => {
    bench = await startBench({ checkReplies: false });
    bench.area('media', { routes: [down(() => pieces(100, 64 * KIB), { 'x-name': 'film' })] });
    const answer = await bench.get('/down');
    expect(answer).to.include({ status: 200 });
    expect(answer.headers).to.include({ 'content-type': 'video/mp4', 'x-name': 'film', 'x-content-type-options': 'nosniff' });
    expect(answer.text.length).to.equal(100 * 64 * KIB);
  });

  it('ask the source for no more than the client takes, and end it when the client leaves', async () => {
    bench = await startBench({ checkReplies: false });
    let made = 0;
    let isEnded = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces(100_000, 64 * KIB, () => made++);
      } finally {
        isEnded = true;
      }
    }
    const area = bench.area('media', { routes: [down(source)] });
    const response = await new Promise<IncomingMessage>((resolve) => request({ host: '127.0.0.1', port: bench.port, path: '/down', agent: false }, resolve).end());
    response.pause();
    let before = -1;
    await until(() => {
      const isStill = made === before && made > 0;
      before = made;
      return isStill;
    }, 'the source stands still');
    expect(made).to.be.lessThan(1_000);
    expect(area.lifetime.holds()).to.deep.equal(['GET /down (stream)']);
    response.destroy();
    await until(() => isEnded && area.lifetime.holds().length === 0, 'the source was ended and the hold released');
  });

  it('are given up for a client that takes nothing', async () => {
    bench = await startBench({ checkReplies: false, limits: { bodyGraceMs: 100, bodyBytesPerSecond: MIB } });
    let isEnded = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces(100_000, 64 * KIB);
      } finally {
        isEnded = true;
      }
    }
    bench.area('media', { routes: [down(source)] });
    const socket = connect(bench.port, '127.0.0.1', () => socket.write('GET /down HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'));
    socket.pause();
    socket.on('error', () => undefined);
    await until(() => isEnded, 'the source was ended');
    socket.destroy();
  });

  it('keep their generation while they go, and hang up on the client when it stops', async () => {
    bench = await startBench({ checkReplies: false });
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield Buffer.from('tick');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    const area = bench.area('media', { routes: [down(endless)] });
    const response = await new Promise<IncomingMessage>((resolve) => request({ host: '127.0.0.1', port: bench.port, path: '/down', agent: false }, resolve).end());
    const broken = new Promise<string>((resolve) => response.once('error', (error) => resolve(String(error))));
    response.resume();
    expect(await area.lifetime.drain(30)).to.equal(false);
    await area.lifetime.close();
    expect(await broken).to.contain('aborted');
    await until(() => area.lifetime.holds().length === 0, 'the hold was released');
  });

  it('are an error answer when the source fails before its first byte, and half an answer that breaks when it fails later', async () => {
    bench = await startBench({ checkReplies: false });
    let good = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield* pieces(good, KIB);
      throw new Error('the disk is gone');
    }
    bench.area('media', { routes: [down(source)] });
    expect(await bench.get('/down')).to.include({ status: 500 });
    good = 2;
    expect(await bench.get('/down').catch((error: Error) => error.message)).to.match(/aborted|hang up/);
    expect(bench.logged.filter(({ message }) => message === 'a request failed').length).to.equal(2);
  });

  it('keep to the length that was announced', async () => {
    bench = await startBench({ checkReplies: false });
    let count = 1;
    bench.area('media', { routes: [down(() => pieces(count, KIB), { 'content-length': String(2 * KIB) })] });
    for (count of [1, 3]) expect(await bench.get('/down').catch((error: Error) => error.message), String(count)).to.match(/aborted|hang up/);
    count = 2;
    expect((await bench.get('/down')).text.length).to.equal(2 * KIB);
  });

  it('ask the source for nothing for a HEAD', async () => {
    bench = await startBench({ checkReplies: false });
    let made = 0;
    bench.area('media', { routes: [down(() => pieces(5, KIB, () => made++))] });
    expect(await bench.send('HEAD', '/down')).to.include({ status: 200, text: '' });
    expect(made).to.equal(0);
  });

  it('may be made of the body of their request', async () => {
    bench = await startBench({ checkReplies: false });
    bench.area('media', { routes: [route({ path: '/echo', method: 'POST', streamBody: true, maxBodyBytes: MIB, handler: async (req) => stream(200, 'text/plain', (req as Req).stream) })] });
    expect((await bench.send('POST', '/echo', 'x'.repeat(500_000))).text.length).to.equal(500_000);
  });
});

describe('http: files as answers', () => {
  let bench: Bench;
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-serve-'));
    const dir = openDir(home);
    await dir.write('film', '0123456789');
    await dir.write('empty', '');
    bench = await startBench({ checkReplies: false });
    bench.area('media', { routes: [route({ path: '/files/{name}', handler: (req: Req) => sendFile(req, dir, (req.params as { name: string }).name, 'video/mp4') })] });
  });
  afterEach(async () => {
    await bench.stop();
    await rm(home, { recursive: true, force: true });
  });

  const part = async (range: string, more: Record<string, string> = {}) => {
    const { status, text, headers } = await bench.get('/files/film', { range, ...more });
    return [status, text, headers['content-range']];
  };

  it('are whole with their length and validators', async () => {
    const answer = await bench.get('/files/film');
    expect(answer).to.include({ status: 200, text: '0123456789' });
    expect(answer.headers).to.include({ 'content-length': '10', 'accept-ranges': 'bytes' }).and.have.property('etag');
    expect(await bench.get('/files/empty')).to.include({ status: 200, text: '' });
    expect((await bench.get('/files/none')).json).to.include({ code: 'served_file_missing' });
  });

  it('are one range where one is asked for', async () => {
    expect(await part('bytes=2-4')).to.deep.equal([206, '234', 'bytes 2-4/10']);
    expect(await part('bytes=7-')).to.deep.equal([206, '789', 'bytes 7-9/10']);
    expect(await part('bytes=-3')).to.deep.equal([206, '789', 'bytes 7-9/10']);
    expect(await part('bytes=-30')).to.deep.equal([206, '0123456789', 'bytes 0-9/10']);
    expect(await part('bytes=0-99')).to.deep.equal([206, '0123456789', 'bytes 0-9/10']);
    expect(await part('bytes=10-')).to.deep.equal([416, '', 'bytes */10']);
    expect(await part('bytes=-0')).to.deep.equal([416, '', 'bytes */10']);
    for (const unread of ['bytes=4-2', 'bytes=-', 'bytes=1-2,4-5', 'lines=1-2']) expect(await part(unread), unread).to.deep.equal([200, '0123456789', undefined]);
  });

  it('are not sent to whoever has them, and whole to whoever has a part of another version', async () => {
    const { etag = '' } = (await bench.get('/files/film')).headers;
    expect(await bench.get('/files/film', { 'if-none-match': `W/"other", ${etag}` })).to.include({ status: 304, text: '' });
    expect(await part('bytes=2-4', { 'if-range': etag })).to.deep.equal([206, '234', 'bytes 2-4/10']);
    expect(await part('bytes=2-4', { 'if-range': '"other"' })).to.deep.equal([200, '0123456789', undefined]);
  });
});
