/** Prints claims as they are validated, then what failed, then what was skipped and why. The count comes from test.mjs, last. */
import Mocha from 'mocha';
import { grown, inMinutes } from './costs.mjs';
import { closingLines } from './failures.mjs';

const { EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING, EVENT_RUN_END } = Mocha.Runner.constants;

/** A test says why it is skipped: `this.test.skipReason = 'no chromium on this machine'; this.skip()`. */
const reasonOf = (test) => {
  for (let at = test; at; at = at.parent) if (at.skipReason) return at.skipReason;
  return 'switched off in its source';
};

const printSkipped = (skipped) => {
  if (skipped.length === 0) return;
  console.log(`\nskipped ${skipped.length}:`);
  for (const { title, reason } of skipped) console.log(`  ${title}: ${reason}`);
};

const SLOWEST = 12;

const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(8)} s`;

/** What failed, repeated at the end, where people look first; what costs clearly more than recorded; on CI the slowest files. */
export const printSummary = ({ allMs, failures, slower, unsteady, times }, budget) => {
  const minutes = inMinutes(allMs);
  if (times.length > 1) console.log(`\nprocessor time: ${minutes} min${budget === undefined ? '' : ` of ${budget}${minutes > budget ? ': more than its budget' : ''}`}`);
  if (times.length > 1 && slower !== undefined) console.log(`the same work, done beside the run, took ${slower.toFixed(2)} times what it took when costs were recorded`);
  const daemons = times.reduce((sum, one) => sum + (one.daemons ?? 0), 0);
  if (daemons > 0) console.log(`daemons started in the tests' own processes: ${daemons}`);
  const more = grown(times, undefined, slower);
  if (more.length > 0) console.log('\ncosts more processor time than recorded (before, now):');
  for (const { before, cpuMs, file } of more) console.log(`${seconds(before)} ${seconds(cpuMs)}  ${file}`);
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  if (process.env.CI && slowest.length > 1) {
    console.log('\nslowest files:');
    for (const { file, ms } of slowest) console.log(`${seconds(ms)}  ${file}`);
  }
  const closing = closingLines({ failures, unsteady });
  if (closing) console.log(closing);
};

/** A mocha reporter that keeps its counts in `tally`. */
export const reporterFor = (tally) =>
  class ClaimReporter extends Mocha.reporters.Base {
    constructor(runner, options) {
      super(runner, options);
      let depth = 0;
      const line = (text) => console.log(`${'  '.repeat(Math.max(0, depth))}${text}`);
      runner.on(EVENT_SUITE_BEGIN, (suite) => {
        if (!suite.root) line(suite.title);
        depth += suite.root ? 0 : 1;
      });
      runner.on(EVENT_SUITE_END, (suite) => {
        depth -= suite.root ? 0 : 1;
        if (depth === 0 && !suite.root) console.log('');
      });
      runner.on(EVENT_TEST_PASS, (test) => {
        tally.passed += 1;
        line(`${Mocha.reporters.Base.color('checkmark', 'ok')} ${test.title}${test.speed === 'slow' ? ` (${test.duration} ms)` : ''}`);
      });
      runner.on(EVENT_TEST_FAIL, (test, error) => {
        tally.failed += 1;
        tally.failures.push({ title: test.fullTitle(), message: String(error?.stack ?? error) });
        line(Mocha.reporters.Base.color('fail', `FAILED ${this.failures.length + 1}) ${test.title}`));
      });
      runner.on(EVENT_TEST_PENDING, (test) => {
        tally.skipped.push({ title: test.fullTitle(), reason: reasonOf(test) });
        line(`-- ${test.title}`);
      });
      runner.once(EVENT_RUN_END, () => {
        if (this.failures.length) Mocha.reporters.Base.list(this.failures);
        printSkipped(tally.skipped);
      });
    }
  };
