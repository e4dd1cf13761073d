/** Writes the generated parts of kernel/cli/reference anew, after a setting, a key of agent.toml or an error changed. The test only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../conformance/operations.js';
import { referenceFiles } from './reference/files.js';

for (const [file, text] of Object.entries(await referenceFiles())) {
  const isStale = readFileSync(join(ROOT, file), 'utf8') !== text;
  if (isStale) writeFileSync(join(ROOT, file), text);
  process.stdout.write(`${isStale ? 'rewrote' : 'stands as it is:'} ${file}\n`);
}
