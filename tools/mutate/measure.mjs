/** Measures one area: changes it in a copy of the checkout, and asks the tests about each change. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findChanges } from './changes.mjs';
import { copyCheckout } from './copy.mjs';
import { withoutEquivalents } from './equivalents.mjs';
import { instrument } from './instrument.mjs';
import { createEvaluator, survey } from './evaluation.mjs';
import { sampleOf, testsFor } from './selection.mjs';

const MAX_SHOWN = 90;

const oneLine = (text) => text.replace(/\s+/g, ' ').trim();

/** The parts of two texts that differ, with a little of what stands around them. */
const difference = (from, to) => {
  if (from.length + to.length <= MAX_SHOWN) return `${from} → ${to || 'nothing'}`;
  if (to === '') return `${from.slice(0, MAX_SHOWN)}… → nothing`;
  let start = 0;
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const around = (text) => `…${text.slice(Math.max(0, start - 25), text.length - Math.max(0, end - 25))}…`.slice(0, MAX_SHOWN);
  return `${around(from)} → ${around(to)}`;
};

/** `nth` tells changes apart that read alike. */
const changesOf = (root, file) => {
  const text = readFileSync(path.join(root, file), 'utf8');
  const lines = text.split('\n');
  const alike = new Map();
  return findChanges(text).map((change) => {
    const line = text.slice(0, change.start).split('\n').length;
    const lineText = lines[line - 1].trim();
    const what = difference(oneLine(text.slice(change.start, change.end)), oneLine(change.to));
    const nth = alike.get(`${lineText} ${what}`) ?? 0;
    alike.set(`${lineText} ${what}`, nth + 1);
    return { ...change, file, line, lineText, what, nth };
  });
};

const compileIn = (dir, changes) => {
  for (const file of new Set(changes.map((change) => change.file))) {
    const target = path.join(dir, file);
    const own = changes.filter((change) => change.file === file);
    writeFileSync(target, instrument(readFileSync(target, 'utf8'), own));
  }
};

const evaluateOne = async (evaluate, id, stages, filesOf, isStatic) => {
  for (const tests of stages) {
    const result = await evaluate.evaluate(id, tests, filesOf(tests), isStatic);
    if (result.verdict === 'noticed') return result;
  }
  return { verdict: stages.length ? 'survived' : 'not reached' };
};

const evaluateAll = async (evaluate, changes, found, { isOwn, budgetMs, onVerdict }) => {
  // The own files are loaded together, once for many changes; of the others only those that are asked.
  const ownFiles = [...new Set(found.tests.map(({ file }) => file).filter(isOwn))];
  const filesOf = (tests) => (isOwn(tests[0].file) ? ownFiles : [...new Set(tests.map(({ file }) => file))].sort());
  const results = [];
  for (const change of changes) {
    const stages = testsFor(change.id, found, isOwn, budgetMs);
    const result = await evaluateOne(evaluate, change.id, stages, filesOf, found.atLoad.has(change.id));
    results.push({ file: change.file, line: change.line, lineText: change.lineText, kind: change.kind, what: change.what, nth: change.nth, ...result, tests: stages.flat().length });
    onVerdict(results, changes.length);
  }
  return results;
};

/**
 * `build(dir)` makes the copy's test files from the changed sources and names them, relative to the copy.
 * `isWanted` narrows what is tried, before the sample is drawn. `graceMs` is what a run may
 * take beyond its plain time before it counts as hung.
 */
export const measure = async ({ root, files, equivalents, isWanted, sample, seed, build, isOwn, budgetMs, graceMs, onPhase, onVerdict }) => {
  const all = files.flatMap((file) => changesOf(root, file));
  const { remaining, left, stale } = withoutEquivalents(all, equivalents, files);
  const changes = sampleOf(remaining.filter(isWanted), sample, seed).map((change, index) => ({ ...change, id: index + 1 }));
  const copy = copyCheckout(root);
  let evaluate;
  const leave = () => {
    evaluate?.close();
    process.exit(130);
  };
  // A second Ctrl-C must not cut off what the first one began: the copy is removed on the way out.
  process.on('SIGINT', leave).on('SIGTERM', leave).once('exit', copy.remove);
  try {
    compileIn(copy.dir, changes);
    onPhase(`${changes.length} of ${remaining.length} changes; building`);
    const testFiles = await build(copy.dir);
    onPhase(`running ${testFiles.length} test files without a change`);
    const found = await survey(copy.dir, testFiles);
    for (const { title, message } of found.failed) onPhase(`left out, because it fails without a change: ${title}: ${message}`);
    onPhase(`${found.tests.length} tests reach what they reach; trying each change`);
    evaluate = createEvaluator(copy.dir, graceMs);
    const results = await evaluateAll(evaluate, changes, found, { isOwn, budgetMs, onVerdict });
    return { results, equivalent: left, stale, possible: remaining.length };
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave).off('exit', copy.remove);
    evaluate?.close();
    copy.remove();
  }
};
