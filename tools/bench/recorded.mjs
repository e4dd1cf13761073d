/** The ratios that were recorded last, in the repository: what a run with --guard is held against. */
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';
import { merged } from './guard.mjs';

const FILE = inRoot('tools/bench/recorded.json');

export const readRecorded = () => JSON.parse(readFileSync(FILE, 'utf8')).rows;

/** Keeps what other measurements have recorded. */
export const record = (results, about) => {
  writeFileSync(FILE, `${JSON.stringify({ ...about, rows: merged(readRecorded(), results) }, null, 2)}\n`);
  return FILE;
};
