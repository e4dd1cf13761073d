/**
 * Writes schemas/routes.served.json, the operations of the interface that this build serves, and schemas/names.served.json,
 * the names that stay with them, and the count in README.md. Run by hand after an operation was added on purpose; the conformance tests only compare.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootTestKernel } from '@svc/testing';
import { NAMES_FILE, recordedNames, servedNames } from './names.js';
import { SERVED_FILE, servedOperations, specOperations } from './operations.js';

const README = join(dirname(SERVED_FILE), '..', 'README.md');

const kernel = await bootTestKernel({ config: '[extensions]\npreset = "full"\n' });
const served = servedOperations(kernel.daemon.kernel);
const names = servedNames(kernel);
const kept = recordedNames();
await kernel.stop();
writeFileSync(SERVED_FILE, `${JSON.stringify(served, null, 2)}\n`);
// What stands in the record stays as it is: a name is never changed.
const all = { operations: { ...names.operations, ...kept.operations }, audit: { ...names.audit, ...kept.audit } };
writeFileSync(NAMES_FILE, `${JSON.stringify(all, null, 2)}\n`);
// README.md counts them, too.
writeFileSync(README, readFileSync(README, 'utf8').replace(/\d+ of them are served/, `${served.length} of them are served`));
process.stdout.write(`${served.length} of ${specOperations().length} operations are served; ${SERVED_FILE} and ${NAMES_FILE} say so.\n`);
