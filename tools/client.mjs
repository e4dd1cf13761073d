#!/usr/bin/env node
/**
 * Writes kernel/client/src/generated/ from what the areas declare: the types of every operation, and the table of them.
 * Run it after an operation was added or changed, and commit the result; a test compares.
 *
 *   node tools/client.mjs            writes what is stale
 *   node tools/client.mjs --pack     makes dist/client besides: the package as others can install it
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { apiDocument } from './client/document.mjs';
import { generatedFiles, standing } from './client/generated.mjs';
import { packClient } from './client/pack.mjs';
import { fromRoot } from './build/paths.mjs';

const { values } = parseArgs({ options: { pack: { type: 'boolean', default: false } } });
const stale = Object.entries(await generatedFiles(await apiDocument())).filter(([file, text]) => standing(file) !== text);
for (const [file, text] of stale) {
  writeFileSync(file, text);
  console.log(`rewrote ${fromRoot(file)} (commit it)`);
}
if (stale.length === 0) console.log('kernel/client/src/generated is up to date');
if (values.pack) console.log(`packed ${await packClient()}`);
