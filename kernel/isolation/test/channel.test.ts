/** The channel between two processes, its two ends in one: what an honest side gets, and what a hostile one is refused. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSvcError, SvcError } from '@svc/api';
import { expect } from 'chai';
import { encodeFrame } from '../src/channel/framing.js';
import { MAX_IN_FLIGHT, Peer, type PeerOptions } from '../src/channel/peer.js';

type Side = Pick<PeerOptions, 'serve' | 'onNotify'>;

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: unknown) => (isSvcError(error) ? error.code : String(error)),
  );

const untilTrue = async (what: () => boolean): Promise<void> => {
  while (!what()) await sleep(5);
};

describe('a channel', () => {
  let folder: string;
  let server: Server;
  let near: Socket;
  let far: Socket;
  let ended: string[] = [];

  beforeEach(async () => {
    // A list of this test's own: a channel of the test before may hear of its end only now.
    ended = [];
    folder = await mkdtemp(join(tmpdir(), 'svc-channel-'));
    server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    far = connect(join(folder, 's'));
    near = await accepted;
  });
  afterEach(async () => {
    near.destroy();
    far.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });

  const side = (stream: Socket, { serve = () => undefined, onNotify = () => undefined }: Partial<Side>, name: string, isBounded = true) => {
    const own = ended;
    return new Peer({ stream, serve, onNotify, isBounded, ended: ({ code }) => void own.push(`${name} ${code}`) });
  };
  const pair = (serve: Side['serve']) => ({ daemon: side(near, {}, 'daemon'), child: side(far, { serve }, 'child', false) });

  it('carries plain data as it is: lists with holes, bytes, numbers that JSON has not, keys of every kind', async () => {
    const { daemon } = pair((_to, args) => args);
    const data = [
      1,
      undefined,
      null,
      Number.NaN,
      -1 / 0,
      { a: { b: [new Uint8Array([1, 2])] } },
      { '\0bytes': 0, __proto__x: 1 },
      { '\0undefined': [] },
      'ü\ud800',
      new Uint8Array(0),
      { left: undefined },
    ];
    expect(await daemon.call('echo', data)).to.deep.equal([...data.slice(0, -1), {}]);
  });

  it('refuses what is no plain data by name, and goes on', async () => {
    const { daemon } = pair(() => () => undefined);
    expect(await codeOf(daemon.call('x', [Symbol('x')]))).to.equal('isolation_not_plain');
    expect(await codeOf(daemon.call('x', []))).to.equal('isolation_not_plain');
    expect(await codeOf(daemon.call('x', ['y'.repeat(5_000_000)]))).to.equal('isolation_frame_size');
    expect(daemon.isOver).to.equal(false);
  });

  it('carries errors with what may be shown of them', async () => {
    const { daemon } = pair(() => {
      throw new SvcError('acme_full', 'It is full.', { status: 409, retry: true, hint: 'Wait.', details: { n: 1 }, headers: { 'retry-after': '3' } });
    });
    const error = await daemon.call('x', []).catch((one: unknown) => one);
    expect(error).to.be.instanceOf(SvcError).and.to.include({ code: 'acme_full', message: 'It is full.', status: 409, retry: true, hint: 'Wait.' });
    expect(error).to.deep.include({ details: { n: 1 }, headers: { 'retry-after': '3' } });
  });

  it('ends a call by its signal and its deadline, and tells the other side', async () => {
    const aborted: string[] = [];
    const { daemon } = pair((to, _args, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error(`${aborted.push(to)}`)))));
    const abort = new AbortController();
    const call = daemon.call('first', [], { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('enough')), 10);
    expect(await call.catch((error: Error) => error.message)).to.equal('enough');
    expect(await codeOf(daemon.call('second', [], { deadlineMs: 10 }))).to.equal('isolation_late');
    while (aborted.length < 2) await sleep(5);
    expect(aborted).to.deep.equal(['first', 'second']);
  });

  it('moves a stream when it is pulled, and closes its source when the reader leaves', async () => {
    let made = 0;
    let isClosed = false;
    const { daemon } = pair(async function* () {
      try {
        for (;;) yield made++;
      } finally {
        isClosed = true;
      }
    } as unknown as Side['serve']);
    const stream = (await daemon.call('numbers', [])) as AsyncIterable<number>;
    const got: number[] = [];
    for await (const one of stream) {
      got.push(one);
      if (one === 3) break;
    }
    while (!isClosed) await sleep(5);
    expect([got, made]).to.deep.equal([[0, 1, 2, 3], 4]);
  });

  it('fails all that waits when it ends, and what is asked later', async () => {
    const { daemon } = pair(() => new Promise(() => undefined));
    const calls = [daemon.call('a', []), daemon.call('b', [])].map(codeOf);
    far.destroy();
    expect(await Promise.all(calls)).to.deep.equal(['isolation_closed', 'isolation_closed']);
    expect(await codeOf(daemon.call('c', []))).to.equal('isolation_closed');
    expect(ended).to.include('daemon isolation_closed');
  });

  it('that breaks leaves the reason to whoever watches the process, and has one of its own where nobody does', async () => {
    const why = (work: Promise<unknown>): Promise<string> => work.then(String, (error: Error) => error.message);
    const daemon = side(near, {}, 'daemon');
    const call = why(daemon.call('work', []));
    near.destroy(new Error('write EPIPE'));
    await sleep(1);
    daemon.end(new SvcError('isolation_closed', 'It was ended by SIGKILL.', { status: 503, retry: true }));
    expect(await call).to.equal('It was ended by SIGKILL.');

    const alone = why(side(far, {}, 'alone').call('work', []));
    far.destroy(new Error('read ECONNRESET'));
    expect(await alone).to.contain('its channel broke');
  });

  it('lets calls beyond what may be under way wait in line', async () => {
    let most = 0;
    let now = 0;
    const { daemon } = pair(async () => {
      most = Math.max(most, ++now);
      await sleep(5);
      now -= 1;
    });
    await Promise.all(Array.from({ length: 3 * MAX_IN_FLIGHT }, () => daemon.call('x', [])));
    expect(most).to.equal(MAX_IN_FLIGHT);
  });

  it('keeps few answers for a side that reads none of them', async () => {
    const answer = 'x'.repeat(1024 * 1024);
    side(near, { serve: () => answer }, 'daemon');
    far.on('error', () => undefined);
    for (let id = 1; id <= 200 && !near.destroyed; id++) {
      far.write(encodeFrame(['call', id, 'read', []], []));
      await sleep(1);
    }
    await untilTrue(() => near.destroyed);
    expect(ended).to.include('daemon isolation_flood');
  });

  it('answers all, when the side that was slow reads again', async () => {
    const answer = 'x'.repeat(1024 * 1024);
    side(near, { serve: () => answer }, 'daemon');
    far.pause();
    for (let id = 1; id <= 40; id++) far.write(encodeFrame(['call', id, 'read', []], []));
    await untilTrue(() => near.writableLength > 16 * 1024 * 1024);
    let bytes = 0;
    far.on('data', (piece: Buffer) => {
      bytes += piece.byteLength;
    });
    far.resume();
    await untilTrue(() => bytes > 40 * answer.length);
    expect(near.destroyed).to.equal(false);
  });

  it('is cut when one stream is pulled more often than there may be streams', async () => {
    const daemon = side(near, {}, 'daemon');
    void daemon.call('take', [{ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) }]).catch(() => undefined);
    far.on('error', () => undefined);
    for (let id = 1; id <= 1_100; id++) far.write(encodeFrame(['pull', id, 2], []));
    await untilTrue(() => near.destroyed);
    expect(ended).to.include('daemon isolation_flood');
  });

  it('asks what is urgent past calls that are under way, and lets go of those that wait too long for their turn', async () => {
    const { daemon } = pair((to) => (to === 'ping' ? 'pong' : new Promise(() => undefined)));
    const stuck = Array.from({ length: MAX_IN_FLIGHT }, () => daemon.call('stuck', []).catch(() => undefined));
    expect(await daemon.call('ping', [], { isUrgent: true })).to.equal('pong');
    expect(await codeOf(daemon.call('ping', [], { deadlineMs: 20 }))).to.equal('isolation_late');
    const leaving = new AbortController();
    const left = codeOf(daemon.call('ping', [], { signal: leaving.signal }));
    leaving.abort(new SvcError('gone', 'They left.', { status: 499, retry: false }));
    expect(await left).to.equal('gone');
    expect(stuck).to.have.length(MAX_IN_FLIGHT);
  });

  describe('with a hostile side', () => {
    const daemonWith = (serve: Side['serve'] = () => new Promise(() => undefined)): Peer => side(near, { serve }, 'daemon');
    const isEnded = async (): Promise<string | undefined> => {
      const ofDaemon = (): string | undefined => ended.find((text) => text.startsWith('daemon'));
      for (let i = 0; i < 400 && ofDaemon() === undefined; i++) await sleep(5);
      return ofDaemon();
    };

    it('is cut at the length of a message that is too long, before the message has come', async () => {
      daemonWith();
      far.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
      expect(await isEnded()).to.equal('daemon isolation_frame_size');
    });

    it('is cut at the 65th call that is open', async () => {
      daemonWith();
      for (let id = 1; id <= MAX_IN_FLIGHT + 1; id++) far.write(encodeFrame(['call', id, 'x', []], []));
      expect(await isEnded()).to.equal('daemon isolation_flood');
    });

    for (const [what, bytes] of Object.entries({
      'that is no JSON': frame('{'),
      'that is no list': frame('{}'),
      'of no kind': encodeFrame(['dance', 1], []),
      'without a number': encodeFrame(['call', 'x', 'y', []], []),
      'with arguments that are no list': encodeFrame(['call', 1, 'x', {}], []),
      'with a mark that means nothing': encodeFrame(['call', 1, 'x', [{ '\0what': 1 }]], []),
      'with bytes that are not there': encodeFrame(['call', 1, 'x', [{ '\0bytes': 7 }]], []),
      'whose JSON is longer than the whole': Buffer.from([0, 0, 0, 5, 0, 0, 1, 0, 1]),
      'that is too deep': encodeFrame(['call', 1, 'x', [JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)]], []),
    })) {
      it(`is cut at a message ${what}`, async () => {
        daemonWith();
        far.write(bytes);
        expect(await isEnded()).to.equal('daemon isolation_frame_broken');
      });
    }

    it('answers to calls that nobody made, cancels and drops what is not there: nothing happens', async () => {
      const daemon = daemonWith((to) => to);
      for (const message of [
        ['reply', 99, 1],
        ['error', 98, {}],
        ['cancel', 97],
        ['drop', 96],
      ])
        far.write(encodeFrame(message, []));
      const child = side(far, { serve: () => 'alive' }, 'child', false);
      expect([await daemon.call('x', []), await child.call('y', [])]).to.deep.equal(['alive', 'y']);
    });

    it('takes a share of the time and no more: what else the process does goes on while messages pour in', async () => {
      const daemon = daemonWith(() => 'x');
      const ticks: number[] = [];
      const timer = setInterval(() => ticks.push(performance.now()), 5);
      const message = encodeFrame(['tell', 0, 'log', [{ list: Array.from({ length: 2_000 }, (_, i) => `line ${i}`) }]], []);
      const end = performance.now() + 1_000;
      while (performance.now() < end) if (!far.write(message)) await Promise.race([new Promise((resolve) => far.once('drain', resolve)), sleep(20)]);
      clearInterval(timer);
      // Without a share the loop would be busy from the first piece to the last.
      expect(ticks.length).to.be.greaterThan(20);
      expect(daemon.isOver).to.equal(false);
    });
  });
});

function frame(json: string): Buffer {
  const body = Buffer.from(json);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(4 + body.length, 0);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
