/**
 * An exact scan over vectors of whole numbers, in WebAssembly with SIMD.
 *
 * N1  It finds what plain arithmetic finds: nothing is approximate.
 * N2  Others run between slices: a scan of many vectors holds nobody up for longer than one slice takes.
 * N3  Nearness is what stands above the mean of all: some models put any two texts close to each other.
 * N4  A change during a scan begins it anew, so that no vector is missed or read in half.
 */
import { createDots } from './dots.js';
import type { Placed } from './word-search.js';

export interface Scanner {
  readonly size: number;
  set(place: number, vector: Int8Array, agent: string): void;
  remove(place: number): void;
  /** By cosine, the nearest first. `breath` lets others run. */
  nearest(query: readonly number[], limit: number, agents?: readonly string[], breath?: () => Promise<void>): Promise<Placed[]>;
}

const FIRST_ROOM = 256;
/** The most rows of a slice: as many products are stored at once. */
export const SLICE_ROWS = 65_536;
/** Numbers of a slice: some three milliseconds, however long the vectors are. */
const SLICE_NUMBERS = SLICE_ROWS * 256;
/** Rows of vectors that are so long. */
export const rowsOfSlice = (dimensions: number): number => Math.max(1, Math.min(SLICE_ROWS, Math.floor(SLICE_NUMBERS / Math.max(1, dimensions))));
const BREATHS = 3;
/** Above it, a mean says that the model puts all texts close together. */
const CROWDED = 0.3;
/** Among fewer, what stands out says nothing. */
const LEAST_SPREAD = 50;

export const createScanner = (): Scanner => {
  let dots = createDots(0);
  let dimensions = 0;
  let count = 0;
  /** Of all changes so far. */
  let version = 0;
  let lengths = new Float32Array(0);
  let owners = new Uint32Array(0);
  const places: number[] = [];
  const rowOfPlace = new Map<number, number>();
  const numbers = new Map<string, number>();
  const grow = (): void => {
    const room = Math.max(FIRST_ROOM, lengths.length * 2);
    const [oldLengths, oldOwners] = [lengths, owners];
    lengths = new Float32Array(room);
    owners = new Uint32Array(room);
    lengths.set(oldLengths);
    owners.set(oldOwners);
  };
  const numberOf = (agent: string): number => {
    const known = numbers.get(agent) ?? numbers.size + 1;
    numbers.set(agent, known);
    return known;
  };
  const begin = (size: number): void => {
    dimensions = size;
    dots = createDots(size);
    lengths = new Float32Array(0);
    owners = new Uint32Array(0);
  };
  /** Undefined where something changed meanwhile. */
  const scan = async (asked: Int8Array, limit: number, wanted: ReadonlySet<number> | undefined, breath: (() => Promise<void>) | undefined): Promise<Placed[] | undefined> => {
    const begun = version;
    const length = Math.hypot(...asked);
    const best: Placed[] = [];
    let floor = 0;
    let [seen, sum, squares] = [0, 0, 0];
    const rows = rowsOfSlice(dimensions);
    for (let from = 0; from < count; from += rows) {
      if (from > 0 && breath) {
        await breath();
        if (version !== begun) return undefined;
      }
      const products = dots.of(asked, from, Math.min(rows, count - from));
      for (let at = 0; at < products.length; at += 1) {
        const product = products[at] as number;
        const row = from + at;
        if (wanted && !wanted.has(owners[row] ?? 0)) continue;
        const score = product / ((lengths[row] ?? 1) * length);
        seen += 1;
        sum += score;
        squares += score * score;
        if (score <= floor) continue;
        insert(best, { place: places[row] ?? 0, score }, limit);
        if (best.length === limit) floor = best[limit - 1]?.score ?? 0;
      }
    }
    return standing(best, seen, sum, squares);
  };
  return {
    get size() {
      return count;
    },
    set: (place, vector, agent) => {
      if (vector.length === 0) return;
      if (count === 0) begin(vector.length);
      // Of another size: it cannot be compared.
      if (vector.length !== dimensions) return;
      version += 1;
      const row = rowOfPlace.get(place) ?? count;
      if (row === count) {
        if (count === lengths.length) grow();
        count += 1;
        rowOfPlace.set(place, row);
        places[row] = place;
      }
      dots.put(row, vector);
      lengths[row] = Math.hypot(...vector);
      owners[row] = numberOf(agent);
    },
    remove: (place) => {
      const row = rowOfPlace.get(place);
      if (row === undefined) return;
      version += 1;
      const last = count - 1;
      const lastPlace = places[last] ?? 0;
      // Nothing of what was erased stays in memory.
      dots.moveLast(last, row);
      lengths[row] = lengths[last] ?? 0;
      owners[row] = owners[last] ?? 0;
      places[row] = lastPlace;
      rowOfPlace.set(lastPlace, row);
      rowOfPlace.delete(place);
      places.pop();
      count = last;
    },
    nearest: async (query, limit, agents, breath) => {
      if (count === 0 || query.length !== dimensions) return [];
      const most = query.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      if (!(most > 0)) return [];
      const asked = Int8Array.from(query, (value) => Math.round((value / most) * 127));
      const wanted = agents && new Set(agents.map((agent) => numbers.get(agent) ?? 0));
      for (let tries = 0; tries < BREATHS; tries += 1) {
        const found = await scan(asked, limit, wanted, breath);
        if (found) return found;
        if (count === 0 || query.length !== dimensions) return [];
      }
      return (await scan(asked, limit, wanted, undefined)) ?? [];
    },
  };
};

const standing = (best: readonly Placed[], seen: number, sum: number, squares: number): Placed[] => {
  const mean = sum / Math.max(seen, 1);
  const deviation = Math.sqrt(Math.max(squares / Math.max(seen, 1) - mean * mean, 0));
  return best.map(({ place, score }) => ({
    place,
    score: mean > CROWDED ? Math.max(0, (score - mean) / (1 - mean)) : score,
    ...(seen < LEAST_SPREAD || deviation === 0 ? {} : { above: (score - mean) / deviation }),
  }));
};

/** Keeps the list sorted and within its limit. */
const insert = (best: Placed[], one: Placed, limit: number): void => {
  let at = best.length;
  while (at > 0 && (best[at - 1] as Placed).score < one.score) at -= 1;
  best.splice(at, 0, one);
  if (best.length > limit) best.pop();
};
