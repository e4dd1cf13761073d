/** How long a search takes among a million messages of one person, on both databases. */
import { runProgram } from '../../bundle.mjs';
import { milliseconds, percentile, perSecond } from '../../figures.mjs';
import { against } from '../../ratios.mjs';

const TARGET_MS = 50;
const ENGINES = ['SQLite', 'PostgreSQL'];

/** The kind of search that is slowest one time in a hundred. */
const slowestOf = (searches) => Object.entries(searches).toSorted(([, a], [, b]) => percentile(b, 99) - percentile(a, 99))[0];

const rowOf = (engine, { messages, indexMs, floor, searches }, rounds) => {
  const [kind, times] = slowestOf(searches);
  const p99 = percentile(times, 99);
  const all = Object.values(searches).flat();
  return {
    what: `search among ${Math.round(messages / 1.25).toLocaleString('en')} messages, ${engine}, p99`,
    value: milliseconds(p99),
    floor: milliseconds(percentile(floor, 99)),
    ...against([percentile(all, 50)], [percentile(floor, 50)], 'lower'),
    target: `≤ ${TARGET_MS} ms`,
    met: p99 <= TARGET_MS,
    method: `of ${Object.keys(searches).length} kinds of searches the slowest, ${kind} (p50 of all ${milliseconds(percentile(all, 50))}); ${rounds} rounds; read into the index at ${perSecond((messages / indexMs) * 1_000)}; floor: one message by its place; the ratio is of the medians`,
  };
};

export const run = async ({ isQuick }) => {
  const plan = { messages: isQuick ? 50_000 : 1_000_000, rounds: isQuick ? 100 : 300 };
  const raw = {};
  for (const engine of ENGINES) raw[engine] = await runProgram('session-search', { ...plan, engine });
  return { rows: ENGINES.map((engine) => rowOf(engine, raw[engine], plan.rounds)), raw };
};
