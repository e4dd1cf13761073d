/** The Merkle tree over what is stored, as far as somebody asks. */
import { hashesOf, type AuditStore } from './store.js';
import { createPeaks, leafOf, rootOf, TILE, type TreePart } from './format/merkle.js';

/** The root over the first `size` entries, and the hash of the first of them. */
export const treeHead = async (store: AuditStore, size: number): Promise<{ root: Uint8Array; firstHash: string }> => {
  const tiles = Math.floor(size / TILE);
  const peaks = createPeaks();
  for (const root of await store.tileRoots(tiles)) peaks.add(root);
  const rest = size % TILE === 0 ? [] : await leafHashes(store, tiles, size % TILE);
  return { root: peaks.rootWith(rest.length === 0 ? undefined : rootOf(rest.map(leafOf))), firstHash: (await leafHashes(store, 0, 1))[0] ?? '' };
};

/** Hashes of entries of one tile, the first `width` of them. */
export const leafHashes = async (store: AuditStore, tile: number, width: number): Promise<string[]> => {
  const segment = await store.segment(tile);
  const hashes = segment ? hashesOf(segment) : (await store.tail()).filter(({ id }) => id > tile * TILE).map(({ hash }) => hash ?? '');
  return hashes.slice(0, width);
};

/** What proofs in the tree of the first `size` entries need that speak of these tiles. */
export const treePart = async (store: AuditStore, size: number, tiles: readonly number[]): Promise<TreePart> => {
  const leaves = new Map<number, Uint8Array[]>();
  for (const tile of tiles) leaves.set(tile, (await leafHashes(store, tile, Math.min(TILE, size - tile * TILE))).map(leafOf));
  return { size, tileRoots: await store.tileRoots(Math.floor(size / TILE)), leaves };
};
