/** Stop is boot in reverse: not ready, no new work, extensions, adapters, storage, log. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lifecycle, Contributor } from '@svc/core';
import type { ContextParts } from '@svc/context';
import type { HomeLock } from '@svc/platform/process/home-lock';

/** How long requests and extensions have to finish what they hold. */
export const STOP_DRAIN_MS = 10_000;
/** How long what was said last has to reach its clients. */
const GOODBYE_MS = 2_000;

export interface Stopping {
  readonly lifecycle: Lifecycle;
  readonly parts: ContextParts;
  readonly lock: HomeLock;
  readonly own: Contributor;
  readonly drainMs: number;
}

/** One that hangs is left behind: what comes after it is ended all the same. */
const STEP_MS = 4_000;
let going: string | undefined;

/** What a stop is at; undefined when it is over. */
export const stopStep = (): string | undefined => going;

/** By now the daemon says of itself that it is stopping. */
export async function stopDaemon(reason: string, { lifecycle, parts, lock, own, drainMs }: Stopping): Promise<void> {
  const log = parts.log.logger('kernel');
  const step = async (what: string, work: () => unknown, ms = STEP_MS): Promise<void> => {
    going = what;
    const cause = await inTime(work, ms);
    if (cause !== undefined) log.error('a part of the daemon did not stop; the shutdown continues without it', { part: what, cause });
  };
  log.info('stopping', { reason });
  parts.http.stopAccepting();
  // What waits for an answer gets it while runs come to their end or their next step.
  await step('what extensions finish', () => lifecycle.stopAll('shutdown', drainMs), drainMs + STEP_MS);
  // Whoever still waits is told what goes on without him, and then hung up on.
  parts.streams.close();
  await step('http', () => parts.http.close(GOODBYE_MS));
  await step('the kernel', () => own.lifetime.close());
  await step('programs', () => parts.execAdapter.close());
  await step('tcp', () => parts.tcpAdapter.close());
  await step('fetch', () => parts.fetchAdapter.close());
  await step('workers', () => parts.workers.close());
  await step('the journal', () => parts.journal.close());
  await step('the bus', () => parts.bus.close());
  await step('the database', () => parts.storage.close());
  await step('daemon.json', () => rm(join(parts.home.home, 'daemon.json'), { force: true }));
  await step('the log', () => parts.log.close());
  await step('the lock', () => lock.release());
  going = undefined;
}

/** Undefined when it was done. */
const inTime = async (work: () => unknown, ms: number): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error(`it did not end within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([Promise.resolve(work()).then(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
};
