/** The extensions of others at the start: read, validated, and put beside those of the release. */
import { dirname, join } from 'node:path';
import type * as api from '@svc/api';
import * as internal from '@svc/api/internal';
import type { ActorRegistry, HookRegistry, InstalledFiles, InstalledStore, Lifecycle, UnhandledHandler } from '@svc/core';
import type { ExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import type { TimerClock } from '@svc/platform/clock/clock';
import { createTimers } from '@svc/platform/clock/timers';
import type { Config } from '@svc/platform/config/config';
import type { Home } from '@svc/platform/config/home';
import type { KeyNeed } from '@svc/platform/config/owner-key';
import type { Log } from '@svc/platform/log/log';
import { createInstallation, type InstallationParts } from './installation.js';
import { type PurgeParts, purgeThirdParty } from './purge-third-party.js';
import { installPolicy, processLimits } from './settings.js';
import { createThirdParties, type ThirdParties, type ThirdParty } from './third-party.js';
import type { TrialStorage } from './version-trials.js';

export interface ThirdPartiesInputs extends PurgeParts {
  readonly clock: TimerClock;
  readonly config: Config;
  readonly home: Home;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly log: Log;
  readonly unhandled: Pick<UnhandledHandler, 'report'>;
  readonly actors: ActorRegistry;
  readonly hooks: Pick<HookRegistry, 'closedToOthers'>;
  readonly ownerKey: KeyNeed;
  readonly storage: PurgeParts['storage'] & TrialStorage;
  readonly execAdapter: Pick<ExecAdapter, 'record'>;
  readonly releaseFile: string;
  /** Beside those that the home holds. */
  readonly given: readonly ThirdParty[];
  /** Of a daemon that is up; undefined while it starts. */
  lifecycle(): Lifecycle | undefined;
  isUp(): boolean;
}

export interface OpenThirdParties {
  readonly thirdParties: ThirdParties;
  readonly installation: InstallationParts;
}

export const openThirdParties = async (inputs: ThirdPartiesInputs): Promise<OpenThirdParties> => {
  const { actors, clock, config, execAdapter, given, home, hooks, installed, isUp, lifecycle, log, ownerKey, releaseFile, storage, unhandled } = inputs;
  const program = join(dirname(releaseFile), 'isolation/program.cjs');
  const thirdParties = createThirdParties({
    program,
    limits: () => processLimits(config),
    actors,
    now: clock.now,
    record: (pid, id) => execAdapter.record({ pid, ownerKey: id, command: `extension ${id}` }),
    isUp,
    lifecycle,
    beforeUnwalled: ownerKey.need,
    reportUnhandled: unhandled.report,
  });
  const installation = createInstallation({
    dir: join(home.dataDir, 'extensions'),
    apiVersion: internal.API_VERSION,
    program,
    closedHooks: hooks.closedToOthers,
    policy: () => installPolicy(config),
    installed: installed.all,
    toInstalled: thirdParties.installed,
    clock,
    log: log.logger('installer'),
    lifecycle,
    storage,
    purge: (thirdParty) => purgeThirdParty(thirdParty, inputs),
  });
  const found = [...(await installation.atBoot()), ...given.map(thirdParties.installed)];
  for (const one of found) installed.put(one);
  // They bring settings of their own.
  if (found.length > 0) await config.reload();
  return { thirdParties, installation };
};

const LOOK_EVERY_MS = 2_000;

/** Looks for keys that were revoked while the daemon runs, by `svc ext trust revoke` or by hand. */
export const watchTrust = ({ clock, installation, log }: { readonly clock: TimerClock; readonly installation: Pick<InstallationParts, 'followTrust'>; readonly log: api.Logger }): api.Disposable =>
  createTimers({ clock, onError: (cause) => log.error('trust.toml could not be read: revocations in it have no effect', { cause }) }).every(LOOK_EVERY_MS, installation.followTrust);
