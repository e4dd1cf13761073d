import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootTestKernel, contractWorlds, describeExtension, describeOnEngines, releaseFile } from '@svc/testing';

const root = dirname(dirname(releaseFile()));
const { extensions } = JSON.parse(readFileSync(releaseFile(), 'utf8')) as {
  extensions: Array<{ id: string; manifest: { tables?: readonly string[]; kinds?: readonly string[] } }>;
};
/** What an agent spent, and what it did, stays on its owner's books when it goes. */
const BOOKS: Readonly<Record<string, readonly string[]>> = { llm: ['usage'], audit: ['entries', 'details'] };

/** What keeps nothing of its own is the same on every database. */
const keepsRows = ({ manifest: { tables = [], kinds = [] } }: (typeof extensions)[number]): boolean => tables.length + kinds.length > 0;

describeOnEngines('the contract of extensions', ({ name }) => {
  const tested = extensions.filter((one) => name === 'SQLite' || keepsRows(one)).map(({ id }) => id);
  const worlds = contractWorlds(tested, (config) => bootTestKernel({ config }));
  for (const id of tested) describeExtension(id, { sources: join(root, 'extensions', id), keeps: BOOKS[id] ?? [], worlds, isOnSecondDatabase: name !== 'SQLite' });
});
