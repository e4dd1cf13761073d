/** What the commands of authors have in common: their folder, their bundler, and how their errors are told. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSvcError } from '@svc/api';
import { type Bundler, type Built, buildExtension, findBundler } from '@svc/installer/author';
import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';

/** Rejects with a Failure for what the author can fix. */
export const authored = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw new Failure(error.message, { code: error.code, fix: error.hint, ...(error.details === undefined ? {} : { details: error.details }) });
  }
};

/** The esbuild of the extension, or that of this command. */
export const bundlerOf = (dir: string): Promise<Bundler> => findBundler(dir, fileURLToPath(import.meta.url));

export const folderOf = (folder: string): string => path.resolve(folder);

export const builtLine = ({ out }: Cli, { manifest, package: { version }, contributions, bundleBytes }: Built): string => {
  const counts = [
    [contributions.routes.length, 'route'],
    [contributions.tools.length, 'tool'],
    [contributions.taps.length, 'tap'],
    [Object.keys(manifest.provides ?? {}).length, 'service'],
    [(manifest.tables ?? []).length, 'table'],
  ] as const;
  const adds = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}${count === 1 ? '' : 's'}`);
  return `${out.green('✓')} ${manifest.id} ${version}: ${adds.join(', ') || 'nothing visible'}; dist/index.js ${(bundleBytes / 1024).toFixed(1)} KB`;
};

/** For commands that end: code of the extension runs here once, and what that leaves open does not keep the command. */
export const builtOf = async (dir: string): Promise<Built> => {
  try {
    return await authored(async () => buildExtension(dir, await bundlerOf(dir)));
  } catch (error) {
    // It fires only while something else keeps the process: its own last words are long said.
    setTimeout(() => process.exit(), LAST_WORDS_MS).unref();
    throw error;
  }
};

const LAST_WORDS_MS = 500;
