import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeExtension, describeOnEngines, releaseFile } from '@svc/testing';

const root = dirname(dirname(releaseFile()));
const { extensions } = JSON.parse(readFileSync(releaseFile(), 'utf8')) as { extensions: Array<{ id: string }> };
/** What an agent spent stays on its owner's books when it goes. */
const BOOKS: Readonly<Record<string, readonly string[]>> = { llm: ['usage'] };

describeOnEngines('the contract of extensions', () => {
  for (const { id } of extensions) describeExtension(id, { sources: join(root, 'extensions', id), keeps: BOOKS[id] ?? [] });
});
