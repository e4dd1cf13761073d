/**
 * Which life of the daemon was here before. The lock of the home says that it is over; with its name its leases in a
 * database that others use as well can be taken over at once, without waiting for them to run out.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite } from '../adapters/files/atomic-write.js';

/** Notes this life, and gives the one before; undefined where none was, or none can be read. */
export async function succeed(dataDir: string, instanceId: string): Promise<string | undefined> {
  const file = join(dataDir, 'instance');
  const before = await readFile(file, 'utf8').catch(() => undefined); // then its leases run out by themselves
  await atomicWrite(file, instanceId, { modeWhenNew: 0o600 });
  return before === undefined || before === '' ? undefined : before;
}
