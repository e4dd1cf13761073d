/**
 * SIGNATURE.json: who vouches for which files of which extension.
 *
 * S1  It lists every file of the package but itself, with its SHA-256. A file that is not listed, is missing or holds
 *     something else makes the package modified.
 * S2  It is signed over the prefix `svc-ext-v1\n` and the canonical JSON of all its other members.
 * S3  It names id, version and API range. Those of the package must be the same, or it was made for something else.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isTable, isTextTable } from '@svc/api';
import { installErrors } from '../errors.js';
import { canonicalJson } from '../package/canonical-json.js';
import { allFilesIn, type FileHashes, hashFiles, packageFilesIn, ROTATION_FILE, SIGNATURE_FILE, withoutSignature } from '../package/package-files.js';
import { readPackage } from '../package/read-package.js';
import { isPublicKey, isSignedBy, keyIdOf, type SigningKey, signText } from './keys.js';
import { ROTATION_PREFIX, type Rotation } from './rotation.js';

export const SIGNATURE_PREFIX = 'svc-ext-v1\n';
/** What else such keys sign in this house: a signature for one of these is told by its name. */
const OTHER_PREFIXES: Readonly<Record<string, string>> = { 'svc-plugin-v1\n': 'a plugin', [ROTATION_PREFIX]: 'a change of keys' };

export interface Signature {
  readonly format: 1;
  readonly id: string;
  readonly version: string;
  readonly apiRange: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly keyId: string;
  /** 32 bytes in hex; `keyId` is made of it. */
  readonly publicKey: string;
  readonly files: FileHashes;
  /** Of extension.json, which `files` has too. */
  readonly manifestSha256: string;
  /** 64 bytes in hex. */
  readonly signature: string;
}

type Unsigned = Omit<Signature, 'signature'>;

export interface SignOptions {
  readonly now: Date;
  /** Statements that hand the extension on from earlier keys to this one. They are packed with it. */
  readonly rotations?: readonly Rotation[];
}

/** Writes SIGNATURE.json into a source folder that is built. What is signed is what `packFolder` packs. */
export const signFolder = async (dir: string, key: SigningKey, { now, rotations }: SignOptions): Promise<Signature> => {
  if (rotations) await writeFile(join(dir, ROTATION_FILE), `${JSON.stringify(rotations, null, 2)}\n`);
  const { package: identity, manifest } = await readPackage(dir);
  return signFiles(dir, { id: manifest.id, version: identity.version, api: manifest.api }, key, now);
};

/** The same for files that say what they are elsewhere. */
export const signFiles = async (dir: string, { id, version, api }: Expected, key: SigningKey, now: Date): Promise<Signature> => {
  const files = withoutSignature(await hashFiles(dir, await packageFilesIn(dir)));
  const unsigned: Unsigned = {
    format: 1,
    id,
    version,
    apiRange: api,
    createdAt: now.toISOString(),
    keyId: key.keyId,
    publicKey: key.publicKey,
    files,
    manifestSha256: files['extension.json'] ?? '',
  };
  const signed: Signature = { ...unsigned, signature: await signText(SIGNATURE_PREFIX, canonicalJson(unsigned), key) };
  await writeFile(join(dir, SIGNATURE_FILE), `${JSON.stringify(signed, null, 2)}\n`);
  return signed;
};

export interface Expected {
  readonly id: string;
  readonly version: string;
  readonly api: string;
}

/** The signature of an unpacked package whose files are `hashes`; undefined when it has none. Rejects with `install_signature`, `install_replayed` or `install_modified`. */
export const verifyFiles = async (dir: string, hashes: FileHashes, expected: Expected): Promise<Signature | undefined> => {
  if (!Object.hasOwn(hashes, SIGNATURE_FILE)) return undefined;
  const signature = parsed(await readFile(join(dir, SIGNATURE_FILE), 'utf8'));
  await checkSigned(signature);
  for (const [name, of, ours] of [
    ['id', signature.id, expected.id],
    ['version', signature.version, expected.version],
    ['API range', signature.apiRange, expected.api],
  ] as const)
    if (of !== ours) throw installErrors.replayed(`it names the ${name} ${of}, and the package has ${ours}`);
  checkListed(expected.id, signature.files, withoutSignature(hashes));
  if (signature.manifestSha256 !== hashes['extension.json']) throw installErrors.modified(expected.id, 'extension.json', 'was changed');
  return signature;
};

