/** A reader's place in a topic. It holds no frames: a slow reader costs a number, not memory. */
import type { Frame } from '@svc/api';
import type { Follower, Topic } from './topic.js';
import type { Place } from './topic-signals.js';
import { streamErrors } from './errors.js';

export type CursorState =
  /** More may come. */
  | 'live'
  /** The final frame was read. */
  | 'ended'
  /** The next frame fell out of the ring before it was read. */
  | 'lost'
  /** Another attempt began, and what came before it was not read to the end: only rows know it. */
  | 'moved'
  /** The service stops. */
  | 'closed';

export class Cursor implements Follower {
  readonly topic: string;
  readonly #topic: Topic;
  readonly wake: () => void;
  #attempt: number;
  #next: number;
  /** The frame that was read last, or that the reader named. */
  #seen: Place | undefined;
  #state: CursorState = 'live';

  constructor(topic: Topic, after: string | number, wake: () => void) {
    this.topic = topic.name;
    this.#topic = topic;
    this.wake = wake;
    this.#attempt = topic.attempt;
    this.#next = firstToRead(topic, after);
    this.#seen = typeof after === 'string' ? placeOf(topic, after) : undefined;
    topic.join(this);
  }

  get state(): CursorState {
    return this.#state;
  }

  /** The next frame, or undefined when none is there now: then `state` says why. */
  read(): Frame | undefined {
    if (this.#state !== 'live') return undefined;
    const topic = this.#topic;
    if (topic.attempt !== this.#attempt) {
      if (isBehind(this.#seen, topic.reached)) {
        this.#leave('moved');
        return undefined;
      }
      this.#attempt = topic.attempt;
      this.#next = firstRetained(topic);
    }
    const frame = topic.ringBuffer.at(this.#next);
    if (frame) {
      this.#next++;
      this.#seen = frame;
      if (frame.final) this.#leave('ended');
    } else if (this.#next < topic.ringBuffer.oldest) this.#leave('lost');
    else if (topic.final) this.#leave('ended');
    return frame;
  }

  /** The place of the frame that was read last; number 0 when none was. */
  lastRead(): Pick<Frame, 'id' | 'seq' | 'attempt'> {
    const seq = Math.max(0, this.#next - 1);
    return { id: `${this.topic}.${this.#attempt}.${seq}`, seq, attempt: this.#attempt };
  }

  /** The reader has left. */
  close(): void {
    this.#leave('closed');
  }

  stop(): void {
    if (this.#state !== 'live') return;
    this.#leave('closed');
    this.wake();
  }

  #leave(state: CursorState): void {
    if (this.#state !== 'live') return;
    this.#state = state;
    this.#topic.leave(this);
  }
}

/** Number of the first frame to read: the one after `after` when it is still known, else all that the ring has. */
const firstToRead = (topic: Topic, after: string | number): number => {
  const place = typeof after === 'number' ? { attempt: topic.attempt, seq: after } : placeOf(topic, after);
  const seen = place?.attempt === topic.attempt ? place.seq : undefined;
  if (seen === undefined || seen <= 0 || seen > topic.seq) return firstRetained(topic);
  return Math.max(seen + 1, firstRetained(topic));
};

/** Of an empty ring: the number that comes next. */
const firstRetained = (topic: Topic): number => topic.ringBuffer.oldest || topic.seq + 1;

/** Who has seen nothing misses nothing: it gets what there is from now on. */
const isBehind = (seen: Place | undefined, reached: Place | null): boolean =>
  seen !== undefined && reached !== null && (seen.attempt < reached.attempt || (seen.attempt === reached.attempt && seen.seq < reached.seq));

/** Undefined when the text names no frame of this topic. */
export const placeOf = (topic: Pick<Topic, 'name'>, id: string): Place | undefined => {
  const match = /^(.+)\.(\d{1,9})\.(\d{1,15})$/.exec(id);
  return match && match[1] === topic.name ? { attempt: Number(match[2]), seq: Number(match[3]) } : undefined;
};

/** Why no more comes. It has the id of the frame that was read last, so that a client which comes back with it misses nothing. */
export const lastWords = (place: Pick<Cursor, 'lastRead' | 'state' | 'topic'>): Frame => {
  const { message, code, status, hint } = place.state === 'lost' ? streamErrors.reader_too_slow(place.topic) : streamErrors.stopping();
  return { ...place.lastRead(), type: 'error', data: { error: message, code, status, hint }, final: true };
};
