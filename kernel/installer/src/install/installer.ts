/**
 * Installs, upgrades, goes back and removes, in files alone: it knows no daemon. The daemon uses it while it runs, the
 * command line while the daemon is stopped, under the lock of the home.
 *
 * I1  What is staged is visible to nobody. What is committed is there as a whole, whenever the process ends.
 * I2  Nothing of a package runs here.
 * I3  One change at a time; a package that was staged for another state than the one of now is refused as busy.
 */
import { openStore } from '../store/open-store.js';
import { createChanges } from './changes.js';
import type { Installer, InstallerOptions } from './contract.js';
import { type BootContext, validateRecords, validateStored, storedPackage } from './validate-at-boot.js';
import { createStaging } from './staging.js';

/** Only one may be open for a store. Ends what was cut off and empties staging. Rejects with `install_store_broken`. */
export const createInstaller = async (options: InstallerOptions): Promise<Installer> => {
  const store = await openStore(options.dir);
  const boot = (): BootContext => ({
    store: store.packages,
    keys: store.keys,
    policy: options.policy(),
    installed: options.installed(),
    ...(options.isolationFaults ? { isolationFaults: options.isolationFaults } : {}),
  });
  return {
    ...createStaging(options, store),
    ...createChanges(options, store),
    discard: async ({ stage }) => {
      if (stage !== undefined) await store.packages.dropStage(stage);
    },
    records: store.records,
    // What was being tried when the daemon ended does not run again: the version of before does.
    validateAtBoot: () =>
      validateRecords(
        store.records().map((record) => (record.trial?.isBegun ? record.trial.before : record)),
        boot(),
      ),
    stored: async (id) => storedPackage(store.known(id), boot()),
    verify: async (record) => (await validateStored(record.id, record, store.packages.dirOf(record), boot())).bundleHash ?? '',
    keys: store.keys,
    trust: (change) => store.change(async () => store.setKeys(change(store.keys()))),
  };
};
