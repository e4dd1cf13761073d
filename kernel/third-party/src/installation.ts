/**
 * Installs, upgrades, goes back and removes while the daemon runs: the files by the installer, the code by the lifecycle.
 *
 * N1  What a person was shown is what is installed: the digest they name is that of the package, or nothing happens.
 * N2  An upgrade that does not start leaves the version of before serving, in the files as in the process.
 * N3  Nothing of the installer is loaded before there is something installed, or to install.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExtensionStatus, type InstallRequest, isSvcError } from '@svc/api';
import type { Installation, Manifest, RefusedExtension } from '@svc/api/internal';
import type { Lifecycle } from '@svc/core';
import type { GivenConsent, Installer, InstallerOptions, Policy, StoredPackage } from '@svc/installer/install';
import { isolationFaults, proveIsolation, wallFault } from '@svc/isolation';
import type { ScopedLogger } from '@svc/platform/log/log';
import { thirdPartyErrors } from './errors.js';
import type { InstalledFiles } from '@svc/core';
import type { ThirdParty } from './third-party.js';
import { createVersionTrials, type TrialStorage, type VersionTrials } from './version-trials.js';

export interface InstallationDeps {
  /** Absolute path of the folder of the store. */
  readonly dir: string;
  readonly apiVersion: string;
  /** Absolute path of the program that the processes of extensions run. */
  readonly program: string;
  policy(): Policy;
  /** Names of hooks that code in another process cannot listen to. */
  closedHooks(): ReadonlySet<string>;
  installed(): ReturnType<InstallerOptions['installed']>;
  toInstalled(thirdParty: ThirdParty): InstalledFiles;
  readonly clock: { iso(): string };
  readonly log: ScopedLogger;
  lifecycle(): Pick<Lifecycle, 'add' | 'enable' | 'remove' | 'replace' | 'status'> | undefined;
  readonly storage: TrialStorage;
  /** Takes away what an extension that was removed has kept: its tables, files and secrets. */
  purge(removed: ThirdParty): Promise<void>;
}

export interface InstallationParts extends Installation {
  /** What may run, validated anew. For the start: what cannot run is told, and stops nothing. */
  atBoot(): Promise<readonly InstalledFiles[]>;
  readonly trials: VersionTrials;
  /** Ends what runs of a key that was revoked since the last look. */
  followTrust(): Promise<void>;
  /** A folder in development as it is now; undefined for what lies in the store, which never changes. */
  linked(id: string): Promise<InstalledFiles | undefined>;
}

