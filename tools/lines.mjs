#!/usr/bin/env node
/**
 * What an operation costs in lines: for each area its routes and the code by kind, without blank lines and comments.
 *
 *   node tools/lines.mjs            a table
 *   node tools/lines.mjs --json     the same figures
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inRoot } from './build/paths.mjs';

export const KINDS = ['routes', 'rules', 'store', 'page', 'cli', 'tests'];
const COUNTED = /\.(ts|tsx|css)$/;

/** What a file of an area is for, by its path inside the area. */
export const kindOf = (file) => {
  const [folder] = file.split('/');
  if (folder === 'test') return 'tests';
  if (folder === 'panels' || folder === 'page') return 'page';
  if (folder === 'cli') return 'cli';
  if (folder === 'migrations' || /(^|\/)(tables|rows|store|[a-z-]+-store|[a-z-]+-rows)\.ts$/.test(file)) return 'store';
  return file.startsWith('src/routes/') || file === 'src/routes.ts' || file === 'src/contract.ts' ? 'routes' : 'rules';
};

/** Lines that hold code: neither blank nor all comment. */
export const linesOf = (text) => {
  let isInside = false;
  let count = 0;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (isInside) {
      isInside = !line.includes('*/');
      continue;
    }
    if (line.startsWith('/*')) isInside = !line.includes('*/');
    else if (line !== '' && !line.startsWith('//')) count += 1;
  }
  return count;
};

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && COUNTED.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !file.includes('/node_modules/') && !file.endsWith('.d.ts'));

const noLines = () => Object.fromEntries(KINDS.map((kind) => [kind, 0]));

/** `{ area, operations, routes, rules, … }` of one area. */
const countArea = (folder) => {
  const { routes } = JSON.parse(readFileSync(path.join(folder, 'contributions.json'), 'utf8'));
  const lines = noLines();
  for (const file of filesBelow(folder)) lines[kindOf(path.relative(folder, file))] += linesOf(readFileSync(file, 'utf8'));
  return { area: path.basename(folder), operations: routes.length, ...lines };
};

export const sumOf = (rows) => rows.reduce((sum, row) => Object.fromEntries(Object.keys(sum).map((key) => [key, sum[key] + row[key]])), { operations: 0, ...noLines() });

export const countAll = () => {
  const areas = readdirSync(inRoot('extensions'), { withFileTypes: true }).filter((entry) => entry.isDirectory() && readdirSync(inRoot('extensions', entry.name)).includes('contributions.json'));
  return areas.map(({ name }) => countArea(inRoot('extensions', name)));
};

const COLUMNS = ['operations', ...KINDS];

/** Aligned, with the sum and what one operation costs at its end. */
export const tableOf = (rows) => {
  const sum = sumOf(rows);
  const each = Object.fromEntries(COLUMNS.map((key) => [key, key === 'operations' ? '' : Math.round(sum[key] / sum.operations)]));
  const lines = [['area', ...COLUMNS], ...[...rows, { area: 'all', ...sum }, { area: 'per operation', ...each }].map((row) => [row.area, ...COLUMNS.map((key) => String(row[key]))])];
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) => line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  '));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  const rows = countAll();
  if (values.json) console.log(JSON.stringify(rows, null, 2));
  else for (const line of tableOf(rows)) console.log(line);
}
