/** Topics that are written in one process and followed in another, over a bus that delays and loses messages. */
import { type Frame, Type, defineFrames } from '@svc/api';
import { createRoughBus, type RoughBus } from '@svc/testing';
import { expect } from 'chai';
import { virtualClock } from '../src/clock/clock.js';
import { seededIds } from '../src/clock/ids.js';
import { createStreams, type StreamsAdmin, type Topics } from '../src/streams/streams.js';

const RUN = 'run';
const Anything = Type.Unknown();
const TestFrames = defineFrames('test', '1.0.0', { frames: { n: Anything, done: Anything }, final: ['done'] });
const until = async (ready: () => boolean): Promise<void> => {
  while (!ready()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('a topic that is written in another process', () => {
  let open: Array<Topics & StreamsAdmin>;
  let bus: RoughBus;

  const roughBus = (lost: number): RoughBus => createRoughBus({ random: seededIds('streams').random, lost, maxDelayMs: 8 });
  const join = (name: string, maxFramesPerTopic = 4_096): Topics & StreamsAdmin => {
    const streams = createStreams({ clock: virtualClock(0), bus: bus.join(name), maxFramesPerTopic });
    open.push(streams);
    return streams;
  };
  const read = (streams: Topics, after?: string | number): { frames: Frame[]; done: Promise<string> } => {
    const frames: Frame[] = [];
    const all = async (): Promise<string> => {
      for await (const frame of streams.follow(TestFrames, RUN, after)) frames.push(frame);
      return 'done';
    };
    return { frames, done: all().catch((error: { code: string }) => error.code) };
  };
  const said = (frames: readonly Frame[]) => frames.map(({ data }) => data);

  beforeEach(() => {
    open = [];
    bus = roughBus(0);
  });
  afterEach(() => {
    for (const streams of open) streams.close();
  });

  it('is read there frame by frame, each once and in order, however many messages are lost', async function () {
    this.timeout(60_000);
    bus = roughBus(0.3);
    const [writer, reader] = [join('a'), join('b')];
    writer.open(TestFrames, RUN);
    await reader.attach(TestFrames, RUN);
    const { frames, done } = read(reader);
    for (let n = 1; n <= 300; n++) {
      writer.publish(TestFrames, RUN, n === 300 ? 'done' : 'n', n);
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await done).to.equal('done');
    expect(said(frames)).to.deep.equal(Array.from({ length: 300 }, (_, i) => i + 1));
    expect(frames.at(-1)?.id).to.equal('run.1.300');
    expect(bus.counts.lost).to.be.greaterThan(0);
  });

  it('is followed from the place that a reader names', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(TestFrames, RUN);
    for (const n of [1, 2, 3]) writer.publish(TestFrames, RUN, 'n', n);
    await reader.attach(TestFrames, RUN, `${RUN}.1.2`);
    const { frames, done } = read(reader, `${RUN}.1.2`);
    writer.publish(TestFrames, RUN, 'done', 4);
    await done;
    expect(said(frames)).to.deep.equal([3, 4]);
  });

  it('is known by asking, and to nobody who does not answer', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(TestFrames, RUN, { attempt: 3 });
    writer.publish(TestFrames, RUN, 'n', 1);
    expect(await reader.state(RUN)).to.deep.equal({ attempt: 3, seq: 1, ended: false });
    expect(await reader.state('nobody')).to.equal(undefined);
    expect(reader.here(RUN)).to.equal(undefined);
  });

  it('is watched by whoever follows it, wherever that is', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(TestFrames, RUN);
    expect(writer.here(RUN)?.unwatchedMs).to.equal(0);
    await reader.attach(TestFrames, RUN);
    const follower = reader.follow(TestFrames, RUN);
    await until(() => writer.here(RUN)?.unwatchedMs === null);
    follower.close();
    await until(() => writer.here(RUN)?.unwatchedMs !== null);
  });

  it('goes on here when it is let go there, and the late words of who wrote it before are dropped', async () => {
    const [first, second] = [join('a'), join('b')];
    first.open(TestFrames, RUN, { token: 1 });
    first.publish(TestFrames, RUN, 'n', 'one');
    const { frames, done } = read(first);
    first.letGo(RUN, 1);
    second.open(TestFrames, RUN, { attempt: 3, token: 2, reached: { attempt: 1, seq: 1 } });
    first.publish(TestFrames, RUN, 'n', 'too late');
    second.publish(TestFrames, RUN, 'done', 'two');
    expect(await done).to.equal('done');
    expect(said(frames)).to.deep.equal(['one', 'two']);
    expect(first.stats().lateFrames).to.equal(1);
  });

  it('is not let go by whoever held it before', () => {
    const streams = join('a');
    streams.open(TestFrames, RUN, { token: 1 });
    streams.open(TestFrames, RUN, { token: 2 });
    streams.letGo(RUN, 1);
    expect(streams.here(RUN)).to.include({ own: true, token: 2 });
    streams.open(TestFrames, RUN, { attempt: 9, token: 1 });
    expect(streams.here(RUN)).to.include({ attempt: 1, token: 2 });
  });

  it('ends a reader who has missed a part of an earlier attempt, and carries over one who has not', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(TestFrames, RUN);
    writer.publish(TestFrames, RUN, 'n', 'one');
    await reader.attach(TestFrames, RUN);
    const behind = read(reader);
    await until(() => behind.frames.length === 1);
    // Frame 2 was said by a process that died before it reached anybody.
    writer.open(TestFrames, RUN, { attempt: 2, reached: { attempt: 1, seq: 2 } });
    await reader.attach(TestFrames, RUN);
    writer.publish(TestFrames, RUN, 'n', 'three');
    expect(await behind.done).to.equal('stream_moved');
    const whole = read(reader, `${RUN}.1.2`);
    writer.publish(TestFrames, RUN, 'done', 'four');
    expect(await whole.done).to.equal('done');
    expect(said(whole.frames)).to.deep.equal(['three', 'four']);
  });

  it('loses a reader that what is kept there has overtaken, by name', async () => {
    const [writer, reader] = [join('a', 4), join('b')];
    writer.open(TestFrames, RUN);
    writer.publish(TestFrames, RUN, 'n', 1);
    await reader.attach(TestFrames, RUN);
    const { done, frames } = read(reader);
    await until(() => frames.length === 1);
    bus.cutOff('a');
    for (let n = 2; n <= 20; n++) writer.publish(TestFrames, RUN, 'n', n);
    bus.cutIn('a');
    expect(await done).to.equal('stream_reader_too_slow');
    expect(said(frames)).to.deep.equal([1]);
  });

  it('makes room when nobody here reads it', async () => {
    bus = roughBus(0);
    const streams = createStreams({ clock: virtualClock(0), bus: bus.join('a'), maxTopics: 2 });
    open.push(streams);
    await streams.attach(TestFrames, 'one');
    await streams.attach(TestFrames, 'two');
    streams.follow(TestFrames, 'two');
    streams.open(TestFrames, 'three');
    expect([streams.here('one'), streams.here('two')?.own, streams.here('three')?.own]).to.deep.equal([undefined, false, true]);
  });
});

