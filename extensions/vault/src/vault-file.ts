/**
 * The vault's file: the magic `SVCV1`, then one JSON object {version, salt, nonce, ciphertext, names}
 * (base64; the ciphertext ends with the GCM tag).
 *
 * F1  Each writing has a new salt and a new nonce; a key is never used for two texts.
 * F2  The magic and the version are authenticated, so neither can be changed unseen.
 * F3  The text inside begins with a sentinel: what decrypts without it is not a vault.
 * F4  The names of the secrets stand in the clear beside them, so that a vault whose key is lost can say what is lost.
 *     They are shown to people and decide nothing; what is in the vault is what decrypts.
 *
 * The file's key comes from the master key by HKDF-SHA-256. A slow derivation (Argon2, scrypt)
 * guards guessable passwords; the master key is 32 random bytes, where it would only cost time.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { isTable, isTextTable } from '@svc/api';

const MAGIC = 'SVCV1';
const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const SENTINEL = 'svc vault';
const MAX_NAMES = 1_000;
export const SECRET_NAME = /^[\w.:/-]{1,200}$/;
const CIPHER = 'aes-256-gcm';
const AUTHENTICATED = Buffer.from(`${MAGIC}\0${VERSION}`);

export type Opened =
  | { readonly ok: true; readonly secrets: Map<string, Buffer> }
  /** `wrong_key` also stands for a ciphertext that was changed: the cipher cannot tell the two apart. */
  | { readonly ok: false; readonly reason: 'damaged' | 'wrong_key'; readonly why: string };

interface Envelope {
  readonly version: number;
  readonly salt: string;
  readonly nonce: string;
  readonly ciphertext: string;
  /** Those of the secrets; missing in files of earlier programs. */
  readonly names: unknown;
}

/** The bytes of a vault that holds these secrets. `random` gives salt and nonce. */
export const seal = (secrets: ReadonlyMap<string, Buffer>, master: Buffer, random: (count: number) => Uint8Array = randomBytes): Buffer => {
  const salt = Buffer.from(random(SALT_BYTES));
  const nonce = Buffer.from(random(NONCE_BYTES));
  const key = deriveKey(master, salt);
  const plain = Buffer.from(JSON.stringify({ sentinel: SENTINEL, secrets: Object.fromEntries([...secrets].map(([name, value]) => [name, value.toString('base64')])) }));
  try {
    const cipher = createCipheriv(CIPHER, key, nonce).setAAD(AUTHENTICATED);
    const ciphertext = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    const envelope: Envelope = { version: VERSION, salt: salt.toString('base64'), nonce: nonce.toString('base64'), ciphertext: ciphertext.toString('base64'), names: [...secrets.keys()].sort() };
    return Buffer.from(`${MAGIC}${JSON.stringify(envelope)}\n`);
  } finally {
    key.fill(0);
    plain.fill(0);
  }
};

/** Reads a vault's bytes; never throws for what stands in them. */
export const unseal = (data: Uint8Array, master: Buffer): Opened => {
  const envelope = parseEnvelope(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  if (typeof envelope === 'string') return { ok: false, reason: 'damaged', why: envelope };
  const salt = Buffer.from(envelope.salt, 'base64');
  const nonce = Buffer.from(envelope.nonce, 'base64');
  const sealed = Buffer.from(envelope.ciphertext, 'base64');
  if (salt.length !== SALT_BYTES || nonce.length !== NONCE_BYTES || sealed.length <= TAG_BYTES) return { ok: false, reason: 'damaged', why: 'its salt, nonce or text has the wrong length' };
  const key = deriveKey(master, salt);
  const plain = decrypt(sealed, key, nonce);
  key.fill(0);
  if (!plain) return { ok: false, reason: 'wrong_key', why: 'the key does not fit, or the file was changed' };
  try {
    return readPlain(plain);
  } finally {
    plain.fill(0);
  }
};

/** F4. Undefined where the file is damaged or does not say. */
export const readNames = (data: Uint8Array): string[] | undefined => {
  const envelope = parseEnvelope(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  if (typeof envelope === 'string' || !Array.isArray(envelope.names)) return undefined;
  // Nothing vouches for them: only what could be the name of a secret is passed on.
  return envelope.names.filter((name) => typeof name === 'string' && SECRET_NAME.test(name)).slice(0, MAX_NAMES);
};

const deriveKey = (master: Buffer, salt: Buffer): Buffer => Buffer.from(hkdfSync('sha256', master, salt, 'svc vault file', KEY_BYTES));

const parseEnvelope = (data: Buffer): Envelope | string => {
  if (data.subarray(0, MAGIC.length).toString('latin1') !== MAGIC) return 'it does not begin with SVCV1';
  let value: unknown;
  try {
    value = JSON.parse(data.subarray(MAGIC.length).toString('utf8'));
  } catch {
    return 'the text after SVCV1 is not JSON';
  }
  const { version, salt, nonce, ciphertext, names } = isTable(value) ? value : {};
  if (version !== VERSION) return `its version is ${String(version)}, this program knows ${VERSION}`;
  if (typeof salt !== 'string' || typeof nonce !== 'string' || typeof ciphertext !== 'string') return 'salt, nonce or ciphertext is missing';
  return { version, salt, nonce, ciphertext, names };
};

const decrypt = (sealed: Buffer, key: Buffer, nonce: Buffer): Buffer | undefined => {
  const decipher = createDecipheriv(CIPHER, key, nonce)
    .setAAD(AUTHENTICATED)
    .setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
  } catch {
    // The tag did not match; the caller says so.
    return undefined;
  }
};

const readPlain = (plain: Buffer): Opened => {
  const value: unknown = JSON.parse(plain.toString('utf8'));
  if (!isTable(value) || value.sentinel !== SENTINEL || !isTextTable(value.secrets)) return { ok: false, reason: 'damaged', why: 'its text lacks the sentinel' };
  return { ok: true, secrets: new Map(Object.entries(value.secrets).map(([name, text]) => [name, Buffer.from(text, 'base64')])) };
};
