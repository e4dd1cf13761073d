/**
 * Folders by handle: the one way to read and write files.
 *
 * D1  Nothing outside the folder is read, written or removed, by `..`, by an absolute path or through a link; on Linux also not through one that is put there meanwhile (held-folder.ts).
 * D2  A file is written whole or not at all, and keeps its mode.
 * D3  Reads and lists are bounded, streams hold one piece of 64 KiB; what is missing is an error, never an empty answer (but the folder itself, which is made on first write).
 */
import { errnoOf } from '../../config/errno.js';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, opendir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Dir, DirEntry } from '@svc/api';
import { atomicWrite } from './atomic-write.js';
import { filesErrors } from '../errors.js';
import { countedPieces, piecesOf } from './file-pieces.js';
import { type HeldFolder, holdFolder, openFile, removeHeld } from './held-folder.js';

const MAX_READ_BYTES = 10 * 1024 * 1024;
const LIST_LIMIT = 1_000;
/** Of one name, on every file system in use; and of a path below its folder. */
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 2_048;

/** Opens nothing: the folder need not exist until something is written to it. */
export const openDir = (absoluteRoot: string): Dir =>
  makeDir(absoluteRoot, async () => {
    const real = await realOfExisting(absoluteRoot);
    return { top: real, real };
  });

interface Boundary {
  /** Real path of the folder that was opened first: handles are held from there on. */
  readonly top: string;
  /** The folder's own real path, at or below it. */
  readonly real: string;
}

/** `boundary` is looked up again at each use: a link may have been put in its place meanwhile. */
const makeDir = (path: string, boundary: () => Promise<Boundary>): Dir => {
  const place = async (asked: string): Promise<Place> => {
    try {
      return await locate(await boundary(), asked);
    } catch (error) {
      // A link that leads to itself, a folder that may not be entered: somebody put it there, and nothing is wrong with the daemon.
      throw asFilesError(error, asked);
    }
  };
  const placed = async (asked: string, noLinks = false): Promise<Place> => {
    const found = await place(asked);
    if (noLinks && !isSameName(found.own, join(found.root, ...partsOf(asked)))) throw filesErrors.linked_folder(asked);
    return found;
  };
  return {
    path,
    read: async (asked, options) => read(await place(asked), options?.maxBytes ?? MAX_READ_BYTES),
    readText: async (asked, options) => (await read(await place(asked), options?.maxBytes ?? MAX_READ_BYTES)).toString('utf8'),
    write: async (asked, data, { mode, noLinks } = {}) => write(await placed(asked, noLinks), data, mode),
    readStream: (asked, options = {}) => piecesOf(() => place(asked).then(openToRead), asked, options),
    writeStream: async (asked, source, { maxBytes, mode, noLinks }) => {
      const counted = countedPieces(source, asked, maxBytes);
      await write(await placed(asked, noLinks), counted.pieces, mode);
      return counted.bytes();
    },
    list: async (asked = '', options = {}) => list(await place(asked), options),
    stat: async (asked) => describe(await place(asked)),
    remove: async (asked, { noLinks } = {}) => remove(await placed(asked, noLinks)),
    dir: (asked) => {
      const parts = partsOf(asked);
      return makeDir(join(path, ...parts), async () => {
        const { top, real } = await place(asked);
        return { top, real };
      });
    },
  };
};

interface Place {
  readonly asked: string;
  readonly top: string;
  /** Real path of the folder by handle. */
  readonly root: string;
  /** Where the path leads, links followed; what does not exist yet is appended to its deepest existing ancestor. */
  readonly real: string;
  /** Its own name in its real parent folder, not followed. */
  readonly own: string;
  readonly isRoot: boolean;
}

