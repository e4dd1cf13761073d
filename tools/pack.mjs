#!/usr/bin/env node
/**
 * Makes the packages that others install: dist/packages/<name>/ with a package.json of its own, and its tarball beside it.
 *
 *   node tools/pack.mjs                all of them
 *   node tools/pack.mjs api testing    some
 *
 * Prints the path of each tarball. What they are made of is built first.
 */
import { parseArgs } from 'node:util';
import { build } from './build/index.mjs';
import { reportFailures } from './build/report.mjs';
import { PACKAGES, pack } from './pack/packages.mjs';

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.find((name) => !Object.hasOwn(PACKAGES, name));
if (unknown) throw new Error(`there is no package called "${unknown}"; known: ${Object.keys(PACKAGES).join(', ')}`);
const { failures } = await build({});
reportFailures(failures);
if (failures.length) process.exitCode = 1;
else for (const name of positionals.length ? positionals : Object.keys(PACKAGES)) console.log(await pack(name));
