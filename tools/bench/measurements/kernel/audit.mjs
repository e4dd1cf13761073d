/** What an audit entry costs at a thousand a second, and how long verification takes. */
import { runProgram } from '../../bundle.mjs';
import { median, milliseconds } from '../../figures.mjs';
import { inRoot } from '../../../build/paths.mjs';

const APPEND_TARGET_MS = 0.2;
const VERIFY_TARGET = 1.5;
const RATE = 1_000;

export const run = async ({ isQuick, isLarge = false }) => {
  const plan = { seconds: isQuick ? 5 : 20, rate: RATE, entries: isLarge ? 1_000_000 : 100_000, rounds: isQuick ? 3 : 5, worker: inRoot('dist/ext/audit/workers/verify-segments.js') };
  const raw = await runProgram('audit', plan);
  const { append, verify } = raw;
  const [whole, act] = [append.cpuMs / append.entries, append.bareMs / append.entries];
  const each = whole - act;
  const [ms, floor, read, file] = [verify.times, verify.floorTimes, verify.readTimes, verify.fileTimes].map(median);
  return {
    rows: [
      {
        what: 'an audit entry at 1,000 a second, processor time',
        value: milliseconds(each),
        target: `≤ ${APPEND_TARGET_MS} ms`,
        met: each <= APPEND_TARGET_MS,
        method: `what the fact adds to the commit of its act, in ${plan.seconds} s: event, number, chain, segments, fsync. The whole process took ${milliseconds(whole)} an act with it and ${milliseconds(act)} without; the last one was entered ${milliseconds(append.lagMs)} after it was sent`,
      },
      {
        what: `verification of ${verify.entries.toLocaleString('en')} audit entries`,
        value: milliseconds(ms),
        floor: milliseconds(floor),
        ratio: `${(ms / floor).toFixed(2)} ×`,
        target: `≤ ${VERIFY_TARGET} ×`,
        met: ms / floor <= VERIFY_TARGET,
        method: `read from SQLite, both worker lanes, ${(verify.cpuMs / verify.floorCpuMs).toFixed(2)} × the processor time of the floor and ${(verify.cpuMs / verify.fileCpuMs).toFixed(2)} × that of a file; floor: SHA-256 of the same ${Math.round(verify.bytes / 1e6)} MB in memory on all cores; medians of ${plan.rounds}. Reading the rows and nothing else took ${milliseconds(read)} (${(ms / read).toFixed(2)} ×), reading and hashing the texts from a file on all cores ${milliseconds(file)} (${(ms / file).toFixed(2)} ×)`,
      },
    ],
    raw,
  };
};
