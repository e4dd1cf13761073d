/** What is installed, validated again when the daemon starts: nothing runs that was changed, or whose key is trusted no more. */
import { isSvcError } from '@svc/api';
import type { AllContributions } from '../contributions.js';
import { installErrors } from '../errors.js';
import { type PackageContent, type PackageIdentity, readPackage } from '../package/read-package.js';
import { validateKey } from '../signing/validate-trust.js';
import type { TrustedKey } from '../signing/trust.js';
import { intactFiles, type PackageStore } from '../store/package-store.js';
import type { InstalledRecord, PackageRecord } from '../store/records.js';
import { isolationFor, type Policy, verifiedSignature } from './validate-package.js';
import { type Candidate, validateId, type Neighbour } from './validate-place.js';
import { validateOwnRoutes } from './own-routes.js';

export interface StoredPackage {
  /** With the isolation that holds now. */
  readonly record: InstalledRecord;
  readonly isolationWhy: string;
  readonly dir: string;
  readonly manifest: PackageContent['manifest'];
  readonly contributions: AllContributions;
  readonly package: PackageIdentity;
  /** SHA-256 of the code; undefined for a folder in development. */
  readonly bundleHash?: string | undefined;
}

export interface Refused {
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

export interface BootContext {
  readonly store: PackageStore;
  /** Throws `install_trust_file`. */
  keys(): readonly TrustedKey[];
  readonly policy: Policy;
  readonly installed: readonly Neighbour[];
  isolationFaults?(candidate: Candidate): readonly string[];
}

/** Never rejects for one of them: that one is refused, and the others are not. */
export const validateRecords = async (records: readonly InstalledRecord[], context: BootContext): Promise<{ readonly usable: readonly StoredPackage[]; readonly refused: readonly Refused[] }> => {
  const usable: StoredPackage[] = [];
  const refused: Refused[] = [];
  for (const record of records) {
    try {
      usable.push(await storedPackage(record, context));
    } catch (error) {
      refused.push({ id: record.id, code: isSvcError(error) ? error.code : 'install_store_broken', message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { usable, refused };
};

/** Rejects with the named error of what is wrong with it. */
export const storedPackage = async (record: InstalledRecord, context: BootContext): Promise<StoredPackage> => {
  validateId(record.id, context.installed);
  const dir = context.store.dirOf(record);
  const content = await validateStored(record.id, record, dir, context);
  // One that ran inside the daemon of before may ask for what no process of its own can have.
  const faults = context.isolationFaults?.(content) ?? [];
  if (faults.length > 0) throw installErrors.cannot_isolate(record.id, faults);
  const { isolation, why } = isolationFor(record.keyId, context.keys(), context.policy);
  return { record: { ...record, isolation }, isolationWhy: why, dir, ...content };
};

/** A package of the store, this one or an earlier one. Rejects with `install_modified`, `install_revoked`, `install_unknown_key`, `install_unsigned`, `install_route_refused` and the like. */
export const validateStored = async (
  id: string,
  record: PackageRecord,
  dir: string,
  { keys, policy }: Pick<BootContext, 'keys' | 'policy'>,
): Promise<PackageContent & Pick<StoredPackage, 'bundleHash'>> => {
  if (policy.thirdParty === 'none') throw installErrors.not_allowed();
  if (record.trust === 'linked') return ownContent(id, await readPackage(dir), record.grants);
  const hashes = await intactFiles(id, dir, record.digest);
  const content = ownContent(id, await readPackage(dir), record.grants);
  const signature = await verifiedSignature(dir, hashes, content);
  if ((signature?.keyId ?? null) !== record.keyId) throw installErrors.modified(id, 'SIGNATURE.json', 'is not the one that was installed');
  if (signature && (await validateKey(signature, keys(), [])) === 'unknown') throw installErrors.unknown_key(id, signature.keyId);
  if (!signature && policy.thirdParty === 'signed') throw installErrors.unsigned(id, 'this daemon takes signed extensions alone');
  return { ...content, bundleHash: hashes[BUNDLE_FILE] };
};

const BUNDLE_FILE = 'dist/index.js';

const ownContent = (id: string, content: PackageContent, grants: readonly string[]): PackageContent => {
  if (content.manifest.id !== id) throw installErrors.modified(id, 'extension.json', `is that of ${content.manifest.id}`);
  validateOwnRoutes(id, content.contributions, grants);
  return content;
};