const partsOf = (asked: string): string[] => {
  if (asked.includes('\0')) throw filesErrors.bad_path(asked.replaceAll('\0', '\\0'), 'holds a NUL');
  const normal = process.platform === 'win32' ? asked.replaceAll('\\', '/') : asked;
  if (normal.startsWith('/') || /^[A-Za-z]:/.test(process.platform === 'win32' ? normal : '')) throw filesErrors.bad_path(asked, 'is absolute');
  const parts = normal.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw filesErrors.bad_path(asked, 'goes up with ".."');
  const long = parts.find((part) => Buffer.byteLength(part) > MAX_NAME_BYTES);
  if (long !== undefined) throw filesErrors.name_too_long(Buffer.byteLength(long), MAX_NAME_BYTES);
  if (Buffer.byteLength(normal) > MAX_PATH_BYTES) throw filesErrors.name_too_long(Buffer.byteLength(normal), MAX_PATH_BYTES);
  return parts;
};

const locate = async ({ top, real: root }: Boundary, asked: string): Promise<Place> => {
  const parts = partsOf(asked);
  const leaf = parts.at(-1);
  if (leaf === undefined) return { asked, top, root, real: root, own: root, isRoot: true };
  const parent = parts.length === 1 ? root : await realOfExisting(join(root, ...parts.slice(0, -1)));
  if (!isWithin(root, parent)) throw filesErrors.outside(asked);
  const own = join(parent, leaf);
  const real = await realBelow(own);
  if (!isWithin(root, real)) throw filesErrors.outside(asked);
  return { asked, top, root, real, own, isRoot: false };
};

/** Some file systems write a name in letters of their own; links are not what that tells apart. */
const isSameName = (one: string, other: string): boolean => one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase();

/** Component-wise: `/a/bc` is not within `/a/b`. */
const isWithin = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !/^[A-Za-z]:|^[\\/]/.test(way));
};

/** The real path of what exists of `path`, with the rest appended. */
const realOfExisting = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    // A link that leads nowhere exists by itself: whatever is made through it would be made elsewhere.
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSymbolicLink()) throw filesErrors.link_denied(basename(path));
    const above = dirname(path);
    return above === path ? path : join(await realOfExisting(above), basename(path));
  }
};

/** Where a name in a real folder leads: itself, unless it is a link. */
const realBelow = async (own: string): Promise<string> => {
  try {
    if (!(await lstat(own)).isSymbolicLink()) return own;
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    return own;
  }
  return realOfExisting(own);
};

/** The folder of what the path leads to, for as long as `use` runs. */
const inFolder = async <T>(place: Place, way: string, use: (folder: HeldFolder) => Promise<T>, makes = false): Promise<T> => {
  const folder = await holdFolder(place.top, way, makes);
  try {
    return await use(folder);
  } finally {
    await folder.close();
  }
};

const openToRead = (place: Place): Promise<{ handle: FileHandle; sizeBytes: number }> =>
  place.isRoot
    ? Promise.reject(filesErrors.wrong_kind(place.asked, 'file'))
    : inFolder(place, dirname(place.real), (folder) => openFile(folder, basename(place.real))).catch((error: unknown) => {
        throw asFilesError(error, place.asked);
      });

const read = async (place: Place, maxBytes: number): Promise<Buffer> => {
  const { handle, sizeBytes } = await openToRead(place);
  try {
    if (sizeBytes > maxBytes) throw filesErrors.too_large(place.asked, sizeBytes, maxBytes);
    return await readUpTo(handle, place, sizeBytes, maxBytes);
  } finally {
    await handle.close();
  }
};

/** Files may grow while they are read, and those of /proc say that they have no size. */
const readUpTo = async (handle: FileHandle, place: Place, expectedBytes: number, maxBytes: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(Math.max(expectedBytes - bytes, 4_096) + 1);
    const { bytesRead } = await handle.read(part, 0, part.length, null);
    if (bytesRead === 0) return Buffer.concat(parts, bytes);
    bytes += bytesRead;
    if (bytes > maxBytes) throw filesErrors.too_large(place.asked, bytes, maxBytes);
    parts.push(part.subarray(0, bytesRead));
  }
};

