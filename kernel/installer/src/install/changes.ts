/** Changes of what is installed. Each counts from one moment on, and before that moment nothing has changed. */
import { installErrors } from '../errors.js';
import { type TrustedKey, withoutPin, withPin } from '../signing/trust.js';
import type { OpenStore } from '../store/open-store.js';
import type { InstalledRecord, PackageRecord } from '../store/records.js';
import { agreedGrants } from './consent.js';
import type { Installer, InstallerOptions } from './contract.js';
import { validateStored } from './validate-at-boot.js';
import { validateApiRange, validateNeighbours } from './validate-place.js';
import { consentFor, type Staged } from './staged.js';

/** How many versions are kept to go back to. */
const KEPT = 2;

export const createChanges = (options: InstallerOptions, store: OpenStore): Pick<Installer, 'commit' | 'rollback' | 'remove' | 'restore' | 'beginTrial' | 'confirmTrial' | 'undoTrial'> => {
  const { clock } = options;
  const recordOf = (staged: Staged, folder: string, grants: readonly string[]): PackageRecord => ({
    version: staged.version,
    digest: staged.digest,
    folder,
    grants,
    isolation: staged.isolation,
    trust: staged.trust,
    keyId: staged.key?.keyId ?? null,
    installedAt: clock.iso(),
  });
  /** Where it lies from now on. */
  const kept = (staged: Staged, current: InstalledRecord | undefined): Promise<string> | string => {
    if (staged.trust === 'linked') return staged.dir;
    return staged.stage === undefined ? (current?.pending?.folder ?? staged.dir) : store.packages.keep(staged.dir, staged);
  };
  const drop = async ({ stage }: Staged): Promise<void> => {
    if (stage !== undefined) await store.packages.dropStage(stage);
  };
  const pinned = ({ id, key }: Staged): readonly TrustedKey[] | undefined =>
    key && key.standing !== 'known' ? withPin(store.keys(), { public: key.publicKey, name: key.name }, id, clock.iso()) : undefined;
  /** An upgrade that asks for more is kept, so that somebody can agree to it later. */
  const hold = async (staged: Staged, current: InstalledRecord, granted: readonly string[], missing: readonly string[]): Promise<void> => {
    if (staged.trust === 'linked') return;
    await store.put({ ...current, pending: { ...recordOf(staged, await kept(staged, current), granted), newGrants: missing } });
    await drop(staged);
  };

  const putBack = async (record: InstalledRecord): Promise<void> => {
    const there = await Promise.all(record.previous.map((one) => store.packages.isThere(one)));
    await store.put({ ...record, previous: record.previous.filter((_one, index) => there[index]) });
  };

  return {
    commit: (staged, { digest, grants: consent, isShown = true, trustKey = false }) =>
      store.change(async () => {
        const current = store.find(staged.id);
        if (current) refuseOpenTrial(current);
        if (!isBasedOn(staged, current)) throw installErrors.busy(staged.id);
        if (digest !== undefined && digest !== staged.digest) throw installErrors.changed(staged.id);
        if (staged.key?.standing === 'unknown' && !trustKey) throw installErrors.unknown_key(staged.id, staged.key.keyId).with({ details: consentFor(staged) });
        const { granted, missing } = agreedGrants(staged.grants, consent);
        if (!isShown && !current) throw installErrors.needs_consent(staged.id, missing).with({ details: consentFor(staged) });
        if (missing.length > 0) {
          if (current) await hold(staged, current, granted, missing);
          throw installErrors.needs_consent(staged.id, missing).with({ details: consentFor(staged) });
        }
        const folder = await kept(staged, current);
        const record: InstalledRecord = {
          id: staged.id,
          ...recordOf(staged, folder, granted),
          source: staged.source,
          previous: earlier(current, folder),
          ...trialOf(current, staged.digest, clock.iso()),
        };
        await store.put(record, pinned(staged));
        await drop(staged);
        return record;
      }),
    rollback: (id) =>
      store.change(async () => {
        const current = store.known(id);
        refuseOpenTrial(current);
        const [target, ...previous] = current.previous;
        if (!target) throw installErrors.none_before(id);
        const key = target.keyId === null ? undefined : store.keys().find((one) => one.id === target.keyId);
        // It may belong to another key since; that it was agreed to then counts, unless the key was revoked.
        const keys = key ? withPin(store.keys(), key, id, clock.iso()) : undefined;
        const content = await validateStored(id, target, store.packages.dirOf(target), { keys: () => keys ?? store.keys(), policy: options.policy() });
        validateApiRange(content.manifest, options.apiVersion);
        validateNeighbours(content, options.installed(), options.apiVersion);
        const record: InstalledRecord = { id, ...target, source: current.source, previous, ...trialOf(current, target.digest, clock.iso()) };
        await store.put(record, keys);
        return record;
      }),
    remove: (id, { purge }) =>
      store.change(async () => {
        store.known(id);
        await store.remove(id, purge ? withoutPin(store.keys(), id) : undefined);
        await store.sweep();
      }),
    beginTrial: (id) =>
      store.change(async () => {
        const current = store.known(id);
        if (current.trial) await store.put({ ...current, trial: { ...current.trial, isBegun: true } });
      }),
    confirmTrial: (id) =>
      store.change(async () => {
        const { trial: _over, ...counts } = store.known(id);
        await store.put(counts);
      }),
    undoTrial: (id) =>
      store.change(async () => {
        const { trial } = store.known(id);
        if (trial) await putBack(trial.before);
      }),
    restore: (record) => store.change(() => putBack(record)),
  };
};

/** Until its tables are put back, nothing else may take its place. */
const refuseOpenTrial = ({ id, trial, version }: InstalledRecord): void => {
  if (trial?.isBegun) throw installErrors.trial_open(id, version);
};

/** Of several that follow each other without a start, the one that ran last is what is put back. */
const trialOf = (current: InstalledRecord | undefined, digest: string, at: string): Pick<InstalledRecord, 'trial'> => {
  if (!current) return {};
  const { trial, ...before } = current;
  return { trial: { token: `${at} ${digest}`, isBegun: false, before: trial?.before ?? before } };
};

/** Whether what is installed is still what the package was validated beside. */
const isBasedOn = ({ replaces, stage, trust, digest }: Staged, current: InstalledRecord | undefined): boolean => {
  if (stage === undefined && trust !== 'linked' && current?.pending?.digest !== digest) return false;
  return current?.folder === replaces?.folder && current?.installedAt === replaces?.installedAt;
};

/** What an upgrade leaves behind to go back to. A folder in development is not one of them. */
const earlier = (current: InstalledRecord | undefined, folder: string): PackageRecord[] =>
  (current ? [current, ...current.previous] : [])
    .filter((one) => one.trust !== 'linked' && one.folder !== folder)
    .slice(0, KEPT)
    .map(asPackage);

const asPackage = ({ version, digest, folder, grants, isolation, trust, keyId, installedAt }: PackageRecord): PackageRecord => ({
  version,
  digest,
  folder,
  grants,
  isolation,
  trust,
  keyId,
  installedAt,
});
