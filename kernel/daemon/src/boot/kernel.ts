/** Step 4: the kernel as a whole. The lifecycle over the parts, and the view that areas and the program have of it. */
import { join } from 'node:path';
import * as api from '@svc/api';
import { type ContextParts, createKernelView, kernelContributor, tapProbes } from '@svc/context';
import { type Contributor, declaredCapabilities, type Lifecycle } from '@svc/core';
import type { Choices } from '@svc/platform/choices/choices';
import { createStoredChoices, type StoredChoices } from '@svc/platform/choices/stored-choices';
import { createSettingsView } from '@svc/platform/config/settings/settings-view';
import { createSharedSettings, type SharedSettings } from '@svc/platform/config/settings/shared-settings';
import { kernelTables } from '@svc/platform/storage/kernel-tables';
import { applierOf, type Settings } from '@svc/platform/config/apply-settings';
import type { InstallationParts } from '@svc/third-party';
import type { BackupHome } from '../backup/home-backup.js';
import { createLiveBackups } from '../backup/live-backups.js';
import { ownersInHome, ownersOfInstalled } from '../backup/table-owners.js';
import { releaseWatcher } from '../release.js';
import type { Address } from './address.js';
import type { Ground } from './ground.js';
import type { OpenParts } from './parts.js';
import { tapSecurity } from './security-probes.js';
import { intentSources, requiredSecurity } from './start-rules.js';
import { createLifecycle } from './wiring.js';

const RESTORE_DELAY_MS = 100;
/** A daemon that was silent for as long is not waited for, as leases are not. */
const DEAD_MS = 30_000;

/** All of it, up. */
export interface Kernel {
  readonly address: Address;
  readonly parts: ContextParts;
  readonly choices: Choices;
  readonly installation: InstallationParts;
  readonly lifecycle: Lifecycle;
  readonly view: api.KernelView;
  readonly settings: Settings;
  /** Undefined for a database that no other daemon uses. */
  readonly shared: SharedSettings | undefined;
  /** The kernel as an owner of what it opens itself. */
  readonly own: Contributor;
}

export function assembleKernel(ground: Ground, open: OpenParts, address: Address): Kernel {
  const { config, installed, log, options, progress, wiring } = ground;
  const { choices, footing, installation } = open;
  // The view needs the lifecycle, and contexts that the lifecycle makes show the view: an area asks for it when it runs, and none runs before this function has ended.
  const parts: ContextParts = { ...footing, declared: declaredCapabilities(installed), kernel: () => view };
  const storedChoices = createStoredChoices({
    dataDir: parts.home.dataDir,
    choices,
    clock: options.clock,
    log: log.logger('kernel'),
    reported: (id) => ground.bus.publish('choices', { extension: id }),
  });
  const lifecycle = lifecycleOf(ground, open, parts, storedChoices);
  progress.to({ at: 'starting', address, lifecycle });
  const settings = applierOf({
    ...parts,
    lifecycle,
    deliver: (sections) => wiring.events.emit('config.changed', { sections }),
    entered: parts.audit.settingsChanged,
    started: { listen: ground.listen, databaseUrl: ground.databaseUrl, port: options.port },
  });
  const shared = sharedSettings(ground, parts, settings);
  const own = kernelContributor();
  const view: api.KernelView = createKernelView({
    ...parts,
    version: ground.release.version,
    startedAt: ground.startedAt,
    presetName: ground.preset.name,
    lifecycle,
    installed,
    tools: wiring.tools,
    events: wiring.events,
    requiredSecurity: () => requiredSecurity(ground.preset.preset, config),
    address: () => address,
    isReady: () => progress.phase() === 'ready',
    shutdown: onceOnly((reason: string) => options.onShutdown?.(reason)),
    installation,
    backups: backupsOf(ground, parts, own),
    settings: createSettingsView({
      ...parts,
      file: parts.home.configFile,
      settings,
      share: async (path, value) => shared?.share(path, value),
      failed: (error) => log.logger('config').error('the settings were saved and could not be brought into force', { error }),
    }),
  });
  leaveOffCutOff(ground, lifecycle, storedChoices);
  const switched = storedChoices.watch(lifecycle);
  own.lifetime.add('watch of the file of switched-off extensions', () => switched.dispose());
  own.lifetime.add('purges', () => parts.purges.close());
  tapProbes(
    own,
    wiring.hooks,
    parts,
    () => view,
    () => ({ host: ground.listen.host, port: address.port, hasKey: ground.keys.hasKey() }),
  );
  tapSecurity(own, parts, address);
  return { address, parts, choices, installation, lifecycle, view, settings, shared, own };
}

