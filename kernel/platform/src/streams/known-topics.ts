/** The topics that this process knows, and when they go. */
import type { Clock, Frame } from '@svc/api';
import type { FrameEncoder } from './projections.js';
import type { Bus } from '../bus/bus.js';
import type { Elsewhere } from './elsewhere.js';
import type { Flusher } from './flusher.js';
import type { RingBufferLimits } from './ring-buffer.js';
import type { Topic } from './topic.js';

export interface KnownTopics {
  readonly bus: Bus;
  readonly elsewhere: Elsewhere;
  readonly clock: Pick<Clock, 'now' | 'mono'>;
  readonly limits: RingBufferLimits;
  readonly maxTopics: number;
  readonly keepEndedMs: number;
  readonly topics: Map<string, Topic>;
  /** Ended topics, oldest first. */
  readonly ended: Map<string, Topic>;
  /** What they hold, in bytes. */
  endedBytes: number;
  readonly maxEndedBytes: number;
  readonly flusher: Flusher;
  readonly texts: WeakMap<FrameEncoder, WeakMap<Frame, Buffer>>;
  lateFrames: number;
  closed: boolean;
}

export function end(state: KnownTopics, topic: Topic): void {
  state.flusher.forget(topic);
  topic.endedAt = state.clock.now();
  state.ended.set(topic.name, topic);
  state.endedBytes += topic.ringBuffer.bytes;
}

/** Drops what ended too long ago, and the oldest of what is more than ended topics may hold together. No timer: whoever looks for a topic, or opens one, sweeps. */
export function sweep(state: KnownTopics): void {
  const before = state.clock.now() - state.keepEndedMs;
  for (const topic of state.ended.values()) {
    if (topic.endedAt > before && state.endedBytes <= state.maxEndedBytes) return;
    drop(state, topic);
  }
}

export function drop(state: KnownTopics, topic: Topic): void {
  state.topics.delete(topic.name);
  unend(state, topic);
}

/** It goes on, or goes: either way it is no longer one that has ended. */
export function unend(state: KnownTopics, topic: Topic): void {
  if (state.ended.delete(topic.name)) state.endedBytes -= topic.ringBuffer.bytes;
}

export function find(state: KnownTopics, name: string): Topic | undefined {
  sweep(state);
  return state.topics.get(name);
}
