#!/usr/bin/env node
/** Writes kernel/api/REFERENCE.md from the types of @svc/api. Run it after the API changed, and commit the result. `--check` only says, by its exit code, whether the page is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fromRoot } from './build/paths.mjs';
import { PAGE, pageText } from './api-page/page.mjs';

const text = pageText();
if (process.argv.includes('--check')) process.exitCode = readFileSync(PAGE, 'utf8') === text ? 0 : 1;
else if (readFileSync(PAGE, 'utf8') === text) console.log(`${fromRoot(PAGE)} is up to date`);
else {
  writeFileSync(PAGE, text);
  console.log(`rewrote ${fromRoot(PAGE)} (commit it)`);
}
