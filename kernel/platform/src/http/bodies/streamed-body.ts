/**
 * A request's body as it comes.
 *
 * B1  Nothing is read ahead of who asks, beyond what node holds of a socket: a slow reader slows the sender down.
 * B2  Only the time spent waiting for the client counts against its pace: it may not pause longer than the grace, nor come more slowly on the whole.
 * B3  It ends with the body, or throws: too large, too slow, cut off, or the area stops.
 */
import type { IncomingMessage } from 'node:http';
import { assertAnnounced, type BodyRule, discard } from './body.js';
import { httpErrors } from '../errors.js';

export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** When the handler is done: what is left of the body passes unread. */
  leave(): void;
}

/** When the area that reads it stops, and what is told then. */
export interface Stopping {
  readonly signal: AbortSignal;
  readonly why: () => Error;
}

/** Throws `body_too_large` where the head announces it. */
export const streamBody = (req: IncomingMessage, rule: BodyRule, stopping: Stopping): StreamedBody => {
  assertAnnounced(req, rule.maxBytes);
  let isBegun = false;
  let isLeft = false;
  const leave = (): void => {
    if (isLeft) return;
    isLeft = true;
    if (!req.readableEnded && !req.destroyed) discard(req);
  };
  return {
    [Symbol.asyncIterator]: () => {
      if (isBegun) throw new Error('the body of a request is read once');
      isBegun = true;
      return pieces(req, rule, stopping, () => isLeft);
    },
    leave,
  };
};

async function* pieces(req: IncomingMessage, { maxBytes, graceMs, bytesPerSecond }: BodyRule, stopping: Stopping, isLeft: () => boolean): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let waitedMs = 0;
  while (!isLeft()) {
    if (stopping.signal.aborted) throw stopping.why();
    const piece: Buffer | null = req.read();
    if (piece !== null) {
      bytes += piece.length;
      if (bytes > maxBytes) throw httpErrors.body_too_large(maxBytes);
      yield piece;
      continue;
    }
    if (req.readableEnded) return;
    // A request whose body was cut off is destroyed, and never ends.
    if (req.destroyed) throw httpErrors.body_aborted();
    const allowedMs = Math.min(graceMs, graceMs + (bytes / bytesPerSecond) * 1_000 - waitedMs);
    const begun = performance.now();
    if (allowedMs <= 0 || !(await hasMore(req, allowedMs, stopping.signal))) throw httpErrors.body_too_slow(bytesPerSecond).with({ headers: { connection: 'close' } });
    waitedMs += performance.now() - begun;
  }
}

/** False when nothing came in time. */
const hasMore = (req: IncomingMessage, ms: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (came: boolean): void => {
      clearTimeout(timer);
      for (const event of ['readable', 'end', 'close', 'error']) req.off(event, wake);
      signal.removeEventListener('abort', wake);
      resolve(came);
    };
    const wake = (): void => settle(true);
    const timer = setTimeout(() => settle(false), ms);
    for (const event of ['readable', 'end', 'close', 'error']) req.once(event, wake);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted || req.destroyed) wake();
  });
