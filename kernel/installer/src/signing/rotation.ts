/**
 * A change of keys: the old key says for one extension that from now on another key signs it.
 * ROTATION.json of a package is a list of such statements, oldest first.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isTable } from '@svc/api';
import { installErrors } from '../errors.js';
import { canonicalJson } from '../package/canonical-json.js';
import { ROTATION_FILE } from '../package/package-files.js';
import { isPublicKey, isSignedBy, type SigningKey, signText } from './keys.js';

export const ROTATION_PREFIX = 'svc-rotate-v1\n';
const MAX_STATEMENTS = 32;

export interface Rotation {
  readonly format: 1;
  /** The extension that is handed on. */
  readonly id: string;
  /** Public keys in hex. */
  readonly from: string;
  readonly to: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** By `from`, in hex. */
  readonly signature: string;
}

export const rotate = async (id: string, from: SigningKey, to: string, now: Date): Promise<Rotation> => {
  const unsigned = { format: 1 as const, id, from: from.publicKey, to, createdAt: now.toISOString() };
  return { ...unsigned, signature: await signText(ROTATION_PREFIX, canonicalJson(unsigned), from) };
};

/** The statements of a package; none where it has none. Rejects with `install_signature` when the file has another form. */
export const readRotations = async (dir: string): Promise<readonly Rotation[]> => {
  const text = await readFile(join(dir, ROTATION_FILE), 'utf8').catch(() => undefined);
  if (text === undefined) return [];
  try {
    const found: unknown = JSON.parse(text);
    if (Array.isArray(found) && found.length <= MAX_STATEMENTS && found.every(isRotation)) return found;
  } catch {
    // Said below, as for every other form that it may not have.
  }
  throw installErrors.signature(`${ROTATION_FILE} is not a list of statements`);
};

const isRotation = (value: unknown): value is Rotation =>
  isTable(value) &&
  value.format === 1 &&
  typeof value.id === 'string' &&
  isPublicKey(value.from) &&
  isPublicKey(value.to) &&
  typeof value.createdAt === 'string' &&
  typeof value.signature === 'string' &&
  Object.keys(value).length === 6;

/**
 * Whether these statements hand the extension from one of `trusted` to `to`, each signed by the key before it. Keys that
 * are `distrusted` hand on nothing. Whoever handed it on has it no longer: of two successors the first one counts.
 */
export const leadsTo = async (id: string, statements: readonly Rotation[], trusted: readonly string[], to: string, distrusted: readonly string[]): Promise<boolean> => {
  const reached = new Set(trusted.filter((key) => !distrusted.includes(key)));
  for (const { signature, ...unsigned } of statements) {
    if (unsigned.id !== id || !reached.has(unsigned.from) || distrusted.includes(unsigned.to)) continue;
    if (!(await isSignedBy(ROTATION_PREFIX, canonicalJson(unsigned), signature, unsigned.from))) continue;
    reached.delete(unsigned.from);
    reached.add(unsigned.to);
  }
  return reached.has(to);
};
