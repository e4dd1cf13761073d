/**
 * The installer of a home whose daemon is stopped, for the command line. The home is locked meanwhile, so that no daemon
 * starts in between; what changes is found by the next start.
 */
import { join } from 'node:path';
import { API_VERSION } from '@svc/api/internal';
import { namesOf } from '@svc/installer/contributions';
import { createInstaller, type Installer, type InstallerOptions } from '@svc/installer/install';
import { isolationFaults, wallFault } from '@svc/isolation';
import { systemClock } from '@svc/platform/clock/clock';
import { type Home, resolveHome } from '@svc/platform/config/home';
import { settingsOf } from './local-choices.js';
import { lockHome } from '@svc/platform/process/home-lock';
import { type Release, readRelease } from '../release.js';
import { installPolicy } from '@svc/third-party/settings';

export interface LocalPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** dist/release.json of the build that the daemon runs. */
  readonly releaseFile: string;
}

/** Rejects with `daemon_already_running` when the home is held. */
export async function withLocalInstaller<T>({ env, releaseFile }: LocalPlace, work: (installer: Installer) => Promise<T>): Promise<T> {
  const home = resolveHome(env);
  const release = await readRelease(releaseFile, {}); // no code is loaded
  const lock = await lockHome(home.home);
  try {
    return await work((await openLocalInstaller(home, release, await settingsOf(home, env))).installer);
  } finally {
    await lock.release();
  }
}

/** With what the home holds that may be used. The home's lock is the caller's. */
export async function openLocalInstaller(
  home: Home,
  release: Release,
  config: Awaited<ReturnType<typeof settingsOf>>,
): Promise<{ readonly installer: Installer } & Pick<Awaited<ReturnType<Installer['validateAtBoot']>>, 'usable'>> {
  const fault = await wallFault();
  let thirdParties: ReturnType<InstallerOptions['installed']> = [];
  const installer = await createInstaller({
    dir: join(home.dataDir, 'extensions'),
    apiVersion: API_VERSION,
    installed: () => [...release.extensions, ...thirdParties],
    policy: () => ({ ...installPolicy(config), wallFault: fault }),
    clock: systemClock(),
    isolationFaults,
  });
  const { usable } = await installer.validateAtBoot();
  thirdParties = usable.map(({ record, manifest, contributions }) => ({ id: record.id, bundled: false, manifest, contributions: namesOf(contributions) }));
  return { installer, usable };
}
