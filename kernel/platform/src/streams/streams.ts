/**
 * Streams belong to runs, not to sockets: rings, joining, resume (kernel/api/src/http/streams.ts).
 *
 * R1  A reader gets the frames of a topic in order, each once, from the place it names.
 * R2  Text that may be joined is sent at once when it is the first, else within 50 ms; any other frame sends it first.
 * R3  A topic has one final frame; what is published after it is counted and dropped.
 * R4  Frames, bytes and topics are bounded. A live topic that is written here is never dropped: the next one is refused.
 * R5  A topic belongs to the extension that opened it; another publishes to it only when it was named a writer.
 * R6  One process writes a topic. Others follow it (elsewhere.ts); a topic that is written here is read without a detour.
 */
import type { Clock, Frame, FramesDecl, Streams } from '@svc/api';
import type { FrameStream } from '@svc/api/internal';
import type { Bus } from '../bus/bus.js';
import { busOfOne } from '../bus/local-bus.js';
import { Cursor } from './cursor.js';
import { createElsewhere } from './elsewhere.js';
import type { FrameEncoder } from './projections.js';
import { streamErrors } from './errors.js';
import { Flusher } from './flusher.js';
import { drop, end, find, type KnownTopics, sweep } from './known-topics.js';
import type { Topic } from './topic.js';
import { attach, hereOf, inFormat, letGo, mayWrite, open, publish, stateOf } from './writing.js';

const DEFAULT_MAX_FRAMES = 4_096;
const DEFAULT_MAX_BYTES = 1_048_576;
const DEFAULT_MAX_TOPICS = 2_000;
const DEFAULT_KEEP_ENDED_MS = 5 * 60_000;
const DEFAULT_MAX_ENDED_BYTES = 8 * 1_048_576;
const NOTHING = Buffer.alloc(0);

export interface StreamsOptions {
  /** Left out where nobody else shares the database. */
  readonly bus?: Bus;
  readonly clock: Pick<Clock, 'now' | 'mono'>;
  readonly maxFramesPerTopic?: number;
  readonly maxBytesPerTopic?: number;
  readonly maxTopics?: number;
  /** How long an ended topic can still be read from its ring. */
  readonly keepEndedMs?: number;
  /** What ended topics may hold together; what their runs said stands in rows. */
  readonly maxEndedBytes?: number;
}

export interface StreamsStats {
  readonly topics: number;
  readonly live: number;
  readonly followers: number;
  readonly bytes: number;
  /** Frames that came after their topic's final one, or after another process had taken it over. */
  readonly lateFrames: number;
}

/** The topics; projections are registered elsewhere. */
export type Topics = Omit<Streams, 'project' | 'answer' | 'follow' | 'final'> & {
  follow(format: FramesDecl, topic: string, after?: string | number): FrameStream<Frame>;
  final(format: FramesDecl, topic: string, signal?: AbortSignal): Promise<Frame>;
};

/** What the platform itself uses beside that. */
export interface StreamsAdmin {
  /** The streams as one extension sees them: it writes what it opened, and what it was named a writer of (R5). */
  as(extension: string): Topics;
  stats(): StreamsStats;
  /** A place in the topic, or undefined when there is no such topic; throws `stream_stopping` when the service stops. `wake` is called when a frame has come or the service stops. */
  cursor(topic: string, after: string | number, wake: () => void): Cursor | undefined;
  /** The frame that came last. */
  newest(topic: string): Frame | undefined;
  /** The frame in a protocol's bytes: one buffer for all who watch with that encoder. Empty when the encoder leaves it out. */
  encoded(frame: Frame, encoder: FrameEncoder): Buffer;
  /** Ends every reader. */
  close(): void;
}

export const createStreams = (options: StreamsOptions): Topics & StreamsAdmin => {
  const bus = options.bus ?? busOfOne();
  const topics = new Map<string, Topic>();
  const state: KnownTopics = {
    bus,
    elsewhere: createElsewhere(bus, { find: (name) => topics.get(name), ended: (topic) => end(state, topic), drop: (topic) => drop(state, topic) }),
    clock: options.clock,
    limits: { maxFrames: options.maxFramesPerTopic ?? DEFAULT_MAX_FRAMES, maxBytes: options.maxBytesPerTopic ?? DEFAULT_MAX_BYTES },
    maxTopics: options.maxTopics ?? DEFAULT_MAX_TOPICS,
    keepEndedMs: options.keepEndedMs ?? DEFAULT_KEEP_ENDED_MS,
    topics,
    ended: new Map(),
    endedBytes: 0,
    maxEndedBytes: options.maxEndedBytes ?? DEFAULT_MAX_ENDED_BYTES,
    flusher: new Flusher(),
    texts: new WeakMap(),
    lateFrames: 0,
    closed: false,
  };
  return {
    ...facadeOf(state, undefined),
    as: (extension) => facadeOf(state, extension),
    cursor: (topic, after, wake) => cursor(state, topic, after, wake),
    newest: (topic) => {
      const found = find(state, topic);
      return found?.ringBuffer.at(found.seq);
    },
    encoded: (frame, encoder) => encoded(state, frame, encoder),
    stats: () => stats(state),
    close: () => close(state),
  };
};

