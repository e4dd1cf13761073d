/**
 * Folders of other programs.
 *
 * F1  Nothing there is written or locked: a database is read in a copy of it and its WAL.
 * F2  What is read is below one of the allowed folders, links followed.
 * F3  A copy is of one moment: whatever was written meanwhile makes it anew, and in the end an error.
 * F4  A copy goes when it is closed, and copies of an earlier life when the next one is made.
 */
import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { ForeignDatabase, ForeignDir } from '@svc/api';
import { openForeignDatabase } from '../../storage/sqlite/foreign-database.js';
import { filesErrors } from '../errors.js';
import { openDir } from './files-adapter.js';

const COPY_TRIES = 5;
/** Folders of copies that this process has open. */
const open = new Set<string>();

export const openForeignDir = async (path: string, roots: readonly string[], copies: string): Promise<ForeignDir> => {
  const real = isAbsolute(path) ? await realpath(path).catch(() => undefined) : undefined;
  const allowed = await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
  if (!allowed.some((root) => isWithin(root, real ?? path))) throw filesErrors.outside_roots(path);
  if (real === undefined) throw filesErrors.missing(path);
  if (!(await stat(real)).isDirectory()) throw filesErrors.wrong_kind(path, 'folder');
  const dir = openDir(real);
  const { read, readText, readStream, stat: describe, list } = dir;
  const placeOf = async (asked: string): Promise<string> => {
    const found = await describe(asked);
    if (found?.kind !== 'file') throw found ? filesErrors.wrong_kind(asked, 'file') : filesErrors.missing(asked);
    const place = await realpath(join(real, asked));
    if (!isWithin(real, place)) throw filesErrors.outside(asked);
    return place;
  };
  return {
    path: real,
    read,
    readText,
    readStream,
    stat: describe,
    list,
    database: async (asked) => copied(await placeOf(asked), asked, copies),
    heldBy: async (asked) => lockHolders(await placeOf(asked)),
    isRunning,
  };
};

const isWithin = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return isAbsolute(path) && (way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)));
};

const copied = async (file: string, asked: string, copies: string): Promise<ForeignDatabase> => {
  await mkdir(copies, { recursive: true, mode: 0o700 });
  for (const left of await readdir(copies)) if (!open.has(join(copies, left))) await rm(join(copies, left), { recursive: true, force: true });
  const folder = await mkdtemp(join(copies, 'copy-'));
  open.add(folder);
  const drop = async (): Promise<void> => {
    open.delete(folder);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await copyAtOnce(file, asked, join(folder, 'copy'));
    const database = await openForeignDatabase(join(folder, 'copy'), asked);
    return {
      all: database.all,
      close: async () => {
        await database.close();
        await drop();
      },
    };
  } catch (error) {
    await drop();
    throw error;
  }
};

/** F3. The WAL comes second: what a checkpoint moved meanwhile shows in the times of both. */
const copyAtOnce = async (file: string, asked: string, to: string): Promise<void> => {
  for (let left = COPY_TRIES; left > 0; left--) {
    const before = await stateOf(file);
    await rm(`${to}-wal`, { force: true });
    await copyFile(file, to, constants.COPYFILE_FICLONE);
    await copyFile(`${file}-wal`, `${to}-wal`, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if ((await stateOf(file)) === before) return;
  }
  throw filesErrors.changing(asked);
};

const stateOf = async (file: string): Promise<string> => {
  const states = await Promise.all(
    [file, `${file}-wal`].map(async (one) => {
      const found = await stat(one, { bigint: true }).catch(() => undefined);
      return found ? `${found.ino}:${found.size}:${found.mtimeNs}` : '';
    }),
  );
  return states.join('/');
};

/** Linux lists locks by the number of the file; SQLite in WAL mode holds one on the -shm file as long as a connection is open. */
const lockHolders = async (file: string): Promise<number[]> => {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const inodes = new Set<string>();
  for (const one of [file, `${file}-shm`]) {
    const found = await stat(one).catch(() => undefined);
    if (found) inodes.add(String(found.ino));
  }
  const holders = locks.split('\n').flatMap((line) => {
    const [, pid, inode] = /(?:POSIX|OFDLCK|FLOCK)\s+\S+\s+\S+\s+(-?\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s/.exec(line) ?? [];
    return pid !== undefined && inode !== undefined && inodes.has(inode) ? [Number(pid)] : [];
  });
  return [...new Set(holders)];
};

/** One that belongs to another user runs, too. */
const isRunning = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid < 2) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
