/** The files of a skill before they are written: from an archive, a folder or an address. */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type ArchiveLimits, archivePolicy, inMegabytes, isSvcError } from '@svc/api';
import { extract } from 'tar-stream';
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';
import { skillErrors } from '../errors.js';
import { mainFileOf } from '../format/skill.js';

const MB = 1024 * 1024;
export const PACK_LIMITS: ArchiveLimits = { bytes: 64 * MB, fileBytes: 10 * MB, count: 2_000 };
/** A longer tar has headers and padding alone. */
const TAR_BYTES = PACK_LIMITS.bytes + PACK_LIMITS.count * 5 * 512;
const MAX_RATIO = 100;
/** Small files may be packed by more. */
const RATIO_FREE_BYTES = MB;
const LINK_MODE = 0o120000;
const KIND_MODE = 0o170000;
/** Nothing of a skill. */
const LEFT_OUT = /^(?:__MACOSX\/|\.git\/|\.git$)|(?:^|\/)\.DS_Store$/;
const PROGRAM = 0o111;

export interface PackFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isProgram: boolean;
}

export type ArchiveKind = 'zip' | 'tar' | 'tar.gz';

/** By its first bytes; undefined for what is no archive. */
export const archiveKindOf = (bytes: Uint8Array): ArchiveKind | undefined => {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return 'zip';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'tar.gz';
  return Buffer.from(bytes.subarray(257, 262)).toString('latin1') === 'ustar' ? 'tar' : undefined;
};

/** All names, kinds and sizes are validated. Throws a `skills_archive_…` error. */
export const unpacked = async (bytes: Uint8Array, kind: ArchiveKind): Promise<PackFile[]> => {
  try {
    const files = kind === 'zip' ? await unzipped(bytes) : await untarred(kind === 'tar' ? bytes : gunzipped(bytes));
    if (files.length === 0) throw skillErrors.archive_broken('it has no files');
    return files;
  } catch (error) {
    if (isSvcError(error)) throw error;
    throw skillErrors.archive_broken(reasonOf(error)).with({ cause: error });
  }
};

const gunzipped = (bytes: Uint8Array): Uint8Array => {
  try {
    return gunzipSync(bytes, { maxOutputLength: TAR_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw skillErrors.archive_size('The unpacked archive', inMegabytes(PACK_LIMITS.bytes));
    throw error;
  }
};

const untarred = async (bytes: Uint8Array): Promise<PackFile[]> => {
  const accept = archivePolicy(skillErrors, PACK_LIMITS);
  const files: PackFile[] = [];
  const entries = extract();
  entries.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  for await (const entry of entries) {
    const { name, type, size = 0, mode = 0 } = entry.header;
    const path = name.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
    if (path === '' || path === '.') {
      entry.resume();
      continue;
    }
    if (type === 'symlink' || type === 'link') throw skillErrors.archive_link(name);
    if (type !== 'file' && type !== 'directory') throw skillErrors.archive_path(name, 'is neither a file nor a folder');
    if (name.startsWith('/')) throw skillErrors.archive_path(name, 'is absolute');
    accept({ path, kind: type === 'file' ? 'file' : 'folder', size: type === 'file' ? size : 0 });
    const parts: Uint8Array[] = [];
    // Its declarations leave open what a stream of bytes gives.
    for await (const chunk of entry as AsyncIterable<Uint8Array>) parts.push(chunk);
    if (type === 'file') files.push({ path, bytes: Buffer.concat(parts), isProgram: (mode & PROGRAM) !== 0 });
  }
  return files;
};

const unzipped = (bytes: Uint8Array): Promise<PackFile[]> =>
  new Promise((resolve, reject) => {
    const accept = archivePolicy(skillErrors, PACK_LIMITS);
    const files: PackFile[] = [];
    fromBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { lazyEntries: true, decodeStrings: true, validateEntrySizes: true }, (fault, zip) => {
      if (fault) return reject(fault);
      zip.on('error', reject);
      zip.on('end', () => resolve(files));
      zip.on('entry', (entry: Entry) => {
        zipEntry(zip, entry, accept).then((file) => {
          if (file) files.push(file);
          zip.readEntry();
        }, reject);
      });
      zip.readEntry();
    });
  });

const zipEntry = async (zip: ZipFile, entry: Entry, accept: ReturnType<typeof archivePolicy>): Promise<PackFile | undefined> => {
  const { fileName, uncompressedSize, compressedSize } = entry;
  const mode = entry.externalFileAttributes >>> 16;
  if ((mode & KIND_MODE) === LINK_MODE) throw skillErrors.archive_link(fileName);
  const isFolder = fileName.endsWith('/');
  const path = fileName.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  if (path === '' || path === '.') return undefined;
  if (entry.isEncrypted()) throw skillErrors.archive_path(fileName, 'is encrypted');
  accept({ path, kind: isFolder ? 'folder' : 'file', size: isFolder ? 0 : uncompressedSize });
  if (isFolder) return undefined;
  if (uncompressedSize > RATIO_FREE_BYTES && uncompressedSize > compressedSize * MAX_RATIO) throw skillErrors.archive_path(fileName, `unpacks to more than ${MAX_RATIO} times its size`);
  return { path, bytes: await entryBytes(zip, entry), isProgram: (mode & PROGRAM) !== 0 };
};

const entryBytes = (zip: ZipFile, entry: Entry): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    zip.openReadStream(entry, (fault, stream) => {
      if (fault) return reject(fault);
      const parts: Uint8Array[] = [];
      stream.on('data', (part: Uint8Array) => parts.push(part));
      stream.on('error', reject);
      stream.on('end', () => resolve(Buffer.concat(parts)));
    });
  });

