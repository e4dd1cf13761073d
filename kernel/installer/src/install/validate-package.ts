/** An unpacked package, validated in the order in which the checks mean something: manifest, API range, signature and trust. */
import { allFilesIn, digestOf, type FileHashes, hashFiles } from '../package/package-files.js';
import { type PackageContent, readPackage } from '../package/read-package.js';
import { installErrors } from '../errors.js';
import { validateKey } from '../signing/validate-trust.js';
import { readRotations } from '../signing/rotation.js';
import { type Expected, type Signature, verifyFiles } from '../signing/signature.js';
import { type Isolation, pinnedKeys, type TrustedKey } from '../signing/trust.js';
import { validateApiRange } from './validate-place.js';
import type { StagedKey } from './staged.js';

export interface Policy {
  /** `signed`: by a key that somebody trusts; `any`: unsigned ones too; `none`: nobody's. */
  readonly thirdParty: 'signed' | 'any' | 'none';
  readonly isolation: 'auto' | 'isolated' | 'walled';
  /** Why there are no walls on this machine; undefined where they work. */
  readonly wallFault?: string | undefined;
  readonly registry: string | undefined;
  readonly index: string | undefined;
}

export interface ValidatedPackage extends PackageContent {
  readonly digest: string;
  readonly key: StagedKey | undefined;
}

export interface TrustContext {
  readonly keys: readonly TrustedKey[];
  readonly thirdParty: Policy['thirdParty'];
  /** Whether the version that is installed was signed. */
  wasSigned(id: string): boolean;
}

/** Rejects with the named error of the first check that fails. */
export const validatePackage = async (dir: string, apiVersion: string, trust: TrustContext): Promise<ValidatedPackage> => {
  const content = await readPackage(dir);
  validateApiRange(content.manifest, apiVersion);
  return { ...content, ...(await validateSigned(dir, expectedOf(content), trust)) };
};

/** Whether its files are those that were signed, and by whom. Rejects with the named error of the first check that fails. */
export const validateSigned = async (dir: string, expected: Expected, trust: TrustContext): Promise<Pick<ValidatedPackage, 'digest' | 'key'>> => {
  const hashes = await hashFiles(dir, await allFilesIn(dir));
  const signature = await verifyFiles(dir, hashes, expected);
  return { digest: digestOf(hashes), key: await validateTrust(dir, expected.id, signature, trust) };
};

const expectedOf = ({ manifest, package: { version } }: PackageContent): Expected => ({ id: manifest.id, version, api: manifest.api });

export const verifiedSignature = (dir: string, hashes: FileHashes, content: PackageContent): Promise<Signature | undefined> => verifyFiles(dir, hashes, expectedOf(content));

const validateTrust = async (dir: string, id: string, signature: Signature | undefined, { keys, thirdParty, wasSigned }: TrustContext): Promise<StagedKey | undefined> => {
  if (thirdParty === 'none') throw installErrors.not_allowed();
  if (!signature) {
    if (pinnedKeys(keys, id).length > 0) throw installErrors.unsigned(id, 'here it belongs to a key');
    if (wasSigned(id)) throw installErrors.unsigned(id, 'the version that is installed is');
    if (thirdParty === 'signed') throw installErrors.unsigned(id, 'this daemon takes signed extensions alone');
    return undefined;
  }
  const standing = await validateKey(signature, keys, await readRotations(dir));
  return { keyId: signature.keyId, publicKey: signature.publicKey, standing, name: keys.find((key) => key.public === signature.publicKey)?.name ?? '' };
};

export interface IsolationChoice {
  readonly isolation: Isolation;
  /** Who or what decided that, as a sentence without its full stop. */
  readonly why: string;
}

/** How it runs: as its key says, else as the settings say. Settings that ask for walls have them for all. */
export const isolationFor = (keyId: string | null, keys: readonly TrustedKey[], policy: Pick<Policy, 'isolation' | 'wallFault'>): IsolationChoice => {
  const key = keys.find((one) => one.id === keyId && one.revoked === undefined);
  const asked = key?.isolation;
  const gone = key?.wasInProcess ? `. ${IN_PROCESS_IS_GONE}` : '';
  const byKey = (isolation: Isolation): IsolationChoice => ({ isolation, why: `trust.toml sets it for the key ${keyId}` });
  if (policy.isolation === 'walled') return { isolation: 'walled', why: `${SETTING}${gone}` };
  if (asked !== undefined) return byKey(asked);
  if (policy.isolation === 'isolated') return { isolation: 'isolated', why: `${SETTING}${gone}` };
  return policy.wallFault === undefined
    ? { isolation: 'walled', why: `bubblewrap works on this machine${gone}` }
    : { isolation: 'isolated', why: `bubblewrap does not work on this machine: ${policy.wallFault}${gone}` };
};

const IN_PROCESS_IS_GONE = 'trust.toml says "in-process" for its key, which svc no longer has';
const SETTING = '[extensions] isolation sets it';
