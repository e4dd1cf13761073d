/** One topic: its ring, what waits to be joined, and who follows it. */
import type { Frame, FramesDecl } from '@svc/api';
import { FrameRingBuffer, type RingBufferLimits } from './ring-buffer.js';
import type { Place } from './topic-signals.js';

/** A draft's share of a ring beside its text, in bytes. */
const FRAME_OVERHEAD_BYTES = 96;

export interface FrameDraft {
  readonly type: string;
  readonly data: unknown;
  /** The member whose text is joined with that of frames after it. */
  readonly merge?: string | undefined;
  readonly final?: boolean;
}

/** Text that waits to be joined into one frame. */
interface Pending {
  readonly type: string;
  readonly merge: string;
  readonly data: Record<string, unknown>;
  readonly parts: string[];
}

export interface Follower {
  /** A frame has come. */
  wake(): void;
  /** The service stops: no frame will come any more. */
  stop(): void;
}

export class Topic {
  readonly name: string;
  readonly format: FramesDecl;
  /** Written by this process; otherwise followed from wherever it is written. */
  isOwn = true;
  /** The extension that opened it here, and all that may publish to it. Nobody as long as it is only attached. */
  owner: string | undefined;
  /** The extension that made it known here, to be followed. */
  attachedBy: string | undefined;
  writers: ReadonlySet<string> = new Set();
  token: number | undefined;
  /** Readers of an earlier attempt who have not come this far have missed something. */
  reached: Place | null = null;
  readonly #limits: RingBufferLimits;
  readonly #mono: () => number;
  readonly #followers = new Set<Follower>();
  /** Since when nobody has followed, on the monotonic clock. */
  #leftAt: number;
  attempt: number;
  seq: number;
  ringBuffer: FrameRingBuffer;
  final: Frame | undefined;
  /** Milliseconds since the epoch; 0 while the topic goes on. */
  endedAt = 0;
  /** When what waits must be sent, on the monotonic clock; 0 when the next text goes out at once. */
  dueAt = 0;
  #pending: Pending | undefined;

  constructor(name: string, format: FramesDecl, limits: RingBufferLimits, attempt: number, startSeq: number, mono: () => number) {
    this.name = name;
    this.format = format;
    this.#mono = mono;
    this.#leftAt = mono();
    this.#limits = limits;
    this.attempt = attempt;
    this.seq = startSeq;
    this.ringBuffer = new FrameRingBuffer(limits);
  }

  get followers(): ReadonlySet<Follower> {
    return this.#followers;
  }

  join(follower: Follower): void {
    this.#followers.add(follower);
  }

  leave(follower: Follower): void {
    if (this.#followers.delete(follower) && this.#followers.size === 0) this.#leftAt = this.#mono();
  }

  get unwatchedMs(): number | null {
    return this.#followers.size > 0 ? null : this.#mono() - this.#leftAt;
  }

  /** A new attempt: frames of the last one can no longer be resumed from, so they go. */
  restart(attempt: number, startSeq: number, reached: Place | null): void {
    this.attempt = attempt;
    this.reached = reached;
    this.seq = startSeq;
    this.ringBuffer = new FrameRingBuffer(this.#limits);
    this.final = undefined;
    this.endedAt = 0;
    this.dueAt = 0;
    this.#pending = undefined;
  }

  /** Numbers a frame, keeps it and tells who follows. */
  append(draft: FrameDraft): Frame {
    const seq = this.seq + 1;
    const final = draft.final === true;
    const frame: Frame = { id: `${this.name}.${this.attempt}.${seq}`, seq, attempt: this.attempt, type: draft.type, data: draft.data, final };
    this.take(frame, sizeOf(draft));
    return frame;
  }

  /** Keeps the frame that comes next, wherever it was made. */
  take(frame: Frame, sizeBytes = sizeOf(frame)): void {
    this.seq = frame.seq;
    this.ringBuffer.push(frame, sizeBytes);
    if (frame.final) this.final = frame;
    for (const follower of this.followers) follower.wake();
  }

  /** Keeps the draft's text to be sent with what comes after it. Whatever cannot be joined to it goes first. */
  hold(type: string, merge: string, text: string, data: Record<string, unknown>): void {
    const waiting = this.#pending;
    if (waiting && waiting.type === type && waiting.merge === merge && sameBesides(waiting.data, data, merge)) {
      waiting.parts.push(text);
      return;
    }
    this.release();
    this.#pending = { type, merge, data, parts: [text] };
  }

  /** Sends what waits. False when nothing did. */
  release(): boolean {
    const waiting = this.#pending;
    if (!waiting) return false;
    this.#pending = undefined;
    this.append({ type: waiting.type, merge: waiting.merge, data: { ...waiting.data, [waiting.merge]: waiting.parts.join('') } });
    return true;
  }
}

/** Bytes of a frame in the ring, near enough for a bound: text that is joined is measured, all else by its JSON. */
const sizeOf = (draft: FrameDraft): number => {
  const text = draft.merge === undefined ? undefined : (draft.data as Record<string, unknown>)[draft.merge];
  return FRAME_OVERHEAD_BYTES + (typeof text === 'string' ? text.length : (JSON.stringify(draft.data)?.length ?? 0));
};

const sameBesides = (a: Record<string, unknown>, b: Record<string, unknown>, merge: string): boolean => {
  const keys = Object.keys(b);
  return keys.length === Object.keys(a).length && keys.every((key) => key === merge || a[key] === b[key]);
};