const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  if (/incorrect header check/.test(text)) return 'it is not a gzip file';
  if (/unexpected end/i.test(text)) return 'it ends in the middle';
  return text.replace(/\.$/, '');
};

/** Those of one skill: below the folder that has SKILL.md or skill.toml. Of several, `wanted` names one. */
export const filesOfSkill = (all: readonly PackFile[], wanted: string | undefined, label: string): { readonly files: PackFile[]; readonly folder: string } => {
  const files = all.filter(({ path }) => !LEFT_OUT.test(path));
  const folders = [...new Set(files.map(({ path }) => posix.dirname(path)))]
    .filter((folder) => mainFileOf(namesIn(files, folder)) !== undefined)
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  // A skill in the folder of another is an example of it.
  const tops = folders.filter((folder) => !folders.some((other) => other !== folder && (other === '.' || folder.startsWith(`${other}/`))));
  const asked = wanted?.replace(/^\.?\/+|\/+$/g, '');
  const found = asked === undefined || asked === '' ? tops : folders.filter((folder) => folder === asked || folder.endsWith(`/${asked}`));
  const [folder] = found;
  if (folder === undefined) throw skillErrors.no_skill(asked === undefined ? label : `${label} at ${asked}`);
  if (found.length > 1) throw skillErrors.which(label, found.slice(0, 20).join(', '));
  const below = folder === '.' ? '' : `${folder}/`;
  return { folder: folder === '.' ? '' : posix.basename(folder), files: files.filter(({ path }) => path.startsWith(below)).map((file) => ({ ...file, path: file.path.slice(below.length) })) };
};

const namesIn = (files: readonly PackFile[], folder: string): string[] => files.filter(({ path }) => posix.dirname(path) === folder).map(({ path }) => posix.basename(path));

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** Of all its files, whatever they were packed in. */
export const digestOf = (hashes: Readonly<Record<string, string>>): string =>
  sha256(
    Object.keys(hashes)
      .sort()
      .map((path) => `${hashes[path]}  ${path}\n`)
      .join(''),
  );

export const hashesOf = (files: readonly PackFile[]): Record<string, string> => Object.fromEntries(files.map(({ path, bytes }) => [path, sha256(bytes)]));
