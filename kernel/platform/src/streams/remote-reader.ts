/** A process that follows a topic of this one: it is sent what it does not have, together what came in one turn. */
import type { Frame } from '@svc/api';
import type { Bus } from '../bus/bus.js';
import type { Follower, Topic } from './topic.js';
import type { Place } from './topic-signals.js';

/** Frames in one message at most. */
const FRAMES_AT_ONCE = 64;

export class RemoteReader implements Follower {
  readonly #bus: Bus;
  readonly #to: string;
  #isDue = false;
  #sent: Place = { attempt: 0, seq: 0 };
  readonly topic: Topic;
  /** When it was heard of last, on the monotonic clock of the machine. */
  receivedAt = 0;

  constructor(bus: Bus, topic: Topic, to: string) {
    this.#bus = bus;
    this.topic = topic;
    this.#to = to;
  }

  /** It says how far it has come: what was lost on the way is sent again. */
  standsAt(place: Place): void {
    this.receivedAt = performance.now();
    this.#sent = place;
    this.wake();
  }

  wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#sent = sendRest(this.#bus, this.topic, this.#to, this.#sent);
    });
  }

  /** The process stops: whoever goes on with the work is followed instead. */
  stop(): void {
    this.topic.leave(this);
  }
}

/** Sends what the topic has after this place; gives the place that was sent last. */
export const sendRest = (bus: Bus, topic: Topic, to: string, after: Place): Place => {
  let at = after;
  for (const frames of inParts(framesAfter(topic, after))) {
    bus.publish('streams', { is: 'frames', topic: topic.name, to, attempt: topic.attempt, oldest: topic.ringBuffer.oldest, reached: topic.reached, frames });
    at = frames.at(-1) ?? at;
  }
  return at;
};

const framesAfter = (topic: Topic, { attempt, seq }: Place): Frame[] => {
  const { ringBuffer } = topic;
  if (attempt > topic.attempt || ringBuffer.oldest === 0) return [];
  const frames: Frame[] = [];
  let next = attempt === topic.attempt ? Math.max(seq + 1, ringBuffer.oldest) : ringBuffer.oldest;
  for (let frame = ringBuffer.at(next); frame; frame = ringBuffer.at(++next)) frames.push(frame);
  return frames;
};

const inParts = (frames: readonly Frame[]): Frame[][] =>
  Array.from({ length: Math.ceil(frames.length / FRAMES_AT_ONCE) }, (_, part) => frames.slice(part * FRAMES_AT_ONCE, (part + 1) * FRAMES_AT_ONCE));
