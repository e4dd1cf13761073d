/**
 * Reads a backup that somebody else may have made.
 *
 * R1  The manifest comes first. Each file is one that it names, in a part of the home that a backup may have, with that size and hash; none is missing.
 * R2  Only files: a link, a device or a path that leads elsewhere refuses the whole archive, and is never created.
 * R3  The stream ends at what the manifest announces, and the disk has room for that, however small the archive is.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { isSvcError } from '@svc/api';
import { type Extract, extract } from 'tar-stream';
import { errnoOf } from '../config/errno.js';
import { pauseFor } from '../storage/contract/pace.js';
import { backupErrors } from './errors.js';
import { DATABASE_PATH, faultOfPath } from './home-files.js';
import { type BackupFile, type BackupManifest, MANIFEST_NAME, MAX_MANIFEST_BYTES, parseManifest } from './manifest.js';

const MIB = 1_048_576;
/** A header, a header for a long path, and padding. */
const OVERHEAD_PER_ENTRY = 5 * 512;
/** A tar may end with blocks of zeros. */
const OVERHEAD = MIB;
const MAX_FILES = 1_000_000;
/** Left on the disk for the daemon itself. */
export const SPARE_BYTES = 32 * MIB;

type Entry = Extract extends AsyncIterable<infer E> ? E : never;

/** Only its beginning is read. */
export const readManifest = async (archive: string, version: string): Promise<BackupManifest> => {
  let manifest: BackupManifest | undefined;
  await eachEntry(archive, { left: MAX_MANIFEST_BYTES }, async (entry) => {
    manifest = await manifestOf(archive, entry, version);
    return 'stop';
  });
  if (!manifest) throw backupErrors.broken(basename(archive), 'it is empty');
  return manifest;
};

/** Writes all files below `folder`, which must not exist, and syncs them. Rejects with the errors of this area; what was written by then is left to the caller. */
export const extractBackup = (archive: string, folder: string, version: string): Promise<BackupManifest> => readAll(archive, version, { folder });

/** Reads all of it as a restore would, and writes nothing. Rejects with the errors of this area. */
export const verifyArchive = (archive: string, version: string, reading: Pick<Reading, 'pause' | 'signal'> = {}): Promise<BackupManifest> => readAll(archive, version, reading);

