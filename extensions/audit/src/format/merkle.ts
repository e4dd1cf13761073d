/**
 * The Merkle tree over the hashes of entries, as RFC 6962 defines it: a leaf is SHA-256 of 0x00 and the entry's hash (32 bytes), a node
 * that of 0x01 and its two children. 256 leaves make a tile (C2SP tlog-tiles); roots of whole tiles are stored.
 */
import { createHash, type Hash } from 'node:crypto';

export const TILE = 256;

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);
const sha256 = (): Hash => createHash('sha256');

export const leafOf = (entryHash: string): Buffer => sha256().update(LEAF).update(entryHash, 'hex').digest();
export const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => sha256().update(NODE).update(left).update(right).digest();
export const EMPTY_ROOT: Uint8Array = sha256().digest();

/** Where a range of more than one splits: the largest power of two below its length. */
const splitOf = (length: number): number => 2 ** Math.floor(Math.log2(length - 1));

/** The root of these leaves, one at least. */
export const rootOf = (leaves: readonly Uint8Array[]): Uint8Array => {
  const [first] = leaves;
  if (leaves.length === 1 && first) return first;
  if (!first) return EMPTY_ROOT;
  const split = splitOf(leaves.length);
  return nodeOf(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
};

/** Roots of whole tiles, added from the left: each of `peaks` is the root of a power of two of them. */
export interface Peaks {
  add(tileRoot: Uint8Array): void;
  /** The root of the whole, with what stands right of the tiles. */
  rootWith(rest: Uint8Array | undefined): Uint8Array;
  /** As it is now. */
  copy(): Peaks;
}

interface Peak {
  readonly tiles: number;
  readonly root: Uint8Array;
}

export const createPeaks = (from: readonly Peak[] = []): Peaks => {
  let peaks = from;
  return {
    copy: () => createPeaks(peaks),
    add: (root) => {
      let added = { tiles: 1, root };
      for (let last = peaks.at(-1); last?.tiles === added.tiles; last = peaks.at(-1)) {
        peaks = peaks.slice(0, -1);
        added = { tiles: added.tiles * 2, root: nodeOf(last.root, added.root) };
      }
      peaks = [...peaks, added];
    },
    rootWith: (rest) => peaks.reduceRight<Uint8Array | undefined>((right, { root }) => (right ? nodeOf(root, right) : root), rest) ?? EMPTY_ROOT,
  };
};

/** As much of a tree as a proof needs: all roots of whole tiles, and the leaves of some tiles. */
export interface TreePart {
  readonly size: number;
  readonly tileRoots: readonly Uint8Array[];
  /** By number of the tile. */
  readonly leaves: ReadonlyMap<number, readonly Uint8Array[]>;
}

/** Of leaves `from` up to `to`, which the recursion of the RFC asks for. */
const rangeRoot = (tree: TreePart, from: number, to: number): Uint8Array => {
  const length = to - from;
  const tile = Math.floor(from / TILE);
  if (length === TILE && from % TILE === 0) {
    const root = tree.tileRoots[tile];
    if (root) return root;
  }
  if (length <= TILE) {
    const leaves = tree.leaves.get(tile)?.slice(from - tile * TILE, to - tile * TILE) ?? [];
    if (leaves.length !== length) throw new Error(`leaves ${from} to ${to} of the audit tree are not at hand`);
    return rootOf(leaves);
  }
  const split = splitOf(length);
  return nodeOf(rangeRoot(tree, from, from + split), rangeRoot(tree, from + split, to));
};

/** RFC 6962, 2.1.1: that the leaf `index` is in the tree. */
export const inclusionProof = (tree: TreePart, index: number): Uint8Array[] => {
  const path = (from: number, to: number): Uint8Array[] => {
    if (to - from === 1) return [];
    const middle = from + splitOf(to - from);
    return index < middle ? [...path(from, middle), rangeRoot(tree, middle, to)] : [...path(middle, to), rangeRoot(tree, from, middle)];
  };
  return path(0, tree.size);
};

/** RFC 6962, 2.1.2: that the tree of the first `older` leaves, one at least, is the beginning of this one. */
export const consistencyProof = (tree: TreePart, older: number): Uint8Array[] => {
  const sub = (from: number, to: number, isWhole: boolean): Uint8Array[] => {
    if (older === to) return isWhole ? [] : [rangeRoot(tree, from, to)];
    const middle = from + splitOf(to - from);
    return older <= middle ? [...sub(from, middle, isWhole), rangeRoot(tree, middle, to)] : [...sub(middle, to, false), rangeRoot(tree, from, middle)];
  };
  return sub(0, tree.size, true);
};

/** Tiles whose leaves a proof over the first `size` leaves needs, for these places in it. */
export const tilesFor = (size: number, places: readonly number[]): number[] => [...new Set([...places, size - 1].map((place) => Math.floor(place / TILE)))];
