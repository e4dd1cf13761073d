#!/usr/bin/env node
/**
 * How many small wrong turns of an area's source do the tests notice?
 *
 *   npm run mutate -- core                          every change in kernel/core/src
 *   npm run mutate -- journal --sample 100          a hundred of them; --seed N draws others
 *   npm run mutate -- runs --file waiting           only in files whose path contains the word
 *   npm run mutate -- core --again                  what the last report says was not noticed, the rest counts on
 *   npm run mutate -- core --across 0               seconds of other packages' tests per change (10)
 *
 * An area is a package's folder, or a folder of kernel/platform/src. Works in a copy of the checkout. The report is
 * kept in dist/mutation/. Changes that change nothing stand in tools/mutate/equivalent.json.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { DIST, fromRoot, inRoot, ROOT } from './build/paths.mjs';
import { readEquivalents } from './mutate/equivalents.mjs';
import { measure } from './mutate/measure.mjs';
import { isNoticed, renderShares } from './mutate/table.mjs';
import { isFull } from './testing/costs.mjs';

const EVERY = 25;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
    again: { type: 'boolean', default: false },
    across: { type: 'string', default: '10' },
  },
});

const say = (text) => process.stderr.write(`mutate: ${text}\n`);

/** Where an area's source is, and which group of tests is its own. */
const placeOf = (area) => {
  const places = [`kernel/${area}/src`, `extensions/${area}/src`, `kernel/platform/src/${area}`];
  const dir = places.find((place) => existsSync(inRoot(place)));
  if (!dir) throw new Error(`there is no area "${area}"; looked for ${places.join(', ')}`);
  return { dir, group: dir.split('/').slice(0, 2).join('/') };
};

const sourcesIn = (dir) =>
  readdirSync(inRoot(dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => fromRoot(path.join(entry.parentPath, entry.name)))
    .filter((file) => file.includes(values.file))
    .sort();

/** The copy builds itself, with its own tools. */
const buildIn = (group) => async (dir) => {
  const { build, builtTests } = await import(pathToFileURL(path.join(dir, 'tools/build/index.mjs')).href);
  const wanted = (name) => name === group || (name.startsWith('test/') && values.across !== '0');
  const { failures } = await build({ tests: wanted });
  if (failures.length) throw new Error(`the changed source does not build: ${failures[0].target}: ${failures[0].lines.join(' ')}`);
  return builtTests(wanted)
    .flatMap(({ files }) => files)
    .filter((file) => !isFull(file));
};

const reportFile = (area) => path.join(DIST, 'mutation', `${area}.json`);

const isSame = (one, other) => one.file === other.file && one.lineText === other.lineText && one.what === other.what && one.nth === other.nth;
const byPlace = (one, other) => (one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1);

/** What the last report says, with --again. */
const lastResults = (area) => {
  if (!values.again) return [];
  if (!existsSync(reportFile(area))) throw new Error(`there is no report of ${area} yet; measure it once without --again`);
  return JSON.parse(readFileSync(reportFile(area), 'utf8')).results;
};

/** A report whose survivors are not found any more would pass for one that has none. */
const refuseOutdated = (area, last, measured) => {
  const missed = last.filter((result) => !isNoticed(result)).length;
  const lost = missed - measured.results.length;
  if (lost <= 0) return;
  if (lost === missed) throw new Error(`the last report of ${area} does not fit its source any more; measure it without --again`);
  say(`${area}: ${lost} of ${missed} changes of the last report are not in the source any more`);
};

const keep = (measured) => {
  mkdirSync(path.dirname(reportFile(measured.area)), { recursive: true });
  writeFileSync(reportFile(measured.area), JSON.stringify({ at: new Date().toISOString(), ...values, ...measured }, null, 1));
};

const measureArea = async (area) => {
  const { dir, group } = placeOf(area);
  const startedAt = Date.now();
  const last = lastResults(area);
  const before = last.filter(isNoticed);
  const onVerdict = (results, total) => {
    if (results.length % EVERY && results.length !== total) return;
    const minutes = (Date.now() - startedAt) / 60_000;
    say(`${area}: ${results.length} of ${total}, ${results.filter(isNoticed).length} noticed, ${minutes.toFixed(1)} min`);
    keep({ area, possible: total, results: [...before, ...results].sort(byPlace) });
  };
  const measured = await measure({
    root: ROOT,
    files: sourcesIn(dir),
    equivalents: readEquivalents(inRoot('tools/mutate/equivalent.json')),
    isWanted: (change) => !values.again || last.some((result) => !isNoticed(result) && isSame(result, change)),
    sample: Number(values.sample ?? 0),
    seed: Number(values.seed),
    build: buildIn(group),
    isOwn: (file) => file.startsWith(`dist/test/${group}/`),
    budgetMs: Number(values.across) * 1000,
    onPhase: (text) => say(`${area}: ${text}`),
    onVerdict,
  });
  refuseOutdated(area, last, measured);
  for (const { file, line, change } of measured.stale) say(`equivalent.json names what is not there any more: ${file}: ${line}: ${change}`);
  const all = { area, ...measured, results: [...before, ...measured.results].sort(byPlace) };
  keep(all);
  return all;
};

const main = async () => {
  if (positionals.length === 0) throw new Error('name an area, e.g. npm run mutate -- core');
  const areas = [];
  for (const area of positionals) areas.push(await measureArea(area));
  console.log(renderShares(areas));
};

try {
  await main();
} catch (error) {
  console.error(`mutate: ${error.message}`);
  process.exitCode = 1;
}