/** `by`: the extension that asks; the platform itself when undefined. */
const facadeOf = (state: KnownTopics, by: string | undefined): Topics => ({
  open: (format, topic, where) => open(state, format, topic, where ?? {}, by),
  publish: (format, topic, type, data) => publish(state, format, topic, { type, data }, by),
  flush: (topic) => {
    const found = find(state, topic);
    if (found && mayWrite(found, by)) found.release();
  },
  letGo: (topic, token) => letGo(state, topic, token, by),
  here: (topic) => hereOf(find(state, topic)),
  state: async (topic) => {
    const found = find(state, topic);
    return found && (found.isOwn || found.final) ? stateOf(found) : await state.elsewhere.ask(topic);
  },
  attach: async (format, topic, after) => attach(state, format, topic, after, by),
  watched: () => [...state.topics.values()].filter((topic) => topic.final === undefined && topic.followers.size > 0 && (topic.owner ?? topic.attachedBy) === by).map(({ name }) => name),
  follow: (format, topic, after) => follow(state, format, topic, after ?? 0),
  final: (format, topic, signal) => final(state, format, topic, signal),
});

function cursor(state: KnownTopics, name: string, after: string | number, wake: () => void): Cursor | undefined {
  if (state.closed) throw streamErrors.stopping();
  const topic = find(state, name);
  return topic ? new Cursor(topic, after, wake) : undefined;
}

function follow(state: KnownTopics, format: FramesDecl, name: string, after: string | number): FrameStream<Frame> {
  inFormat(find(state, name), format);
  if (state.closed) throw streamErrors.stopping();
  let wake: () => void = () => undefined;
  const place = cursor(state, name, after, () => wake());
  if (!place) throw streamErrors.not_found(name);
  return {
    close: () => {
      place.close();
      wake();
    },
    async *[Symbol.asyncIterator]() {
      try {
        while (true) {
          const frame = place.read();
          if (frame) yield frame;
          else if (place.state === 'lost') throw streamErrors.reader_too_slow(name);
          else if (place.state === 'moved') throw streamErrors.moved(name);
          else if (place.state !== 'live') return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        place.close();
      }
    },
  };
}

function final(state: KnownTopics, format: FramesDecl, name: string, signal: AbortSignal | undefined): Promise<Frame> {
  return new Promise((resolve, reject) => {
    const topic = find(state, name);
    if (!topic) return reject(streamErrors.not_found(name));
    inFormat(topic, format);
    if (topic.final) return resolve(topic.final);
    if (state.closed) return reject(streamErrors.stopping());
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      topic.leave(waiting);
      signal?.removeEventListener('abort', gone);
    };
    const gone = () => {
      leave();
      reject(signal?.reason);
    };
    const waiting = {
      wake: () => {
        if (!topic.final) return;
        leave();
        resolve(topic.final);
      },
      stop: () => {
        leave();
        reject(streamErrors.stopping());
      },
    };
    topic.join(waiting);
    signal?.addEventListener('abort', gone);
  });
}

function encoded(state: KnownTopics, frame: Frame, encoder: FrameEncoder): Buffer {
  let texts = state.texts.get(encoder);
  if (!texts) {
    texts = new WeakMap();
    state.texts.set(encoder, texts);
  }
  let bytes = texts.get(frame);
  if (!bytes) {
    const text = encoder.encode(frame);
    bytes = text === undefined ? NOTHING : Buffer.from(text);
    texts.set(frame, bytes);
  }
  return bytes;
}

function stats(state: KnownTopics): StreamsStats {
  sweep(state);
  let followers = 0;
  let bytes = 0;
  for (const topic of state.topics.values()) {
    followers += topic.followers.size;
    bytes += topic.ringBuffer.bytes;
  }
  return { topics: state.topics.size, live: state.topics.size - state.ended.size, followers, bytes, lateFrames: state.lateFrames };
}

function close(state: KnownTopics): void {
  if (state.closed) return;
  state.closed = true;
  state.flusher.close();
  state.elsewhere.close();
  for (const topic of state.topics.values()) {
    for (const follower of topic.followers) follower.stop();
  }
}
