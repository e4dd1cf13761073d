/** What becomes of a run that nobody watches any more. */
import { RunFrames } from '@svc/ext-runs/contract';
import { type VirtualClock, virtualClock } from '@svc/platform/clock/clock';
import { createStreams } from '@svc/platform/streams/streams';
import { expect } from 'chai';
import type { RunsConfig } from '../src/config.js';
import { createWatchKeeper, unwatchedPolicy, type WatchKeeper } from '../src/unwatched.js';

const CONFIG: RunsConfig = { max_active: 10, max_iterations: 10, max_depth: 5, recall_max_tokens: 2_000, child_timeout_secs: 10, client_tools_timeout_secs: 60 };
// The rest of the section is not read.
const says = (unwatched?: 'finish' | 'cancel') => (unwatched ? { unwatched } : {}) as Parameters<typeof unwatchedPolicy>[1];

describe('whether an unwatched run goes on', () => {
  it('is, with nothing said, what the channel is: /v1 gives up, ours come back', () => {
    expect(unwatchedPolicy('openai', says(), CONFIG)).to.equal('cancel');
    for (const door of ['rest', 'sse', 'ws', 'cli', 'agent'] as const) expect(unwatchedPolicy(door, says(), CONFIG), door).to.equal('finish');
  });

  it('is what the config says, on each channel', () => {
    for (const unwatched of ['finish', 'cancel'] as const)
      for (const door of ['openai', 'rest'] as const) expect(unwatchedPolicy(door, says(), { ...CONFIG, on_disconnect: unwatched })).to.equal(unwatched);
  });

  it('is what the agent says, above the config', () => {
    expect(unwatchedPolicy('rest', says('cancel'), { ...CONFIG, on_disconnect: 'finish' })).to.equal('cancel');
    expect(unwatchedPolicy('openai', says('finish'), { ...CONFIG, on_disconnect: 'cancel' })).to.equal('finish');
  });

  it('is not asked of a run that another agent waits for', () => {
    expect(unwatchedPolicy('agent', says('cancel'), { ...CONFIG, on_disconnect: 'cancel' })).to.equal('finish');
  });
});

describe('a run that somebody has to watch', () => {
  let clock: VirtualClock;
  let streams: ReturnType<typeof createStreams>;
  let keeper: WatchKeeper;
  let cancelled: string[];
  let fails: number;

  beforeEach(() => {
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    streams = createStreams({ clock, maxFramesPerTopic: 8, maxBytesPerTopic: 10_000, maxTopics: 10 });
    cancelled = [];
    fails = 0;
    keeper = createWatchKeeper({
      streams,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      later: (ms, fn) => void clock.schedule(ms, () => void fn()),
      cancel: async (id) => {
        cancelled.push(id);
        if (fails-- > 0) throw new Error('the disk is full');
      },
    });
  });
  afterEach(() => streams.close());

  const keep = (id: string): void => {
    streams.open(RunFrames, id);
    keeper.keep(id);
  };

  it('is cancelled once when nobody has followed it for 2 s, and not before', async () => {
    keep('a');
    await clock.advance(1_999);
    expect(cancelled).to.deep.equal([]);
    await clock.advance(10_000);
    expect(cancelled).to.deep.equal(['a']);
  });

  it('is left alone as long as somebody follows it, and has 2 s from when the last one left', async () => {
    keep('a');
    const follower = streams.follow(RunFrames, 'a');
    await clock.advance(10_000);
    expect(cancelled).to.deep.equal([]);
    follower.close();
    await clock.advance(1_500);
    expect(cancelled).to.deep.equal([]);
    await clock.advance(1_000);
    expect(cancelled).to.deep.equal(['a']);
  });

  it('is left alone once it has ended', async () => {
    keep('a');
    streams.publish(RunFrames, 'a', 'error', { error: 'no', code: 'c', status: 500 });
    await clock.advance(10_000);
    expect(cancelled).to.deep.equal([]);
  });

  it('is cancelled beside others, each in its own time', async () => {
    keep('a');
    await clock.advance(1_000);
    keep('b');
    await clock.advance(1_500);
    expect(cancelled).to.deep.equal(['a']);
    await clock.advance(1_000);
    expect(cancelled).to.deep.equal(['a', 'b']);
  });

  it('is tried again when it could not be cancelled', async () => {
    fails = 2;
    keep('a');
    await clock.advance(10_000);
    expect(cancelled).to.deep.equal(['a', 'a', 'a']);
  });

  it('is looked for while there is one, and by one timer', async () => {
    keep('a');
    keep('b');
    expect(clock.pending()).to.equal(1);
    await clock.advance(10_000);
    expect(clock.pending()).to.equal(0);
    keep('c');
    expect(clock.pending()).to.equal(1);
  });
});
