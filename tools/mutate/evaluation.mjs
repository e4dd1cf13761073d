/**
 * Asks the tests: once to learn which of them reaches what, then about each change.
 *
 * V1  A process that has loaded the tests is used for many changes. After a red test it is asked about that test
 *     without a change: what is red then was spoilt by somebody before, and is validated again in a new process.
 * V2  What hangs counts as noticed, and its process goes with all its children: they are one process group.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inRoot } from '../build/paths.mjs';

const PROGRAM = inRoot('tools/mutate/evaluate.program.mjs');
const TEST_TIMEOUT_MS = 10_000;
/** A changed run may take this many times the plain one, and this much more, before it counts as hung: the machine may be busy. */
const SLOWER = 8;
const TEST_GRACE_MS = 2_000;
const RUN_GRACE_MS = 10_000;
/** After a red test its hooks may still clean up; what hangs there too is not waited for. */
const CLEAN_UP_MS = 2_000;
const LOAD_LIMIT_MS = 120_000;
const SURVEY_LIMIT_MS = 15 * 60_000;
/** What changes leave behind adds up. */
const MAX_USES = 40;

/** A child that carries out one order at a time; each ends with its last message, its death, or its limit. */
const startProgram = (cwd) => {
  const child = spawn(process.execPath, [PROGRAM], { cwd, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true });
  let settle;
  let onMessage = () => undefined;
  let isAlive = true;
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  };
  child.on('message', (message) => {
    onMessage(message);
    if (message.kind === 'end' || message.kind === 'loaded') settle?.('over');
  });
  child.on('close', () => {
    isAlive = false;
    end();
    settle?.('ended');
  });
  // An order to a process that has just ended is answered by its close.
  child.on('error', () => undefined);
  const ask = (order, limitMs, receive) =>
    new Promise((resolve) => {
      let timer = setTimeout(() => settle('hung'), limitMs);
      onMessage = (message) => {
        if (receive(message) !== 'enough' || !settle) return;
        clearTimeout(timer);
        timer = setTimeout(() => settle?.('hung'), CLEAN_UP_MS);
      };
      settle = (how) => {
        clearTimeout(timer);
        settle = undefined;
        if (how === 'hung') end();
        resolve(how);
      };
      if (isAlive) child.send(order, () => undefined);
      else settle('ended');
    });
  return { ask, end, isAlive: () => isAlive };
};

const seenByChildren = (seenDir, page) => {
  const file = path.join(seenDir, String(page));
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
};

/** Keeps what the survey hears. */
const createNotes = (seenDir) => {
  const notes = { tests: [], failed: [], shared: new Map(), atLoad: new Set() };
  let begunAt = 0;
  const add = (set, { seen, page }) => {
    for (const id of [...seen, ...seenByChildren(seenDir, page)]) set.add(id);
  };
  const receive = (message) => {
    if (message.kind === 'failed') notes.failed.push(message);
    if (message.kind === 'loaded') add(notes.atLoad, message);
    if (message.kind === 'test') {
      notes.tests.push({ file: message.file, title: message.title, state: message.state, ms: 0, reached: new Set() });
      add(notes.tests.at(-1).reached, message);
    }
    if (message.kind !== 'between' && message.kind !== 'end') return;
    const last = notes.tests.at(-1);
    if (last) {
      // With its hooks: a kernel is booted before a test and stopped after it.
      last.ms = message.at - begunAt;
      add(last.reached, message);
    }
    begunAt = message.at;
    if (message.isShared) add(notes.shared.set(message.file, notes.shared.get(message.file) ?? new Set()).get(message.file), message);
  };
  return { notes, receive };
};

/**
 * Every test of `files` with its time and the changes it reaches. What a file does before its first test counts for
 * all of its tests; what is reached while files load, for all of the area's.
 */
