/** Tiles of the log by the names of C2SP tlog-tiles: 256 hashes wide, a tile of one level holds roots of those below it. */
import { leafOf, rootOf, TILE } from './format/merkle.js';
import type { AuditStore } from './store.js';
import { leafHashes, tileRoots } from './tree.js';

const PATH = /^(entries|[0-5])\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d{1,3}))?$/;

/** Undefined where the log is not that long. */
export const tileBytes = async (store: AuditStore, path: string): Promise<Uint8Array | undefined> => {
  const [, level, name, partial] = PATH.exec(path) ?? [];
  if (level === undefined || name === undefined) return undefined;
  const index = Number(name.replaceAll(/[x/]/g, ''));
  const width = partial === undefined ? TILE : Number(partial);
  if (width < 1 || width > TILE || (partial !== undefined && width === TILE)) return undefined;
  const { id } = await store.tip();
  const depth = level === 'entries' ? 0 : Number(level);
  if ((index * TILE + width) * TILE ** depth > id) return undefined;
  if (level === 'entries') return Buffer.concat((await leafHashes(store, index, width)).map((hash) => Buffer.from(`0020${hash}`, 'hex')));
  if (depth === 0) return Buffer.concat((await leafHashes(store, index, width)).map(leafOf));
  const roots = await tileRoots(store, (index * TILE + width) * TILE ** (depth - 1));
  const each = TILE ** (depth - 1);
  return Buffer.concat(Array.from({ length: width }, (_, place) => rootOf(roots.slice((index * TILE + place) * each, (index * TILE + place + 1) * each))));
};
