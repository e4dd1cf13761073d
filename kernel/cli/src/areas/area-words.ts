/** The words that areas add to the command line: of those that came with svc, and of those that were installed. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type AreaWord, areaWordsOf } from '@svc/installer/commands';
import { COMMANDS } from '../command-table.js';
import type { Settings } from '../settings.js';

/** As the build wrote them down. */
export const bundledWords = async (distDir: string): Promise<readonly AreaWord[]> => {
  const file = path.join(distDir, 'commands.json');
  if (!existsSync(file)) return []; // extensions were never built here
  return (JSON.parse(await readFile(file, 'utf8')) as { words: AreaWord[] }).words; // written by tools/build/release.mjs
};

/**
 * Of the extensions that were installed in this home, read from their packages: what the daemon validated when it installed
 * them. One that cannot be read adds nothing here; `svc ext list` says what is wrong with it.
 */
export const installedWords = async ({ dataDir }: Settings): Promise<readonly AreaWord[]> => {
  const dir = path.join(dataDir, 'extensions');
  if (!existsSync(path.join(dir, 'installed.json'))) return [];
  const [{ readPackage }, { readStoreFiles }] = await Promise.all([import('@svc/installer/package'), import('@svc/installer/install')]);
  const records = await readStoreFiles(dir).then(
    ({ records }) => records,
    () => [],
  );
  const found = await Promise.all(
    records.map(async ({ folder, id }) => {
      try {
        const content = await readPackage(path.resolve(dir, folder));
        return areaWordsOf(id, content.package.description, content.contributions);
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
};

/** All of them by word; those that came with svc alone where `wanted` is one of them. The command line itself comes first, then what came with svc, then what was installed first. */
export const areaWords = async (settings: Settings, distDir: string, wanted?: string): Promise<ReadonlyMap<string, AreaWord>> => {
  const words = new Map<string, AreaWord>();
  const bundled = await bundledWords(distDir);
  const isBundled = bundled.some(({ synonyms = [], word }) => word === wanted || synonyms.some((one) => one.word === wanted));
  for (const word of [...bundled, ...(isBundled ? [] : await installedWords(settings))]) if (!Object.hasOwn(COMMANDS, word.word) && !words.has(word.word)) words.set(word.word, word);
  return words;
};
