/** The Merkle tree over what is stored, as far as somebody asks. */
import { hashesOf, type AuditStore } from './store.js';
import { createPeaks, leafOf, rootOf, TILE, type TreePart } from './format/merkle.js';

/** The root over the first `size` entries, and the hash of the first of them. */
export const treeHead = async (store: AuditStore, size: number): Promise<{ root: Uint8Array; firstHash: string }> => {
  const tiles = Math.floor(size / TILE);
  const peaks = createPeaks();
  for (const root of await tileRoots(store, tiles)) peaks.add(root);
  const rest = size % TILE === 0 ? [] : await leafHashes(store, tiles, size % TILE);
  return { root: peaks.rootWith(rest.length === 0 ? undefined : rootOf(rest.map(leafOf))), firstHash: (await leafHashes(store, 0, 1))[0] ?? '' };
};

/** Of the first tiles. Entries are sealed a moment after they are written: until then the root of their tile is computed. */
export const tileRoots = async (store: AuditStore, tiles: number): Promise<Uint8Array[]> => {
  const roots = await store.tileRoots(tiles);
  while (roots.length < tiles) roots.push(rootOf((await leafHashes(store, roots.length, TILE)).map(leafOf)));
  return roots;
};

/** Hashes of entries of one tile, the first `width` of them. Throws where they are not there. */
export const leafHashes = async (store: AuditStore, tile: number, width: number): Promise<string[]> => {
  for (let isLast = false; ; isLast = true) {
    const segment = await store.segment(tile);
    const hashes = segment ? hashesOf(segment) : (await store.tail()).filter(({ id }) => id > tile * TILE).map(({ hash }) => hash ?? '');
    if (hashes.length >= width) return hashes.slice(0, width);
    // They may have been sealed between the two reads.
    if (isLast) throw new Error(`entries of tile ${tile} of the audit trail are missing: ${hashes.length} of ${width} are there`);
  }
};

/** What proofs in the tree of the first `size` entries need that speak of these tiles. */
export const treePart = async (store: AuditStore, size: number, tiles: readonly number[]): Promise<TreePart> => {
  const leaves = new Map<number, Uint8Array[]>();
  for (const tile of tiles) leaves.set(tile, (await leafHashes(store, tile, Math.min(TILE, size - tile * TILE))).map(leafOf));
  return { size, tileRoots: await tileRoots(store, Math.floor(size / TILE)), leaves };
};
