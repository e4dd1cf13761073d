/**
 * Whether the database is the one that was here last: a row in it and a file beside it name the same database and
 * how far it has come.
 *
 * I1  The row is committed before the file is written: a database that was not touched from outside is never behind.
 * I2  What is found stays said, over restarts too, until a person takes the file away (`svc doctor --accept-database`).
 */
import { errnoOf } from '../../../config/errno.js';
import { readFile } from 'node:fs/promises';
import { isTable, type Logger } from '@svc/api';
import { atomicWrite } from '../../../adapters/files/atomic-write.js';
import type { DriverRow } from '../engine.js';

export const IDENTITY_TABLE = 'kernel_identity';
/** The same text for every engine. */
export const CREATE_IDENTITY = `CREATE TABLE IF NOT EXISTS ${IDENTITY_TABLE} (one integer PRIMARY KEY CHECK (one = 1), id text NOT NULL, mark integer NOT NULL)`;

export interface Identity {
  readonly id: string;
  /** Grows whenever the database has changed for a while; what has a smaller one is older. */
  readonly mark: number;
}

export const identityIn = ([row]: readonly DriverRow[]): Identity | undefined => row && { id: String(row.id), mark: Number(row.mark) };

export interface DatabaseIdentity {
  /** What does not fit, in words; undefined when all is well. */
  problem(): string | undefined;
  /** Looks whether a person has accepted what is there. True when nothing is wrong (any more). */
  isSettled(): Promise<boolean>;
  /** Notes that the database has come further. */
  advance(): Promise<void>;
  /** The server came back with an older copy while the daemon ran. Never rejects: `log` hears what could not be noted in its turn. */
  foundOlder(log: Logger, inTurn: (work: () => Promise<void>) => Promise<void>): Promise<void>;
}

/** The row, in whichever engine. */
export interface IdentityRow {
  /** Undefined in a database that has not rested yet. */
  read(): Promise<Identity | undefined>;
  /** Makes the row, or puts its mark up by one; committed when it resolves. */
  advance(): Promise<void>;
}

export interface OpenIdentity {
  /** The file beside the database. */
  readonly file: string;
  /** Which database it is, for people. */
  readonly place: string;
  readonly row: IdentityRow;
}

export const openIdentity = async ({ file, place, row }: OpenIdentity): Promise<DatabaseIdentity> => {
  const [inside, noted] = await Promise.all([row.read(), readNoted(file)]);
  let problem = compare({ file, place }, inside, noted);
  return {
    problem: () => problem,
    isSettled: async () => {
      if (problem !== undefined && (await readNoted(file)) === undefined) problem = undefined;
      return problem === undefined;
    },
    advance: async () => {
      await row.advance();
      await noteIdentity(file, await row.read());
    },
    foundOlder: async (log, inTurn) => {
      problem ??= `${place} is an older copy of itself: the server came back without messages that were accepted, and actions since then may be repeated.`;
      log.error('The database server came back with an older copy of the database.', { database: place, problem });
      try {
        await inTurn(async () => {
          const [inRow, inFile] = await Promise.all([row.read(), readNoted(file)]);
          const mark = Math.max(inRow?.mark ?? 0, typeof inFile === 'object' ? inFile.mark : 0);
          // Further than the copy is: the next start says it, too (I2).
          if (inRow) await noteIdentity(file, { id: inRow.id, mark: mark + 1 });
        });
      } catch (error) {
        log.warn('That the database is older could not be noted for the next start.', { file, error });
      }
    },
  };
};

/** What the next start compares the database with. */
export const noteIdentity = (file: string, identity: Identity | undefined): Promise<void> => atomicWrite(file, `${JSON.stringify(identity)}\n`, { modeWhenNew: 0o600 });

/** What does not fit, of a database that is only looked at. `query` answers a SELECT. */
export const identityProblemOf = async (file: string, place: string, query: (sql: string) => Promise<readonly DriverRow[]>): Promise<string | undefined> =>
  compare({ file, place }, identityIn(await query(`SELECT id, mark FROM ${IDENTITY_TABLE}`)), await readNoted(file));

/** Undefined when the file does not exist: a new home, or a person has accepted what is there. */
const readNoted = async (file: string): Promise<Identity | 'unreadable' | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : 'unreadable';
  }
  try {
    const noted: unknown = JSON.parse(text);
    const { id, mark } = isTable(noted) ? noted : {};
    return typeof id === 'string' && Number.isSafeInteger(mark) ? { id, mark: Number(mark) } : 'unreadable';
  } catch {
    return 'unreadable'; // said as such
  }
};

const compare = ({ file, place }: Pick<OpenIdentity, 'file' | 'place'>, inside: Identity | undefined, noted: Identity | 'unreadable' | undefined): string | undefined => {
  if (noted === undefined) return undefined;
  if (noted === 'unreadable') return `${file}, which records the last database, cannot be read: it is unknown whether ${place} is that one.`;
  if (inside === undefined) return `${place} is empty or new, but another database was used before: its data is missing.`;
  if (inside.id !== noted.id) return `${place} is another database than the one that was here last.`;
  if (inside.mark < noted.mark) return `${place} is older than the last one (${inside.mark} of ${noted.mark}): messages accepted since are missing, and actions since then may be repeated.`;
  return undefined;
};
