/** A call to an extension in a process of its own, the start of that process, and what it holds in memory. */
import { inRoot } from '../../../build/paths.mjs';
import { runProgram } from '../../bundle.mjs';
import { megabytes, median, milliseconds, round } from '../../figures.mjs';
import { against } from '../../ratios.mjs';

const CALL_MS = 0.4;
const START_MS = 400;
const MEMORY_BYTES = 50 * 1024 * 1024;

export const run = async ({ isQuick }) => {
  const raw = await runProgram('isolated-call', { calls: isQuick ? 2_000 : 10_000, rounds: 7, starts: isQuick ? 5 : 15, program: inRoot('dist/isolation/program.cjs') });
  const p50 = raw.channel.map((one) => one.p50);
  const floor = raw.floor.map((one) => one.p50);
  const call = median(p50);
  const start = median(raw.startMs);
  return {
    rows: [
      {
        what: 'a call to an isolated extension, 200 B, p50',
        value: `${round(call * 1_000, 0)} µs`,
        floor: `${round(median(floor) * 1_000, 0)} µs`,
        ...against(p50, floor, 'lower'),
        target: `≤ ${CALL_MS} ms`,
        met: call <= CALL_MS,
        method: `one after another, median of ${p50.length} rounds; p99 ${round(median(raw.channel.map((one) => one.p99)) * 1_000, 0)} µs; floor: the same echo over the channel that Node has for children`,
      },
      {
        what: 'start of its process, until its activate has ended',
        value: milliseconds(start),
        target: `≤ ${START_MS} ms`,
        met: start <= START_MS,
        method: `median of ${raw.startMs.length} starts, slowest ${milliseconds(Math.max(...raw.startMs))}`,
      },
      {
        what: 'memory of its process at rest (none before its first call)',
        value: megabytes(raw.rssBytes),
        floor: megabytes(raw.floorRss),
        target: `≤ ${megabytes(MEMORY_BYTES)}`,
        met: raw.rssBytes <= MEMORY_BYTES,
        method: `resident set when it has started; ${megabytes(raw.busyRss)} after thousands of calls; floor: a bare child of Node`,
      },
    ],
    raw,
  };
};
