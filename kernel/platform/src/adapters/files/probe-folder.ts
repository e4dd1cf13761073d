/** A folder of its own for a check that makes files. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** `folder` exists; what is made in it is removed again, whatever `work` comes to. */
export const inProbeFolder = async <T>(folder: string, work: (own: string) => Promise<T>): Promise<T> => {
  const own = await mkdtemp(join(folder, 'probe-'));
  try {
    return await work(own);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
};