interface Reading {
  /** Where its files are written; left out, nowhere. */
  readonly folder?: string;
  /** Beside a daemon that works. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const readAll = async (archive: string, version: string, { folder, pause, signal }: Reading): Promise<BackupManifest> => {
  let manifest: BackupManifest | undefined;
  let open: Map<string, BackupFile> | undefined;
  const limit = { left: MAX_MANIFEST_BYTES };
  await eachEntry(archive, limit, async (entry) => {
    if (!manifest || !open) {
      manifest = await manifestOf(archive, entry, version);
      open = plannedFiles(archive, manifest);
      const bytes = [...open.values()].reduce((sum, { size }) => sum + size, 0);
      limit.left = bytes + open.size * OVERHEAD_PER_ENTRY + OVERHEAD;
      if (folder !== undefined) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await assertRoom(folder, bytes);
      }
      return undefined;
    }
    const name = entry.header.name;
    const file = open.get(name);
    assertFile(archive, entry);
    if (!file) throw backupErrors.unsafe(basename(archive), name, 'is not in its manifest');
    open.delete(name);
    signal?.throwIfAborted();
    const began = performance.now();
    if (folder === undefined) await readEntry(archive, entry, file);
    else await writeEntry(archive, entry, file, join(folder, name));
    await pause?.(pauseFor(performance.now() - began));
    return undefined;
  });
  if (!manifest || !open) throw backupErrors.broken(basename(archive), 'it is empty');
  const [missing] = open.keys();
  if (missing !== undefined) throw backupErrors.broken(basename(archive), `the file ${missing} is missing`);
  return manifest;
};

/** Rejects with `backup_no_space`. */
export const assertRoom = async (folder: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  const needed = bytes + SPARE_BYTES;
  if (bavail * bsize < needed) throw backupErrors.no_space(folder, Math.ceil(needed / MIB), Math.floor((bavail * bsize) / MIB));
};

const plannedFiles = (archive: string, { files }: BackupManifest): Map<string, BackupFile> => {
  const name = basename(archive);
  if (files.length > MAX_FILES) throw backupErrors.broken(name, `it has more than ${MAX_FILES} files`);
  for (const { path } of files) {
    const why = faultOfPath(path);
    if (why !== undefined) throw backupErrors.unsafe(name, path, why);
  }
  const planned = new Map(files.map((file) => [file.path, file]));
  if (planned.size !== files.length) throw backupErrors.broken(name, 'its manifest names a file twice');
  if (!planned.has(DATABASE_PATH)) throw backupErrors.broken(name, 'it has no database');
  return planned;
};

const assertFile = (archive: string, { header: { name, type } }: Entry): void => {
  if (type === 'symlink' || type === 'link') throw backupErrors.unsafe(basename(archive), name, 'is a link');
  if (type !== 'file') throw backupErrors.unsafe(basename(archive), name, 'is not a file');
};

const manifestOf = async (archive: string, entry: Entry, version: string): Promise<BackupManifest> => {
  const { name, size, type } = entry.header;
  if (name !== MANIFEST_NAME || type !== 'file') throw backupErrors.broken(basename(archive), `it does not begin with ${MANIFEST_NAME}`);
  if ((size ?? 0) > MAX_MANIFEST_BYTES) throw backupErrors.broken(basename(archive), `its ${MANIFEST_NAME} is too large`);
  const pieces: Uint8Array[] = [];
  for await (const piece of entry as AsyncIterable<Uint8Array>) pieces.push(piece); // its declarations leave open what a stream of bytes gives
  return parseManifest(basename(archive), Buffer.concat(pieces).toString('utf8'), version);
};

const writeEntry = async (archive: string, entry: Entry, file: BackupFile, target: string): Promise<void> => {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const handle = await open(target, 'wx', 0o600);
  try {
    await readEntry(archive, entry, file, (piece) => handle.writeFile(piece));
    await handle.chmod(file.mode & 0o700);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const readEntry = async (archive: string, entry: Entry, { path, sha256, size }: BackupFile, take?: (piece: Uint8Array) => Promise<void>): Promise<void> => {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of entry as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    hash.update(piece);
    await take?.(piece);
  }
  if (bytes !== size || hash.digest('hex') !== sha256) throw backupErrors.broken(basename(archive), `the file ${path} differs from its manifest`);
};

/** `limit` counts down with what is unpacked. */
const eachEntry = async (archive: string, limit: { left: number }, see: (entry: Entry) => Promise<'stop' | undefined>): Promise<void> => {
  const entries = extract();
  const feeding = pipeline(createReadStream(archive), createGunzip(), atMost(archive, limit), entries, {});
  feeding.catch(() => undefined); // the loop below ends with the same cause
  try {
    for await (const entry of entries) {
      if ((await see(entry)) === 'stop') return;
      entry.resume();
    }
    await feeding;
  } catch (error) {
    if (isSvcError(error)) throw error;
    if (errnoOf(error) === 'ENOENT') throw backupErrors.not_found(basename(archive)).with({ cause: error });
    if (errnoOf(error) === 'ENOSPC') throw backupErrors.no_space(dirname(archive), 1, 0).with({ cause: error });
    if (error instanceof Error && 'syscall' in error) throw error;
    throw backupErrors.broken(basename(archive), reasonOf(error)).with({ cause: error });
  }
};

const atMost = (archive: string, limit: { left: number }): Transform =>
  new Transform({
    transform(piece: Buffer, _encoding, done) {
      limit.left -= piece.length;
      if (limit.left < 0) done(backupErrors.broken(basename(archive), 'it unpacks to more than its manifest announces'));
      else done(null, piece);
    },
  });

const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  if (/incorrect header check/.test(text)) return 'it is not a gzip file';
  if (/unexpected end/i.test(text)) return 'it ends in the middle';
  if (/tar header/.test(text)) return 'it is not a tar archive';
  if (/incorrect data check|invalid/.test(text)) return 'it is damaged';
  return text.replace(/\.$/, '');
};
