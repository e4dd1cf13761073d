/** The bus inside one process: its members hand each other their messages as they are, in a later microtask. Alone, a message costs one comparison. */
import type { Disposable } from '@svc/api';
import type { Bus, BusMessages } from './bus.js';

type Failed = (error: unknown) => void;
interface Member {
  readonly name: string;
  readonly failed: Failed;
}
type Lines = { readonly [C in keyof BusMessages]: Line<BusMessages[C]> };

export interface LocalBusHub {
  /** `failed` gets what a listener of this member threw. */
  join(name: string, failed: Failed): Bus;
}

export const createLocalBusHub = (): LocalBusHub => {
  const members = new Map<object, Member>();
  const lines: Lines = { events: new Line(members), journal: new Line(members), streams: new Line(members), choices: new Line(members), settings: new Line(members) };
  return {
    join: (name, failed) => {
      const self = {};
      members.set(self, { name, failed });
      return {
        name,
        isAlone: () => members.size < 2,
        publish: (channel, message) => {
          if (members.size > 1) lines[channel].publish(self, message);
        },
        subscribe: (channel, fn) => lines[channel].subscribe(self, fn),
        // Nothing is lost inside a process.
        onGap: () => ({ dispose: () => undefined }),
        state: () => ({ carrier: 'process', isConnected: true, peers: [...members].flatMap(([member, other]) => (member === self ? [] : [other.name])) }),
        close: async () => void members.delete(self),
      };
    },
  };
};

/** One channel. */
class Line<T> {
  readonly #members: ReadonlyMap<object, Member>;
  readonly #listeners = new Map<{ fn(message: T): void }, object>();

  constructor(members: ReadonlyMap<object, Member>) {
    this.#members = members;
  }

  publish(sender: object, message: T): void {
    for (const [listener, member] of this.#listeners) if (member !== sender) queueMicrotask(() => this.#deliver(listener, member, message));
  }

  subscribe(member: object, fn: (message: T) => void): Disposable {
    const listener = { fn };
    this.#listeners.set(listener, member);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  #deliver(listener: { fn(message: T): void }, member: object, message: T): void {
    const receiver = this.#members.get(member);
    if (!receiver || !this.#listeners.has(listener)) return;
    try {
      listener.fn(message);
    } catch (error) {
      receiver.failed(error);
    }
  }
}

/** For whoever has a database to itself, as most tests do. */
export const busOfOne = (name = 'alone'): Bus => createLocalBusHub().join(name, () => undefined);
