/** A file is either the old one or the new one, whatever happens in between. */
import { errnoOf } from '../../config/errno.js';
import { randomBytes } from 'node:crypto';
import { type FileHandle, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface AtomicWriteOptions {
  /** Wins over the mode of a file that exists, which is kept otherwise; 644 for a new one. */
  mode?: number;
  /** For a file that is new, instead of 644. */
  modeWhenNew?: number;
  /** Looks at the open temporary file before anything is written to it; throws to refuse. */
  inspect?: (handle: FileHandle, temporary: string) => Promise<void>;
  /** The last look at what stands at the path, right before it is replaced; throws to refuse. */
  beforeRename?: () => Promise<void>;
  /** Fails with EEXIST where there is a file, or anything else, of that name, also one that came meanwhile. */
  onlyNew?: boolean;
}

/** Temp file, fsync, rename, directory fsync. Makes missing folders. Data that comes piece by piece is asked for as it is written; when it fails, nothing is left. */
export const atomicWrite = async (path: string, data: string | Uint8Array | AsyncIterable<Uint8Array>, options: AtomicWriteOptions = {}): Promise<void> => {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const mode = options.mode ?? (await modeOf(path)) ?? options.modeWhenNew ?? 0o644;
  // Not made from the file's name, which may already be as long as a name can be.
  const temporary = join(folder, `.svc-${randomBytes(9).toString('hex')}.tmp`);
  const handle = await open(temporary, 'wx', mode);
  try {
    try {
      await options.inspect?.(handle, temporary);
      if (typeof data === 'string' || data instanceof Uint8Array) await handle.writeFile(data);
      // From where the piece before it ended.
      else for await (const piece of data) await handle.writeFile(piece);
      // The umask took bits away at open.
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await options.beforeRename?.();
    if (options.onlyNew) {
      await link(temporary, path);
      await rm(temporary);
    } else await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
};

const modeOf = async (path: string): Promise<number | undefined> => {
  try {
    return (await stat(path)).mode & 0o7777;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

const syncFolder = async (folder: string): Promise<void> => {
  // Windows cannot open a folder; there the rename itself is journalled.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
