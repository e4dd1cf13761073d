/**
 * Writes schemas/routes.served.json, the operations of the interface that this build serves, and schemas/names.served.json,
 * the names that stay with them, and the counts in the pages for people. Run by hand after an operation was added on purpose; the conformance tests only compare.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootTestKernel } from '@svc/testing';
import { NAMES_FILE, recordedNames, servedNames } from './names.js';
import { SERVED_FILE, servedOperations, specOperations } from './operations.js';

const ROOT = join(dirname(SERVED_FILE), '..');

const kernel = await bootTestKernel({ config: '[extensions]\npreset = "full"\n' });
const served = servedOperations(kernel.daemon.kernel);
const names = servedNames(kernel);
const kept = recordedNames();
await kernel.stop();
writeFileSync(SERVED_FILE, `${JSON.stringify(served, null, 2)}\n`);
// What stands in the record stays as it is: a name is never changed.
const all = { operations: { ...names.operations, ...kept.operations }, audit: { ...names.audit, ...kept.audit } };
writeFileSync(NAMES_FILE, `${JSON.stringify(all, null, 2)}\n`);
// Two pages for people count them, too.
for (const page of ['README.md', 'kernel/cli/reference/coming-from.md']) {
  const file = join(ROOT, page);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\d+( of them are served| of the 341 operations so far)/, `${served.length}$1`));
}
process.stdout.write(`${served.length} of ${specOperations().length} operations are served; ${SERVED_FILE} and ${NAMES_FILE} say so.\n`);
