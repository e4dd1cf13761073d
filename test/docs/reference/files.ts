/** The pages with generated parts, and what stands in them now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootTestKernel } from '@svc/testing';
import { ROOT } from '../../conformance/operations.js';
import { agentReference } from './agent-toml.js';
import { errorsReference } from './errors.js';
import { withGenerated } from './markdown.js';
import { settingsReference } from './settings.js';

export const COMMAND = 'node dist/test/test/docs/write-reference.program.js';

/** By file, its text as it should be. */
export const referenceFiles = async (): Promise<Record<string, string>> => {
  const kernel = await bootTestKernel({ config: '[extensions]\npreset = "full"\n' });
  const settings = await settingsReference(kernel.http);
  await kernel.stop();
  const parts = { 'kernel/cli/reference/settings.md': settings, 'kernel/cli/reference/agent-toml.md': agentReference(ROOT), 'kernel/cli/reference/errors.md': errorsReference(ROOT) };
  return Object.fromEntries(Object.entries(parts).map(([file, part]) => [file, withGenerated(readFileSync(join(ROOT, file), 'utf8'), COMMAND, part)]));
};
