/** Runs test files in several processes, one file at a time in each; what a file says is shown whole, in the order of ending. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { addTo } from './run-files.mjs';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));

/** These take longest, so they begin. */
const LONGEST = ['test/crash/', 'test/contract/', 'test/packages/', 'test/replicas/', 'test/fuzz/', 'test/lifecycle/', 'extensions/docs/', 'kernel/platform/', 'kernel/cli/', 'test/clients/'];

const rankOf = (file) => {
  const index = LONGEST.findIndex((room) => file.startsWith(`dist/test/${room}`));
  return index < 0 ? LONGEST.length : index;
};

const startWorker = () => {
  const child = fork(WORKER, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, SVC_TEST_COLOURS: process.stdout.isTTY ? '1' : '' } });
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

/** One process after another, should one of them not survive a file. */
const work = async (queue, options, tally) => {
  let worker;
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (!worker) {
      worker = startWorker();
      await worker.message();
    }
    const began = performance.now();
    worker.child.send({ files: [file], options });
    const answer = await worker.message();
    tally.times.push({ file, ms: performance.now() - began });
    // Its pipes may still hold what it said before it answered.
    await new Promise((resolve) => setImmediate(resolve));
    process.stdout.write(worker.said());
    if (answer) addTo(tally, answer.tally);
    if (answer?.tally.failed > 0) console.log(`\n${file}: ${answer.tally.failed} failed`);
    if (!answer) {
      console.log(`\n${file}: the process ended before its tests did.`);
      tally.failed += 1;
      tally.failures.push({ title: file, message: 'the process ended before its tests did' });
      worker = undefined;
    }
    if (options.bail && tally.failed > 0) queue.length = 0;
  }
  if (!worker) return;
  worker.child.disconnect();
  await worker.ended;
  process.stdout.write(worker.said());
};

export const runInParallel = async (files, count, options, tally) => {
  const queue = [...files].sort((a, b) => rankOf(a) - rankOf(b));
  await Promise.all(Array.from({ length: Math.min(count, files.length) }, () => work(queue, options, tally)));
};
