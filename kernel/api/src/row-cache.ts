/**
 * What was read of the database a moment ago, kept for those who ask again.
 *
 * A change is announced after its commit; in between, the rows may already differ from what is kept. So whoever
 * prepares a change says so beforehand, and until the announcement (or a few seconds) they are read anew.
 *
 * Another process announces its changes too, but what it says can be lost on the way, or is not said at all: so nothing
 * is kept for longer than a few seconds.
 */
import { type Actor, seesAll } from './actor.js';
import { type AtOnce, whenKnown } from './at-once.js';
import type { Clock } from './adapters.js';

const MAX_KEPT = 500;
/** A change of another process that was not heard of is seen after this long. */
const MAX_AGE_MS = 3_000;
const UNSETTLED_MS = 5_000;
const MAX_UNSETTLED = 1_000;

export interface RowCache<T> {
  get(id: string): T | undefined;
  /** Reads through `load`, keeping the result unless a change came in between. */
  load(id: string, load: () => Promise<T>): Promise<T>;
  /** The same as `get`, and `load` where it is not kept. */
  read(id: string, load: () => Promise<T>): AtOnce<T>;
  /** A change of these rows is being prepared, perhaps by somebody else's commit. */
  willChange(id: string): void;
  changed(id: string): void;
  clear(): void;
}

/** An `undefined` that was read is not kept. */
export const cacheRows = <T>(clock: Pick<Clock, 'mono'>): RowCache<T> => {
  const kept = new Map<string, { readonly value: T; readonly readAt: number }>();
  const unsettled = new Map<string, number>();
  let changes = 0;
  const isUnsettled = (id: string): boolean => {
    const until = unsettled.get(id);
    if (until === undefined || until > clock.mono()) return until !== undefined;
    unsettled.delete(id);
    return false;
  };
  const keep = (id: string, value: T, readAt: number): void => {
    kept.delete(id);
    kept.set(id, { value, readAt });
    dropOldest(kept, MAX_KEPT);
  };
  const get = (id: string): T | undefined => {
    const known = kept.get(id);
    if (!known || clock.mono() - known.readAt >= MAX_AGE_MS) return undefined;
    keep(id, known.value, known.readAt);
    return known.value;
  };
  const load = async (id: string, read: () => Promise<T>): Promise<T> => {
    const before = changes;
    const readAt = clock.mono();
    const value = await read();
    if (value !== undefined && before === changes && !isUnsettled(id)) keep(id, value, readAt);
    return value;
  };
  return {
    get,
    load,
    read: (id, read) => get(id) ?? load(id, read),
    willChange: (id) => {
      changes += 1;
      kept.delete(id);
      unsettled.set(id, clock.mono() + UNSETTLED_MS);
      dropOldest(unsettled, MAX_UNSETTLED);
    },
    changed: (id) => {
      changes += 1;
      kept.delete(id);
      unsettled.delete(id);
    },
    clear: () => {
      changes += 1;
      kept.clear();
    },
  };
};

/** Caches the rows of one id, as seen by a reader of all rows: these are read through `kept`, all others with `load`. `none` is the value of an id without rows. */
export const readOneCached = <T>(kept: RowCache<T>, actor: Actor, ids: readonly string[], none: T, load: () => Promise<Record<string, T>>): AtOnce<Record<string, T>> => {
  const [id, another] = ids;
  if (id === undefined || another !== undefined || !seesAll(actor)) return load();
  return whenKnown(
    kept.read(id, async () => (await load())[id] ?? none),
    (value) => ({ [id]: value }),
  );
};

/** A Map keeps the order of insertion: its first key is the oldest. */
const dropOldest = (map: Map<string, unknown>, limit: number): void => {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
};