export const survey = async (cwd, files) => {
  const seenDir = path.join(cwd, '.seen');
  const { notes, receive } = createNotes(seenDir);
  const program = startProgram(cwd);
  const loaded = await program.ask({ files, seenDir, timeoutMs: TEST_TIMEOUT_MS }, LOAD_LIMIT_MS, receive);
  const how = loaded === 'over' ? await program.ask({ active: 0 }, SURVEY_LIMIT_MS, receive) : loaded;
  program.end();
  const { failed } = notes;
  if (how !== 'over') throw new Error(`the tests did not come to their end without a change${failed.length ? `: ${failed[0].title}: ${failed[0].message}` : ''}`);
  const green = notes.tests.filter((test) => test.state === 'passed');
  // A file that reaches no change while it runs has nothing to say about one that it only loads.
  const telling = new Set(green.filter((test) => test.reached.size > 0 || notes.shared.get(test.file)?.size).map((test) => test.file));
  return { ...notes, tests: green.filter((test) => telling.has(test.file)) };
};

/** Its own limit, where it has a shorter one, counts as well. */
const limitOf = (test) => Math.ceil(TEST_GRACE_MS + test.ms * SLOWER);

/** Runs the tests against a change; `failure` is the first that was red. */
const tryOnce = async (program, active, tests, graceMs) => {
  let failure;
  const order = { active, tests: tests.map((test) => [`${test.file} ${test.title}`, limitOf(test)]) };
  const plainMs = tests.reduce((sum, test) => sum + test.ms, 0);
  const how = await program.ask(order, graceMs + plainMs * SLOWER, (message) => {
    if (message.kind !== 'failed') return undefined;
    failure ??= message;
    return 'enough';
  });
  return { how, failure };
};

const verdictOf = ({ how, failure }) => {
  if (failure) return { verdict: 'noticed', by: `${failure.title}: ${failure.message}` };
  if (how === 'over') return { verdict: 'survived' };
  return { verdict: 'noticed', by: how === 'hung' ? 'it hung' : 'the process ended' };
};

/** A process that has loaded these files, with this change on while it did (0 for none). */
const openSeat = async (cwd, files, active) => {
  const program = startProgram(cwd);
  const how = await program.ask({ files, timeoutMs: TEST_TIMEOUT_MS, active }, LOAD_LIMIT_MS, () => undefined);
  return { program, uses: 0, isLoaded: how === 'over' };
};

/** True when the test that was red is green without the change: nobody has spoilt the process. */
const isClean = async (program, tests, { how, failure }, graceMs) => {
  const test = tests.find(({ file, title }) => `${file} ${title}` === failure?.name);
  if (how !== 'over' || !test) return false;
  const again = await tryOnce(program, 0, [test], graceMs);
  return again.how === 'over' && !again.failure;
};

/** Validates changes, and keeps processes by the files they have loaded. */
export const createEvaluator = (cwd, graceMs = RUN_GRACE_MS) => {
  const kept = new Map();

  const seatFor = async (files) => {
    const name = files.join();
    const known = kept.get(name);
    if (known?.program.isAlive() && known.uses < MAX_USES) return known;
    known?.program.end();
    kept.set(name, await openSeat(cwd, files, 0));
    return kept.get(name);
  };

  const evaluateRetained = async (active, tests, files) => {
    const seat = await seatFor(files);
    if (!seat.isLoaded) throw new Error(`these tests do not load any more: ${files.join(', ')}`);
    const isFirst = seat.uses === 0;
    seat.uses += 1;
    const outcome = await tryOnce(seat.program, active, tests, graceMs);
    const verdict = verdictOf(outcome);
    if (verdict.verdict === 'survived' || (await isClean(seat.program, tests, outcome, graceMs))) return verdict;
    seat.program.end();
    kept.delete(files.join());
    return isFirst || outcome.how === 'hung' ? verdict : evaluateRetained(active, tests, files);
  };

  /** What is reached while the files load needs a process of its own. */
  const evaluateStatic = async (active, tests, files) => {
    const seat = await openSeat(cwd, files, active);
    if (!seat.isLoaded) return { verdict: 'noticed', by: 'the tests could not be loaded' };
    const outcome = await tryOnce(seat.program, active, tests, graceMs);
    seat.program.end();
    return verdictOf(outcome);
  };

  return {
    evaluate: (active, tests, files, isStatic) => (isStatic ? evaluateStatic : evaluateRetained)(active, tests, files),
    close: () => {
      for (const { program } of kept.values()) program.end();
      kept.clear();
    },
  };
};
