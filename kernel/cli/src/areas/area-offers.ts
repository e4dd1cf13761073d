/** What areas add to the command line, words and completions: those that came with svc, and those that were installed. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type AreaWord, areaWordsOf, type Completion, completionsOf } from '@svc/installer/commands';
import type { Settings } from '../settings.js';

interface Offers {
  readonly words: readonly AreaWord[];
  readonly completions: readonly Completion[];
}

/** As the build wrote them down. */
export const bundled = async (distDir: string): Promise<Offers> => {
  const file = path.join(distDir, 'commands.json');
  if (!existsSync(file)) return { words: [], completions: [] }; // extensions were never built here
  return JSON.parse(await readFile(file, 'utf8')) as Offers; // written by tools/build/release.mjs
};

/**
 * Of the extensions that were installed in this home, read from their packages: what the daemon validated when it installed
 * them. One that cannot be read adds nothing here; `svc ext list` says what is wrong with it.
 */
export const installed = async ({ dataDir }: Settings): Promise<readonly Offers[]> => {
  const dir = path.join(dataDir, 'extensions');
  if (!existsSync(path.join(dir, 'installed.json'))) return [];
  const [{ readPackage }, { readStoreFiles }] = await Promise.all([import('@svc/installer/read-package'), import('@svc/installer/records')]);
  const records = await readStoreFiles(dir).then(
    ({ records }) => records,
    () => [],
  );
  return Promise.all(
    records.map(async ({ folder, id }) => {
      try {
        const content = await readPackage(path.resolve(dir, folder));
        return { words: areaWordsOf(id, content.package.description, content.contributions, content.manifest.panels), completions: completionsOf(content.contributions) };
      } catch {
        return { words: [], completions: [] };
      }
    }),
  );
};

/** What Tab offers, those that came with svc first; they alone where `wanted` is one of them. */
export const areaCompletions = async (settings: Settings, distDir: string, wanted?: string): Promise<readonly Completion[]> => {
  const { completions } = await bundled(distDir);
  return completions.some(({ name }) => name === wanted) ? completions : [...completions, ...(await installed(settings)).flatMap((one) => one.completions)];
};
