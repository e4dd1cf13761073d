#!/usr/bin/env node
/**
 * Makes the packages that others install: dist/packages/node_modules/@svc/<name>/ with a package.json of its own, and its
 * tarball in dist/packages.
 *
 *   node tools/pack.mjs                all of them
 *   node tools/pack.mjs api testing    some
 *   node tools/pack.mjs --linked       the folders alone, if they are not fresh: `svc ext create` links them
 *
 * Prints the path of each tarball, or of the folder. What they are made of is built first.
 */
import { parseArgs } from 'node:util';
import { build } from './build/index.mjs';
import { reportFailures } from './build/report.mjs';
import { fillLinked } from './pack/linked.mjs';
import { PACKAGES, pack } from './pack/packages.mjs';

const {
  positionals,
  values: { linked },
} = parseArgs({ allowPositionals: true, options: { linked: { type: 'boolean', default: false } } });
const unknown = positionals.find((name) => !Object.hasOwn(PACKAGES, name));
if (unknown) throw new Error(`there is no package called "${unknown}"; known: ${Object.keys(PACKAGES).join(', ')}`);
const { failures } = await build({});
reportFailures(failures);
if (failures.length) process.exitCode = 1;
else if (linked) console.log(await fillLinked());
else for (const name of positionals.length ? positionals : Object.keys(PACKAGES)) console.log(await pack(name));
