/** A disk of eight megabytes that a test can fill. */
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface SmallDisk {
  readonly dir: string;
  fill(): Promise<void>;
  empty(): Promise<void>;
  unmount(): Promise<void>;
}

/** Undefined where this user may not mount one. */
export const mountSmall = async (): Promise<SmallDisk | undefined> => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-small-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dir]);
  } catch {
    await rm(dir, { recursive: true, force: true }); // not root, or not Linux
    return undefined;
  }
  const filler = join(dir, 'filler');
  return {
    dir,
    fill: async () => {
      const handle = await open(filler, 'w');
      const block = Buffer.alloc(4_096);
      for (let isFull = false; !isFull; ) isFull = (await handle.write(block).catch(() => ({ bytesWritten: 0 }))).bytesWritten < block.length;
      await handle.close();
    },
    empty: () => rm(filler),
    unmount: async () => {
      await run('umount', ['-l', dir]);
      await rm(dir, { recursive: true, force: true });
    },
  };
};
