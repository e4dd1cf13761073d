/** What each test file costs: measured in the process that runs it, recorded in the repository, compared after a whole run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';
import { ON_POSTGRES } from './lanes.mjs';

const RECORDED = inRoot('tools/testing/costs.json');
const TICK_MS = 10;
/** A file grew when it takes this much more, and at least so many milliseconds: less is the noise of a shared machine. */
const GREW_BY = 1.4;
const GREW_MS = 2_000;
const MOST_SHOWN = 10;

/** Where tests say what processes that they keep have taken: those are not waited for. */
const SPENT = Symbol.for('svc.testing.processor-ms');

/** Where tests count the daemons that they start in their own process. */
const STARTED = Symbol.for('svc.testing.daemons');

export const daemonsStarted = () => globalThis[STARTED] ?? 0;

/** Processor time in ms of this process and of the children that it has waited for; of itself alone where the system does not tell. */
export const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenMs() + (globalThis[SPENT] ?? 0);
};

const childrenMs = () => {
  if (process.platform !== 'linux') return 0;
  // The second field is a name in brackets that may hold anything.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
};

/** `{ file: { wallMs, cpuMs } }`; empty where nothing was recorded. */
export const recordedCosts = () => {
  try {
    return JSON.parse(readFileSync(RECORDED, 'utf8')).files;
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
};

/** The longest first, so that none of them runs alone at the end. A file without a record may be long: it starts early. */
export const longestFirst = (files, recorded = recordedCosts()) => {
  const wall = (file) => recorded[file]?.wallMs ?? Number.POSITIVE_INFINITY;
  return [...files].sort((a, b) => (wall(a) === wall(b) ? 0 : wall(b) - wall(a)));
};

/** Files that cost clearly more processor time than was recorded, the largest growth first. */
export const grown = (times, recorded = recordedCosts()) =>
  times
    .flatMap(({ cpuMs, file }) => {
      const before = recorded[file]?.cpuMs;
      return before !== undefined && cpuMs > before * GREW_BY && cpuMs - before > GREW_MS ? [{ file, before, cpuMs }] : [];
    })
    .sort((a, b) => b.cpuMs - b.before - (a.cpuMs - a.before))
    .slice(0, MOST_SHOWN);

const round = (ms) => Math.round(ms / 100) * 100;

/** Minutes of processor time that a run of all, or of all long ones, may take. */
export const BUDGET_MINUTES = { all: 12, long: 15 };

/** Whether it belongs to the long run: `NAME.long.test.ts`, and claims about daemons on PostgreSQL. */
export const isLong = (name) => name.endsWith('.long.test.js') || name.endsWith(ON_POSTGRES);

/** What is kept once all tests, or all long ones (`wasLong`), were measured. The other ones keep what they had. */
export const recordWith = (times, wasLong, recorded) => {
  const kept = Object.entries(recorded).filter(([file]) => isLong(file) !== wasLong);
  const seen = times.map(({ cpuMs, file, ms }) => [file, { wallMs: round(ms), cpuMs: round(cpuMs) }]);
  const files = Object.fromEntries([...kept, ...seen].sort(([a], [b]) => (a < b ? -1 : 1)));
  const minutes = (long) => minutesOf(Object.entries(files).flatMap(([file, { cpuMs = 0 }]) => (isLong(file) === long ? [{ cpuMs }] : [])));
  return { cpuMinutes: minutes(false), longCpuMinutes: minutes(true), files };
};

/** Writes what a whole run measured. */
export const record = (times, wasLong) => writeFileSync(RECORDED, `${JSON.stringify(recordWith(times, wasLong, recordedCosts()), null, 2)}\n`);

/** Processor time of all files together, in minutes with one decimal. */
export const minutesOf = (times) => Math.round(times.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 6_000) / 10;
