/**
 * Streams belong to runs, not to sockets: rings, joining, resume (kernel/api/src/streams.ts).
 *
 * R1  A reader gets the frames of a topic in order, each once, from the place it names.
 * R2  Text that may be joined is sent at once when it is the first, else within 50 ms; any other frame sends it first.
 * R3  A topic has one final frame; what is published after it is counted and dropped.
 * R4  Frames, bytes and topics are bounded. A live topic is never dropped: the next one is refused.
 */
import { type Clock, type Frame, type FramesDecl, type FrameStream, type Streams, declaredAs } from '@svc/api';
import { Cursor } from './cursor.js';
import type { FrameEncoder } from './encoder.js';
import { streamErrors } from './errors.js';
import { Flusher } from './flusher.js';
import type { RingLimits } from './ring.js';
import { type FrameDraft, Topic } from './topic.js';

const DEFAULT_MAX_FRAMES = 4_096;
const DEFAULT_MAX_BYTES = 1_048_576;
const DEFAULT_MAX_TOPICS = 2_000;
const DEFAULT_KEEP_ENDED_MS = 5 * 60_000;
const NOTHING = Buffer.alloc(0);

export interface StreamsOptions {
  readonly clock: Pick<Clock, 'now' | 'mono'>;
  readonly maxFramesPerTopic?: number;
  readonly maxBytesPerTopic?: number;
  readonly maxTopics?: number;
  /** How long an ended topic can still be read from its ring. */
  readonly keepEndedMs?: number;
}

export interface StreamsStats {
  readonly topics: number;
  readonly live: number;
  readonly followers: number;
  readonly bytes: number;
  /** Frames that came after their topic's final one. */
  readonly lateFrames: number;
}

/** The topics; projections are registered elsewhere. */
export type Topics = Omit<Streams, 'project' | 'answer' | 'follow' | 'final'> & {
  follow(format: FramesDecl, topic: string, after?: string | number): FrameStream<Frame>;
  final(format: FramesDecl, topic: string, signal?: AbortSignal): Promise<Frame>;
};

