/** Starts the judge: once to learn which test reaches what, then once for each change. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inRoot } from '../build/paths.mjs';

const JUDGE = inRoot('tools/mutate/judge.program.mjs');
const TEST_TIMEOUT_MS = 10_000;
/** A changed run may take this many times the plain one, and this much more, before it counts as hung: the machine may be busy. */
const SLOWER = 8;
const TEST_GRACE_MS = 2_000;
const RUN_GRACE_MS = 20_000;
const SURVEY_LIMIT_MS = 15 * 60_000;

/** Runs the judge to its end or to the limit. Whatever it started goes with it: they are one process group. */
const startJudge = (cwd, order, limitMs, onMessage) =>
  new Promise((resolve) => {
    const env = { ...process.env, ...(order.active === undefined ? {} : { SVC_MUTANT: String(order.active) }) };
    const child = spawn(process.execPath, [JUDGE], { cwd, env, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true });
    let isHung = false;
    const endAll = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    };
    const timer = setTimeout(() => {
      isHung = true;
      endAll();
    }, limitMs);
    child.on('message', onMessage);
    child.on('close', (code) => {
      clearTimeout(timer);
      endAll();
      resolve({ isHung, code });
    });
    child.send(order);
  });

const seenByChildren = (seenDir, page) => {
  const file = path.join(seenDir, String(page));
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
};

/**
 * Every test of `files` with its time and the changes it reaches. What a file does before its first test counts for
 * all of its tests; what is reached while files load, for all there are.
 */
export const survey = async (cwd, files) => {
  const seenDir = path.join(cwd, '.seen');
  const tests = [];
  const failed = [];
  const shared = new Map();
  const add = (set, { seen, page }) => {
    for (const id of [...seen, ...seenByChildren(seenDir, page)]) set.add(id);
  };
  const atLoad = new Set();
  let begunAt = 0;
  const onMessage = (message) => {
    if (message.kind === 'failed') failed.push(message);
    if (message.kind === 'loaded') add(atLoad, message);
    if (message.kind === 'test') {
      tests.push({ file: message.file, title: message.title, state: message.state, ms: 0, reached: new Set() });
      add(tests.at(-1).reached, message);
    }
    if (message.kind !== 'between' && message.kind !== 'end') return;
    // With its hooks: a kernel is booted before a test and stopped after it.
    if (tests.length) {
      tests.at(-1).ms = message.at - begunAt;
      add(tests.at(-1).reached, message);
    }
    begunAt = message.at;
    if (message.isShared) add(shared.set(message.file, shared.get(message.file) ?? new Set()).get(message.file), message);
  };
  const { isHung, code } = await startJudge(cwd, { files, seenDir, timeoutMs: TEST_TIMEOUT_MS }, SURVEY_LIMIT_MS, onMessage);
  if (isHung || code !== 0) throw new Error(`the tests did not come to their end without a change${failed.length ? `: ${failed[0].title}: ${failed[0].message}` : ''}`);
  return { tests: tests.filter((test) => test.state === 'passed'), failed, shared, atLoad };
};

/** What the tests chosen say about one change. */
export const judge = async (cwd, active, tests, graceMs = RUN_GRACE_MS) => {
  const files = [...new Set(tests.map((test) => test.file))];
  const plainMs = tests.reduce((sum, test) => sum + test.ms, 0);
  let by;
  let isOver = false;
  const limitOf = (ms) => Math.min(TEST_TIMEOUT_MS, Math.ceil(TEST_GRACE_MS + ms * SLOWER));
  const order = { files, tests: tests.map((test) => [`${test.file} ${test.title}`, limitOf(test.ms)]), active, timeoutMs: TEST_TIMEOUT_MS };
  const { isHung } = await startJudge(cwd, order, graceMs + plainMs * SLOWER, (message) => {
    if (message.kind === 'failed') by ??= `${message.title}: ${message.message}`;
    if (message.kind === 'end') isOver = true;
  });
  if (by) return { verdict: 'noticed', by };
  if (isHung) return { verdict: 'noticed', by: 'it hung' };
  return isOver ? { verdict: 'survived' } : { verdict: 'noticed', by: 'the process ended' };
};
