/** The store as it is held open: what its files said last, and one change of them at a time. */
import { mkdir } from 'node:fs/promises';
import { nearest } from '@svc/api';
import { installErrors } from '../errors.js';
import type { TrustedKey } from '../signing/trust.js';
import { createPackageStore, type PackageStore } from './package-store.js';
import { finishTransaction, type InstalledRecord, readStoreFiles, type StoreFiles, writeStoreFiles, writeTrust } from './records.js';

export interface OpenStore {
  readonly packages: PackageStore;
  records(): readonly InstalledRecord[];
  /** Throws `install_trust_file`. */
  keys(): readonly TrustedKey[];
  find(id: string): InstalledRecord | undefined;
  /** Throws `install_unknown`. */
  known(id: string): InstalledRecord;
  /** Runs when every change before it has ended, with the files read anew: people write trust.toml by hand too. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Within a change: puts the record in the place of the one with its id. */
  put(record: InstalledRecord, keys?: readonly TrustedKey[]): Promise<void>;
  remove(id: string, keys?: readonly TrustedKey[]): Promise<void>;
  setKeys(keys: readonly TrustedKey[]): Promise<void>;
  /** Removes folders that nothing needs any more. What the last change of each extension replaced is kept: it may be restored. */
  sweep(): Promise<void>;
}

/** Ends what was cut off and empties staging. Rejects with `install_store_broken`. */
export const openStore = async (dir: string): Promise<OpenStore> => {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await finishTransaction(dir);
  const packages = createPackageStore(dir);
  let files: StoreFiles = await readStoreFiles(dir);
  await packages.sweep(files.records, true);

  const replaced = new Map<string, InstalledRecord>();
  let last: Promise<unknown> = Promise.resolve();
  const find = (id: string): InstalledRecord | undefined => files.records.find((record) => record.id === id);
  const write = async (records: readonly InstalledRecord[], keys: readonly TrustedKey[] | undefined): Promise<void> => {
    await writeStoreFiles(dir, { records, ...(keys ? { keys } : {}) });
    files = { records, keys: keys ? () => keys : files.keys };
  };
  return {
    packages,
    records: () => files.records,
    keys: () => files.keys(),
    find,
    known: (id) => {
      const record = find(id);
      if (record) return record;
      const ids = files.records.map((one) => one.id);
      throw installErrors.unknown(id, nearest(id, ids, 1)[0]);
    },
    change: (work) => {
      const next = last
        .then(async () => {
          files = await readStoreFiles(dir);
        })
        .then(work);
      last = next.catch(() => undefined);
      return next;
    },
    put: async (record, keys) => {
      const former = find(record.id);
      await write(former ? files.records.map((one) => (one === former ? record : one)) : [...files.records, record], keys);
      if (former) replaced.set(record.id, former);
    },
    remove: async (id, keys) => {
      const records = files.records.filter((record) => record.id !== id);
      await write(records, keys);
      replaced.delete(id);
    },
    setKeys: async (keys) => {
      await writeTrust(dir, keys);
      files = { ...files, keys: () => keys };
    },
    sweep: () => packages.sweep([...files.records, ...replaced.values()], false),
  };
};
