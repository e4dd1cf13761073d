/**
 * Whether a process id still means the process it meant: ids are used again,
 * a start time within one boot is not.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Fields of /proc/<pid>/stat after the command name, which may itself hold spaces and brackets. */
const START_TIME_FIELD = 19;
const STATE_FIELD = 0;

export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; only compared. */
  readonly startedAt: string;
  readonly bootId: string;
}

export const bootId = async (): Promise<string> => {
  if (process.platform === 'linux') return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  // Elsewhere the start times are dates, which no later boot repeats.
  return process.platform;
};

/** Undefined when no such process lives (one that only waits to be reaped does not). */
export const startTimeOf = async (pid: number): Promise<string | undefined> => {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields?.[STATE_FIELD] === 'Z' ? undefined : fields?.[START_TIME_FIELD];
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() || undefined;
};

export const isSameProcess = async (identity: ProcessIdentity): Promise<boolean> => identity.bootId === (await bootId()) && identity.startedAt === (await startTimeOf(identity.pid));