const write = async (place: Place, data: string | Uint8Array | AsyncIterable<Uint8Array>, mode: number | undefined): Promise<void> => {
  if (place.isRoot) throw filesErrors.wrong_kind(place.asked, 'file');
  const replace = async (folder: HeldFolder): Promise<void> => {
    const path = folder.at(basename(place.own));
    const present = await lstat(path).catch(() => undefined);
    // Replacing a link by a file would quietly part what the link joined.
    if (present?.isSymbolicLink()) throw filesErrors.link_denied(place.asked);
    if (present && !present.isFile()) throw filesErrors.wrong_kind(place.asked, 'file');
    const refuseMoved = async (): Promise<void> => {
      if (!isWithin(place.root, await folder.now())) throw filesErrors.outside(place.asked);
    };
    await atomicWrite(path, data, { inspect: refuseMoved, beforeRename: refuseMoved, ...(mode === undefined ? {} : { mode }) });
  };
  await inFolder(place, dirname(place.own), replace, true).catch((error: unknown) => {
    throw asFilesError(error, place.asked);
  });
};

const list = async (place: Place, { recursive = false, limit = LIST_LIMIT }: { recursive?: boolean; limit?: number }): Promise<DirEntry[]> => {
  const found: DirEntry[] = [];
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined && found.length < limit; folder = folders.shift()) {
    const name = folder;
    const below = await inFolder(place, join(place.real, name), (held) => listOne(held, name, found, limit)).catch((error: unknown) => {
      // Nobody has written to it yet; or it went, or became something else, since it was named.
      if (name === '' ? place.isRoot && errnoOf(error) === 'ENOENT' : ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) return [];
      throw asFilesError(error, join(place.asked, name));
    });
    if (recursive) folders.push(...below);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Adds to `found`; gives the folders among them. */
const listOne = async (held: HeldFolder, folder: string, found: DirEntry[], limit: number): Promise<string[]> => {
  const folders: string[] = [];
  // Leaving the loop closes the handle.
  for await (const entry of await opendir(held.at(''))) {
    if (found.length >= limit) break;
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const info = await lstat(held.at(entry.name)).catch(() => undefined);
    // Removed since it was named.
    if (!info) continue;
    found.push(entryOf(name, info));
    if (info.isDirectory()) folders.push(name);
  }
  return folders;
};

const describe = async (place: Place): Promise<DirEntry | undefined> => {
  try {
    const info = place.isRoot ? lstat(place.real) : inFolder(place, dirname(place.real), (folder) => lstat(folder.at(basename(place.real))));
    return entryOf(basename(place.own), await info);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw asFilesError(error, place.asked);
  }
};

const remove = async (place: Place): Promise<boolean> => {
  if (place.isRoot) throw filesErrors.bad_path(place.asked, 'is the folder itself');
  try {
    await inFolder(place, dirname(place.own), (folder) => removeHeld(folder, basename(place.own)));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
    throw asFilesError(error, place.asked);
  }
};

const entryOf = (name: string, info: Stats): DirEntry => ({
  name,
  kind: info.isFile() ? 'file' : info.isDirectory() ? 'dir' : 'other',
  sizeBytes: info.size,
  modifiedAt: info.mtime.toISOString(),
  changedAt: info.ctime.toISOString(),
});

/** The system's own messages name absolute paths. */
const asFilesError = (error: unknown, asked: string): unknown => {
  switch (errnoOf(error)) {
    case 'ENOENT':
      return filesErrors.missing(asked).with({ cause: error });
    // A folder was to be made where a file is.
    case 'EEXIST':
    case 'ENOTDIR':
      return filesErrors.wrong_kind(asked, 'directory').with({ cause: error });
    case 'EISDIR':
      return filesErrors.wrong_kind(asked, 'file').with({ cause: error });
    case 'ELOOP':
      return filesErrors.link_denied(asked).with({ cause: error });
    case 'ENOSPC':
    case 'EDQUOT':
      return filesErrors.disk_full(asked).with({ cause: error });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return filesErrors.not_permitted(asked).with({ cause: error });
    default:
      return error;
  }
};
