/** What a process uses, as the system tells; nothing where it does not tell. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Usage {
  readonly rssBytes: number;
  /** Of all its threads, since it began. */
  readonly cpuMs: number;
}

const PAGE_BYTES = 4_096;
const TICK_MS = 10;
const KIB = 1_024;
const run = promisify(execFile);

/** Of the process and, behind a wall, of those inside it. */
export const usageOf = async (pid: number): Promise<Usage | undefined> => {
  if (process.platform !== 'linux') return fromPs(pid);
  const all = await Promise.all((await familyOf(pid)).map(fromProc));
  const known = all.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : { rssBytes: sum(known.map(({ rssBytes }) => rssBytes)), cpuMs: sum(known.map(({ cpuMs }) => cpuMs)) };
};

const familyOf = async (pid: number, depth = 0): Promise<number[]> => {
  if (depth > 3) return [pid];
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')));
  const pids = children.join(' ').split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(pids.map((child) => familyOf(child, depth + 1)))).flat()];
};

/** Fields of /proc/<pid>/stat, counted behind the name in brackets, which may hold anything. */
const fromProc = async (pid: number): Promise<Usage | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system, pages] = [fields?.[11], fields?.[12], fields?.[21]].map(Number);
  if (user === undefined || system === undefined || pages === undefined || Number.isNaN(user + system + pages)) return undefined;
  return { rssBytes: pages * PAGE_BYTES, cpuMs: (user + system) * TICK_MS };
};

const fromPs = async (pid: number): Promise<Usage | undefined> => {
  const { stdout } = await run('ps', ['-o', 'rss=,time=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  const [rss, time = ''] = stdout.trim().split(/\s+/);
  if (rss === undefined || rss === '') return undefined;
  const seconds = time.split(/[:-]/).reduce((total, part) => total * 60 + Number(part), 0);
  return { rssBytes: Number(rss) * KIB, cpuMs: seconds * 1_000 };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
