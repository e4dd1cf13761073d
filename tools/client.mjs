#!/usr/bin/env node
/**
 * Writes kernel/client/src/generated/ from what the areas declare: the types of every operation (built, not committed), and the table of them (committed).
 * `npm run build` and `npm run lint` run it too; a test compares the table.
 *
 *   node tools/client.mjs            writes what is stale
 *   node tools/client.mjs --pack     makes dist/client besides: the package as others can install it
 */
import { parseArgs } from 'node:util';
import { writeGenerated } from './client/generated.mjs';
import { packClient } from './client/pack.mjs';
import { fromRoot } from './build/paths.mjs';

const { values } = parseArgs({ options: { pack: { type: 'boolean', default: false } } });
const written = await writeGenerated();
for (const file of written) console.log(`rewrote ${fromRoot(file)}`);
if (written.length === 0) console.log('kernel/client/src/generated is up to date');
if (values.pack) console.log(`packed ${await packClient()}`);
