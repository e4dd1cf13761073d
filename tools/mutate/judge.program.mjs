/**
 * One run of built mocha files in a process of its own: all of them, noting which test reaches which change, or a few
 * against one change until the first is red. Started by judging.mjs, which says what to do in a message.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import Mocha from 'mocha';

const { EVENT_HOOK_BEGIN, EVENT_RUN_END, EVENT_TEST_BEGIN, EVENT_TEST_END, EVENT_TEST_FAIL } = Mocha.Runner.constants;

/** What this process reaches goes on pages, one for each part of the run; what its children reach follows by file. */
const createPages = (active, seenDir) => {
  let seen = new Set();
  let number = 0;
  globalThis.__mutation = (id) => {
    seen.add(id);
    return id === active;
  };
  /** Gives back the page that ends here, and begins the next. */
  return () => {
    const page = { seen: [...seen], page: number };
    seen = new Set();
    number += 1;
    if (seenDir) process.env.SVC_MUTANTS_SEEN = path.join(seenDir, String(number));
    return page;
  };
};

/** `wanted` says for each test that is to run how long it may take, in milliseconds. */
const keepOnly = (suite, wanted, nameOf) => {
  suite.tests = suite.tests.filter((test) => wanted.has(nameOf(test)));
  for (const test of suite.tests) test.timeout(Math.min(test.timeout() || Number.POSITIVE_INFINITY, wanted.get(nameOf(test))));
  for (const child of suite.suites) keepOnly(child, wanted, nameOf);
};

const loadTests = async ({ files, tests, timeoutMs, active }) => {
  const mocha = new Mocha({ ui: 'bdd', timeout: timeoutMs, bail: active !== undefined, reporter: class {} });
  for (const file of files) mocha.addFile(path.resolve(file));
  await mocha.loadFilesAsync();
  const fileOf = (test) => path.relative(process.cwd(), test.file);
  if (tests) keepOnly(mocha.suite, new Map(tests), (test) => `${fileOf(test)} ${test.fullTitle()}`);
  return { mocha, fileOf };
};

/** Leak tests ask for it. */
const exposeGc = () => {
  v8.setFlagsFromString('--expose-gc');
  globalThis.gc = vm.runInNewContext('gc');
};

const report = (runner, fileOf, turnPage) => {
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
  runner.on(EVENT_TEST_FAIL, (test, error) => process.send({ kind: 'failed', title: test.fullTitle(), message: String(error?.message ?? error).split('\n')[0] }));
  runner.on(EVENT_RUN_END, () => process.send({ kind: 'end', at: performance.now(), ...turnPage() }, () => process.exit(0)));
};

const run = async (order) => {
  if (order.seenDir) mkdirSync(order.seenDir, { recursive: true });
  const turnPage = createPages(order.active, order.seenDir);
  turnPage();
  exposeGc();
  const { mocha, fileOf } = await loadTests(order);
  process.send({ kind: 'loaded', ...turnPage() });
  report(mocha.run(), fileOf, turnPage);
};

process.once('message', (order) => {
  run(order).catch((error) => process.send({ kind: 'failed', title: 'loading', message: String(error?.message ?? error) }, () => process.exit(1)));
});
