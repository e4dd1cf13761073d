/** Runs test files in several processes, one file at a time in each; what a file says is shown whole, in the order of ending. */
import { fork, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { longestFirst } from './costs.mjs';
import { comparedRuns } from './failures.mjs';
import { queueOf, taskOf } from './lanes.mjs';
import { makeNamespaces } from './namespace.mjs';
import { addTo, newTally } from './run-files.mjs';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));

/** More than this is no accident of a slow machine. */
const MAX_AGAIN = 6;

/**
 * Hundreds of daemons are made and dropped: with more room for new objects a fourteenth of their processor time is saved.
 * Most code runs a few times: what V8 optimizes early is seldom repaid, and waiting six times longer saves a seventh.
 */
const FLAGS = ['--max-semi-space-size=64', '--interrupt-budget=800000'];
/** Node ends at an option of V8 that it does not know: the one of Node 24 has no budget of interrupts any more. */
const knownFlags = () => FLAGS.filter((flag) => spawnSync(process.execPath, [flag, '--version'], { stdio: 'ignore' }).status === 0);

const startWorker = ({ engine, flags, namespaces }) => {
  const env = { ...process.env, SVC_TEST_COLOURS: process.stdout.isTTY ? '1' : '', SVC_TEST_ENGINE: engine };
  const how = namespaces?.fork ?? { execArgv: [] };
  const child = fork(WORKER, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env, ...how, execArgv: [...how.execArgv, ...flags] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const message = () => Promise.race([new Promise((resolve) => child.once('message', resolve)), ended.then(() => undefined)]);
  return {
    child,
    ended,
    message,
    /** What it said since it was asked last. */
    said: () => {
      const text = said;
      said = '';
      return text;
    },
  };
};

/** One process after another, should one of them not survive a file. `evaluate` is given what came of each file. Resolves with the processor time of all of them. */
const work = async (queue, options, evaluate) => {
  let worker;
  let endedMs = 0;
  let spentMs = 0;
  for (let file = queue.next(); file !== undefined; file = queue.next(file)) {
    if (!worker) {
      worker = startWorker(options);
      await worker.message();
    }
    const began = performance.now();
    worker.child.send(taskOf(file, { grep: options.grep, bail: options.bail }));
    const answer = await worker.message();
    const ms = performance.now() - began;
    // Its pipes may still hold what it said before it answered.
    await new Promise((resolve) => setImmediate(resolve));
    process.stdout.write(worker.said());
    const found = answer?.tally ?? { ...newTally(), failed: 1, failures: [{ title: file, message: 'the process ended before its tests did' }] };
    found.times.push({ file, ms, cpuMs: answer?.cpuMs ?? 0, daemons: answer?.daemons ?? 0 });
    if (found.failed > 0) console.log(`\n${file}: ${answer ? `${found.failed} failed` : 'the process ended before its tests did.'}`);
    // What it keeps (a browser, a server) is counted while it lives: its end may reap them uncounted.
    spentMs = answer?.spentMs ?? spentMs;
    if (!answer) {
      worker = undefined;
      endedMs += spentMs;
      spentMs = 0;
    }
    evaluate(file, found);
    if (options.bail && found.failed > 0) queue.clear();
  }
  if (worker) {
    worker.child.disconnect();
    await worker.ended;
    process.stdout.write(worker.said());
  }
  return endedMs + spentMs;
};

/**
 * What fails while all run side by side is run once more by itself: a shared machine may be too slow for a test, and what is
 * wrong fails again. What passes then counts as passed, and is named at the end as unsteady.
 */
const runAgain = async (failed, options, tally) => {
  let spentMs = 0;
  if (failed.size > MAX_AGAIN) {
    for (const found of failed.values()) addTo(tally, found);
    return spentMs;
  }
  for (const [file, before] of failed) {
    console.log(`\n${file}, once more by itself:`);
    spentMs += await work(queueOf([file]), options, (_file, found) => {
      const { failures, unsteady } = comparedRuns(before.failures, found.failures);
      addTo(tally, { ...found, failures });
      tally.unsteady.push(...unsteady);
    });
  }
  return spentMs;
};

/** Resolves with the processor time of all processes, in ms. */
export const runInParallel = async (files, count, given, tally) => {
  const namespaces = makeNamespaces();
  const options = { ...given, namespaces, flags: knownFlags() };
  const queue = queueOf(longestFirst(files));
  const failed = new Map();
  const evaluate = (file, found) => {
    if (found.failed > 0) failed.set(file, found);
    else addTo(tally, found);
  };
  const spent = await Promise.all(Array.from({ length: Math.min(count, files.length) }, () => work(queue, options, evaluate)));
  spent.push(await runAgain(failed, options, tally));
  namespaces?.remove();
  return spent.reduce((sum, ms) => sum + ms, 0);
};
