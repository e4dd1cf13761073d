/** Child processes of a measurement: started, read from /proc, ended. Linux only, like /proc. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The unit of the times in /proc/<pid>/stat; 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;
const STOP_WAIT_MS = 10_000;

const running = new Set();

/**
 * Starts `node args`. `line()` resolves with the next line of its output, `ended` with its exit code;
 * `stop()` ends it and waits.
 */
export const startNode = (args, { env = {}, cwd } = {}) => {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env }, cwd });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  running.add(child);
  void ended.then(() => running.delete(child));
  return {
    pid: child.pid,
    ended,
    line: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`node ${args.join(' ')} ended before it said anything`);
      return value;
    },
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_WAIT_MS);
      await ended;
      clearTimeout(late);
    },
  };
};

/** Whatever a failed measurement left goes with us. */
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** CPU time that the process has used so far, its threads included, in milliseconds (10 ms steps). */
export const cpuMs = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything; the fields behind it are 3 (state), …, 14 (user), 15 (system).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

/**
 * The same from the scheduler, in steps of nanoseconds: for what takes a few milliseconds. It knows the threads
 * that are there now, so it is no measure where threads come and go.
 */
export const fineCpuMs = (pid) => readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);

/** Memory of the process and its children, each shared page counted by its share, in bytes. */
export const pssBytes = (pid) => {
  const own = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean));
  return Number(own?.[1] ?? 0) * 1_024 + children.reduce((sum, child) => sum + pssBytes(Number(child)), 0);
};

/** Wall time of `node args` from start to exit, in milliseconds. Throws when it fails. */
export const timeOfNode = async (args, options = {}) => {
  const begun = performance.now();
  const child = startNode(args, options);
  const code = await child.ended;
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`);
  return performance.now() - begun;
};
