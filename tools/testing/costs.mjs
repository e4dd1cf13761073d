/** What each test file costs: measured in the process that runs it, recorded in the repository, compared after a whole run. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';
import { ON_POSTGRES } from './lanes.mjs';

const RECORDED = inRoot('tools/testing/costs.json');
const TICK_MS = 10;
/** Set for a process that has a process namespace of its own. */
export const ALONE = 'SVC_TEST_ALONE';
/** A file grew when it takes this much more, and at least so many milliseconds: less is the noise of a shared machine. */
const GREW_BY = 1.4;
const GREW_MS = 2_000;
const MOST_SHOWN = 10;

/** Where tests count the daemons that they start in their own process. */
const STARTED = Symbol.for('svc.testing.daemons');

export const daemonsStarted = () => globalThis[STARTED] ?? 0;

/**
 * Processor time in ms of this process and of all that it started, whether it lives, has ended or was left to its own: what
 * ended is counted by who reaped it, what lives is found in /proc. Where the system does not tell, of this process alone;
 * where a process runs beside others of the machine, without those that left its tree.
 */
export const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + othersMs();
};

/** Times that a line of /proc/PID/stat says, in ticks; the second field is a name in brackets that may hold anything. */
const parsed = (text) => {
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  const [own, reaped] = [Number(fields[11]) + Number(fields[12]), Number(fields[13]) + Number(fields[14])];
  return { parent: Number(fields[1]), own, reaped };
};

const statOf = (pid) => {
  try {
    return parsed(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined; // it has ended
  }
};

const othersMs = () => {
  if (process.platform !== 'linux') return 0;
  const all = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [[Number(name), statOf(name)]] : [])));
  // In a namespace of its own all processes are this run's, and the first one has reaped the orphans.
  const isAlone = process.env[ALONE] !== undefined;
  const isOurs = (pid) => {
    for (let at = pid; at !== undefined && at > 0; at = all.get(at)?.parent) if (at === process.pid) return true;
    return isAlone;
  };
  let ticks = 0;
  for (const [pid, stat] of all) if (stat && isOurs(pid)) ticks += stat.reaped + (pid === process.pid ? 0 : stat.own);
  return ticks * TICK_MS;
};

const REFERENCE_ROWS = 20_000;
const REFERENCE_EVERY_MS = 10_000;
/** Until V8 knows the work. */
const REFERENCE_WARM_UP = 3;

/** What servers do all day: objects made, written, read, sorted and hashed. */
const referenceWork = () => {
  const rows = Array.from({ length: REFERENCE_ROWS }, (_, n) => ({ id: `row-${(n * 7_919) % REFERENCE_ROWS}`, n, words: 'a heron stands in the reeds'.split(' ') }));
  const read = JSON.parse(JSON.stringify(rows)).sort((one, other) => (one.id < other.id ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(read)).digest('hex');
};

const referenceMs = () => {
  const began = process.cpuUsage();
  referenceWork();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
};

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * Does the same work every ten seconds beside a run, for some hundredths of a second: what processor time is worth on this
 * machine, and while it runs. Gives the median of what it took, in ms, when it is ended.
 */
export const startReference = (everyMs = REFERENCE_EVERY_MS) => {
  for (let times = 0; times < REFERENCE_WARM_UP; times++) referenceMs();
  const taken = [referenceMs()];
  const timer = setInterval(() => taken.push(referenceMs()), everyMs);
  return () => {
    clearInterval(timer);
    return median(taken);
  };
};

const readRecord = () => {
  try {
    return JSON.parse(readFileSync(RECORDED, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return { files: {} };
    throw error;
  }
};

/** `{ file: { wallMs, cpuMs } }`; empty where nothing was recorded. */
export const recordedCosts = () => readRecord().files;

/** How much longer this machine takes than the one of the record; undefined where none was recorded. */
export const slowness = (ms, isLongRun, { longReferenceMs, referenceMs: shortReferenceMs } = readRecord()) => {
  const recorded = isLongRun ? longReferenceMs : shortReferenceMs;
  return recorded === undefined ? undefined : ms / recorded;
};

/** The longest first, so that none of them runs alone at the end. A file without a record may be long: it starts early. */
export const longestFirst = (files, recorded = recordedCosts()) => {
  const wall = (file) => recorded[file]?.wallMs ?? Number.POSITIVE_INFINITY;
  return [...files].sort((a, b) => (wall(a) === wall(b) ? 0 : wall(b) - wall(a)));
};

/** Files that cost clearly more processor time than was recorded on a machine that is `slower` so many times, the largest growth first. */
export const grown = (times, recorded = recordedCosts(), slower = 1) =>
  times
    .flatMap(({ cpuMs, file }) => {
      const known = recorded[file]?.cpuMs;
      const before = known === undefined ? undefined : known * slower;
      return before !== undefined && cpuMs > before * GREW_BY && cpuMs - before > GREW_MS ? [{ file, before, cpuMs }] : [];
    })
    .sort((a, b) => b.cpuMs - b.before - (a.cpuMs - a.before))
    .slice(0, MOST_SHOWN);

const round = (ms) => Math.round(ms / 100) * 100;

/** Minutes of processor time that a run of all, or of all long ones, may take. */
export const BUDGET_MINUTES = { all: 12, long: 15 };

/** Whether it belongs to the long run: `NAME.long.test.ts`, and claims about daemons on PostgreSQL. */
/** Tests of an hour: every point of what the others take a sample of. CI leaves them out. */
export const isFull = (name) => /[./]full\.test\.js$/.test(name);

export const isLong = (name) => name.endsWith('.long.test.js') || name.endsWith(ON_POSTGRES);

/** What is kept once all tests, or all long ones (`wasLong`), were measured. The other ones keep what they had. */
export const recordWith = (times, wasLong, { files: recorded = {}, ...before }, allMs, reference) => {
  const kept = Object.entries(recorded).filter(([file]) => isLong(file) !== wasLong);
  const seen = times.map(({ cpuMs, file, ms }) => [file, { wallMs: round(ms), cpuMs: round(cpuMs) }]);
  const [cpuMinutes, referenceMs] = [inMinutes(allMs), Math.round(reference)];
  const files = Object.fromEntries([...kept, ...seen].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...before, ...(wasLong ? { longCpuMinutes: cpuMinutes, longReferenceMs: referenceMs } : { cpuMinutes, referenceMs }), files };
};

/** Writes what a whole run measured: what each file took, `allMs` of all its processes, which is more by what starts and ends them, and what the reference took. */
export const record = (times, wasLong, allMs, reference) => writeFileSync(RECORDED, `${JSON.stringify(recordWith(times, wasLong, readRecord(), allMs, reference), null, 2)}\n`);

/** With one decimal. */
export const inMinutes = (ms) => Math.round(ms / 6_000) / 10;
