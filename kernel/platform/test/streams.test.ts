import { type Frame, Type, defineFrames } from '@svc/api';
import { expect } from 'chai';
import { createStreams } from '../src/streams/streams.js';

const RUN = '0b0e8c1e-6a51-4b6e-9a3a-5d1c5f6a7b8c';
const Anything = Type.Unknown();
const TestFrames = defineFrames('test', '1.0.0', {
  frames: { n: Anything, chunk: Anything, tool_use: Anything, phase: Anything, big: Anything, done: Anything },
  final: ['done'],
  joins: { chunk: 'content' },
});
const text = (content: string) => ({ content, done: false });

describe('streams', () => {
  let now = 0;
  const clock = { now: () => now, mono: () => now };
  let streams: ReturnType<typeof createStreams>;
  beforeEach(() => {
    streams = createStreams({ clock, maxFramesPerTopic: 8, maxBytesPerTopic: 10_000, maxTopics: 3 });
  });
  afterEach(() => streams.close());

  const seen = (after: string | number = 0): string[] => {
    const place = streams.cursor(RUN, after, () => undefined);
    const frames: string[] = [];
    for (let frame = place?.read(); frame; frame = place?.read()) frames.push(`${frame.seq}:${JSON.stringify((frame.data as { content?: string }).content ?? frame.data)}`);
    place?.close();
    return frames;
  };
  const publishNumbers = (count: number) => {
    for (let n = 1; n <= count; n++) streams.publish(TestFrames, RUN, 'n', n);
  };

  it('keeps so many bytes of what has ended, the newest, and counts one that begins again no more', () => {
    const small = createStreams({ clock, maxEndedBytes: 3_000 });
    const end = (name: string): void => {
      small.open(TestFrames, name);
      small.publish(TestFrames, name, 'done', 'x'.repeat(1_200));
    };
    for (const name of ['one', 'two', 'three']) end(name);
    expect(['one', 'two', 'three'].map((name) => small.here(name)?.ended)).to.deep.equal([undefined, true, true]);
    for (let attempt = 2; attempt < 30; attempt++) {
      small.open(TestFrames, 'three', { attempt });
      small.publish(TestFrames, 'three', 'done', 'x'.repeat(1_200));
    }
    expect(['two', 'three'].map((name) => small.here(name)?.ended)).to.deep.equal([true, true]);
    small.close();
  });

  it('numbers frames <topic>.<attempt>.<seq>', () => {
    streams.open(TestFrames, RUN, { attempt: 3, startSeq: 40 });
    publishNumbers(1);
    expect(streams.cursor(RUN, 0, () => undefined)?.read()?.id).to.equal(`${RUN}.3.41`);
  });

  it('sends the first text at once and joins later ones within 50 ms', async () => {
    streams.open(TestFrames, RUN);
    for (const part of ['a', 'b', 'c']) streams.publish(TestFrames, RUN, 'chunk', text(part));
    expect(seen()).to.deep.equal(['1:"a"']);
    const started = performance.now();
    while (seen().length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(performance.now() - started).to.be.within(25, 90);
    expect(seen()).to.deep.equal(['1:"a"', '2:"bc"']);
  });

  it('sends what waits before any other frame, and never joins texts that differ beside', () => {
    streams.open(TestFrames, RUN);
    for (const part of ['a', 'b']) streams.publish(TestFrames, RUN, 'chunk', text(part));
    streams.publish(TestFrames, RUN, 'tool_use', { content: 'T' });
    streams.publish(TestFrames, RUN, 'chunk', { content: 'x', index: 1 });
    streams.publish(TestFrames, RUN, 'chunk', { content: 'y', index: 2 });
    streams.publish(TestFrames, RUN, 'done', { content: 'end' });
    expect(seen()).to.deep.equal(['1:"a"', '2:"b"', '3:"T"', '4:"x"', '5:"y"', '6:"end"']);
  });

  it('counts everything published after a flush', () => {
    streams.open(TestFrames, RUN);
    for (const part of ['a', 'b']) streams.publish(TestFrames, RUN, 'chunk', text(part));
    expect(streams.here(RUN)?.seq).to.equal(1);
    streams.flush(RUN);
    expect(streams.here(RUN)).to.deep.equal({ attempt: 1, seq: 2, ended: false, own: true, token: undefined, unwatchedMs: 0 });
  });

  it('gives exactly the frames after the named one', () => {
    streams.open(TestFrames, RUN);
    publishNumbers(5);
    expect(seen(`${RUN}.1.3`)).to.deep.equal(['4:4', '5:5']);
    expect(seen(`${RUN}.1.5`)).to.deep.equal([]);
    expect(seen(4)).to.deep.equal(['5:5']);
  });

  it('gives all that is kept when the named frame fell out or is of an older attempt', () => {
    streams.open(TestFrames, RUN);
    publishNumbers(20);
    expect(seen(`${RUN}.1.2`)).to.have.length(8);
    streams.open(TestFrames, RUN, { attempt: 2, startSeq: 20 });
    streams.publish(TestFrames, RUN, 'phase', 'restarted');
    publishNumbers(1);
    expect(seen(`${RUN}.1.20`)).to.deep.equal(['21:"restarted"', '22:1']);
  });

  it('carries a reader over to a new attempt', () => {
    streams.open(TestFrames, RUN);
    publishNumbers(2);
    const place = streams.cursor(RUN, 0, () => undefined);
    place?.read();
    streams.open(TestFrames, RUN, { attempt: 2, startSeq: 2 });
    streams.publish(TestFrames, RUN, 'phase', 'restarted');
    expect(place?.read()?.data).to.equal('restarted');
  });

  it('is bounded by bytes but always keeps the newest frame', () => {
    streams.open(TestFrames, RUN);
    for (let n = 0; n < 5; n++) streams.publish(TestFrames, RUN, 'big', 'x'.repeat(4_000));
    expect(seen()).to.have.length(2);
    streams.publish(TestFrames, RUN, 'done', 'y'.repeat(50_000));
    expect(seen()).to.have.length(1);
    expect(streams.stats().bytes).to.be.greaterThan(50_000);
  });

  it('ends a reader that the ring overtook, by name', async () => {
    streams.open(TestFrames, RUN);
    const stream = streams.follow(TestFrames, RUN);
    const reading = (async () => {
      for await (const frame of stream) {
        if (frame.seq === 1) publishNumbers(30);
      }
    })();
    publishNumbers(1);
    const error = await reading.then(
      () => undefined,
      (reason: { code: string }) => reason,
    );
    expect(error?.code).to.equal('stream_reader_too_slow');
  });

  it('follows live frames to the final one and then ends', async () => {
    streams.open(TestFrames, RUN);
    const frames: Frame[] = [];
    const reading = (async () => {
      for await (const frame of streams.follow(TestFrames, RUN)) frames.push(frame);
    })();
    publishNumbers(2);
    await new Promise((resolve) => setImmediate(resolve));
    streams.publish(TestFrames, RUN, 'done', {});
    await reading;
    expect(frames.map((frame) => frame.type)).to.deep.equal(['n', 'n', 'done']);
    expect(streams.stats().followers).to.equal(0);
  });

  it('ends at once for a reader that has already seen the final frame', async () => {
    streams.open(TestFrames, RUN);
    streams.publish(TestFrames, RUN, 'done', {});
    const rest: Frame[] = [];
    for await (const frame of streams.follow(TestFrames, RUN, `${RUN}.1.1`)) rest.push(frame);
    expect(rest).to.deep.equal([]);
  });

  it('resolves final() before and after the end, and drops what comes late', async () => {
    streams.open(TestFrames, RUN);
    const waiting = streams.final(TestFrames, RUN);
    streams.publish(TestFrames, RUN, 'done', 1);
    streams.publish(TestFrames, RUN, 'done', 2);
    expect((await waiting).data).to.equal(1);
    expect((await streams.final(TestFrames, RUN)).data).to.equal(1);
    expect(streams.stats().lateFrames).to.equal(1);
  });

  it('lets go of a final() whose caller left', async () => {
    streams.open(TestFrames, RUN);
    const abort = new AbortController();
    const waiting = streams.final(TestFrames, RUN, abort.signal).catch((error: Error) => error.message);
    abort.abort(new Error('gone'));
    expect(await waiting).to.equal('gone');
    expect(streams.stats().followers).to.equal(0);
  });

  it('keeps an ended topic for five minutes', () => {
    streams.open(TestFrames, RUN);
    streams.publish(TestFrames, RUN, 'done', {});
    now += 299_000;
    expect(streams.here(RUN)?.ended).to.equal(true);
    now += 2_000;
    expect(streams.here(RUN)).to.equal(undefined);
  });

  it('makes room by dropping the topic that ended first, and refuses when all are live', () => {
    for (const name of ['a', 'b', 'c']) streams.open(TestFrames, name);
    expect(() => streams.open(TestFrames, 'd')).to.throw('3 streams are open');
    streams.publish(TestFrames, 'b', 'done', {});
    streams.publish(TestFrames, 'a', 'done', {});
    streams.open(TestFrames, 'd');
    expect(streams.here('b')).to.equal(undefined);
    expect(streams.here('a')?.ended).to.equal(true);
  });

  it('encodes a frame once for all watchers of an encoder', () => {
    streams.open(TestFrames, RUN);
    publishNumbers(1);
    const frame = streams.cursor(RUN, 0, () => undefined)?.read() as Frame;
    let calls = 0;
    const encoder = { contentType: 'text/plain', encode: () => `frame ${++calls}` };
    expect(streams.encoded(frame, encoder)).to.equal(streams.encoded(frame, encoder));
    expect(calls).to.equal(1);
    expect(streams.encoded(frame, { contentType: 'text/plain', encode: () => undefined })).to.have.length(0);
  });

  it('knows for how long nobody has followed a topic', () => {
    now = 1_000;
    streams.open(TestFrames, RUN);
    now = 1_300;
    expect(streams.here(RUN)?.unwatchedMs).to.equal(300);
    const first = streams.cursor(RUN, 0, () => undefined);
    const second = streams.cursor(RUN, 0, () => undefined);
    first?.close();
    now = 5_000;
    expect(streams.here(RUN)?.unwatchedMs).to.equal(null);
    second?.close();
    second?.close();
    now = 5_200;
    expect(streams.here(RUN)?.unwatchedMs).to.equal(200);
  });

  it('refuses a frame of another format or of a type that its format does not declare, and adds nothing', () => {
    const other = defineFrames('other', '1.0.0', { frames: { n: Anything, done: Anything }, final: ['done'] });
    const nextMajor = { ...TestFrames, version: '2.0.0' };
    streams.open(TestFrames, RUN);
    publishNumbers(1);
    const refusals = [
      () => streams.publish(other, RUN, 'n', 1),
      () => streams.publish(nextMajor, RUN, 'n', 1),
      () => streams.publish(TestFrames, RUN, JSON.parse('"toString"'), 1), // what the compiler would not let pass
      () => streams.open(other, RUN, { attempt: 2 }),
      () => streams.follow(other, RUN),
    ];
    for (const refused of refusals) expect(refused).to.throw().with.property('code', 'stream_wrong_format');
    expect(seen()).to.deep.equal(['1:1']);
    expect(streams.here(RUN)?.attempt).to.equal(1);
  });

  it('rejects to wait for the end of a topic in a format that is not its own', async () => {
    const other = defineFrames('other', '1.0.0', { frames: { done: Anything }, final: ['done'] });
    streams.open(TestFrames, RUN);
    const refused = await streams.final(other, RUN).catch((error: { code: string }) => error.code);
    expect(refused).to.equal('stream_wrong_format');
  });

  it('takes a format of the same name and major version for the same, whatever copy of it the publisher brings', () => {
    streams.open(TestFrames, RUN);
    streams.publish({ ...TestFrames, version: '1.4.0' }, RUN, 'n', 1);
    expect(seen()).to.deep.equal(['1:1']);
  });

  it('ends every reader when the service stops', async () => {
    streams.open(TestFrames, RUN);
    const reading = (async () => {
      for await (const _frame of streams.follow(TestFrames, RUN)) expect.fail('no frame was published');
    })();
    const waiting = streams.final(TestFrames, RUN).catch((error: { code: string }) => error.code);
    streams.close();
    await reading;
    expect(await waiting).to.equal('stream_stopping');
  });
});
