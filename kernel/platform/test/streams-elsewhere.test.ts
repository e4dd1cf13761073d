/** Topics that are written in one process and followed in another, over a bus that delays and loses messages. */
import type { Frame, Streams } from '@svc/api';
import { createRoughBus, type RoughBus } from '@svc/testing';
import { expect } from 'chai';
import { virtualClock } from '../src/clock/clock.js';
import { seededIds } from '../src/clock/ids.js';
import { createStreams, type StreamsAdmin } from '../src/streams/streams.js';

const RUN = 'run';
const until = async (ready: () => boolean): Promise<void> => {
  while (!ready()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('a topic that is written in another process', () => {
  let open: Array<Streams & StreamsAdmin>;
  let bus: RoughBus;

  const roughBus = (lost: number): RoughBus => createRoughBus({ random: seededIds('streams').random, lost, maxDelayMs: 8 });
  const join = (name: string, maxFramesPerTopic = 4_096): Streams & StreamsAdmin => {
    const streams = createStreams({ clock: virtualClock(0), bus: bus.join(name), maxFramesPerTopic });
    open.push(streams);
    return streams;
  };
  const read = (streams: Streams, after?: string | number): { frames: Frame[]; done: Promise<string> } => {
    const frames: Frame[] = [];
    const all = async (): Promise<string> => {
      for await (const frame of streams.follow(RUN, after)) frames.push(frame);
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
    writer.open(RUN);
    await reader.attach(RUN);
    const { frames, done } = read(reader);
    for (let n = 1; n <= 300; n++) {
      writer.publish(RUN, { type: 'n', data: n, final: n === 300 });
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await done).to.equal('done');
    expect(said(frames)).to.deep.equal(Array.from({ length: 300 }, (_, i) => i + 1));
    expect(frames.at(-1)?.id).to.equal('run.1.300');
    expect(bus.counts.lost).to.be.greaterThan(0);
  });

  it('is followed from the place that a reader names', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(RUN);
    for (const n of [1, 2, 3]) writer.publish(RUN, { type: 'n', data: n });
    await reader.attach(RUN, `${RUN}.1.2`);
    const { frames, done } = read(reader, `${RUN}.1.2`);
    writer.publish(RUN, { type: 'n', data: 4, final: true });
    await done;
    expect(said(frames)).to.deep.equal([3, 4]);
  });

  it('is known by asking, and to nobody who does not answer', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(RUN, { attempt: 3 });
    writer.publish(RUN, { type: 'n', data: 1 });
    expect(await reader.state(RUN)).to.deep.equal({ attempt: 3, seq: 1, ended: false });
    expect(await reader.state('nobody')).to.equal(undefined);
    expect(reader.here(RUN)).to.equal(undefined);
  });

  it('is watched by whoever follows it, wherever that is', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(RUN);
    expect(writer.here(RUN)?.unwatchedMs).to.equal(0);
    await reader.attach(RUN);
    const follower = reader.follow(RUN);
    await until(() => writer.here(RUN)?.unwatchedMs === null);
    follower.close();
    await until(() => writer.here(RUN)?.unwatchedMs !== null);
  });

  it('goes on here when it is let go there, and the late words of who wrote it before are dropped', async () => {
    const [first, second] = [join('a'), join('b')];
    first.open(RUN, { token: 1 });
    first.publish(RUN, { type: 'n', data: 'one' });
    const { frames, done } = read(first);
    first.letGo(RUN, 1);
    second.open(RUN, { attempt: 3, token: 2, reached: { attempt: 1, seq: 1 } });
    first.publish(RUN, { type: 'n', data: 'too late' });
    second.publish(RUN, { type: 'n', data: 'two', final: true });
    expect(await done).to.equal('done');
    expect(said(frames)).to.deep.equal(['one', 'two']);
    expect(first.stats().lateFrames).to.equal(1);
  });

  it('is not let go by whoever held it before', () => {
    const streams = join('a');
    streams.open(RUN, { token: 1 });
    streams.open(RUN, { token: 2 });
    streams.letGo(RUN, 1);
    expect(streams.here(RUN)).to.include({ own: true, token: 2 });
    streams.open(RUN, { attempt: 9, token: 1 });
    expect(streams.here(RUN)).to.include({ attempt: 1, token: 2 });
  });

  it('ends a reader who has missed a part of an earlier attempt, and carries over one who has not', async () => {
    const [writer, reader] = [join('a'), join('b')];
    writer.open(RUN);
    writer.publish(RUN, { type: 'n', data: 'one' });
    await reader.attach(RUN);
    const behind = read(reader);
    await until(() => behind.frames.length === 1);
    // Frame 2 was said by a process that died before it reached anybody.
    writer.open(RUN, { attempt: 2, reached: { attempt: 1, seq: 2 } });
    await reader.attach(RUN);
    writer.publish(RUN, { type: 'n', data: 'three' });
    expect(await behind.done).to.equal('stream_moved');
    const whole = read(reader, `${RUN}.1.2`);
    writer.publish(RUN, { type: 'n', data: 'four', final: true });
    expect(await whole.done).to.equal('done');
    expect(said(whole.frames)).to.deep.equal(['three', 'four']);
  });

  it('loses a reader that what is kept there has overtaken, by name', async () => {
    const [writer, reader] = [join('a', 4), join('b')];
    writer.open(RUN);
    writer.publish(RUN, { type: 'n', data: 1 });
    await reader.attach(RUN);
    const { done, frames } = read(reader);
    await until(() => frames.length === 1);
    bus.cutOff('a');
    for (let n = 2; n <= 20; n++) writer.publish(RUN, { type: 'n', data: n });
    bus.cutIn('a');
    expect(await done).to.equal('stream_reader_too_slow');
    expect(said(frames)).to.deep.equal([1]);
  });

  it('makes room when nobody here reads it', async () => {
    bus = roughBus(0);
    const streams = createStreams({ clock: virtualClock(0), bus: bus.join('a'), maxTopics: 2 });
    open.push(streams);
    await streams.attach('one');
    await streams.attach('two');
    streams.follow('two');
    streams.open('three');
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
  const frame = { type: 'n', data: 1 };

  it('alone opens, publishes, flushes and lets go', () => {
    runs.open(RUN, { token: 1 });
    const thief = streams.as('thief');
    for (const work of [() => thief.open(RUN), () => thief.publish(RUN, frame), () => thief.flush(RUN), () => thief.letGo(RUN, 1)]) expect(refusal(work)).to.equal('stream_not_writer');
    expect(refusal(() => runs.publish(RUN, frame))).to.equal('none');
    expect(streams.here(RUN)?.seq).to.equal(1);
  });

  it('says who else may publish, and no more than that', () => {
    runs.open('shared', { writers: ['llm'] });
    const llm = streams.as('llm');
    expect(refusal(() => llm.publish('shared', frame))).to.equal('none');
    expect(refusal(() => llm.open('shared'))).to.equal('stream_not_writer');
    expect(refusal(() => streams.as('thief').publish('shared', frame))).to.equal('stream_not_writer');
  });

  it('is nobody while it is only attached', async () => {
    await streams.as('thief').attach('attached');
    expect(refusal(() => streams.as('thief').publish('attached', frame))).to.equal('stream_not_writer');
    expect(refusal(() => runs.open('attached'))).to.equal('none');
  });
});
