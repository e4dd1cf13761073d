/**
 * What may stand in an archive, validated by name, kind and size before anything of it is written.
 *
 * A1  Files and folders alone: whoever reads the archive refuses links and devices.
 * A2  A path is relative, NFC, without `.`, `..`, backslashes, drive letters and unseen characters.
 * A3  No two paths that a file system without upper and lower case takes for one; nothing is both file and folder.
 * A4  No more bytes, files and folders than its limits; an extension has at most 200 MB, 50 MB in one file, 20,000 files and folders.
 */
const MB = 1024 * 1024;

export interface ArchiveLimits {
  /** Bytes of all files together. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Files and folders. */
  readonly count: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = { bytes: 200 * MB, fileBytes: 50 * MB, count: 20_000 };

const MAX_PATH_BYTES = 1_000;
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 32;
/** Also U+FFFD, which stands where the bytes were no text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\uFFFD]/u;

export interface ArchiveEntry {
  /** Below the root of what the archive holds, without a slash at its end. */
  readonly path: string;
  readonly kind: 'file' | 'folder';
  /** In bytes; 0 for folders. */
  readonly size: number;
}

/** What is thrown for an entry that may not be. */
export interface ArchiveRefusals {
  archive_path(path: string, why: string): Error;
  /** Both are one file on some systems; the same path where it is there twice. */
  archive_case(one: string, other: string): Error;
  archive_count(limit: number): Error;
  archive_size(what: string, limit: string): Error;
}

/** Why no file may have this path; undefined when it may. The path is relative to the root of what the archive holds. */
export const archivePathFault = (path: string): string | undefined => {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'is absolute';
  if (/^[A-Za-z]:/.test(path)) return 'begins with a drive letter';
  if (path.includes('\\')) return 'has a backslash';
  if (UNSEEN.test(path)) return 'has characters that cannot be seen';
  if (path.normalize('NFC') !== path) return 'is not in the form NFC';
  const parts = path.split('/');
  if (parts.includes('..')) return 'leads out of the package';
  if (parts.some((part) => part === '' || part === '.')) return 'has an empty part';
  if (parts.length > MAX_DEPTH) return `has more than ${MAX_DEPTH} levels`;
  if (bytesOf(path) > MAX_PATH_BYTES || parts.some((part) => bytesOf(part) > MAX_NAME_BYTES)) return 'is longer than file systems take';
  return undefined;
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** As a file system reads it that knows no upper and lower case. */
const folded = (path: string): string => path.toUpperCase().toLowerCase().normalize('NFC');

/** Validates one entry after the other; throws the named error of the first that may not be. */
export const archivePolicy = (refusals: ArchiveRefusals, limits: ArchiveLimits = ARCHIVE_LIMITS): ((entry: ArchiveEntry) => void) => {
  /** Every file and every folder, also one that is only named on the way to a file. */
  const seen = new Map<string, { readonly path: string; readonly kind: ArchiveEntry['kind']; readonly isNamed: boolean }>();
  let bytes = 0;
  let count = 0;
  const claim = (path: string, kind: ArchiveEntry['kind'], isNamed: boolean): void => {
    const key = folded(path);
    const other = seen.get(key);
    if (other && other.path !== path) throw refusals.archive_case(other.path, path);
    if (other && other.kind !== kind) throw refusals.archive_path(path, 'is both a file and a folder');
    if (other?.isNamed && isNamed) throw refusals.archive_case(path, path);
    if (!other) count += 1;
    if (count > limits.count) throw refusals.archive_count(limits.count);
    if (!other || isNamed) seen.set(key, { path, kind, isNamed });
  };
  return ({ path, kind, size }) => {
    const fault = archivePathFault(path);
    if (fault !== undefined) throw refusals.archive_path(path, fault);
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) claim(parts.slice(0, depth).join('/'), 'folder', false);
    claim(path, kind, true);
    if (size > limits.fileBytes) throw refusals.archive_size(path, inMegabytes(limits.fileBytes));
    bytes += size;
    if (bytes > limits.bytes) throw refusals.archive_size('The unpacked package', inMegabytes(limits.bytes));
  };
};

export const inMegabytes = (bytes: number): string => (bytes >= MB ? `${Math.round(bytes / MB)} MB` : `${bytes} bytes`);
