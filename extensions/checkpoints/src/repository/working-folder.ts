/**
 * The files of a working folder, read and written by handle: a program of the agent that swaps a folder for a link meanwhile
 * reaches nothing outside. Runs in a thread of the pool, so calls of the file system may block.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isExcludedFolder, MAX_ENTRIES, MAX_FILE_BYTES, MAX_LOOK_BYTES } from './place.js';

export type Mode = '100644' | '100755' | '120000';

export type FileState =
  | { readonly kind: 'file'; readonly mode: Mode; readonly data: Uint8Array }
  | { readonly kind: 'none' }
  /** There, and not for a snapshot. */
  | { readonly kind: 'left_out'; readonly why: LeftOut };

export type LeftOut = 'too_large' | 'not_a_file' | 'through_a_link' | 'not_readable';

const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const READ_FLAGS = constants.O_RDONLY | NOFOLLOW | (constants.O_NONBLOCK ?? 0);
const FOLDER_FLAGS = constants.O_RDONLY | NOFOLLOW | (constants.O_DIRECTORY ?? 0);
const isLinux = process.platform === 'linux';
const UNLESS_GONE = { throwIfNoEntry: false } as const;

export const errnoOf = (error: unknown): string | undefined => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined);

/** As it is now. A link is its target's name, never its target's content. */
export const readState = (folder: string, path: string): FileState => {
  const whole = join(folder, path);
  try {
    const info = lstatSync(whole);
    if (info.isSymbolicLink()) return isReallyAt(dirname(whole)) ? { kind: 'file', mode: '120000', data: readlinkSync(whole, { encoding: 'buffer' }) } : { kind: 'left_out', why: 'through_a_link' };
    if (!info.isFile()) return { kind: 'left_out', why: 'not_a_file' };
    return readHandle(openSync(whole, READ_FLAGS), whole);
  } catch (error) {
    switch (errnoOf(error)) {
      case 'ENOENT':
      case 'ENOTDIR':
        return { kind: 'none' };
      case 'ELOOP':
        return { kind: 'left_out', why: 'through_a_link' };
      default:
        return { kind: 'left_out', why: 'not_readable' };
    }
  }
};

const readHandle = (handle: number, whole: string): FileState => {
  try {
    const info = fstatSync(handle);
    if (!info.isFile()) return { kind: 'left_out', why: 'not_a_file' };
    if (!isHandleAt(handle, whole)) return { kind: 'left_out', why: 'through_a_link' };
    if (info.size > MAX_FILE_BYTES) return { kind: 'left_out', why: 'too_large' };
    const data = readFileSync(handle);
    // It grew while it was read.
    if (data.length > MAX_FILE_BYTES) return { kind: 'left_out', why: 'too_large' };
    return { kind: 'file', mode: (info.mode & 0o111) === 0 ? '100644' : '100755', data };
  } finally {
    closeSync(handle);
  }
};

/** What was opened lies where its path says: no folder on the way was a link. Linux shows it by the handle, elsewhere the path is looked up again. */
const isHandleAt = (handle: number, path: string): boolean => (isLinux ? readlinkSync(`/proc/self/fd/${handle}`) === path : realpathSync(path) === path);

const isReallyAt = (path: string): boolean => realpathSync(path) === path;

/** Throws what the file system says; `EISDIR` where a folder has taken its place, `ELOOP` where a folder on the way is a link. */
export const writeState = (folder: string, path: string, mode: Mode, data: Uint8Array, name: string): void => {
  mkdirSync(folder, { recursive: true });
  const parts = path.split('/');
  let at = folder;
  for (const part of parts.slice(0, -1)) {
    at = join(at, part);
    inFolder(dirname(at), (below) => makeFolder(below(basename(at))));
  }
  inFolder(at, (below) => replaceFile(below(parts.at(-1) ?? ''), below(name), mode, data));
};

const makeFolder = (path: string): void => {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
};

/** `below` gives the path of a name in it, by the folder's handle where the system has it. */
const inFolder = (path: string, use: (below: (name: string) => string) => void): void => {
  const handle = openSync(path, FOLDER_FLAGS);
  try {
    if (!isHandleAt(handle, path)) throw Object.assign(new Error(`a folder on the way to ${basename(path)} is a link`), { code: 'ELOOP' });
    use((name) => (isLinux ? `/proc/self/fd/${handle}/${name}` : join(path, name)));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** Whole or not at all. Renaming replaces a link itself, never what it leads to. */
const replaceFile = (target: string, temporary: string, mode: Mode, data: Uint8Array): void => {
  const present = lstatSync(target, { throwIfNoEntry: false });
  if (present?.isDirectory()) throw Object.assign(new Error('a folder is in its place'), { code: 'EISDIR' });
  try {
    if (mode === '120000') symlinkSync(new TextDecoder().decode(data), temporary);
    else writeFile(temporary, mode, data, present?.isFile() ? present.mode & 0o777 : 0o644);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
};

/** The bits for reading and writing stay as the owner has set them; a snapshot knows only whether it can be executed. */
const writeFile = (path: string, mode: Mode, data: Uint8Array, bits: number): void => {
  const handle = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOFOLLOW, 0o600);
  try {
    writeFileSync(handle, data);
    const readable = (bits & 0o444) >> 2;
    fchmodSync(handle, mode === '100755' ? bits | readable : bits & ~0o111);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** Size, time of change and inode of each file. A program can set the time of writing, and not this one: it also moves with the mode. */
export type Look = Readonly<Record<string, string>>;

/** Every file and link below the folder but excluded ones; undefined when there are more than are looked at, or their names are longer together. Other file systems that are mounted below are left out. */
export const lookAt = (folder: string): Look | undefined => {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  const top = lstatSync(folder, { throwIfNoEntry: false });
  if (!top?.isDirectory()) return found;
  let count = 0;
  let bytes = 0;
  const folders = [''];
  for (let relative = folders.pop(); relative !== undefined; relative = folders.pop()) {
    const prefix = relative === '' ? '' : `${relative}/`;
    for (const entry of entriesOf(join(folder, relative))) {
      count += 1;
      const path = prefix + entry.name;
      bytes += Buffer.byteLength(path);
      if (count > MAX_ENTRIES || bytes > MAX_LOOK_BYTES) return undefined;
      if (entry.isDirectory()) {
        if (!isExcludedFolder(entry.name)) folders.push(path);
        continue;
      }
      if (entry.name === '.git' || !(entry.isFile() || entry.isSymbolicLink())) continue;
      const info = lstatSync(`${folder}/${path}`, UNLESS_GONE);
      if (info && info.dev === top.dev) found[path] = `${info.size}:${info.ctimeMs}:${info.ino}`;
    }
  }
  return found;
};

const entriesOf = (path: string) => {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    // It went meanwhile, or the agent's program took away the right to read it.
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return [];
    throw error;
  }
};

export const bytesOfLook = (look: string): number => Number(look.split(':', 1)[0]);
