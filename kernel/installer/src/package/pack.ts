/**
 * Packs a folder into a tar.gz that is the same byte for byte each time: sorted names, no times, no owners, modes 644
 * and 755, one header of gzip. (Another version of zlib may compress the same bytes otherwise: the digest of a package
 * is of its files.)
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { installErrors } from '../errors.js';
import { type PackageFile, packageFilesIn, REQUIRED_FILES } from './package-files.js';

export interface Packed {
  readonly files: readonly PackageFile[];
  readonly bytes: Buffer;
}

/** Rejects with `install_incomplete` and with the errors of archives. */
export const packFolder = async (dir: string): Promise<Packed> => {
  const files = await packageFilesIn(dir);
  const missing = REQUIRED_FILES.find((path) => !files.some((file) => file.path === path));
  if (missing !== undefined) throw installErrors.incomplete(missing);
  const tar = pack();
  const chunks: Buffer[] = [];
  await Promise.all([
    fill(tar, dir, files),
    pipeline(tar, createGzip({ level: 9 }), sameHeader(), async (packed: AsyncIterable<Buffer>) => {
      for await (const chunk of packed) chunks.push(chunk);
    }),
  ]);
  return { files, bytes: Buffer.concat(chunks) };
};

const fill = async (tar: Pack, dir: string, files: readonly PackageFile[]): Promise<void> => {
  try {
    for (const { path, size, isProgram } of files) {
      const entry = tar.entry({ name: `package/${path}`, size, type: 'file', mode: isProgram ? 0o755 : 0o644, mtime: new Date(0), uid: 0, gid: 0, uname: '', gname: '' });
      await pipeline(createReadStream(join(dir, path)), entry);
    }
    tar.finalize();
  } catch (error) {
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
};

/** Byte 9 of gzip names the operating system. */
const sameHeader = (): Transform => {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (seen <= 9 && seen + chunk.length > 9) chunk[9 - seen] = 255;
      seen += chunk.length;
      done(null, chunk);
    },
  });
};
