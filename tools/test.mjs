#!/usr/bin/env node
/**
 * Builds what is stale and runs the tests.
 *
 *   npm test                        all but the long tests (NAME.long.test.ts, daemons on PostgreSQL) and the full ones (NAME.full.test.ts)
 *   npm test -- memory -g "words"   one area (a package's folder name), one claim
 *   npm test -- memory --short      one area without its long tests, in several processes
 *   npm test -- --long              the long tests alone: npm run test:long
 *   npm test -- --full              the full tests alone, one after another; CI leaves them out: npm run test:full
 *   npm test -- --record            writes what each file costs to tools/testing/costs.json; also with --long
 *
 * The last line is `N passed, N failed`. A package that does not build counts as a failure.
 */
import { writeSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { build, builtTests } from './build/index.mjs';
import { ROOT } from './build/paths.mjs';
import { reportFailures } from './build/report.mjs';
import { matchesArea } from './build/targets.mjs';
import { BUDGET_MINUTES, isFull, isLong, record, slowness, startReference } from './testing/costs.mjs';
import { engineOf, onPostgres } from './testing/lanes.mjs';
import { runInParallel } from './testing/parallel.mjs';
import { printSummary } from './testing/reporter.mjs';
import { leftOpen, newTally, prepareProcess, runFiles } from './testing/run-files.mjs';

/** How long whatever a test left open may keep the process alive after the last claim. */
const LINGER_MS = 3_000;

const readArgs = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      grep: { type: 'string', short: 'g' },
      full: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      bail: { type: 'boolean', short: 'b', default: false },
      record: { type: 'boolean', default: false },
    },
  });
  return { ...values, areas: positionals };
};

/** Builds, tells what did not, and resolves with the failures that belong to this run. */
const prepare = async (areas, wanted) => {
  const { failures, rewritten } = await build({ tests: wanted });
  reportFailures(failures);
  for (const file of rewritten) console.log(`rewrote ${file} (commit it)`);
  const isOurs = ({ target }) => areas.length === 0 || target.startsWith('test:') || areas.includes(target.replace(/^ext:/, ''));
  // On a fresh clone every generated file must already be what the code says.
  const stale = process.env.CI ? rewritten.map((file) => ({ title: file, message: 'it was not what the code says: build and commit it' })) : [];
  return [...failures.filter(isOurs).map(({ target, lines }) => ({ title: `${target} was not built`, message: lines.join('\n') })), ...stale];
};

/** What is named runs with its long tests. */
const selectFiles = ({ areas, full, long, short }, wanted) => {
  const files = builtTests(wanted).flatMap((group) => group.files);
  if (full) return files.filter(isFull);
  if (long) return [...files.filter(isLong), ...(areas.length > 0 ? [] : onPostgres(files.filter((file) => !isFull(file))))];
  return files.filter((file) => !isFull(file) && ((areas.length > 0 && !short) || !isLong(file)));
};

/** Many tests wait for a process or a deadline: meanwhile another one works. */
const PROCESSES_PER_PROCESSOR = 2;

/** All of them, and all short ones of what was named, in several processes; else what was named in this one, where it can be debugged. */
const run = async (files, args, tally) => {
  const options = { grep: args.grep, bail: args.bail, engine: engineOf(args.long) };
  const isWhole = args.areas.length === 0;
  const processes = (isWhole || args.short) && !args.full ? Math.ceil(os.availableParallelism() * PROCESSES_PER_PROCESSOR) : 1;
  if (processes > 1) {
    const endReference = startReference();
    const allMs = await runInParallel(files, processes, options, tally);
    const reference = endReference();
    const slower = slowness(reference, args.long);
    if (args.record) record(tally.times, args.long, allMs, reference);
    return printSummary({ ...tally, allMs, slower }, args.grep === undefined && isWhole ? BUDGET_MINUTES[args.long ? 'long' : 'all'] : undefined);
  }
  prepareProcess();
  return runFiles(files, options, tally);
};

const lingerThenLeave = () => {
  const timer = setTimeout(() => {
    const open = leftOpen();
    if (open.length) console.log(`\nstill open after the last test: ${open.join(', ')}`);
    process.exit();
  }, LINGER_MS);
  timer.unref();
};

const main = async (tally) => {
  const args = readArgs();
  const wanted = (group) => args.areas.length === 0 || args.areas.some((area) => matchesArea(group, area));
  process.chdir(ROOT);
  const unbuilt = await prepare(args.areas, wanted);
  tally.failed += unbuilt.length;
  tally.failures.push(...unbuilt);
  const files = selectFiles(args, wanted);
  if (files.length === 0) console.log(args.areas.length ? `There are no tests for ${args.areas.join(', ')}.` : 'There are no tests.');
  else await run(files, args, tally);
  if (tally.passed + tally.failed === 0 && files.length) console.log('No test matches.');
  tally.finished = true;
  lingerThenLeave();
};

const tally = { ...newTally(), finished: false };
process.on('exit', (code) => {
  if (!tally.finished) writeSync(1, '\nThe process ended before the tests did.\n');
  const good = tally.finished && tally.failed === 0 && tally.passed > 0;
  process.exitCode = good ? code : code || 1;
  writeSync(1, `\n${tally.passed} passed, ${tally.failed} failed\n`);
});

try {
  await main(tally);
} catch (error) {
  console.error(error.stack ?? error);
  tally.failed += 1;
  tally.finished = true;
}
