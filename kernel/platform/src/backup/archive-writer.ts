/**
 * Writes a backup: one tar.gz whose first entry is the manifest, so that a list reads only its beginning and a restore
 * compares each file as it comes.
 *
 * A1  Sizes and hashes are known after the files were read. So the files are packed first, and stand behind the manifest as a
 *     second member of the gzip file (RFC 1952, 2.2); every gunzip reads both as one stream.
 * A2  A file that shrinks or is deleted while it is read fails nothing: what was read of it counts. What grows is cut at the size it had.
 * A3  Beside a daemon that works it takes a third of the time: each piece is followed by a pause of twice what it took.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';
import { errnoOf } from '../config/errno.js';
import { pauseFor } from '../storage/contract/pace.js';
import { NOT_READABLE } from './home-files.js';
import { type BackupFile, type BackupManifest, MANIFEST_NAME } from './manifest.js';

const PIECE_BYTES = 64 * 1024;
/** Fast: a backup is made beside people who wait for answers. */
const GZIP = { level: 1, chunkSize: PIECE_BYTES };
/** A large fsync at the end would keep each commit waiting. */
const SYNC_BYTES = 16 * 1_048_576;
/** The end of a tar: two empty blocks. */
const END_BYTES = 1_024;

export interface SourceFile {
  readonly path: string;
  readonly mode: number;
  /** An absolute path, or the bytes themselves. */
  readonly from: string | Uint8Array;
}

/** Lets others work for so many milliseconds. Without it nobody else is there. */
export type Pause = (ms: number) => Promise<void>;

export interface Packing {
  /** Gets what could not be read. */
  readonly leftOut?: string[] | undefined;
  readonly pause?: Pause | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Packs the files into `body`, and gives what the manifest says of them. */
export const packFiles = async (body: string, sources: readonly SourceFile[], { leftOut, pause, signal }: Packing = {}): Promise<BackupFile[]> => {
  const tar = pack();
  const files: BackupFile[] = [];
  const filling = fill(tar, sources, files, { leftOut, pause }).catch((error: unknown) => {
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  });
  await Promise.all([filling, pipeline(tar, createGzip(GZIP), written(body, 'wx'), { signal })]);
  return files;
};

/** `target` is on the disk when this resolves. */
export const joinArchive = async (target: string, manifest: BackupManifest, body: string, { pause, signal }: Packing = {}): Promise<void> => {
  const head = pack();
  head.entry({ name: MANIFEST_NAME, mode: 0o600 }, JSON.stringify(manifest));
  head.finalize();
  await pipeline([await withoutEnd(head)], createGzip(GZIP), written(target, 'wx'), { signal });
  await pipeline(createReadStream(body, { highWaterMark: PIECE_BYTES }), written(target, 'a', pause), { signal });
};

/** The end of a pipeline: all of it is on the disk when that resolves. */
const written =
  (file: string, flags: 'wx' | 'a', pause?: Pause) =>
  async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
    const handle = await open(file, flags, 0o600);
    try {
      await writePieces(handle, pieces, pause);
      await handle.sync();
    } finally {
      await handle.close();
    }
  };

const writePieces = async (handle: FileHandle, pieces: AsyncIterable<Uint8Array>, pause: Pause | undefined): Promise<void> => {
  let unsynced = 0;
  for await (const piece of pieces) {
    const began = performance.now();
    await handle.writeFile(piece);
    unsynced += piece.length;
    if (unsynced >= SYNC_BYTES) {
      await handle.datasync();
      unsynced = 0;
    }
    await pause?.(pauseFor(performance.now() - began));
  }
};

/** What a tar has before its end, so that more entries can follow. */
const withoutEnd = async (tar: Pack): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of tar as AsyncIterable<Buffer>) pieces.push(piece); // its declarations leave open what a stream of bytes gives
  return Buffer.concat(pieces).subarray(0, -END_BYTES);
};

const fill = async (tar: Pack, sources: readonly SourceFile[], files: BackupFile[], packing: Packing): Promise<void> => {
  for (const { from, mode, path } of sources) {
    const file = typeof from === 'string' ? await packFile(tar, from, { path, mode }, packing) : packBytes(tar, from, path, mode);
    if (file) files.push(file);
  }
  tar.finalize();
};

const packBytes = (tar: Pack, bytes: Uint8Array, path: string, mode: number): BackupFile => {
  tar.entry({ name: path, mode }, Buffer.from(bytes));
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), mode };
};

/** Undefined for a file that is gone. A header says the size before the bytes, so what is missing at the end is filled with zeros. */
const packFile = async (tar: Pack, from: string, { mode, path }: Pick<SourceFile, 'mode' | 'path'>, { leftOut, pause }: Packing): Promise<BackupFile | undefined> => {
  const handle = await open(from, 'r').catch((error: unknown) => {
    const code = errnoOf(error) ?? '';
    if (code === 'ENOENT') return undefined;
    if (!NOT_READABLE.has(code)) throw error;
    leftOut?.push(`${path}: it cannot be read (${code})`);
    return undefined;
  });
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    const hash = createHash('sha256');
    const entry = tar.entry({ name: path, mode, size });
    let left = size;
    const pieces = async function* (): AsyncGenerator<Buffer> {
      while (left > 0) {
        const began = performance.now();
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, left));
        const { bytesRead } = await handle.read(piece, 0, piece.length);
        const bytes = bytesRead === 0 ? piece.fill(0) : piece.subarray(0, bytesRead);
        hash.update(bytes);
        left -= bytes.length;
        yield bytes;
        // Until here the piece was compressed as well, where the one before it waited for that.
        if (left > 0) await pause?.(pauseFor(performance.now() - began));
      }
    };
    await pipeline(pieces, entry);
    return { path, size, sha256: hash.digest('hex'), mode };
  } finally {
    await handle.close();
  }
};
