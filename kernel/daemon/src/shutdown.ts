/** Stop is boot in reverse: not ready, no new work, extensions, doors, storage, log. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lifecycle, Owner } from '@svc/core';
import type { ContextParts } from './extension-context.js';
import type { HomeLock } from './process/home-lock.js';

/** How long requests and extensions have to finish what they hold. */
export const STOP_DRAIN_MS = 10_000;
/** How long what was said last has to reach its clients. */
const GOODBYE_MS = 2_000;

export interface Stopping {
  readonly lifecycle: Lifecycle;
  readonly parts: ContextParts;
  readonly lock: HomeLock;
  readonly own: Owner;
  readonly drainMs: number;
}

/** By now the daemon says of itself that it is stopping. */
export async function stopDaemon(reason: string, { lifecycle, parts, lock, own, drainMs }: Stopping): Promise<void> {
  parts.log.logger('kernel').info('stopping', { reason });
  parts.http.stopAccepting();
  // What waits for an answer gets it while runs come to their end or their next step.
  await lifecycle.stopAll('shutdown', drainMs);
  // Whoever still waits is told what goes on without him, and then hung up on.
  parts.streams.close();
  await parts.http.close(GOODBYE_MS);
  await own.lifetime.close();
  await parts.execDoor.close();
  await parts.tcpDoor.close();
  await parts.fetchDoor.close();
  await parts.workers.close();
  await parts.journal.close();
  await parts.bus.close();
  await parts.storage.close();
  await rm(join(parts.home.home, 'daemon.json'), { force: true });
  await parts.log.close();
  await lock.release();
}
