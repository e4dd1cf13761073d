/**
 * What is installed now. Whoever lists extensions asks each time, or listens: an upgrade, a reload of a new
 * build and an installation change it while the daemon runs.
 */
import type { Disposable } from '@svc/api';
import type { Installed } from './installed.js';

export interface InstalledStore<T extends Installed = Installed> {
  get(id: string): T | undefined;
  /** In the order in which they came. */
  all(): readonly T[];
  /** Adds it, or takes the place of the one with this id. */
  put(one: T): void;
  remove(id: string): void;
  /** Heard after each change, with the id that changed. */
  onChange(fn: (id: string) => void): Disposable;
}

export const createInstalledStore = <T extends Installed>(initial: readonly T[]): InstalledStore<T> => {
  const kept = new Map(initial.map((one) => [one.id, one]));
  const listeners = new Set<(id: string) => void>();
  let list: readonly T[] | undefined;
  const changed = (id: string): void => {
    list = undefined;
    for (const fn of [...listeners]) fn(id);
  };
  return {
    get: (id) => kept.get(id),
    all: () => {
      list ??= [...kept.values()];
      return list;
    },
    put: (one) => {
      if (kept.get(one.id) === one) return;
      kept.set(one.id, one);
      changed(one.id);
    },
    remove: (id) => {
      if (kept.delete(id)) changed(id);
    },
    onChange: (fn) => {
      listeners.add(fn);
      return {
        dispose: () => {
          listeners.delete(fn);
        },
      };
    },
  };
};

/** What follows from all that is installed, made once per change of the store. */
export const derivedFrom = <I extends Installed, T>(store: Pick<InstalledStore<I>, 'all'>, make: (all: readonly I[]) => T): (() => T) => {
  let made: { readonly of: readonly I[]; readonly value: T } | undefined;
  return () => {
    const all = store.all();
    if (made?.of !== all) made = { of: all, value: make(all) };
    return made.value;
  };
};
