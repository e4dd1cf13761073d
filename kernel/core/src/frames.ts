/**
 * The frames of a streaming call, as its caller takes them: one after the other, like a generator's.
 * It is written out because a generator in between costs four promises for each frame.
 */
import type { EndingCall } from './hooks/call-control.js';

export interface Begun {
  readonly source: AsyncIterator<unknown>;
  /** Runs a step as the provider: a generator goes on as whoever asks it for the next frame. */
  readonly inside: <T>(step: () => T) => T;
  readonly control: EndingCall | undefined;
  /** The frame as the caller gets it, where it is looked at. Throws for one that does not fit. */
  readonly validated: ((frame: unknown) => unknown) | undefined;
  /** Lets go of the provider, once. */
  leave(): void;
}

const DONE: IteratorResult<unknown, undefined> = Object.freeze({ done: true, value: undefined });

export class Frames implements AsyncIterableIterator<unknown> {
  readonly #begin: () => Begun;
  #begun: Begun | undefined;
  #isOver = false;

  /** `begin` is called with the first frame that is asked for. */
  constructor(begin: () => Begun) {
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#isOver) return Promise.resolve(DONE);
    try {
      this.#begun ??= this.#begin();
    } catch (error) {
      this.#isOver = true;
      return Promise.reject(error);
    }
    const { source, inside, control } = this.#begun;
    try {
      const asked = Promise.resolve(inside(() => source.next()));
      return (control ? control.race(asked) : asked).then(this.#came, this.#failed);
    } catch (error) {
      return this.#failed(error);
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    if (!this.#isOver) await this.#close();
    return DONE;
  }

  readonly #came = (next: IteratorResult<unknown>): IteratorResult<unknown> | Promise<never> => {
    if (this.#isOver) return DONE;
    if (next.done) {
      this.#isOver = true;
      this.#begun?.leave();
      return DONE;
    }
    const validated = this.#begun?.validated;
    if (!validated) return next;
    try {
      return { done: false, value: validated(next.value) };
    } catch (error) {
      return this.#failed(error);
    }
  };

  readonly #failed = async (error: unknown): Promise<never> => {
    if (!this.#isOver) await this.#close();
    throw error;
  };

  async #close(): Promise<void> {
    this.#isOver = true;
    const begun = this.#begun;
    if (!begun) return;
    const { source, inside, control, leave } = begun;
    const ended = (async () => {
      try {
        await inside(() => source.return?.());
      } finally {
        leave();
      }
    })();
    // A method that is late may never come to its end.
    if (control?.isLate()) ended.catch(() => undefined);
    else await ended;
  }
}
