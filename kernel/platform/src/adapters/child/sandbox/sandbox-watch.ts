/**
 * Watches what the kernel does not bound for a sandbox as a whole.
 *
 * V1  Processes, threads and memory of all of it: looked at ten times in the first second, then four times a second. What goes beyond ends it, at once and whole.
 * V2  The workspace: measured when the disk has lost space meanwhile, by whomever.
 */
import { lstat, opendir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../../config/errno.js';
import type { TimerClock } from '../../../clock/clock.js';
import type { Bounds } from './bounds.js';
import { ownProcesses, usageOf } from './processes-inside.js';

const EARLY_MS = 100;
const EARLY_LOOKS = 10;
const POLL_MS = 250;
/** The disk loses less than this unseen, in one command. */
const MAX_UNSEEN_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 500_000;
const MB = 1024 * 1024;

export interface Watched {
  readonly pid: number;
  readonly workspace: string;
  readonly bounds: Bounds;
}

/** Calls `beyond` once, with what was exceeded. Gives what ends the watch. */
export const watchBounds = (watched: Watched, clock: Pick<TimerClock, 'schedule'>, beyond: (what: string) => void): (() => void) => {
  let isOver = false;
  let cancel = (): void => undefined;
  const disk = diskWatch(watched);
  const look = (count: number): void => {
    void excessOf(watched, disk).then((what) => {
      if (isOver) return;
      if (what !== undefined) return beyond(what);
      cancel = clock.schedule(count < EARLY_LOOKS ? EARLY_MS : POLL_MS, () => look(count + 1));
    });
  };
  cancel = clock.schedule(EARLY_MS, () => look(0));
  return () => {
    isOver = true;
    cancel();
  };
};

const excessOf = async ({ pid, bounds }: Watched, disk: () => Promise<string | undefined>): Promise<string | undefined> => {
  const usage = ownProcesses(pid, bounds.processes).map(usageOf);
  const processes = Math.max(
    usage.length,
    usage.reduce((sum, { threads }) => sum + threads, 0),
  );
  if (processes > bounds.processes) return `more than ${bounds.processes} processes and threads ([tools] sandbox_processes)`;
  const bytes = usage.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > bounds.memoryBytes) return `more than ${bounds.memoryBytes / MB} MB of memory ([tools] sandbox_memory_mb)`;
  return disk();
};

const diskWatch = ({ workspace, bounds }: Watched): (() => Promise<string | undefined>) => {
  let freeBefore: number | undefined;
  const step = Math.min(MAX_UNSEEN_BYTES, bounds.diskBytes / 4);
  return async () => {
    const free = await freeBytes(workspace);
    freeBefore = Math.max(freeBefore ?? free, free);
    if (freeBefore - free < step) return undefined;
    freeBefore = free;
    return (await folderBytes(workspace, bounds.diskBytes)) > bounds.diskBytes ? `more than ${bounds.diskBytes / MB} MB in the workspace ([tools] sandbox_disk_mb)` : undefined;
  };
};

const freeBytes = async (path: string): Promise<number> => {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
};

/** Of its files, links not followed; counted until `enough` is passed. A folder of very many entries counts as beyond any bound. */
export const folderBytes = async (root: string, enough: number): Promise<number> => {
  let bytes = 0;
  let entries = 0;
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined && bytes <= enough; folder = folders.pop()) {
    // Removed since it was named.
    const handle = await opendir(folder).catch(ignoreGone);
    if (!handle) continue;
    for await (const entry of handle) {
      entries += 1;
      if (entries > MAX_ENTRIES) return Number.POSITIVE_INFINITY;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else bytes += ((await lstat(path).catch(ignoreGone))?.blocks ?? 0) * 512;
    }
  }
  return bytes;
};

const ignoreGone = (error: unknown): undefined => {
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(errnoOf(error) ?? '')) return undefined;
  throw error;
};
