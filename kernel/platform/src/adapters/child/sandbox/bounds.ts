/**
 * What a command in the sandbox may use.
 *
 * The kernel keeps what one process can be kept to: private memory, the size of a file, open files. It keeps the number of processes too, for root by a cgroup (pids-cgroup.ts).
 * The rest is watched: sandbox-watch.ts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolsSettings } from '../../../config/tools-section.js';

export interface Bounds {
  readonly memoryBytes: number;
  readonly processes: number;
  /** What the workspace may hold while commands write to it. */
  readonly diskBytes: number;
  /** Of /tmp, and of /dev/shm. */
  readonly tmpBytes: number;
}

const MB = 1024 * 1024;
const OPEN_FILES = 1_024;
const BLOCK = 512;
/** Bubblewrap's. */
export const OWN_PROCESSES = 2;

export const boundsOf = (settings: ToolsSettings): Bounds => ({
  memoryBytes: settings.sandbox_memory_mb * MB,
  processes: settings.sandbox_processes,
  diskBytes: settings.sandbox_disk_mb * MB,
  tmpBytes: settings.sandbox_tmp_mb * MB,
});

/**
 * Lines of the shell that starts the command. A limit that is lower already stays.
 * `data`, not `as`: Node, Go and Java reserve far more addresses than they use.
 */
export const limitLines = ({ memoryBytes, diskBytes }: Bounds, isDiskFull: boolean): string => {
  // Where the workspace is full no file grows; what is there can be removed.
  const blocks = isDiskFull ? 0 : Math.ceil(diskBytes / BLOCK);
  // Beyond the limit a write fails; the signal would end a program that could go on.
  return `trap '' XFSZ; ${[`-c 0`, `-d ${Math.ceil(memoryBytes / 1024)}`, `-f ${blocks}`, `-n ${OPEN_FILES}`].map((limit) => `ulimit ${limit} 2>/dev/null;`).join(' ')}`;
};

/** Before it begins. Where the system runs out of memory it ends this, and not the daemon; a cgroup that may hold limits holds them too. */
export const boundOutside = async (pid: number, cgroup: string, { memoryBytes, processes }: Bounds): Promise<void> => {
  const limits = cgroup === '' ? [] : [['pids.max', processes + OWN_PROCESSES] as const, ['memory.max', memoryBytes] as const];
  const files = [[`/proc/${pid}/oom_score_adj`, 1_000] as const, ...limits.map(([name, value]) => [join(cgroup, name), value] as const)];
  // A controller that is not delegated has no such file: the watch is left.
  await Promise.all(files.map(([file, value]) => writeFile(file, String(value), { flag: 'r+' }).catch(() => undefined)));
};