export const createInstallation = (deps: InstallationDeps): InstallationParts => {
  let opened: Promise<Installer> | undefined;
  let installer: Installer | undefined;
  let refused: readonly RefusedExtension[] = [];
  /** Of trust.toml, as it was looked at last. */
  let trustSeen: string | undefined;
  const open = (): Promise<Installer> => {
    opened ??= openInstaller(deps).then((one) => {
      installer = one;
      return one;
    });
    // One that could not be opened is tried anew by whoever asks next.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  const lifecycle = (): NonNullable<ReturnType<InstallationDeps['lifecycle']>> => {
    const found = deps.lifecycle();
    if (!found) throw thirdPartyErrors.not_ready();
    return found;
  };
  const thirdPartyOf = async (id: string): Promise<ThirdParty> => toThirdParty(await (await open()).stored(id), installer);
  const trials = createVersionTrials({ installer: () => installer, current: async (id) => deps.toInstalled(await thirdPartyOf(id)), storage: deps.storage, log: deps.log });
  return {
    trials,
    atBoot: async () => {
      if (!(await isThere(deps.dir))) return [];
      try {
        const validated = await (await open()).validateAtBoot();
        refused = validated.refused;
        for (const one of refused) deps.log.error('an installed extension is refused', { extension: one.id, code: one.code, why: one.message });
        return validated.usable.map((one) => deps.toInstalled(toThirdParty(one, installer)));
      } catch (cause) {
        deps.log.error('the installed extensions could not be read, and none of them runs', { cause });
        refused = [{ id: '*', code: isSvcError(cause) ? cause.code : 'install_store_broken', message: cause instanceof Error ? cause.message : String(cause) }];
        return [];
      }
    },
    install: async (request, options) => {
      const found = lifecycle();
      const files = await open();
      const { installFrom } = await import('@svc/installer/install');
      const { id } = await installFrom(files, request.source, consentOf(request), { ...options, ...(request.link === undefined ? {} : { link: request.link }) });
      refused = refused.filter((one) => one.id !== id);
      await found.add(deps.toInstalled(await thirdPartyOf(id)));
      return request.enable === true ? found.enable(id) : found.status(id);
    },
    upgrade: async (id, request, options = {}) => {
      const found = lifecycle();
      const files = await open();
      const { upgradeFrom } = await import('@svc/installer/install');
      const { before, offer, outcome } = await upgradeFrom(files, id, request, consentOf(request), options);
      if (outcome !== 'upgraded') return { outcome, offer, extension: found.status(id) };
      return { outcome, offer, extension: await replaced(files, before, async () => found.replace(id, deps.toInstalled(await thirdPartyOf(id)))) };
    },
    rollback: async (id) => {
      const found = lifecycle();
      const files = await open();
      const before = files.records().find((one) => one.id === id);
      await files.rollback(id);
      return replaced(files, before, async () => found.replace(id, deps.toInstalled(await thirdPartyOf(id))));
    },
    uninstall: async (id, { purge }) => {
      const files = await open();
      const thirdParty = purge ? await thirdPartyOf(id).catch(() => undefined) : undefined;
      if (!files.records().some((one) => one.id === id)) await files.stored(id); // rejects with the error that says so
      if (deps.installed().some((one) => one.id === id)) await lifecycle().remove(id);
      if (thirdParty) await deps.purge(thirdParty);
      await files.remove(id, { purge });
      refused = refused.filter((one) => one.id !== id);
    },
    previous: (id) =>
      installer
        ?.records()
        .find((one) => one.id === id)
        ?.previous.map(({ version, digest, installedAt }) => ({ version, digest, installedAt })),
    waiting: (id) => {
      const pending = installer?.records().find((one) => one.id === id)?.pending;
      return pending ? { version: pending.version, newGrants: pending.newGrants } : undefined;
    },
    refused: () => refused,
    publishers: () =>
      (installer?.keys() ?? []).map(({ id, name, allow, isolation, revoked, wasInProcess = false }) => ({
        keyId: id,
        name,
        extensions: allow,
        isolation: isolation ?? null,
        wasInProcess,
        revoked: revoked ?? null,
      })),
    followTrust: async () => {
      const files = installer;
      const stamp = files ? await stampOf(join(deps.dir, 'trust.toml')) : undefined;
      if (!files || stamp === trustSeen) return;
      trustSeen = stamp;
      for (const { id, keyId } of await revokedAmong(deps.dir, files)) {
        if (!deps.installed().some((one) => one.id === id)) continue;
        const message = `The key ${keyId}, which signed ${id}, is revoked.`;
        refused = [...refused.filter((one) => one.id !== id), { id, code: 'install_revoked', message }];
        await lifecycle().remove(id, { keepsChoice: true });
        deps.log.warn('an extension was stopped: its key is revoked', { extension: id, key: keyId });
      }
    },
    prove: async () => [await proveIsolation('isolated', deps.program), await proveIsolation('walled', deps.program)],
    linked: async (id) => (installer?.records().some((one) => one.id === id && one.trust === 'linked') ? deps.toInstalled(await thirdPartyOf(id)) : undefined),
  };
};

const isThere = async (dir: string): Promise<boolean> => {
  const found = await Promise.all(['installed.json', 'transaction.json'].map((name) => stat(join(dir, name)).catch(() => undefined)));
  return found.some((one) => one !== undefined);
};

const stampOf = async (file: string): Promise<string | undefined> => {
  const found = await stat(file).catch(() => undefined);
  return found && `${found.mtimeMs}:${found.ino}:${found.size}`;
};

