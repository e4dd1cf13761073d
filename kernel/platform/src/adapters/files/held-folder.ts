/**
 * Folders by handle: what was looked at is what is used, however fast a program of the same user swaps a folder on the way for a link.
 *
 * H1  Each part of a path is opened below the handle of the one before it, and a part that is a link by now is refused.
 * H2  Names are then used below the handle of their folder alone: to open, make, rename, remove.
 *
 * Linux only: it shows a handle as a folder (/proc/self/fd). Elsewhere a path is looked at, and looked at again before a file is replaced:
 * a program that swaps a link between the two may win.
 */
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, rename, rmdir, unlink } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join, relative, sep } from 'node:path';
import { errnoOf } from '../../config/errno.js';

const BY_HANDLE = process.platform === 'linux' && existsSync('/proc/self/fd');
const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
/** Opens a name without what stands behind it: a device does nothing, a pipe waits for nobody. Node has no constant for it. */
const O_PATH = 0o10000000;
/** Deeper folders are moved up before they are removed: handles of a whole way down are too many. */
const MAX_DEPTH = 32;

export interface HeldFolder {
  /** Where it really was when it was opened. */
  readonly real: string;
  /** Path of a name in it, valid until it is closed. */
  at(name: string): string;
  /** Where it really is now. */
  now(): Promise<string>;
  close(): Promise<void>;
}

/** `way`: real path of a folder at or below `root`, which is real too. Makes what is missing when told to. Rejects with ENOENT, ENOTDIR, ELOOP. */
export const holdFolder = async (root: string, way: string, makes = false): Promise<HeldFolder> => {
  if (makes) await mkdir(root, { recursive: true });
  let held = await hold(root, root);
  for (const part of relative(root, way).split(sep).filter(Boolean)) {
    const above = held;
    try {
      if (makes) await mkdir(above.at(part)).catch(ignorePresent);
      held = await hold(above.at(part), join(above.real, part));
    } finally {
      await above.close();
    }
  }
  return held;
};

const ignorePresent = (error: unknown): void => {
  if (errnoOf(error) !== 'EEXIST') throw error;
};

const hold = async (path: string, real: string): Promise<HeldFolder> => {
  const handle = await open(path, FOLDER_FLAGS);
  const base = BY_HANDLE ? `/proc/self/fd/${handle.fd}` : real;
  return { real, at: (name) => (name === '' ? base : join(base, name)), now: () => (BY_HANDLE ? readlink(base) : realpath(real)), close: () => handle.close() };
};

/** A file to read, and nothing else: rejects with `EISDIR` for what is neither, before anything of it is opened. */
export const openFile = async (folder: HeldFolder, name: string): Promise<{ handle: FileHandle; sizeBytes: number }> => {
  const path = folder.at(name);
  const looked = await (BY_HANDLE ? open(path, O_PATH | constants.O_NOFOLLOW) : undefined);
  try {
    const info = await (looked ? looked.stat() : lstat(path));
    if (info.isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ELOOP' });
    if (!info.isFile()) throw Object.assign(new Error('no file'), { code: 'EISDIR' });
    const handle = await open(looked ? `/proc/self/fd/${looked.fd}` : path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (looked ? 0 : (constants.O_NOFOLLOW ?? 0)));
    return { handle, sizeBytes: (await handle.stat()).size };
  } finally {
    await looked?.close();
  }
};

/** A file, a link, or a folder with all that is in it. Links go, what they lead to stays. */
export const removeHeld = async (folder: HeldFolder, name: string): Promise<void> => {
  const moved: string[] = [name];
  for (let next = moved.pop(); next !== undefined; next = moved.pop()) await removeOne(folder, next, { top: folder, moved, depth: 0 });
};

interface Removal {
  readonly top: HeldFolder;
  /** Names in `top` that are still to be removed. */
  readonly moved: string[];
  readonly depth: number;
}

const removeOne = async (folder: HeldFolder, name: string, removal: Removal): Promise<void> => {
  const path = folder.at(name);
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  if (removal.depth >= MAX_DEPTH) {
    const higher = `.svc-${randomBytes(9).toString('hex')}.tmp`;
    await rename(path, removal.top.at(higher));
    removal.moved.push(higher);
    return;
  }
  const held = await hold(path, join(folder.real, name));
  try {
    for await (const entry of await opendir(held.at(''))) await removeOne(held, entry.name, { ...removal, depth: removal.depth + 1 }).catch(ignoreGone);
  } finally {
    await held.close();
  }
  await rmdir(path);
};

const ignoreGone = (error: unknown): void => {
  if (errnoOf(error) !== 'ENOENT') throw error;
};
