/**
 * installed.json: what is installed, for how much, from where. trust.toml stands beside it.
 *
 * R1  Both change together: what is to stand in them is written into transaction.json first, and from that moment it
 *     is so, also when the process ends before they are rewritten.
 * R2  A file that cannot be read as what it is, is an error, never an empty list.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isTable, type Static, Type } from '@svc/api';
import { atomicWrite } from '@svc/platform/adapters/files/atomic-write';
import type { ValidateFunction } from 'ajv';
import { compileSchema } from '../compile-schema.js';
import { installErrors } from '../errors.js';
import { parseTrust, type TrustedKey, trustText } from '../signing/trust.js';

const Texts = Type.Unsafe<readonly string[]>(Type.Array(Type.String()));
const packageMembers = {
  version: Type.String(),
  digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** Below the store's folder; absolute for a folder that is linked. */
  folder: Type.String({ minLength: 1 }),
  /** What somebody agreed to. */
  grants: Texts,
  isolation: Type.Union([Type.Literal('isolated'), Type.Literal('walled')]),
  trust: Type.Union([Type.Literal('signed'), Type.Literal('unsigned'), Type.Literal('linked')]),
  keyId: Type.Union([Type.String(), Type.Null()]),
  /** ISO 8601. */
  installedAt: Type.String(),
};
const PackageRecord = Type.Object(packageMembers);
export type PackageRecord = Readonly<Static<typeof PackageRecord>>;

const recordMembers = {
  id: Type.String({ pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)+$' }),
  ...packageMembers,
  /** As the person wrote it, without secrets. */
  source: Type.String(),
  /** Newest first. */
  previous: Type.Unsafe<readonly PackageRecord[]>(Type.Array(PackageRecord, { maxItems: 2 })),
  /** An upgrade that asks for more than was agreed to. */
  pending: Type.Optional(Type.Object({ ...packageMembers, newGrants: Texts })),
};
const InstalledRecord = Type.Object({
  ...recordMembers,
  /** It took the place of another version and has not started yet. */
  trial: Type.Optional(
    Type.Object({
      /** Names the copy of its tables. */
      token: Type.String({ minLength: 1 }),
      /** It was begun; a start that finds it so puts `before` back. */
      isBegun: Type.Boolean(),
      before: Type.Object(recordMembers),
    }),
  ),
});
export type InstalledRecord = Readonly<Static<typeof InstalledRecord>>;
export type TrialRecord = NonNullable<InstalledRecord['trial']>;
export type PendingRecord = NonNullable<InstalledRecord['pending']>;

const InstalledFile = Type.Object({ format: Type.Literal(1), extensions: Type.Array(InstalledRecord) });

export interface StoreFiles {
  readonly records: readonly InstalledRecord[];
  /** Throws `install_trust_file` where trust.toml could not be read. */
  keys(): readonly TrustedKey[];
}

const fileOf = (dir: string): string => join(dir, 'installed.json');
const trustFileOf = (dir: string): string => join(dir, 'trust.toml');
const transactionOf = (dir: string): string => join(dir, 'transaction.json');

/** Both as they stand, a change that was cut off included; writes nothing. Rejects with `install_store_broken`. */
export const readStoreFiles = async (dir: string): Promise<StoreFiles> => {
  const open = await readTransaction(dir);
  const installed = open?.installed ?? (await textOf(fileOf(dir)));
  const trust = open?.trust ?? (await textOf(trustFileOf(dir)));
  return { records: installed === undefined ? [] : parseInstalled(installed), keys: trust === undefined ? () => [] : keysOf(trust) };
};

/** A file that somebody wrote by hand is no reason to know nothing of what is installed. */
const keysOf = (text: string): StoreFiles['keys'] => {
  try {
    const keys = parseTrust(text);
    return () => keys;
  } catch (error) {
    return () => {
      throw error;
    };
  }
};

/** From here on both say this. Keys that are left out are unchanged. */
export const writeStoreFiles = async (dir: string, { records, keys }: { readonly records: readonly InstalledRecord[]; readonly keys?: readonly TrustedKey[] }): Promise<void> => {
  const installed = `${JSON.stringify({ format: 1, extensions: records }, null, 2)}\n`;
  if (keys === undefined) return atomicWrite(fileOf(dir), installed, { mode: 0o600 });
  const transaction: Transaction = { installed, trust: trustText(keys) };
  await atomicWrite(transactionOf(dir), JSON.stringify(transaction), { mode: 0o600 });
  await finish(dir, transaction);
};

/** Ends a change that was cut off after it counted. */
export const finishTransaction = async (dir: string): Promise<void> => {
  const open = await readTransaction(dir);
  if (open) await finish(dir, open);
};

/** Keys alone: what `svc ext trust` changes. */
export const writeTrust = (dir: string, keys: readonly TrustedKey[]): Promise<void> => atomicWrite(trustFileOf(dir), trustText(keys), { mode: 0o600 });

interface Transaction {
  readonly installed: string;
  readonly trust: string;
}

const finish = async (dir: string, { installed, trust }: Transaction): Promise<void> => {
  await atomicWrite(trustFileOf(dir), trust, { mode: 0o600 });
  await atomicWrite(fileOf(dir), installed, { mode: 0o600 });
  await rm(transactionOf(dir), { force: true });
};

const readTransaction = async (dir: string): Promise<Transaction | undefined> => {
  const text = await textOf(transactionOf(dir));
  if (text === undefined) return undefined;
  const found = jsonOf(text);
  // It is written as a whole or not at all.
  if (!isTable(found) || typeof found.installed !== 'string' || typeof found.trust !== 'string') throw installErrors.store_broken('transaction.json has another form');
  return { installed: found.installed, trust: found.trust };
};

const textOf = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw installErrors.store_broken(error instanceof Error && 'code' in error ? `${file}: ${String(error.code)}` : file).with({ cause: error });
  }
};

let installedCheck: ValidateFunction | undefined;

const parseInstalled = (text: string): readonly InstalledRecord[] => {
  const found = jsonOf(text, withoutInProcess);
  installedCheck ??= compileSchema(InstalledFile);
  if (!installedCheck(found)) {
    const [error] = installedCheck.errors ?? [];
    throw installErrors.store_broken(`installed.json: ${error?.instancePath || '/'} ${error?.message ?? 'has another form'}`);
  }
  // Validated by the schema that the type comes from.
  return (found as Static<typeof InstalledFile>).extensions;
};

/** An older svc ran some inside the daemon. How one runs is decided anew at each start. */
const withoutInProcess = (key: string, value: unknown): unknown => (key === 'isolation' && value === 'in-process' ? 'isolated' : value);

const jsonOf = (text: string, reviver?: (key: string, value: unknown) => unknown): unknown => {
  try {
    return JSON.parse(text, reviver);
  } catch {
    throw installErrors.store_broken('a file of the store is not JSON');
  }
};
