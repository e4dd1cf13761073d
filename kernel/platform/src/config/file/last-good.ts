/**
 * What each section last held when it was good. It lets a bad section keep its
 * value across a restart, and lets a start with an unchanged file skip the validator.
 *
 * It holds no secret: see stored-secrets.ts.
 */
import { errnoOf } from '../errno.js';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isTable } from '@svc/api';
import { atomicWrite } from '../../adapters/files/atomic-write.js';
import type { SectionClaims } from '../kernel-sections.js';
import { withoutSecrets } from './stored-secrets.js';

/** 1 held secrets as they were. */
const VERSION = 2;

export interface LastGood {
  /** Of the file and the schemas under which all of it was good; empty when some of it was not. */
  readonly digest: string;
  /** The file's layer only: what came from the environment is never written to disk. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Sections that the last good file did not have: their defaults were what it said. */
  readonly absent: readonly string[];
  /** Secrets were left out or replaced: for the same digest the file has them. */
  readonly isWithheld: boolean;
}

export interface StoredLastGood extends LastGood {
  /** The file as it stands on disk; empty when there is none. */
  readonly text: string;
}

export const NOTHING_GOOD: StoredLastGood = { digest: '', values: {}, absent: [], isWithheld: false, text: '' };

export const digestOf = (text: string, schemas: string): string => createHash('sha256').update(schemas).update('\0').update(text).digest('hex');

/** Missing is normal; unreadable is told to `onTrouble` and counts as missing. */
export const readLastGood = async (path: string, onTrouble: (error: unknown) => void): Promise<StoredLastGood> => {
  try {
    const text = await readFile(path, 'utf8');
    const parsed: unknown = JSON.parse(text);
    if (isTable(parsed) && typeof parsed.digest === 'string' && isTable(parsed.values)) {
      if (parsed.version === VERSION) return { digest: parsed.digest, values: parsed.values, absent: namesOf(parsed.absent), isWithheld: parsed.withheld === true, text };
      // Without its digest it is validated, and written, anew.
      if (parsed.version === 1) return { digest: '', values: parsed.values, absent: [], isWithheld: false, text };
    }
    onTrouble(new Error('The file does not have the form of this version.'));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') onTrouble(error);
  }
  return NOTHING_GOOD;
};

/** What would stand on disk. A section that nobody claims any more has no schema that would tell its secrets: it is left out. */
export const lastGoodText = (good: Omit<LastGood, 'isWithheld'>, claims: SectionClaims): string => {
  const values: Record<string, unknown> = {};
  let withheld = false;
  for (const [name, value] of Object.entries(good.values)) {
    const claim = claims[name];
    if (!claim) continue;
    const kept = withoutSecrets(claim.schema, value);
    withheld ||= kept.isWithheld;
    if (kept.value !== undefined) values[name] = kept.value;
  }
  return `${JSON.stringify({ version: VERSION, digest: good.digest, withheld, absent: good.absent, values })}\n`;
};

export const writeLastGood = (path: string, text: string): Promise<void> => atomicWrite(path, text, { mode: 0o600 });

const namesOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []);
