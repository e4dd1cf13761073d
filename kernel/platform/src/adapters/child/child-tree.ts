/**
 * All that a child has started, wherever it went: a process group is left with `setsid`, so the tree of each call has
 *
 * E1  a cgroup of its own, where this process may make one (Linux, cgroup v2). Nothing in it gets out by forking.
 * E2  elsewhere on Linux a mark in its environment, which is inherited and which nobody can guess. What clears its
 *     environment (`env -i`) and leaves its group is not found then; on other systems the group is all there is.
 */
import { errnoOf } from '../../config/errno.js';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { TimerClock } from '../../clock/clock.js';

const MARK_NAME = 'SVC_CHILD';
const MARK_BYTES = 16;
const CGROUP_NAME = /^svc-[0-9a-f]{32}$/;
/** A tree that forks faster than it is ended is tried this often. */
const MAX_ROUNDS = 100;
const POLL_MS = 20;
/** Files of /proc read at the same time: a read can hang on a process that hangs. */
const READS_AT_ONCE = 8;

/** What a record needs to keep, so that a later life can end the tree. */
export interface TreeIdentity {
  readonly mark: string;
  /** Folder of its cgroup, or empty. */
  readonly cgroup: string;
}

export interface ChildTree extends TreeIdentity {
  readonly env: Readonly<Record<string, string>>;
  /** Takes the child in; to be called before it can act. */
  adopt(pid: number): Promise<void>;
}

/** Where the cgroups of children are made, or undefined where there is no cgroup v2 of this process's own. */
export const ownCgroup = async (): Promise<string | undefined> => {
  if (process.platform !== 'linux') return undefined;
  const [mounts, own] = await Promise.all(['/proc/self/mountinfo', '/proc/self/cgroup'].map((file) => readFile(file, 'utf8').catch(() => '')));
  const [, root, mountPoint] = /^\S+ \S+ \S+ (\S+) (\S+) .*? - cgroup2 /m.exec(mounts ?? '') ?? [];
  const path = /^0::(.*)$/m.exec(own ?? '')?.[1];
  if (root === undefined || mountPoint === undefined || path === undefined) return undefined;
  const below = relative(root, path);
  return below.startsWith('..') ? undefined : join(mountPoint, below);
};

/** `base` from `ownCgroup`, or undefined to go by the mark alone. A nested daemon's children keep the outer mark. */
export const createChildTree = (base: string | undefined, outerMark: string | undefined): ChildTree => {
  const mark = randomBytes(MARK_BYTES).toString('hex');
  const cgroup = base === undefined ? '' : join(base, `svc-${mark}`);
  return {
    mark,
    cgroup,
    env: { [MARK_NAME]: outerMark ? `${outerMark}.${mark}` : mark },
    adopt: async (pid) => {
      if (cgroup === '') return;
      try {
        await mkdir(cgroup);
        await writeFile(join(cgroup, 'cgroup.procs'), String(pid));
      } catch {
        // Not ours to make, or not ours to fill: the mark is what is left.
        await rmdir(cgroup).catch(() => undefined);
      }
    },
  };
};

export const outerMark = (env: Readonly<Record<string, string | undefined>>): string | undefined => env[MARK_NAME];

/** Ends by force whatever is left of the tree. Resolves with how many processes that were, when they are gone. */
export const endTree = async (tree: TreeIdentity, clock: Pick<TimerClock, 'sleep'>): Promise<number> => {
  const fromCgroup = await endCgroup(tree.cgroup, clock);
  return fromCgroup ?? endMarked(tree.mark, clock);
};

/** Undefined when there is no such cgroup. */
const endCgroup = async (dir: string, clock: Pick<TimerClock, 'sleep'>): Promise<number | undefined> => {
  if (!CGROUP_NAME.test(basename(dir))) return undefined;
  const ended = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const members = await pidsIn(dir);
    if (!members) return round === 0 ? undefined : ended.size;
    for (const pid of members) ended.add(pid);
    // Kernels before 5.14 have no such file: there the members are ended one by one, until none is new.
    if (members.length > 0) await writeFile(join(dir, 'cgroup.kill'), '1').catch(() => members.forEach(kill));
    else if (await removed(dir)) return ended.size;
    if (round > 0) await clock.sleep(POLL_MS);
  }
  return ended.size;
};

const pidsIn = async (dir: string): Promise<number[] | undefined> => {
  const text = await readFile(join(dir, 'cgroup.procs'), 'utf8').catch(() => undefined);
  return text?.split('\n').filter(Boolean).map(Number);
};

const removed = (dir: string): Promise<boolean> =>
  rmdir(dir).then(
    () => true,
    () => false,
  );

const endMarked = async (mark: string, clock: Pick<TimerClock, 'sleep'>): Promise<number> => {
  if (process.platform !== 'linux' || mark === '') return 0;
  const ended = new Set<number>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const pids = await markedPids(mark);
    if (pids.length === 0) break;
    for (const pid of pids) {
      ended.add(pid);
      kill(pid);
    }
    if (round > 0) await clock.sleep(POLL_MS);
  }
  return ended.size;
};

/** A process that waits to be reaped has no environment any more; one of somebody else cannot be read. */
const markedPids = async (mark: string): Promise<number[]> => {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found: number[] = [];
  const readSome = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
      if (environment.includes(mark)) found.push(Number(name));
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readSome));
  return found;
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // Gone meanwhile, or not ours to end (a program with the rights of another user).
    const code = errnoOf(error);
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
};
