/**
 * Callers that stay: streams, waits and sockets. Who they are was validated when they came; keys are
 * revoked and roles change while they are there, so they are validated again.
 *
 * J1  A caller whose key is no longer valid, or whose role no longer allows it, is ended at once.
 * J2  So is one that is somebody else by now, or sees less than it did: what it follows may not be its to see.
 * J3  Where nobody can tell (auth is off, its check fails) a stream stays as it is; nothing new is taken from it.
 */
import type { IncomingMessage } from 'node:http';
import { type Actor, isSvcError, seesAll, type SvcError } from '@svc/api';
import { type CallerHooks, type Guarded, identifyAgain } from './caller.js';
import { httpErrors } from '../errors.js';
import type { HandlerRequest } from '../request.js';

/** So many are validated in one turn of the event loop. */
const AT_ONCE = 64;

export interface Stay {
  readonly row: Guarded;
  readonly request: HandlerRequest;
  readonly req: IncomingMessage;
  end(refusal: SvcError): void;
}

export interface Standing {
  /** Returns what to call when the caller has left. */
  add(stay: Stay): () => void;
  recheck(): Promise<void>;
  count(): number;
}

export const createStanding = (hooks: CallerHooks): Standing => {
  const staying = new Set<Stay>();
  return {
    add: (stay) => {
      staying.add(stay);
      return () => void staying.delete(stay);
    },
    recheck: () =>
      inTurns(staying, async (stay) => {
        const refusal = await refusalNow(hooks, stay);
        if (!refusal) return;
        staying.delete(stay);
        stay.end(refusal);
      }),
    count: () => staying.size,
  };
};

/** Why the caller may not go on; undefined when it may, or when nobody can tell. */
export const refusalOf = (error: unknown): SvcError | undefined => (isSvcError(error) && (error.status === 401 || error.status === 403) ? error : undefined);

/** Whether what `before` was shown may be more than `now` may see. */
export const seesLess = (before: Actor, now: Actor): boolean => now.id !== before.id || (!seesAll(now) && (seesAll(before) || now.ownerId !== before.ownerId));

/** Validating is short, and all waits in it are: without a pause a thousand callers would be one long turn. */
export const inTurns = async <T>(all: Iterable<T>, work: (one: T) => Promise<void>): Promise<void> => {
  let done = 0;
  for (const one of [...all]) {
    await work(one);
    if (++done % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
};

const refusalNow = async (hooks: CallerHooks, { row, request, req }: Stay): Promise<SvcError | undefined> => {
  try {
    const now = await identifyAgain(hooks, row, request.call, req);
    return seesLess(request.actor, now) ? httpErrors.unauthorized() : undefined;
  } catch (error) {
    return refusalOf(error);
  }
};
