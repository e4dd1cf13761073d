/**
 * The installer of a home whose daemon is stopped, for the command line. The home is locked meanwhile, so that no daemon
 * starts in between; what changes is found by the next start.
 */
import { join } from 'node:path';
import type { AuditFact } from '@svc/api';
import { API_VERSION } from '@svc/api/internal';
import { namesOf } from '@svc/installer/contributions';
import { createInstaller, type Installer, type InstallerOptions } from '@svc/installer/install';
import { isolationFaults, wallFault } from '@svc/isolation';
import { systemClock } from '@svc/platform/clock/clock';
import { type Home, resolveHome } from '@svc/platform/config/home';
import { auditedInstall, type LocalAct } from './local-audit.js';
import { whileLocked } from './local-home.js';
import { type LocalSettings, settingsOf } from './local-storage.js';
import { type Release, readRelease } from '../release.js';
import { installPolicy } from '@svc/third-party/settings';

export interface LocalInstall {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** dist/release.json of the build that the daemon runs. */
  readonly releaseFile: string;
  /** What is done, for the audit trail; undefined if nothing is changed. */
  readonly act: LocalAct | undefined;
}

/** Rejects with `daemon_already_running` when the home is held, and with `daemon_audit_unavailable`. `detailsOf` says more of what was done. */
export async function withLocalInstaller<T>(
  { env, releaseFile, act }: LocalInstall,
  work: (installer: Installer) => Promise<T>,
  detailsOf: (done: T) => AuditFact['details'] = () => ({}),
): Promise<T> {
  const home = resolveHome(env);
  const release = await readRelease(releaseFile, {}); // no code is loaded
  return whileLocked(home.home, async () => {
    const config = await settingsOf(home, env, release);
    const { installer } = await openLocalInstaller(home, release, config);
    return act ? auditedInstall({ home, release, settings: config }, act, () => work(installer), detailsOf) : work(installer);
  });
}

/** With what the home holds that may be used. The home's lock is the caller's. */
export async function openLocalInstaller(
  home: Home,
  release: Release,
  config: LocalSettings,
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
