/**
 * Actors are known by identity, and identity does not cross. Here the daemon remembers whom it handed to the process, and
 * puts the very same in the place of what comes back. A process can so act for those it was handed, and for nobody else.
 */
import type { Actor } from '@svc/api';

/** Of those handed over; the oldest go first. */
const MAX_KNOWN = 10_000;
const MEMBERS = 'id,ownerId,role';

export class HandedActors {
  readonly #known = new Map<string, Actor>();
  readonly #isHanded: (value: object) => boolean;

  /** `isHanded`: whether the kernel made it an actor for whom others may act. */
  constructor(isHanded: (value: object) => boolean) {
    this.#isHanded = isHanded;
  }

  /** Remembers every actor in what goes to the process. */
  note(value: unknown, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > 20 || value instanceof Uint8Array) return;
    if (isActor(value)) {
      if (this.#isHanded(value)) this.#remember(value);
      return;
    }
    for (const inner of Array.isArray(value) ? value : Object.values(value)) this.note(inner, depth + 1);
  }

  /** What came from the process, with those it was handed in their places. */
  known(value: unknown, depth = 0): unknown {
    if (typeof value !== 'object' || value === null || depth > 20 || value instanceof Uint8Array || Symbol.asyncIterator in value) return value;
    if (isActor(value)) return this.#known.get(keyOf(value)) ?? value;
    if (Array.isArray(value)) return value.map((item) => this.known(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.known(inner, depth + 1)]));
  }

  #remember(actor: Actor): void {
    const key = keyOf(actor);
    // What is handed again is young again.
    this.#known.delete(key);
    this.#known.set(key, actor);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

const isActor = (value: object): value is Actor => Object.keys(value).sort().join() === MEMBERS;

const keyOf = ({ id, ownerId, role }: Actor): string => JSON.stringify([id, ownerId, role]);
