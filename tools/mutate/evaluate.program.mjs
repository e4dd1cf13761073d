/**
 * A process that has loaded built mocha files and runs them as often as it is asked: all of them, noting which test
 * reaches which change, or a few against one change until the first is red. Started and asked by evaluation.mjs.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import Mocha from 'mocha';

const { EVENT_HOOK_BEGIN, EVENT_RUN_END, EVENT_TEST_BEGIN, EVENT_TEST_END, EVENT_TEST_FAIL } = Mocha.Runner.constants;

/** What this process reaches goes on pages, one for each part of a run; what its children reach follows by file. */
const createSwitch = (seenDir) => {
  let seen = new Set();
  let number = 0;
  let active = 0;
  globalThis.__mutation = (id) => {
    if (seenDir) seen.add(id);
    return id === active;
  };
  return {
    /** Gives back the page that ends here, and begins the next. */
    turnPage: () => {
      const page = { seen: [...seen], page: number };
      seen = new Set();
      number += 1;
      if (seenDir) process.env.SVC_MUTANTS_SEEN = path.join(seenDir, String(number));
      return page;
    },
    set: (id) => {
      active = id;
      process.env.SVC_MUTANT = String(id);
    },
  };
};

const fileOf = (test) => path.relative(process.cwd(), test.file);
const nameOf = (test) => `${fileOf(test)} ${test.fullTitle()}`;

/** What a suite has by itself, kept so that each run may take its part of it. */
const contentsOf = (suite) => [{ suite, tests: suite.tests.map((test) => ({ test, timeoutMs: test.timeout() || Number.POSITIVE_INFINITY })) }, ...suite.suites.flatMap(contentsOf)];

/** `wanted` says for each test that is to run how long it may take, in milliseconds. */
const keepOnly = (contents, wanted) => {
  for (const { suite, tests } of contents) {
    suite.tests = tests.filter(({ test }) => wanted.has(nameOf(test))).map(({ test }) => test);
    for (const { test, timeoutMs } of tests) test.timeout(Math.min(timeoutMs, wanted.get(nameOf(test)) ?? timeoutMs));
  }
};

const report = (runner, turnPage) => {
  let isShared = false;
  runner.on(EVENT_HOOK_BEGIN, (hook) => {
    isShared ||= hook.title.startsWith('"before all"');
  });
  // A test begins before its `beforeEach`; what was seen since the last one ended are that one's `afterEach` and this one's `before`.
  runner.on(EVENT_TEST_BEGIN, (test) => {
    process.send({ kind: 'between', isShared, file: fileOf(test), at: performance.now(), ...turnPage() });
    isShared = false;
  });
  runner.on(EVENT_TEST_END, (test) => process.send({ kind: 'test', file: fileOf(test), title: test.fullTitle(), state: test.state ?? 'skipped', ...turnPage() }));
  runner.on(EVENT_TEST_FAIL, (failed, error) => {
    const test = failed.type === 'hook' ? failed.ctx?.currentTest : failed;
    process.send({ kind: 'failed', title: failed.fullTitle(), name: test?.file && nameOf(test), message: String(error?.message ?? error).split('\n')[0] });
  });
};

const load = async ({ files, seenDir, timeoutMs, active = 0 }) => {
  const lever = createSwitch(seenDir);
  if (seenDir) mkdirSync(seenDir, { recursive: true });
  lever.turnPage();
  lever.set(active);
  // Leak tests ask for it.
  v8.setFlagsFromString('--expose-gc');
  globalThis.gc = vm.runInNewContext('gc');
  const mocha = new Mocha({ ui: 'bdd', timeout: timeoutMs, bail: !seenDir, reporter: class {} });
  mocha.cleanReferencesAfterRun(false);
  for (const file of files) mocha.addFile(path.resolve(file));
  await mocha.loadFilesAsync();
  process.send({ kind: 'loaded', ...lever.turnPage() });
  return { mocha, lever, contents: contentsOf(mocha.suite) };
};

let house;
let isRunning = false;

const run = async ({ active, tests }) => {
  const { mocha, lever, contents } = house;
  lever.set(active);
  if (tests) keepOnly(contents, new Map(tests));
  isRunning = true;
  const runner = mocha.run();
  report(runner, lever.turnPage);
  runner.on(EVENT_RUN_END, () => {
    isRunning = false;
    lever.set(0);
    process.send({ kind: 'end', at: performance.now(), ...lever.turnPage() });
  });
};

const obey = async (order) => {
  if (order.files) house = await load(order);
  else await run(order);
};

process.on('message', (order) => {
  obey(order).catch((error) => process.send({ kind: 'failed', title: 'loading', message: String(error?.message ?? error) }, () => process.exit(1)));
});
// What a change left behind between two runs makes this process useless; during a run mocha hears of it.
process.on('uncaughtException', () => !isRunning && process.exit(1));
process.on('unhandledRejection', () => !isRunning && process.exit(1));
process.on('disconnect', () => process.exit(0));
