/**
 * The children of this and of earlier lives of the daemon, one small file each.
 *
 * R1  A child is recorded before it can act, so a killed daemon leaves no child that nobody knows.
 * R2  Only a process that is provably the recorded one is ended.
 *
 * The records need no fsync: they have to outlive the process, and after a power cut no child is left.
 */
import { errnoOf } from '../../config/errno.js';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isTable } from '@svc/api';
import type { TimerClock } from '../../clock/clock.js';
import type { ScopedLogger } from '../../log/log.js';
import { endTree, type TreeIdentity } from './child-tree.js';
import { bootId as currentBoot, isSameProcess, type ProcessIdentity } from './process-identity.js';

const POLL_MS = 25;

export interface ChildRecord extends ProcessIdentity, TreeIdentity {
  readonly ownerKey: string;
  readonly command: string;
  /** The life of the daemon that started it. */
  readonly life: string;
}

export interface ChildRegister {
  readonly life: string;
  /** Resolves when the record stands; the returned function takes it away. */
  add(child: Omit<ChildRecord, 'life'>): Promise<() => Promise<void>>;
  /** Ends what earlier lives left, all or of one owner. Resolves with their number when they are gone. */
  endSurvivors(ownerKey?: string): Promise<number>;
}

export const createChildRegister = (dir: string, graceMs: number, clock: TimerClock, log: ScopedLogger): ChildRegister => {
  const life = randomBytes(8).toString('hex');
  return {
    life,
    add: async (child) => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const file = join(dir, `${child.pid}-${randomBytes(4).toString('hex')}.json`);
      await writeFile(`${file}.tmp`, JSON.stringify({ ...child, life }), { mode: 0o600 });
      await rename(`${file}.tmp`, file);
      return () => rm(file, { force: true });
    },
    endSurvivors: async (ownerKey) => {
      const records = (await readRecords(dir, log)).filter(({ record }) => record.life !== life && (ownerKey === undefined || record.ownerKey === ownerKey));
      const ended = await Promise.all(records.map(({ file, record }) => endOne(file, record, graceMs, clock, log)));
      return ended.filter(Boolean).length;
    },
  };
};

const readRecords = async (dir: string, log: ScopedLogger): Promise<Array<{ file: string; record: ChildRecord }>> => {
  const names = await readdir(dir).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found: Array<{ file: string; record: ChildRecord }> = [];
  for (const name of names.filter((entry) => entry.endsWith('.json'))) {
    const file = join(dir, name);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    // Its child ended between the listing and now.
    if (text === undefined) continue;
    const record = parseRecord(text);
    if (record) found.push({ file, record });
    else log.warn('A record of a child process cannot be read; if the process still runs, it has to be ended by hand.', { file });
  }
  return found;
};

const parseRecord = (text: string): ChildRecord | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    if (!isTable(value) || !Number.isSafeInteger(value.pid) || Number(value.pid) <= 1) return undefined;
    // Records of earlier builds know no tree.
    const { pid, startedAt, bootId, ownerKey, command, life, mark = '', cgroup = '' } = value;
    if ([startedAt, bootId, ownerKey, command, life, mark, cgroup].some((part) => typeof part !== 'string')) return undefined;
    const texts = { startedAt: String(startedAt), bootId: String(bootId), ownerKey: String(ownerKey), command: String(command), life: String(life), mark: String(mark), cgroup: String(cgroup) };
    return { pid: Number(pid), ...texts };
  } catch {
    // The caller reports it with the file's name.
    return undefined;
  }
};

const endOne = async (file: string, record: ChildRecord, graceMs: number, clock: TimerClock, log: ScopedLogger): Promise<boolean> => {
  const isAlive = await isSameProcess(record);
  if (isAlive) {
    log.warn('A child of an earlier life of the daemon still runs and is ended.', { pid: record.pid, command: record.command, owner: record.ownerKey });
    signalGroup(record.pid, 'SIGTERM');
    const untilMs = clock.mono() + graceMs;
    while ((await isSameProcess(record)) && clock.mono() < untilMs) await clock.sleep(POLL_MS);
    signalGroup(record.pid, 'SIGKILL');
    while (await isSameProcess(record)) await clock.sleep(POLL_MS);
  }
  // What it started may have outlived it, and left its group. After another boot nothing is left.
  const orphans = record.bootId === (await currentBoot()) ? await endTree(record, clock) : 0;
  if (orphans > 0) log.warn('A process left over from an earlier daemon was stopped.', { processes: orphans, command: record.command, owner: record.ownerKey });
  await rm(file, { force: true });
  return isAlive || orphans > 0;
};

/** False when it is gone. */
export const signalOne = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) === 'ESRCH' || errnoOf(error) === 'EPERM') return false;
    throw error;
  }
};

/** Signals the whole process group of a child that was started as its leader. False when nobody is left in it. */
export const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return false;
    // macOS answers EPERM for a group whose members are all being reaped.
    if (errnoOf(error) === 'EPERM') return false;
    throw error;
  }
};
