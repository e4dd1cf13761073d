/**
 * Values as they travel between processes: JSON, with bytes beside it and streams by number.
 *
 * P1  Plain data comes out as it went in: undefined members are left out, undefined items stay, numbers that JSON has not are kept.
 * P2  No key of the data is taken for a mark of ours.
 * P3  What is no plain data is refused by name: a function, a symbol, a bigint, a loop.
 */
import { isolationErrors } from '../errors.js';

/** Begins the one key of an object that stands for something else. Keys of data that begin with it are carried as pairs. */
const MARK = '\0';
const BYTES = `${MARK}bytes`;
const SOURCE = `${MARK}source`;
const UNDEFINED = `${MARK}undefined`;
const NUMBER = `${MARK}number`;
const PAIRS = `${MARK}pairs`;
const MAX_DEPTH = 100;

export interface Packed {
  /** What JSON.stringify takes. */
  readonly value: unknown;
  readonly parts: readonly Uint8Array[];
}

/** Numbers a stream on this side, so that the other may pull from it. */
export type Lend = (source: AsyncIterable<unknown>) => number;
/** A stream of the other side, by its number. */
export type Borrow = (number: number) => AsyncIterable<unknown>;

export const pack = (value: unknown, lend: Lend): Packed => {
  const parts: Uint8Array[] = [];
  return { value: packed(value, { parts, lend }, 0), parts };
};

interface Packing {
  readonly parts: Uint8Array[];
  readonly lend: Lend;
}

const packed = (value: unknown, packing: Packing, depth: number): unknown => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value === undefined) return { [UNDEFINED]: 0 };
  if (typeof value === 'number') return Number.isFinite(value) ? value : { [NUMBER]: String(value) };
  if (typeof value !== 'object') throw isolationErrors.not_plain(`a ${typeof value}`);
  if (depth > MAX_DEPTH) throw isolationErrors.not_plain(`data ${MAX_DEPTH} levels deep, or a loop`);
  if (value instanceof Uint8Array) return { [BYTES]: packing.parts.push(value) - 1 };
  if (Array.isArray(value)) return value.map((item) => packed(item, packing, depth + 1));
  if (isAsyncIterable(value)) return { [SOURCE]: packing.lend(value) };
  if ('toJSON' in value && typeof value.toJSON === 'function') return packed(value.toJSON(), packing, depth + 1);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const carried = entries.map(([key, inner]) => [key, packed(inner, packing, depth + 1)] as const);
  return entries.some(([key]) => key.startsWith(MARK)) ? { [PAIRS]: carried } : Object.fromEntries(carried);
};

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> => typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Of plain data. Written as JSON, bytes are ten times as long and take as long to write. */
export const holdsBytes = (value: unknown): boolean => typeof value === 'object' && value !== null && (value instanceof Uint8Array || Object.values(value).some(holdsBytes));

/** Throws for what no `pack` made. */
export const unpack = ({ value, parts }: Packed, borrow: Borrow): unknown => unpacked(value, { parts, borrow }, 0);

interface Unpacking {
  readonly parts: readonly Uint8Array[];
  readonly borrow: Borrow;
}

const unpacked = (value: unknown, unpacking: Unpacking, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH + 2) throw new Error('it is too deep');
  if (Array.isArray(value)) return value.map((item) => unpacked(item, unpacking, depth + 1));
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only?.[0].startsWith(MARK)) return marked(only[0], only[1], unpacking, depth);
  return Object.fromEntries(entries.map(([key, inner]) => [key, unpacked(inner, unpacking, depth + 1)]));
};

const marked = (mark: string, value: unknown, unpacking: Unpacking, depth: number): unknown => {
  if (mark === UNDEFINED) return undefined;
  if (mark === NUMBER) return Number(value);
  if (mark === BYTES && typeof value === 'number' && unpacking.parts[value]) return unpacking.parts[value];
  if (mark === SOURCE && typeof value === 'number') return unpacking.borrow(value);
  if (mark === PAIRS && Array.isArray(value)) {
    return Object.fromEntries(
      value.map((pair) => {
        if (!Array.isArray(pair) || typeof pair[0] !== 'string') throw new Error('a pair has no key');
        return [pair[0], unpacked(pair[1], unpacking, depth + 1)];
      }),
    );
  }
  throw new Error('it contains an unknown flag');
};
