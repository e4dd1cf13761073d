/** Leaves out what ignore files name, as git reads them: the innermost file that says something of an entry decides. */
import ignore, { type Ignore } from 'ignore';
import type { SiftInput, SiftOutput } from './search-workers.js';

interface Rules {
  readonly folder: string;
  readonly matcher: Ignore;
}

const siftEntries = ({ rules, folders, glob }: SiftInput): SiftOutput => {
  const known: Rules[] = rules.map(({ folder, text }) => ({ folder, matcher: ignore().add(text) }));
  const wanted = glob === null ? undefined : ignore().add(glob);
  const out: { files: string[]; folders: Array<{ folder: string; rules: number[] }> } = { files: [], folders: [] };
  for (const one of folders) {
    const here = one.rules.flatMap((index) => known[index] ?? []).reverse();
    const counts = (path: string): boolean => !isIgnored(here, path);
    for (const name of one.files) {
      const path = one.folder + name;
      if ((wanted?.ignores(path) ?? true) && counts(path)) out.files.push(path);
    }
    for (const name of one.folders) if (counts(`${one.folder}${name}/`)) out.folders.push({ folder: `${one.folder}${name}/`, rules: [...one.rules] });
  }
  return out;
};

const isIgnored = (innermostFirst: readonly Rules[], path: string): boolean => {
  for (const { folder, matcher } of innermostFirst) {
    const { ignored, unignored } = matcher.test(path.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
};

export default siftEntries;
