/** One daemon per home: a lock file that names the process, and counts only while that very process lives. */
import { errnoOf } from '../config/errno.js';
import { lstat, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isTable } from '@svc/api';
import { bootId, isSameProcess, startTimeOf, type ProcessIdentity } from '../adapters/child/process-identity.js';
import type { Home } from '../config/home.js';
import { homeErrors } from './errors.js';

interface LockFile extends ProcessIdentity {
  readonly url?: string;
}

export interface HomeLock {
  release(): Promise<void>;
}

/** Rejects with `daemon_already_running`, `daemon_home_unwritable`, `daemon_home_name`, `daemon_lock_blocked` or `daemon_stale_lock`. */
export async function lockHome(home: string): Promise<HomeLock> {
  const file = join(home, 'daemon.lock');
  await mkdir(home, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENAMETOOLONG') throw homeErrors.home_name(home.length).with({ cause });
    throw homeErrors.home_unwritable(home, cause.code ?? 'unknown').with({ cause });
  });
  const mine: LockFile = { pid: process.pid, startedAt: (await startTimeOf(process.pid)) ?? '', bootId: await bootId() };
  for (let tries = 0; tries < 5; tries++) {
    if (await tryWrite(home, file, mine)) return { release: () => rm(file, { force: true }) };
    const other = await readLock(file);
    if (other && (await isSameProcess(other))) throw homeErrors.already_running(home, other.pid, await urlOf(home));
    await removeStale(home, file);
  }
  throw homeErrors.already_running(home, 0, undefined);
}

/** The lock of a process that is gone, or a folder or another thing in its place. */
async function removeStale(home: string, file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found && !found.isFile()) throw homeErrors.lock_blocked(file, found.isDirectory() ? 'a folder' : 'not a file');
  await rm(file, { force: true }).catch((cause: NodeJS.ErrnoException) => {
    throw homeErrors.stale_lock(file, home, cause.code ?? 'unknown').with({ cause });
  });
}

async function tryWrite(home: string, file: string, lock: LockFile): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(JSON.stringify(lock));
    await handle.close();
    return true;
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === 'EEXIST') return false;
    throw homeErrors.home_unwritable(home, code ?? 'unknown').with({ cause });
  }
}

/** Undefined for a lock that was cut off while it was written: it locks nothing. */
async function readLock(file: string): Promise<LockFile | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as LockFile;
  } catch {
    return undefined;
  }
}

const urlOf = async (home: string): Promise<string | undefined> => {
  try {
    const file: unknown = JSON.parse(await readFile(join(home, 'daemon.json'), 'utf8'));
    return isTable(file) && typeof file.url === 'string' ? file.url : undefined;
  } catch {
    return undefined; // it is still starting
  }
};

/** Rejects with `daemon_home_unwritable`. */
export async function makeDataFolder(home: Home): Promise<void> {
  await mkdir(home.dataDir, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    throw homeErrors.home_unwritable(home.home, cause.code ?? 'unknown').with({ cause });
  });
}
