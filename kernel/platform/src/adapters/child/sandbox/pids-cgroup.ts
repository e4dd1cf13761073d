/**
 * The number of processes where root runs the daemon: the kernel exempts root from the limit of processes of a user, and a watch is too slow for what forks.
 *
 * A cgroup of the controller `pids` is made for each command: of version 1 below the daemon's own, of version 2 below the nearest folder that hands the
 * controller on. Where there is neither, the watch alone is left.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ownCgroup } from '../child-tree.js';

const REMOVE_TRIES = 50;
const REMOVE_MS = 20;

let parent: Promise<string | undefined> | undefined;

/** To be called before the process begins. Gives what takes the cgroup away again; undefined where there is none. */
export const limitProcesses = async (pid: number, name: string, most: number, sleep: (ms: number) => Promise<void>): Promise<(() => Promise<void>) | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  parent ??= findParent();
  const above = await parent;
  if (above === undefined) return undefined;
  const folder = join(above, `svc-pids-${name}`);
  try {
    await mkdir(folder);
    await writeFile(join(folder, 'pids.max'), String(most));
    await writeFile(join(folder, 'cgroup.procs'), String(pid));
  } catch {
    // Not ours to make or to fill.
    await rmdir(folder).catch(() => undefined);
    return undefined;
  }
  return async () => {
    // It is empty once the last process has been reaped.
    for (let tries = 0; tries < REMOVE_TRIES; tries++) {
      if (await isRemoved(folder)) return;
      await sleep(REMOVE_MS);
    }
  };
};

const isRemoved = (folder: string): Promise<boolean> =>
  rmdir(folder).then(
    () => true,
    () => false,
  );

const findParent = async (): Promise<string | undefined> => {
  const [mounts = '', own = ''] = await Promise.all(['/proc/self/mountinfo', '/proc/self/cgroup'].map((file) => readFile(file, 'utf8').catch(() => '')));
  const path = /^\d+:(?:[\w,]+,)?pids(?:,[\w,]+)?:(\/.*)$/m.exec(own)?.[1];
  const mountPoint = /^\S+ \S+ \S+ \/ (\S+) .*? - cgroup \S+ \S*\bpids\b/m.exec(mounts)?.[1];
  if (path !== undefined && mountPoint !== undefined) return join(mountPoint, path);
  for (let folder = await ownCgroup(); folder !== undefined && folder !== dirname(folder); folder = dirname(folder)) {
    const given = await readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => undefined);
    if (given === undefined) return undefined;
    if (given.split(/\s+/).includes('pids')) return folder;
  }
  return undefined;
};
