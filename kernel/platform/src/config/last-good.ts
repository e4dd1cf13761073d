/**
 * What each section last held when it was good. It lets a bad section keep its
 * value across a restart, and lets a start with an unchanged file skip parser and validator.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { atomicWrite } from '../doors/atomic-write.js';
import { isTable } from './schema-walk.js';

const VERSION = 1;

export interface LastGood {
  /** Of the file and the schemas under which all of it was good; empty when some of it was not. */
  readonly digest: string;
  /** The file's layer only: what came from the environment is never written to disk. */
  readonly values: Readonly<Record<string, unknown>>;
}

const NOTHING: LastGood = { digest: '', values: {} };

export const digestOf = (text: string, schemas: string): string => createHash('sha256').update(schemas).update('\0').update(text).digest('hex');

/** Missing is normal; unreadable is told to `onTrouble` and counts as missing. */
export const readLastGood = async (path: string, onTrouble: (error: unknown) => void): Promise<LastGood> => {
  try {
    const parsed: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (isTable(parsed) && parsed.version === VERSION && typeof parsed.digest === 'string' && isTable(parsed.values)) return { digest: parsed.digest, values: parsed.values };
    onTrouble(new Error('The file does not have the form of this version.'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) onTrouble(error);
  }
  return NOTHING;
};

/** Mode 600: the file may hold a key that the operator wrote into config.toml. */
export const writeLastGood = (path: string, good: LastGood): Promise<void> => atomicWrite(path, `${JSON.stringify({ version: VERSION, digest: good.digest, values: good.values })}\n`, { mode: 0o600 });
