/**
 * Events as they happen, for open streams.
 *
 * L1  A stream has the events of its caller alone, from its beginning on; with Last-Event-ID also those that it missed.
 * L2  A reader that is too slow is hung up on, and resumes by its last id: nothing is held without a bound.
 */
import { type Actor, type Clock, type Disposable, type Events, seesAll, sse } from '@svc/api';
import { type CommsEvent, CommsHappened } from './contract.js';
import { commsErrors } from './errors.js';

export interface Live {
  follow(actor: Actor, missed: readonly CommsEvent[], signal: AbortSignal): AsyncIterable<Uint8Array>;
}

const MAX_STREAMS = 64;
const MAX_WAITING = 1_000;
const PING_MS = 15_000;

const encoder = new TextEncoder();
const PING = encoder.encode(': ping\n\n');
const lineOf = (event: CommsEvent): Uint8Array => encoder.encode(sse(undefined, event, event.id));

export const createLive = ({ events, clock, closing }: { readonly events: Pick<Events, 'on'>; readonly clock: Pick<Clock, 'sleep'>; readonly closing: AbortSignal }): Live => {
  let open = 0;
  return {
    follow: (actor, missed, gone) => {
      if (open >= MAX_STREAMS) throw commsErrors.too_many_streams(MAX_STREAMS);
      open += 1;
      const waiting: CommsEvent[] = [...missed];
      let wake: () => void = () => undefined;
      let isSlow = false;
      // Only while somebody reads.
      const listener: Disposable = events.on(CommsHappened, ({ ownerId, ...event }) => {
        if (!seesAll(actor) && ownerId !== actor.ownerId) return;
        if (waiting.length >= MAX_WAITING) isSlow = true;
        else waiting.push(event);
        wake();
      });
      const signal = AbortSignal.any([gone, closing]);
      const end = (): void => wake();
      signal.addEventListener('abort', end);
      return (async function* () {
        try {
          yield encoder.encode(': open\n\n');
          while (!signal.aborted && !isSlow) {
            const next = waiting.shift();
            if (next) yield lineOf(next);
            else if (!(await somethingWithin(clock, PING_MS, signal, (fn) => (wake = fn)))) yield PING;
          }
        } finally {
          open -= 1;
          listener.dispose();
          signal.removeEventListener('abort', end);
        }
      })();
    },
  };
};

/** False when nothing came in time. */
const somethingWithin = async (clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal, setWake: (fn: () => void) => void): Promise<boolean> => {
  const over = new AbortController();
  try {
    return await Promise.race([
      new Promise<boolean>((resolve) => setWake(() => resolve(true))),
      clock.sleep(ms, AbortSignal.any([signal, over.signal])).then(
        () => false,
        () => true,
      ),
    ]);
  } finally {
    over.abort();
  }
};
