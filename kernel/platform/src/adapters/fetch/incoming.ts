/**
 * One answer as it comes over the wire: the library's handler itself, with no stream and no promise for each piece in between.
 * What comes while nobody takes it waits here; more than a little, and the server has to wait as well.
 */
import type { Dispatcher } from 'undici';

/** As much as a stream of Node's holds before it stops its source. */
const MAX_WAITING_BYTES = 65_536;

export interface Head {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
}

export interface IncomingWatch {
  /** A byte came. */
  touch(): void;
  /** Once, however it ended, as soon as nothing more will come. */
  over(): void;
}

type Take = (piece: Uint8Array) => void;

/** A class because the library calls its methods, once for each piece. */
export class Incoming implements Dispatcher.DispatchHandler {
  /** Resolves with the head of the answer; rejects when none came. */
  readonly head: Promise<Head>;
  readonly #watch: IncomingWatch;
  #controller: Dispatcher.DispatchController | undefined;
  #start!: { resolve(head: Head): void; reject(error: unknown): void };
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #take: Take | undefined;
  #wake: (() => void) | undefined;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(watch: IncomingWatch) {
    this.#watch = watch;
    this.head = new Promise((resolve, reject) => {
      this.#start = { resolve, reject };
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(asError(this.#failure.error));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Head['headers']): void {
    // Some servers say that they go on before they answer.
    if (status < 200) return;
    this.#watch.touch();
    this.#start.resolve({ status, headers });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Uint8Array): void {
    if (this.#isOver) return;
    this.#watch.touch();
    if (this.#take) {
      this.#hand(piece);
      return;
    }
    this.#waiting.push(piece);
    this.#waitingBytes += piece.byteLength;
    if (this.#waitingBytes > MAX_WAITING_BYTES) controller.pause();
    this.#woken();
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end({ error });
  }

  /** Ends the exchange; whoever reads hears `error`. */
  stop(error: unknown): void {
    if (this.#isOver) return;
    this.#end({ error });
    this.#waiting = [];
    this.#controller?.abort(asError(error));
  }

  /** The body by calls, each piece in the turn in which it came. Resolves at its end. What `take` throws stops the exchange. */
  each(take: Take): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#take = take;
      for (const piece of this.#waiting.splice(0)) this.#hand(piece);
      this.#controller?.resume();
      this.#wake = () => {
        if (!this.#isOver) return;
        if (this.#failure) reject(this.#failure.error);
        else resolve();
      };
      this.#wake();
    });
  }

  /** The body by a loop, no faster than the loop takes it. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#waiting.shift();
      if (piece) {
        this.#waitingBytes -= piece.byteLength;
        if (this.#waiting.length === 0) this.#controller?.resume();
        yield piece;
      } else if (this.#isOver) {
        if (this.#failure) throw this.#failure.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #hand(piece: Uint8Array): void {
    if (this.#failure) return;
    try {
      this.#take?.(piece);
    } catch (error) {
      // The end may have come before somebody took what waited.
      if (this.#isOver) this.#failure = { error };
      else this.stop(error);
    }
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    if (failure) this.#start.reject(failure.error);
    this.#woken();
    this.#watch.over();
  }

  #woken(): void {
    this.#wake?.();
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