/** A file in the data folder is of this daemon alone. */
const sharedSettings = ({ bus, config, log, options }: Ground, { home, storage }: ContextParts, settings: Settings): SharedSettings | undefined =>
  storage.dialect === 'sqlite'
    ? undefined
    : createSharedSettings({ db: storage.dbFor(kernelTables), bus, config, settings, clock: options.clock, log: log.logger('config'), markFile: join(home.dataDir, 'shared-settings') });

const backupsOf = (ground: Ground, { clock, home, hooks, ids, members, storage }: ContextParts, own: Contributor): api.Backups => {
  const backed: BackupHome = { home, version: ground.release.version, claims: ground.claims, clock, ids, server: backupServer(ground) };
  const ending = new AbortController();
  own.lifetime.add('backups', () => ending.abort());
  const { onRestore } = ground.options;
  return createLiveBackups({
    ...backed,
    storage,
    hooks,
    others: async () => (await members.list()).filter(({ isSelf, silentMs }) => !isSelf && silentMs < DEAD_MS).map(({ address, name }) => `${name} (${address})`),
    signal: ending.signal,
    onRestore: onRestore && ((plan) => onRestore(plan, backed)),
    // The answer leaves first.
    later: (work) => void clock.schedule(RESTORE_DELAY_MS, work),
  });
};

const backupServer = ({ config, databaseUrl, home, installed, release }: Ground): BackupHome['server'] =>
  databaseUrl === undefined
    ? undefined
    : {
        url: databaseUrl,
        // An unpacked backup brings extensions of its own.
        owners: (where) => (where.home === home.home ? ownersOfInstalled(installed.all()) : ownersInHome(where, release, { get: config.get, closed: config.closed, isFileRead: config.isFileRead })),
      };

const lifecycleOf = (
  { config, installed, log, options, preset, relay, wiring }: Ground,
  { footing, installation, thirdParties }: OpenParts,
  parts: ContextParts,
  choices: StoredChoices,
): Lifecycle => {
  const newest = releaseWatcher(options.releaseFile, api, options.code);
  return createLifecycle(parts, wiring, installed, {
    clock: options.clock,
    log,
    settled: relay.poke,
    choose: choices.set,
    attempt: async (id) => choices.attempt(id),
    latest: async (id) => (await installation.linked(id)) ?? newest(id),
    trials: installation.trials,
    processOf: thirdParties.processOf,
    storedBy: footing.quotas.stored,
    forgiven: thirdParties.forgive,
    // A new build may bring settings of its own.
    adopted: async () => void (await config.reload()),
    intents: () => intentSources(choices.all(), config, preset),
  });
};

const leaveOffCutOff = ({ log }: Ground, lifecycle: Lifecycle, choices: StoredChoices): void => {
  for (const id of choices.cutOff()) {
    log.logger('kernel').error('the daemon ended while an extension was being switched on; it is left off', { extension: id });
    lifecycle.leaveOff(id, `the daemon stopped while it was being switched on, so it is off. svc ext enable ${id} tries again`);
  }
};

export function onceOnly<A, R>(fn: (arg: A) => R): (arg: A) => R {
  let result: { value: R } | undefined;
  return (arg) => {
    result ??= { value: fn(arg) };
    return result.value;
  };
}
