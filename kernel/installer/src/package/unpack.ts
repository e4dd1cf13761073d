/**
 * Unpacks a package: once through to validate every name, kind and size, and only then once more to write.
 * The archive must be a file that nobody else changes meanwhile.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ARCHIVE_LIMITS, type ArchiveEntry, archivePolicy, type ArchiveLimits, inMegabytes, isSvcError } from '@svc/api';
import { type Extract, extract, type Header } from 'tar-stream';
import { installErrors } from '../errors.js';

/** npm's layout. */
const ROOT = 'package';
/** What headers and padding may add for each file: a header, a pax header with a long path, both padded. */
const OVERHEAD_PER_ENTRY = 5 * 512;
type Entry = Extract extends AsyncIterable<infer E> ? E : never;

const KINDS: Readonly<Record<string, string>> = { 'character-device': 'a device', 'block-device': 'a device', fifo: 'a pipe' };

export interface UnpackOptions {
  readonly limits?: ArchiveLimits;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes that were written so far, of how many. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** `dir` is made and must not be there. Rejects with an `install_archive_…` error; what was written by then is left to the caller. */
export const unpack = async (archive: string, dir: string, { limits = ARCHIVE_LIMITS, signal, onProgress }: UnpackOptions = {}): Promise<void> => {
  const total = await validate(archive, limits, signal);
  await mkdir(dir);
  let done = 0;
  const made = new Set<string>();
  await eachEntry(archive, limits, signal, async (entry) => {
    const { path, kind, size } = entryOf(entry.header) ?? {};
    if (path === undefined) return;
    const target = join(dir, path);
    const folder = kind === 'folder' ? target : dirname(target);
    if (!made.has(folder)) await mkdir(folder, { recursive: true });
    made.add(folder);
    if (kind === 'file') await writeEntry(target, entry);
    done += size ?? 0;
    onProgress?.(done, total);
  });
};

/** Bytes of all files. */
const validate = async (archive: string, limits: ArchiveLimits, signal: AbortSignal | undefined): Promise<number> => {
  const accept = archivePolicy(installErrors, limits);
  let bytes = 0;
  let files = 0;
  await eachEntry(archive, limits, signal, async ({ header }) => {
    const entry = entryOf(header);
    if (!entry) return;
    accept(entry);
    bytes += entry.size;
    if (entry.kind === 'file') files += 1;
  });
  if (files === 0) throw installErrors.archive_broken('it is empty');
  return bytes;
};

/** Undefined for the folder `package/` itself. */
const entryOf = ({ name, type, size, linkname }: Header): ArchiveEntry | undefined => {
  if (type === 'symlink' || type === 'link') throw installErrors.archive_link(name, linkname);
  if (type !== 'file' && type !== 'directory') throw installErrors.archive_kind(name, KINDS[type] ?? 'of an unknown kind');
  const kind = type === 'file' ? 'file' : 'folder';
  const path = kind === 'folder' ? name.replace(/\/$/, '') : name;
  if (path === ROOT && kind === 'folder') return undefined;
  if (path.startsWith('/')) throw installErrors.archive_path(name, 'is absolute');
  if (path.split('/').includes('..')) throw installErrors.archive_path(name, 'leads out of the package');
  if (!path.startsWith(`${ROOT}/`)) throw installErrors.archive_path(name, `is not below ${ROOT}/`);
  return { path: path.slice(ROOT.length + 1), kind, size: kind === 'file' ? size : 0 };
};

const writeEntry = async (target: string, entry: Entry): Promise<void> => {
  const isProgram = (entry.header.mode & 0o100) !== 0;
  // Never over something that is there.
  const file = await open(target, 'wx', isProgram ? 0o755 : 0o644);
  try {
    // Its declarations leave open what a stream of bytes gives.
    for await (const chunk of entry as AsyncIterable<Uint8Array>) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
};

const eachEntry = async (archive: string, limits: ArchiveLimits, signal: AbortSignal | undefined, see: (entry: Entry) => Promise<void>): Promise<void> => {
  const entries = extract();
  // A few bytes can unpack to many: the stream is held to the limits too, whatever its headers say.
  const feeding = pipeline(createReadStream(archive), createGunzip(), atMost(limits.bytes + limits.count * OVERHEAD_PER_ENTRY, limits), entries, { signal });
  feeding.catch(() => undefined); // the loop below ends with the same cause
  try {
    for await (const entry of entries) {
      await see(entry);
      entry.resume();
    }
    await feeding;
  } catch (error) {
    signal?.throwIfAborted();
    if (isSvcError(error)) throw error;
    if (isOfDisk(error)) throw error;
    throw installErrors.archive_broken(reasonOf(error)).with({ cause: error });
  }
};

const atMost = (limit: number, limits: ArchiveLimits): Transform => {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > limit) done(installErrors.archive_size('The unpacked package', inMegabytes(limits.bytes)));
      else done(null, chunk);
    },
  });
};

const isOfDisk = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  if (/incorrect header check/.test(text)) return 'it is not a gzip file';
  if (/unexpected end/i.test(text)) return 'it ends in the middle';
  if (/tar header/.test(text)) return 'it is not a tar archive';
  return text.replace(/\.$/, '');
};
