#!/usr/bin/env node
/**
 * Builds what is stale and runs the tests.
 *
 *   npm test                        all but the full crash test
 *   npm test -- memory -g "words"   one area (a package's folder name), one claim
 *   npm test -- --crash             the full crash test alone
 *
 * The last line is `N passed, N failed`. A package that does not build counts as a failure.
 */
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';
import { build, builtTests } from './build/index.mjs';
import { inRoot, ROOT } from './build/paths.mjs';
import { reportFailures } from './build/report.mjs';
import { matchesArea } from './build/targets.mjs';

const CRASH_TEST = 'dist/test/test/crash/full.test.js';
const TIMEOUT_MS = 10_000;
const SLOW_MS = 500;
/** How long whatever a test left open may keep the process alive after the last claim. */
const LINGER_MS = 3_000;

const readArgs = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string', short: 'g' }, crash: { type: 'boolean', default: false }, bail: { type: 'boolean', short: 'b', default: false } },
  });
  return { ...values, areas: values.crash ? ['test/crash'] : positionals };
};

/** Leak tests ask for `gc`; a flag on the command line is forgotten too easily. */
const exposeGc = () => {
  if (globalThis.gc) return;
  v8.setFlagsFromString('--expose-gc');
  globalThis.gc = vm.runInNewContext('gc');
};

/** Builds, tells what did not, and says how many of those failures belong to this run. */
const prepare = async (areas, wanted) => {
  const { failures, rewritten } = await build({ tests: wanted });
  reportFailures(failures);
  for (const file of rewritten) console.log(`rewrote ${file} (commit it)`);
  const isOurs = ({ target }) => areas.length === 0 || target.startsWith('test:') || areas.includes(target.replace(/^ext:/, ''));
  // On a fresh clone every generated file must already be what the code says.
  return failures.filter(isOurs).length + (process.env.CI ? rewritten.length : 0);
};

const selectFiles = ({ crash }, wanted) => {
  const files = builtTests(wanted).flatMap((group) => group.files);
  return files.filter((file) => (file === CRASH_TEST) === crash);
};

const runMocha = async (files, { grep, bail }, tally) => {
  const [{ default: Mocha }, { reporterFor }] = await Promise.all([import('mocha'), import('./testing/reporter.mjs')]);
  const mocha = new Mocha({ ui: 'bdd', timeout: TIMEOUT_MS, slow: SLOW_MS, reporter: reporterFor(tally), bail, ...(grep ? { grep } : {}) });
  for (const file of files) mocha.addFile(inRoot(file));
  await mocha.loadFilesAsync();
  await new Promise((resolve) => mocha.run(resolve));
};

const lingerThenLeave = () => {
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((kind) => !/^(TTYWrap|PipeWrap|Timeout)$/.test(kind));
    if (open.length) console.log(`\nstill open after the last test: ${[...new Set(open)].join(', ')}`);
    process.exit();
  }, LINGER_MS);
  timer.unref();
};

const main = async (tally) => {
  const args = readArgs();
  const wanted = (group) => args.areas.length === 0 || args.areas.some((area) => matchesArea(group, area));
  process.chdir(ROOT);
  exposeGc();
  // Failures name the line that was written, not the one that was bundled.
  process.setSourceMapsEnabled(true);
  tally.failed += await prepare(args.areas, wanted);
  const files = selectFiles(args, wanted);
  if (files.length === 0) console.log(args.areas.length ? `There are no tests for ${args.areas.join(', ')}.` : 'There are no tests.');
  else await runMocha(files, args, tally);
  if (tally.passed + tally.failed === 0 && files.length) console.log('No test matches.');
  tally.finished = true;
  lingerThenLeave();
};

const tally = { passed: 0, failed: 0, skipped: [], finished: false };
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
