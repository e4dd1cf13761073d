/** An exact scan over vectors of whole numbers, in typed arrays. */
import type { Placed } from './word-search.js';

export interface Scanner {
  readonly size: number;
  set(place: number, vector: Int8Array, agent: string): void;
  remove(place: number): void;
  /** By cosine, the nearest first. */
  nearest(query: readonly number[], limit: number, agents?: readonly string[]): Placed[];
}

const FIRST_ROOM = 256;

export const createScanner = (): Scanner => {
  let dimensions = 0;
  let count = 0;
  let vectors = new Int8Array(0);
  let lengths = new Float32Array(0);
  let owners = new Uint32Array(0);
  const places: number[] = [];
  const rowOfPlace = new Map<number, number>();
  const numbers = new Map<string, number>();
  const grow = (): void => {
    const room = Math.max(FIRST_ROOM, lengths.length * 2);
    const [oldVectors, oldLengths, oldOwners] = [vectors, lengths, owners];
    vectors = new Int8Array(room * dimensions);
    lengths = new Float32Array(room);
    owners = new Uint32Array(room);
    vectors.set(oldVectors);
    lengths.set(oldLengths);
    owners.set(oldOwners);
  };
  const numberOf = (agent: string): number => {
    const known = numbers.get(agent) ?? numbers.size + 1;
    numbers.set(agent, known);
    return known;
  };
  return {
    get size() {
      return count;
    },
    set: (place, vector, agent) => {
      if (vector.length === 0) return;
      if (count === 0) {
        dimensions = vector.length;
        vectors = new Int8Array(0);
        lengths = new Float32Array(0);
        owners = new Uint32Array(0);
      }
      // Of another size: it cannot be compared.
      if (vector.length !== dimensions) return;
      const row = rowOfPlace.get(place) ?? count;
      if (row === count) {
        if (count === lengths.length) grow();
        count += 1;
        rowOfPlace.set(place, row);
        places[row] = place;
      }
      vectors.set(vector, row * dimensions);
      lengths[row] = Math.hypot(...vector);
      owners[row] = numberOf(agent);
    },
    remove: (place) => {
      const row = rowOfPlace.get(place);
      if (row === undefined) return;
      const last = count - 1;
      const lastPlace = places[last] ?? 0;
      vectors.copyWithin(row * dimensions, last * dimensions, count * dimensions);
      // Nothing of what was erased stays in memory.
      vectors.fill(0, last * dimensions, count * dimensions);
      lengths[row] = lengths[last] ?? 0;
      owners[row] = owners[last] ?? 0;
      places[row] = lastPlace;
      rowOfPlace.set(lastPlace, row);
      rowOfPlace.delete(place);
      places.pop();
      count = last;
    },
    nearest: (query, limit, agents) => {
      if (count === 0 || query.length !== dimensions) return [];
      const most = query.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      if (!(most > 0)) return [];
      const asked = Int8Array.from(query, (value) => Math.round((value / most) * 127));
      const length = Math.hypot(...asked);
      const wanted = agents && new Set(agents.map((agent) => numbers.get(agent) ?? 0));
      const best: Placed[] = [];
      let floor = 0;
      for (let row = 0; row < count; row++) {
        if (wanted && !wanted.has(owners[row] ?? 0)) continue;
        const score = dot(vectors, row * dimensions, asked) / ((lengths[row] ?? 1) * length);
        if (score <= floor) continue;
        insert(best, { place: places[row] ?? 0, score }, limit);
        if (best.length === limit) floor = best[limit - 1]?.score ?? 0;
      }
      return best;
    },
  };
};

const dot = (vectors: Int8Array, from: number, asked: Int8Array): number => {
  let sum = 0;
  for (let at = 0; at < asked.length; at++) sum += (vectors[from + at] as number) * (asked[at] as number);
  return sum;
};

/** Keeps the list sorted and within its limit. */
const insert = (best: Placed[], one: Placed, limit: number): void => {
  let at = best.length;
  while (at > 0 && (best[at - 1] as Placed).score < one.score) at -= 1;
  best.splice(at, 0, one);
  if (best.length > limit) best.pop();
};