const revokedAmong = async (dir: string, installer: Installer): Promise<ReadonlyArray<{ readonly id: string; readonly keyId: string }>> => {
  const { readStoreFiles } = await import('@svc/installer/install');
  const revoked = new Set((await readStoreFiles(dir)).keys().flatMap((key) => (key.revoked === undefined ? [] : [key.id])));
  return installer.records().flatMap(({ id, keyId }) => (keyId !== null && revoked.has(keyId) ? [{ id, keyId }] : []));
};

const openInstaller = async ({ apiVersion, clock, closedHooks, dir, installed, log, policy }: InstallationDeps): Promise<Installer> => {
  const { createInstaller } = await import('@svc/installer/install');
  const fault = await wallFault();
  const installer = await createInstaller({
    dir,
    apiVersion,
    installed,
    policy: () => ({ ...policy(), wallFault: fault }),
    clock,
    isolationFaults: (candidate) => [...isolationFaults(candidate), ...hookFaults(candidate.manifest, closedHooks())],
  });
  // One that is no TOML is told by whoever needs it.
  const keys = await Promise.resolve()
    .then(installer.keys)
    .catch(() => []);
  for (const { id, name } of keys.filter(({ wasInProcess }) => wasInProcess))
    log.warn('trust.toml asks for isolation = "in-process", which is gone: what the key signed runs in a process of its own', { key: id, name });
  return installer;
};

const hookFaults = ({ hooks = [] }: Manifest, closed: ReadonlySet<string>): string[] =>
  hooks.filter(({ name }) => closed.has(name)).map(({ name }) => `it listens to the hook ${name}, which is not open to other processes`);

/** As the installer takes it. */
const consentOf = ({ digest, grants = [], isShown, trustKey }: Pick<InstallRequest, 'digest' | 'grants' | 'isShown' | 'trustKey'>): GivenConsent => ({
  grants,
  ...(digest === undefined ? {} : { digest }),
  ...(isShown === undefined ? {} : { isShown }),
  ...(trustKey === undefined ? {} : { trustKey }),
});

/** N2. Both errors are told: why the new one does not run, and why the old one could not be put back where that failed, too. */
const replaced = async (installer: Installer, before: Parameters<Installer['restore']>[0] | undefined, replace: () => Promise<ExtensionStatus>): Promise<ExtensionStatus> => {
  try {
    return await replace();
  } catch (cause) {
    if (!before) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const now = installer.records().find(({ id }) => id === before.id);
    if (now?.trial?.isBegun) throw thirdPartyErrors.restore_later(before.id, before.version, why).with({ cause });
    // Its first start put everything back, or it was refused before that.
    if (now?.installedAt === before.installedAt && now.folder === before.folder) throw thirdPartyErrors.upgrade_failed(before.id, before.version, why).with({ cause });
    const failure = await installer.restore(before).then(
      () => undefined,
      (error: unknown) => error,
    );
    throw failure === undefined
      ? thirdPartyErrors.upgrade_failed(before.id, before.version, why).with({ cause })
      : thirdPartyErrors.restore_failed(before.id, before.version, why, failure instanceof Error ? failure.message : String(failure)).with({ cause });
  }
};

const toThirdParty = ({ bundleHash, record, isolationWhy, dir, manifest, contributions, package: { description } }: StoredPackage, installer: Installer | undefined): ThirdParty => ({
  id: record.id,
  version: record.version,
  description,
  folder: dir,
  manifest,
  contributions,
  grants: record.grants,
  ...(installer && bundleHash !== undefined ? { verify: () => installer.verify(record) } : {}),
  origin: {
    source: record.source,
    publisher: record.keyId === null ? null : { keyId: record.keyId, name: (installer?.keys() ?? []).find((key) => key.id === record.keyId)?.name || null },
    trust: record.trust,
    isolation: record.isolation,
    isolationWhy,
    installedAt: record.installedAt,
  },
});
