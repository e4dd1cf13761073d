/** The database and the settings of a home, for whoever works on it without a daemon. */
import { mkdir, readFile } from 'node:fs/promises';
import { AuditRecorded, type Clock } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { aliasesOf, allClaims } from '@svc/platform/config/claims';
import { readEnvLayer } from '@svc/platform/config/environment/env-layer';
import { evaluate } from '@svc/platform/config/evaluate';
import { databaseFileOf, type Home } from '@svc/platform/config/home';
import { kernelSections } from '@svc/platform/config/kernel-sections';
import { createLog } from '@svc/platform/log/log';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { sectionsOf } from '../boot/start-rules.js';
import type { Release } from '../release.js';

/** The database of this home, without a daemon. */
export async function withStorage<T>(home: Home, url: string | undefined, work: (storage: Storage, clock: Clock) => Promise<T>): Promise<T> {
  const clock = systemClock();
  const log = createLog({ dir: null, level: 'error', clock, terminal: false });
  await mkdir(home.dataDir, { recursive: true, mode: 0o700 });
  const storage = await openStorage({
    file: databaseFileOf(home.dataDir),
    url,
    readers: 1,
    clock,
    log: log.logger('storage'),
    storeEvent: (event) => event === AuditRecorded.name,
    onEvents: () => undefined,
  });
  try {
    return await work(storage, clock);
  } finally {
    await storage.close();
  }
}

export interface LocalSettings {
  get(section: string): unknown;
  closed(): readonly string[];
  isFileRead(): boolean;
}

/** Settings as the daemon validates them: the kernel's own sections, and those of the release's areas where it is given. */
export async function settingsOf(home: Home, env: Readonly<Record<string, string | undefined>>, release?: Release): Promise<LocalSettings> {
  const claims = release ? allClaims(sectionsOf(release.extensions)) : kernelSections;
  const text = await readFile(home.configFile, 'utf8').catch(() => null); // absent or not readable: the defaults hold, as for the daemon
  const found = await evaluate({
    file: home.configFile,
    text,
    unreadable: undefined,
    env: readEnvLayer(env, aliasesOf(claims)),
    claims,
    ready: undefined,
    good: {},
    providers: {},
  });
  return { get: (section) => found.values.get(section), closed: () => [...found.closed], isFileRead: () => found.isFileRead };
}