/** The same for a folder of which nothing is known yet. `isSource`: only what belongs to the package is looked at. */
export const verifyFolder = async (dir: string, { isSource = false } = {}): Promise<{ readonly signature: Signature | undefined; readonly hashes: FileHashes }> => {
  const { package: identity, manifest } = await readPackage(dir);
  const hashes = await hashFiles(dir, isSource ? await packageFilesIn(dir) : await allFilesIn(dir));
  return { hashes, signature: await verifyFiles(dir, hashes, { id: manifest.id, version: identity.version, api: manifest.api }) };
};

const MEMBERS = ['format', 'id', 'version', 'apiRange', 'createdAt', 'keyId', 'publicKey', 'files', 'manifestSha256', 'signature'] as const;

const parsed = (text: string): Signature => {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw installErrors.signature(`${SIGNATURE_FILE} is not JSON`);
  }
  if (!isTable(found)) throw installErrors.signature(`${SIGNATURE_FILE} is not an object`);
  if (found.format !== 1) throw installErrors.replayed(`it has the format ${JSON.stringify(found.format ?? null)}, and packages have 1`);
  const unclaimed = Object.keys(found).find((name) => !MEMBERS.some((member) => member === name));
  if (unclaimed !== undefined) throw installErrors.signature(`${SIGNATURE_FILE} has the unknown member "${unclaimed}"`);
  const { createdAt, files, id, keyId, apiRange, manifestSha256, publicKey, signature, version } = found;
  const texts = { createdAt, id, keyId, apiRange, manifestSha256, publicKey, signature, version };
  if (!isTextTable(texts) || !isTextTable(files)) throw installErrors.signature(`${SIGNATURE_FILE} has missing or invalid members`);
  // The members were looked at one by one.
  return { format: 1, ...texts, files } as Signature;
};

const checkSigned = async (whole: Signature): Promise<void> => {
  const { signature, ...unsigned } = whole;
  if (!isPublicKey(unsigned.publicKey) || keyIdOf(unsigned.publicKey) !== unsigned.keyId) throw installErrors.signature('its key id does not belong to its key');
  const text = canonical(unsigned);
  if (await isSignedBy(SIGNATURE_PREFIX, text, signature, unsigned.publicKey)) return;
  for (const [prefix, what] of Object.entries(OTHER_PREFIXES)) {
    if (await isSignedBy(prefix, text, signature, unsigned.publicKey)) throw installErrors.replayed(`its key signed this as ${what}`);
  }
  throw installErrors.signature(`the key ${unsigned.keyId} did not sign ${SIGNATURE_FILE}`);
};

const canonical = (unsigned: Unsigned): string => {
  try {
    return canonicalJson(unsigned);
  } catch (error) {
    throw installErrors.signature(error instanceof Error ? error.message : 'it has no canonical form');
  }
};

const checkListed = (id: string, listed: FileHashes, there: FileHashes): void => {
  for (const [path, hash] of Object.entries(there)) {
    if (!Object.hasOwn(listed, path)) throw installErrors.modified(id, path, 'is not listed in the signature');
    if (listed[path] !== hash) throw installErrors.modified(id, path, 'was changed');
  }
  const missing = Object.keys(listed).find((path) => !Object.hasOwn(there, path));
  if (missing !== undefined) throw installErrors.modified(id, missing, 'is missing');
};

/** What a package of files names itself by, where two texts are compared: SHA-256 in hex. */
export const sha256Of = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
