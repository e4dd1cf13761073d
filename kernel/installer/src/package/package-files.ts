/** Which files of a folder are a package, and what each of them holds. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { installErrors } from '../errors.js';
import { archivePolicy, ARCHIVE_LIMITS, type ArchiveLimits } from '@svc/api';
import { canonicalJson } from './canonical-json.js';

export const SIGNATURE_FILE = 'SIGNATURE.json';
export const ROTATION_FILE = 'ROTATION.json';
/** Without these it is no package. */
export const REQUIRED_FILES = ['package.json', 'extension.json', 'contributions.json', 'dist/index.js'] as const;

const TOP_LEVEL = /^(?:(?:package|extension|contributions|SIGNATURE|ROTATION)\.json|(?:README|LICEN[CS]E|CHANGELOG|NOTICE)(?:\.[a-z]+)?)$/;

/** Whether a file of a source folder belongs to its package: what is known by name, and everything in dist/. */
export const isOfPackage = (path: string): boolean => path.startsWith('dist/') || TOP_LEVEL.test(path);

export interface PackageFile {
  readonly path: string;
  readonly size: number;
  readonly isProgram: boolean;
}

/** SHA-256 of each file, in hex, by its path. */
export type FileHashes = Readonly<Record<string, string>>;

/** The files of a source folder that its package has, by path. What lies beside them is not looked at. Rejects as an archive with them would. */
export const packageFilesIn = (dir: string, limits: ArchiveLimits = ARCHIVE_LIMITS): Promise<PackageFile[]> => filesIn(dir, limits, (path) => path === 'dist' || isOfPackage(path));

/** Every file of an unpacked package, by path. */
export const allFilesIn = (dir: string, limits: ArchiveLimits = ARCHIVE_LIMITS): Promise<PackageFile[]> => filesIn(dir, limits, () => true);

const filesIn = async (dir: string, limits: ArchiveLimits, isWanted: (path: string) => boolean): Promise<PackageFile[]> => {
  const accept = archivePolicy(installErrors, limits);
  const found: PackageFile[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const name of await readdir(join(dir, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (!isWanted(path)) continue;
      const about = await lstat(join(dir, path));
      if (about.isSymbolicLink()) throw installErrors.archive_link(path, await readlink(join(dir, path)));
      if (!about.isFile() && !about.isDirectory()) throw installErrors.archive_kind(path, 'neither a file nor a folder');
      accept({ path, kind: about.isFile() ? 'file' : 'folder', size: about.isFile() ? about.size : 0 });
      if (about.isDirectory()) await walk(path);
      else found.push({ path, size: about.size, isProgram: (about.mode & 0o100) !== 0 });
    }
  };
  await walk('');
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
};

export const hashFiles = async (dir: string, files: readonly Pick<PackageFile, 'path'>[]): Promise<FileHashes> => {
  const hashes: Array<[string, string]> = [];
  for (const { path } of files) hashes.push([path, await hashOf(join(dir, path))]);
  return Object.fromEntries(hashes);
};

const hashOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
};

/** Names the content of a package, signed or not: SHA-256 of the hashes of all its files but the signature. */
export const digestOf = (hashes: FileHashes): string =>
  createHash('sha256')
    .update(canonicalJson(withoutSignature(hashes)))
    .digest('hex');

export const withoutSignature = (hashes: FileHashes): FileHashes => Object.fromEntries(Object.entries(hashes).filter(([path]) => path !== SIGNATURE_FILE));
