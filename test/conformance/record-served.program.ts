/**
 * Writes schemas/routes.served.json: the operations of the interface that this build serves.
 * Run by hand after an operation was added on purpose; the conformance tests only compare.
 */
import { writeFileSync } from 'node:fs';
import { bootTestKernel } from '@svc/testing';
import { SERVED_FILE, servedOperations, specOperations } from './operations.js';

const { daemon, stop } = await bootTestKernel({ config: '[extensions]\npreset = "full"\n' });
const served = servedOperations(daemon.kernel);
writeFileSync(SERVED_FILE, `${JSON.stringify(served, null, 2)}\n`);
await stop();
process.stdout.write(`${served.length} of ${specOperations().length} operations are served; ${SERVED_FILE} says so.\n`);