/** What the platform itself uses beside that. */
export interface StreamsAdmin {
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

interface State {
  readonly clock: Pick<Clock, 'now' | 'mono'>;
  readonly limits: RingLimits;
  readonly maxTopics: number;
  readonly keepEndedMs: number;
  readonly topics: Map<string, Topic>;
  /** Ended topics, oldest first. */
  readonly ended: Map<string, Topic>;
  readonly flusher: Flusher;
  readonly texts: WeakMap<FrameEncoder, WeakMap<Frame, Buffer>>;
  lateFrames: number;
  closed: boolean;
}

export const createStreams = (options: StreamsOptions): Topics & StreamsAdmin => {
  const state: State = {
    clock: options.clock,
    limits: { maxFrames: options.maxFramesPerTopic ?? DEFAULT_MAX_FRAMES, maxBytes: options.maxBytesPerTopic ?? DEFAULT_MAX_BYTES },
    maxTopics: options.maxTopics ?? DEFAULT_MAX_TOPICS,
    keepEndedMs: options.keepEndedMs ?? DEFAULT_KEEP_ENDED_MS,
    topics: new Map(),
    ended: new Map(),
    flusher: new Flusher(),
    texts: new WeakMap(),
    lateFrames: 0,
    closed: false,
  };
  return {
    open: (format, topic, where) => open(state, format, topic, where?.attempt ?? 1, where?.startSeq ?? 0),
    publish: (format, topic, type, data) => publish(state, format, topic, type, data),
    flush: (topic) => void find(state, topic)?.release(),
    state: (topic) => {
      const found = find(state, topic);
      return found && { attempt: found.attempt, seq: found.seq, ended: found.final !== undefined, unwatchedMs: found.unwatchedMs };
    },
    follow: (format, topic, after) => follow(state, format, topic, after ?? 0),
    final: (format, topic, signal) => final(state, format, topic, signal),
    cursor: (topic, after, wake) => cursor(state, topic, after, wake),
    newest: (topic) => {
      const found = find(state, topic);
      return found?.ring.at(found.seq);
    },
    encoded: (frame, encoder) => encoded(state, frame, encoder),
    stats: () => stats(state),
    close: () => close(state),
  };
};

function open(state: State, format: FramesDecl, name: string, attempt: number, startSeq: number): void {
  sweep(state);
  const known = state.topics.get(name);
  if (known) {
    held(known, format, 'any');
    // The same attempt opened twice goes on: who opens it again after a reload must not void what readers have.
    if (known.attempt === attempt && !known.final) return;
    state.flusher.forget(known);
    state.ended.delete(name);
    known.restart(attempt, startSeq);
    return;
  }
  while (state.topics.size >= state.maxTopics) {
    const oldest = state.ended.values().next().value;
    if (!oldest) throw streamErrors.too_many(state.maxTopics);
    drop(state, oldest);
  }
  state.topics.set(name, new Topic(name, format, state.limits, attempt, startSeq, state.clock.mono));
}

function publish(state: State, format: FramesDecl, name: string, type: string, data: unknown): void {
  const topic = state.topics.get(name);
  if (!topic) throw streamErrors.not_found(name);
  held(topic, format, type);
  if (!Object.hasOwn(format.frames, type)) throw streamErrors.wrong_format(name, type, declaredAs(format), declaredAs(topic.format));
  if (topic.final) {
    state.lateFrames++;
    return;
  }
  const isFinal = format.final.includes(type);
  const merge = isFinal ? undefined : format.joins[type];
  const draft: FrameDraft = { type, data, final: isFinal, merge };
  const text = merge !== undefined && isRecord(data) ? data[merge] : undefined;
  if (merge === undefined || typeof text !== 'string' || !isRecord(data)) {
    topic.release();
    topic.append(draft);
    if (isFinal) end(state, topic);
    return;
  }
  if (state.flusher.joins(topic)) topic.hold(type, merge, text, data);
  else topic.append(draft);
}

/** A topic has one format from its beginning to its end. */
function held(topic: Topic, format: FramesDecl, type: string): void {
  if (topic.format !== format && declaredAs(topic.format) !== declaredAs(format)) throw streamErrors.wrong_format(topic.name, type, declaredAs(format), declaredAs(topic.format));
}

function end(state: State, topic: Topic): void {
  state.flusher.forget(topic);
  topic.endedAt = state.clock.now();
  state.ended.set(topic.name, topic);
}

/** Drops what ended too long ago. No timer: whoever looks for a topic, or opens one, sweeps. */
function sweep(state: State): void {
  const before = state.clock.now() - state.keepEndedMs;
  for (const topic of state.ended.values()) {
    if (topic.endedAt > before) return;
    drop(state, topic);
  }
}

function drop(state: State, topic: Topic): void {
  state.topics.delete(topic.name);
  state.ended.delete(topic.name);
}

function find(state: State, name: string): Topic | undefined {
  sweep(state);
  return state.topics.get(name);
}

function cursor(state: State, name: string, after: string | number, wake: () => void): Cursor | undefined {
  if (state.closed) throw streamErrors.stopping();
  const topic = find(state, name);
  return topic ? new Cursor(topic, after, wake) : undefined;
}

function follow(state: State, format: FramesDecl, name: string, after: string | number): FrameStream<Frame> {
  const topic = find(state, name);
  if (topic) held(topic, format, 'any');
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

function final(state: State, format: FramesDecl, name: string, signal: AbortSignal | undefined): Promise<Frame> {
  return new Promise((resolve, reject) => {
    const topic = find(state, name);
    if (!topic) return reject(streamErrors.not_found(name));
    held(topic, format, 'any');
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

function encoded(state: State, frame: Frame, encoder: FrameEncoder): Buffer {
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

function stats(state: State): StreamsStats {
  sweep(state);
  let followers = 0;
  let bytes = 0;
  for (const topic of state.topics.values()) {
    followers += topic.followers.size;
    bytes += topic.ring.bytes;
  }
  return { topics: state.topics.size, live: state.topics.size - state.ended.size, followers, bytes, lateFrames: state.lateFrames };
}

function close(state: State): void {
  if (state.closed) return;
  state.closed = true;
  state.flusher.close();
  for (const topic of state.topics.values()) {
    for (const follower of topic.followers) follower.stop();
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
