/** A folder on this machine: what belongs to its package is copied, never moved and never linked. */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { packageFilesIn } from '../package/package-files.js';

/** `to` is made. Rejects with the errors of archives. */
export const copyPackage = async (from: string, to: string): Promise<void> => {
  const files = await packageFilesIn(from);
  await mkdir(to);
  for (const { path, isProgram } of files) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    // What was looked at a moment ago must still be no link.
    const source = await open(join(from, path), constants.O_RDONLY | constants.O_NOFOLLOW);
    const target = await open(join(to, path), 'wx', isProgram ? 0o755 : 0o644);
    await pipeline(source.createReadStream(), target.createWriteStream({ flush: true }));
  }
};
