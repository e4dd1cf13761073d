/**
 * Actors are known by identity, and identity does not cross. Here the daemon remembers whom it handed to the process, and
 * puts the very same in the place of what comes back.
 *
 * A1  A process acts for those whom the daemon handed to it, and for nobody else.
 * A2  It acts for them while the call lasts that handed them over, with the streams of its answer: afterwards they are
 *     nobody to it.
 */
import type { Actor } from '@svc/api';
import { isAsyncIterable } from '../channel/packed.js';

const MEMBERS = 'id,ownerId,role';
const MAX_DEPTH = 20;
const READ_WITHIN_MS = 5_000;

export class HandedActors {
  /** How many calls that are under way handed over each. */
  readonly #known = new Map<string, { readonly actor: Actor; calls: number }>();
  readonly #isHanded: (value: object) => boolean;

  /** `isHanded`: whether the kernel made it an actor for whom others may act. */
  constructor(isHanded: (value: object) => boolean) {
    this.#isHanded = isHanded;
  }

  /** Makes a call that hands over every actor in `given`; they stay known until it and its streams have ended. */
  async during<T>(given: unknown, call: () => Promise<T>): Promise<T> {
    const handed = new Map<string, Actor>();
    this.#find(given, handed, 0);
    if (handed.size === 0) return call();
    const end = this.#hold(handed);
    try {
      return heldBy(await call(), end);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** What came from the process, with those it was handed in their places. */
  known(value: unknown, depth = 0): unknown {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || value instanceof Uint8Array || isAsyncIterable(value)) return value;
    if (isActor(value)) return this.#known.get(keyOf(value))?.actor ?? value;
    if (Array.isArray(value)) return value.map((item) => this.known(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.known(inner, depth + 1)]));
  }

  #find(value: unknown, handed: Map<string, Actor>, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || value instanceof Uint8Array || isAsyncIterable(value)) return;
    if (isActor(value)) {
      if (this.#isHanded(value)) handed.set(keyOf(value), value);
      return;
    }
    for (const inner of Array.isArray(value) ? value : Object.values(value)) this.#find(inner, handed, depth + 1);
  }

  #hold(handed: ReadonlyMap<string, Actor>): () => void {
    for (const [key, actor] of handed) {
      const known = this.#known.get(key);
      if (known) known.calls += 1;
      else this.#known.set(key, { actor, calls: 1 });
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const key of handed.keys()) {
        const known = this.#known.get(key);
        if (!known) continue;
        known.calls -= 1;
        if (known.calls === 0) this.#known.delete(key);
      }
    };
  }
}

/** The answer, whose stream calls `end` when it has ended; without one it is called now. One that nobody reads counts as none: a process could make as many as it likes. */
const heldBy = <T>(answer: T, end: () => void): T => {
  const wrapped = withStream(answer, end);
  if (wrapped !== undefined) return wrapped as T; // the same with another stream in the place of its stream
  end();
  return answer;
};

const withStream = (answer: unknown, end: () => void): unknown => {
  if (isAsyncIterable(answer)) return ending(answer, end);
  if (typeof answer === 'object' && answer !== null && 'source' in answer && isAsyncIterable(answer.source)) return { ...answer, source: ending(answer.source, end) };
  return undefined;
};

const ending = (stream: AsyncIterable<unknown>, end: () => void): AsyncIterable<unknown> => {
  const unread = setTimeout(end, READ_WITHIN_MS).unref();
  return (async function* () {
    clearTimeout(unread);
    try {
      yield* stream;
    } finally {
      end();
    }
  })();
};

const isActor = (value: object): value is Actor => Object.keys(value).sort().join() === MEMBERS;

const keyOf = ({ id, ownerId, role }: Actor): string => JSON.stringify([id, ownerId, role]);
