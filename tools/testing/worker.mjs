/** One of several processes that run tests: takes a group of files at a time, and says how it went. */
import { daemonsStarted, processorMs } from './costs.mjs';
import { leftOpen, newTally, prepareProcess, runFiles } from './run-files.mjs';

/** How long what a test left open may take to close by itself. */
const LINGER_MS = 3_000;

const { default: Mocha } = await import('mocha');
prepareProcess();
// Piped to a process that shows it in turn.
Mocha.reporters.Base.useColors = process.env.SVC_TEST_COLOURS === '1';

process.on('message', async ({ files, options }) => {
  const tally = newTally();
  const [began, daemons] = [processorMs(), daemonsStarted()];
  try {
    await runFiles(files, options, tally);
  } catch (error) {
    console.error(error.stack ?? error);
    tally.failed += 1;
    tally.failures.push({ title: files.join(', '), message: String(error.stack ?? error) });
  }
  const spentMs = processorMs();
  process.send({ tally, spentMs, cpuMs: spentMs - began, daemons: daemonsStarted() - daemons });
});
process.on('disconnect', () => {
  const timer = setTimeout(() => {
    const open = leftOpen();
    if (open.length) console.log(`\nstill open after the last test: ${open.join(', ')}`);
    process.exit();
  }, LINGER_MS);
  timer.unref();
});
process.send('ready');
