/** The extensions of others at the start: read, validated, and put beside those of the release. */
import { dirname, join } from 'node:path';
import type { InstalledStore, Lifecycle } from '@svc/core';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Config } from '@svc/platform/config/config';
import type { Home } from '@svc/platform/config/home';
import type { ExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import type { Log } from '@svc/platform/log/log';
import { daemonErrors } from '../errors.js';
import type { OwnerKey } from '../owner-key/owner-key.js';
import type { InstalledFiles } from '../process/release.js';
import type { UnhandledHandler } from '../process/unhandled-errors.js';
import { installPolicy, processLimits } from '../settings/daemon-settings.js';
import { API_VERSION, type Wiring } from '../wiring.js';
import { createInstallation, type InstallationParts } from './installation.js';
import { type PurgeParts, purgeThirdParty } from './purge-third-party.js';
import type { TrialStorage } from './version-trials.js';
import { createThirdParties, type ThirdParty, type ThirdParties } from './third-party.js';

export interface ThirdPartiesInputs {
  readonly clock: TimerClock;
  readonly config: Config;
  readonly home: Home;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly log: Log;
  readonly unhandled: UnhandledHandler;
  readonly wiring: Wiring;
  readonly ownerKey: Pick<OwnerKey, 'need'>;
  readonly releaseFile: string;
  /** Beside those that the home holds. */
  readonly given: readonly ThirdParty[];
  isUp(): boolean;
  lifecycle(): Lifecycle | undefined;
  /** Undefined until the database is open. */
  parts(): (PurgeParts & { readonly storage: TrialStorage; readonly execAdapter: Pick<ExecAdapter, 'record'> }) | undefined;
}

export const openThirdParties = async ({
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
  unhandled,
  wiring,
}: ThirdPartiesInputs): Promise<{ thirdParties: ThirdParties; installation: InstallationParts }> => {
  const program = join(dirname(releaseFile), 'isolation/program.cjs');
  const thirdParties = createThirdParties({
    program,
    limits: () => processLimits(config),
    actors: wiring.actors,
    now: clock.now,
    record: async (pid, id) => (await parts()?.execAdapter.record({ pid, ownerKey: id, command: `extension ${id}` })) ?? (async () => undefined),
    isUp,
    lifecycle,
    beforeUnwalled: ownerKey.need,
    reportUnhandled: unhandled.report,
  });
  const installation = createInstallation({
    dir: join(home.dataDir, 'extensions'),
    apiVersion: API_VERSION,
    program,
    closedHooks: wiring.hooks.closedToOthers,
    policy: () => installPolicy(config),
    installed: installed.all,
    toInstalled: thirdParties.installed,
    clock,
    log: log.logger('installer'),
    lifecycle,
    storage: () => parts()?.storage,
    purge: (thirdParty) => {
      const open = parts();
      return open ? purgeThirdParty(thirdParty, open) : Promise.reject(daemonErrors.not_ready());
    },
  });
  const found = [...(await installation.atBoot()), ...given.map(thirdParties.installed)];
  for (const one of found) installed.put(one);
  // They bring settings of their own.
  if (found.length > 0) await config.reload();
  return { thirdParties, installation };
};
