/** Runs built test files in this process with mocha; the counts are kept in `tally`. */
import v8 from 'node:v8';
import vm from 'node:vm';
import { inRoot } from '../build/paths.mjs';

const TIMEOUT_MS = 30_000;
const SLOW_MS = 500;

/** What a run of tests came to; `failures`, `unsteady` ones that passed by themselves, and `times` (ms) are told again at the end, where they are found. */
export const newTally = () => ({ passed: 0, failed: 0, skipped: [], failures: [], unsteady: [], times: [] });

export const addTo = (tally, { passed, failed, skipped, failures, times }) => {
  tally.passed += passed;
  tally.failed += failed;
  tally.skipped.push(...skipped);
  tally.failures.push(...failures);
  tally.times.push(...times);
};

/** What claims expect of the process that runs them. */
export const prepareProcess = () => {
  // Failures name the line that was written, not the one that was bundled.
  process.setSourceMapsEnabled(true);
  // Leak tests ask for `gc`; a flag on the command line is forgotten too easily.
  if (globalThis.gc) return;
  v8.setFlagsFromString('--expose-gc');
  globalThis.gc = vm.runInNewContext('gc');
};

export const runFiles = async (files, { grep, bail }, tally) => {
  const [{ default: Mocha }, { reporterFor }] = await Promise.all([import('mocha'), import('./reporter.mjs')]);
  const mocha = new Mocha({ ui: 'bdd', timeout: TIMEOUT_MS, slow: SLOW_MS, reporter: reporterFor(tally), bail, ...(grep ? { grep } : {}) });
  for (const file of files) mocha.addFile(inRoot(file));
  await mocha.loadFilesAsync();
  await new Promise((resolve) => mocha.run(resolve));
  // What this run listened for in the process would hear the next run's errors as well.
  mocha.dispose();
};

/** What is still open after the last claim, besides what every process has; a word of it helps who wrote the test. */
export const leftOpen = () => [...new Set(process.getActiveResourcesInfo().filter((kind) => !/^(TTYWrap|PipeWrap|Timeout)$/.test(kind)))];
