/** Changes that change nothing: tools/mutate/equivalent.json names each by its file, its line and the change, with the reason. */
import { readFileSync } from 'node:fs';

export const readEquivalents = (file) => JSON.parse(readFileSync(file, 'utf8'));

const isNamed = (entry, change) => entry.file === change.file && entry.line === change.lineText && entry.change === change.what;

/** The changes that remain, how many were left out, and the entries of these files that name nothing any more. */
export const withoutEquivalents = (changes, entries, files) => {
  const remaining = changes.filter((change) => !entries.some((entry) => isNamed(entry, change)));
  const stale = entries.filter((entry) => files.includes(entry.file) && !changes.some((change) => isNamed(entry, change)));
  return { remaining, left: changes.length - remaining.length, stale };
};
