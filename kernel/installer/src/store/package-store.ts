/**
 * The folders of packages: `store/<id>/<version>-<digest8>/`, read-only, and never changed once they are there.
 * `staging/` holds what is not installed yet; whatever is found there at a start was cut off.
 */
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { canonicalJson } from '../package/canonical-json.js';
import { allFilesIn, digestOf, hashFiles } from '../package/package-files.js';
import { installErrors } from '../errors.js';
import type { InstalledRecord, PackageRecord } from './records.js';

export interface PackageStore {
  /** An empty folder of its own. */
  newStage(): Promise<string>;
  dropStage(dir: string): Promise<void>;
  /** Moves an unpacked package to its place and answers with that, relative to the store's folder. The same package lies there once. */
  keep(packageDir: string, of: { readonly id: string; readonly version: string; readonly digest: string }): Promise<string>;
  dirOf(record: Pick<PackageRecord, 'folder'>): string;
  isThere(record: Pick<PackageRecord, 'folder'>): Promise<boolean>;
  /** Removes what no record names, and what is left of changes that were cut off. `isStart`: staging too. */
  sweep(records: readonly InstalledRecord[], isStart: boolean): Promise<void>;
}

export const createPackageStore = (root: string): PackageStore => {
  const staging = join(root, 'staging');
  const dirOf = ({ folder }: Pick<PackageRecord, 'folder'>): string => (isAbsolute(folder) ? folder : join(root, folder));
  return {
    newStage: async () => {
      await mkdir(staging, { recursive: true, mode: 0o700 });
      return mkdtemp(join(staging, 's-'));
    },
    dropStage: removeTree,
    keep: async (packageDir, { id, version, digest }) => {
      const files = await allFilesIn(packageDir);
      const hashes = canonicalJson(await hashFiles(packageDir, files));
      for (const { path, isProgram } of files) await chmod(join(packageDir, path), isProgram ? 0o555 : 0o444);
      await mkdir(join(root, 'store', id), { recursive: true, mode: 0o700 });
      // Another one of that name was signed by somebody else, or is damaged, and may be in use: it is left alone.
      for (let count = 1; ; count += 1) {
        const folder = `store/${id}/${version}-${digest.slice(0, 8)}${count === 1 ? '' : `-${count}`}`;
        const there = await contentOf(join(root, folder));
        if (there === hashes) return folder;
        if (there !== undefined) continue;
        await rename(packageDir, join(root, folder));
        return folder;
      }
    },
    dirOf,
    isThere: async (record) => (await stat(dirOf(record)).catch(() => undefined))?.isDirectory() === true,
    sweep: async (records, isStart) => {
      if (isStart) {
        await removeTree(staging);
        for (const name of await namesIn(root)) if (/^\.svc-[0-9a-f]+\.tmp$/.test(name)) await rm(join(root, name), { force: true });
      }
      const before = records.flatMap(({ trial }) => (trial ? [trial.before] : []));
      const wanted = new Set([...records, ...before].flatMap((record) => [record, ...record.previous, ...(record.pending ? [record.pending] : [])]).map(({ folder }) => folder));
      for (const id of await namesIn(join(root, 'store'))) {
        const all = await namesIn(join(root, 'store', id));
        const unwanted = all.filter((name) => !wanted.has(`store/${id}/${name}`));
        for (const name of unwanted) await removeTree(join(root, 'store', id, name));
        if (unwanted.length === all.length) await removeTree(join(root, 'store', id));
      }
    },
  };
};

/** The hashes of all files as one text; undefined where there is no folder, and empty for one that holds what it may not. */
const contentOf = async (dir: string): Promise<string | undefined> => {
  if (!(await stat(dir).catch(() => undefined))) return undefined;
  return allFilesIn(dir)
    .then((files) => hashFiles(dir, files))
    .then(canonicalJson, () => '');
};

/** Throws `install_modified` unless the folder holds exactly what was installed; answers with the hash of each file. */
export const intactFiles = async (id: string, dir: string, digest: string): Promise<Readonly<Record<string, string>>> => {
  const hashes = await allFilesIn(dir)
    .then((files) => hashFiles(dir, files))
    .catch((cause: unknown) => {
      throw installErrors.modified(id, 'its folder', 'is missing or contains forbidden files').with({ cause });
    });
  if (digestOf(hashes) !== digest) throw installErrors.modified(id, 'its folder', 'contains files that were not installed, or lacks some');
  return hashes;
};

const namesIn = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);

const removeTree = (dir: string): Promise<void> => rm(dir, { recursive: true, force: true, maxRetries: 2 });
