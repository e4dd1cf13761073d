/** The newest frames of one attempt, numbered without gaps, bounded by count and by size. */
import type { Frame } from '@svc/api';

export interface RingBufferLimits {
  readonly maxFrames: number;
  readonly maxBytes: number;
}

/** Dropped places are cut off the array in steps of this many, so that dropping stays O(1). */
const COMPACT_AT = 512;

export class FrameRingBuffer {
  readonly #limits: RingBufferLimits;
  #frames: Array<Frame | undefined> = [];
  #sizes: number[] = [];
  #first = 0;
  #bytes = 0;

  constructor(limits: RingBufferLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#frames.length - this.#first;
  }

  /** Number of the oldest frame that is kept, 0 when none is. */
  get oldest(): number {
    return this.#frames[this.#first]?.seq ?? 0;
  }

  /** The newest frame is always kept, however large. */
  push(frame: Frame, sizeBytes: number): void {
    this.#frames.push(frame);
    this.#sizes.push(sizeBytes);
    this.#bytes += sizeBytes;
    while (this.count > 1 && (this.count > this.#limits.maxFrames || this.#bytes > this.#limits.maxBytes)) this.#dropOldest();
  }

  at(seq: number): Frame | undefined {
    const oldest = this.oldest;
    return oldest === 0 || seq < oldest ? undefined : this.#frames[this.#first + seq - oldest];
  }

  #dropOldest(): void {
    this.#bytes -= this.#sizes[this.#first] ?? 0;
    this.#frames[this.#first] = undefined;
    this.#first++;
    if (this.#first < COMPACT_AT) return;
    this.#frames = this.#frames.slice(this.#first);
    this.#sizes = this.#sizes.slice(this.#first);
    this.#first = 0;
  }
}
