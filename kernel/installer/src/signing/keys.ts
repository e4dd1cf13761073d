/** Ed25519 keys of publishers: a private file, and a public text that says whose it is. */
import { createHash } from 'node:crypto';
import { lstat, open, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { getPublicKeyAsync, signAsync, utils, verifyAsync } from '@noble/ed25519';
import { isTable } from '@svc/api';
import { installErrors } from '../errors.js';

export interface SigningKey {
  readonly keyId: string;
  /** 32 bytes in hex. */
  readonly publicKey: string;
  /** 32 bytes. */
  readonly secret: Uint8Array;
}

const SECRET_PREFIX = 'svc-ext-secret-v1:';
const HEX_32 = /^[0-9a-f]{64}$/;

/** The first 16 hex digits of the SHA-256 of the raw public key. */
export const keyIdOf = (publicKey: string): string => createHash('sha256').update(Buffer.from(publicKey, 'hex')).digest('hex').slice(0, 16);

export const isPublicKey = (value: unknown): value is string => typeof value === 'string' && HEX_32.test(value);

export const generateKey = async (): Promise<SigningKey> => keyOf(utils.randomSecretKey());

const keyOf = async (secret: Uint8Array): Promise<SigningKey> => {
  const publicKey = Buffer.from(await getPublicKeyAsync(secret)).toString('hex');
  return { keyId: keyIdOf(publicKey), publicKey, secret };
};

/** Mode 600; never over a file that is there (EEXIST). */
export const writeKey = async (file: string, key: SigningKey): Promise<void> => {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(`${JSON.stringify({ keyId: key.keyId, public: key.publicKey, secret: SECRET_PREFIX + Buffer.from(key.secret).toString('hex') }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Rejects with `install_key_file`, and with `install_key_exposed` when others may read it or it lies in `packageDir`. */
export const readKey = async (file: string, packageDir?: string): Promise<SigningKey> => {
  const about = await lstat(file).catch(() => undefined);
  if (!about?.isFile()) throw installErrors.key_file(file, 'the file does not exist');
  if (process.platform !== 'win32' && (about.mode & 0o077) !== 0) throw installErrors.key_exposed(file, 'others than its owner may read it');
  if (packageDir !== undefined && (await isInside(file, packageDir))) throw installErrors.key_exposed(file, 'it is in the folder of the package');
  const secret = secretOf(await readFile(file, 'utf8'));
  if (secret === undefined) throw installErrors.key_file(file, 'it contains no private key');
  return keyOf(secret);
};

const isInside = async (file: string, dir: string): Promise<boolean> => {
  const way = relative(await realpath(resolve(dir)), await realpath(resolve(file)));
  return !way.startsWith('..') && !isAbsolute(way);
};

const secretOf = (text: string): Uint8Array | undefined => {
  try {
    const found: unknown = JSON.parse(text);
    const secret = isTable(found) && typeof found.secret === 'string' && found.secret.startsWith(SECRET_PREFIX) ? found.secret.slice(SECRET_PREFIX.length) : '';
    return HEX_32.test(secret) ? Buffer.from(secret, 'hex') : undefined;
  } catch {
    return undefined;
  }
};

/** In hex. `prefix` names what the signature is for, so that it never passes for something else. */
export const signText = async (prefix: string, text: string, key: SigningKey): Promise<string> => Buffer.from(await signAsync(Buffer.from(prefix + text), key.secret)).toString('hex');

export const isSignedBy = async (prefix: string, text: string, signature: string, publicKey: string): Promise<boolean> => {
  if (!/^[0-9a-f]{128}$/.test(signature) || !isPublicKey(publicKey)) return false;
  // The strict rules: one signature has one form, and weak keys sign nothing.
  return verifyAsync(Buffer.from(signature, 'hex'), Buffer.from(prefix + text), Buffer.from(publicKey, 'hex'), { zip215: false }).catch(() => false);
};
