/** The extensions of others at the start: read, judged, and put beside those of the release. */
import { dirname, join } from 'node:path';
import * as api from '@svc/api';
import type { InstalledStore, Lifecycle } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Config } from '@svc/platform/config/config';
import type { Home } from '@svc/platform/config/home';
import type { ExecDoor } from '@svc/platform/doors/child/exec-door';
import type { Log } from '@svc/platform/log/log';
import { daemonErrors } from '../errors.js';
import type { OwnerKey } from '../owner-key/owner-key.js';
import type { InstalledFiles } from '../process/release.js';
import type { StrayHandler } from '../process/stray-errors.js';
import { installPolicy, processLimits } from '../settings/daemon-settings.js';
import { API_VERSION, type Wiring } from '../wiring.js';
import { createInstallation, type InstallationParts } from './installation.js';
import { type PurgeParts, purgeStranger } from './purge-stranger.js';
import type { TrialStorage } from './version-trials.js';
import { createStrangers, type Stranger, type Strangers } from './strangers.js';

export interface StrangersInputs {
  readonly clock: TimerClock;
  readonly config: Config;
  readonly home: Home;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly log: Log;
  readonly strays: StrayHandler;
  readonly wiring: Wiring;
  readonly ownerKey: Pick<OwnerKey, 'need'>;
  readonly releaseFile: string;
  /** Beside those that the home holds. */
  readonly given: readonly Stranger[];
  isUp(): boolean;
  lifecycle(): Lifecycle | undefined;
  /** Undefined until the database is open. */
  parts(): (PurgeParts & { readonly storage: TrialStorage; readonly execDoor: Pick<ExecDoor, 'record'> }) | undefined;
}

export const openStrangers = async ({
  clock,
  config,
  given,
  home,
  installed,
  isUp,
  lifecycle,
  log,
  ownerKey,
  parts,
  releaseFile,
  strays,
  wiring,
}: StrangersInputs): Promise<{ strangers: Strangers; installation: InstallationParts }> => {
  const program = join(dirname(releaseFile), 'isolation/program.cjs');
  const strangers = createStrangers({
    program,
    api,
    limits: () => processLimits(config),
    actors: wiring.actors,
    now: clock.now,
    record: async (pid, id) => (await parts()?.execDoor.record({ pid, ownerKey: id, command: `extension ${id}` })) ?? (async () => undefined),
    isUp,
    lifecycle,
    beforeUnwalled: ownerKey.need,
    stray: strays.report,
  });
  const installation = createInstallation({
    dir: join(home.dataDir, 'extensions'),
    apiVersion: API_VERSION,
    program,
    policy: () => installPolicy(config),
    installed: installed.all,
    toInstalled: strangers.installed,
    clock,
    log: log.logger('installer'),
    lifecycle,
    storage: () => parts()?.storage,
    purge: (stranger) => {
      const open = parts();
      return open ? purgeStranger(stranger, open) : Promise.reject(daemonErrors.not_ready());
    },
  });
  const found = [...(await installation.atBoot()), ...given.map(strangers.installed)];
  for (const one of found) installed.put(one);
  // They bring settings of their own.
  if (found.length > 0) await config.reload();
  return { strangers, installation };
};