describe('the owner of a topic', () => {
  const streams = createStreams({ clock: virtualClock(0) });
  after(() => streams.close());
  const refusal = (work: () => void): string => {
    try {
      work();
      return 'none';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const runs = streams.as('runs');

  it('alone opens, publishes, flushes and lets go', () => {
    runs.open(TestFrames, RUN, { token: 1 });
    const thief = streams.as('thief');
    for (const work of [() => thief.open(TestFrames, RUN), () => thief.publish(TestFrames, RUN, 'n', 1), () => thief.flush(RUN), () => thief.letGo(RUN, 1)])
      expect(refusal(work)).to.equal('stream_not_writer');
    expect(refusal(() => runs.publish(TestFrames, RUN, 'n', 1))).to.equal('none');
    expect(streams.here(RUN)?.seq).to.equal(1);
  });

  it('says who else may publish, and no more than that', () => {
    runs.open(TestFrames, 'shared', { writers: ['llm'] });
    const llm = streams.as('llm');
    expect(refusal(() => llm.publish(TestFrames, 'shared', 'n', 1))).to.equal('none');
    expect(refusal(() => llm.open(TestFrames, 'shared'))).to.equal('stream_not_writer');
    expect(refusal(() => streams.as('thief').publish(TestFrames, 'shared', 'n', 1))).to.equal('stream_not_writer');
  });

  it('is nobody while it is only attached', async () => {
    await streams.as('thief').attach(TestFrames, 'attached');
    expect(refusal(() => streams.as('thief').publish(TestFrames, 'attached', 'n', 1))).to.equal('stream_not_writer');
    expect(refusal(() => runs.open(TestFrames, 'attached'))).to.equal('none');
  });
});
