/**
 * Whether the database is the one that was here last: a row in it and a file beside it name the same database and
 * how far it has come.
 *
 * I1  The row is committed before the file is written: a database that was not touched from outside is never behind.
 * I2  What is found stays said, over restarts too, until a person takes the file away (`svc doctor --accept-database`).
 */
import { readFile } from 'node:fs/promises';
import { identityFileOf } from '../config/home.js';
import { atomicWrite } from '../doors/files/atomic-write.js';
import type { SqliteConnection } from './sqlite-connection.js';

const TABLE = 'kernel_identity';
export const IDENTITY_TABLE = `CREATE TABLE IF NOT EXISTS ${TABLE} (one integer PRIMARY KEY CHECK (one = 1), id text NOT NULL, mark integer NOT NULL)`;

interface Identity {
  readonly id: string;
  /** Grows whenever the database has changed for a while; what has a smaller one is older. */
  readonly mark: number;
}

export interface DatabaseIdentity {
  /** What does not fit, in words; undefined when all is well. */
  problem(): string | undefined;
  /** Looks whether a person has accepted what is there. True when nothing is wrong (any more). */
  isSettled(): Promise<boolean>;
  /** Notes that the database has come further. */
  advance(connection: SqliteConnection): Promise<void>;
}

export const openIdentity = async (databaseFile: string, connection: SqliteConnection): Promise<DatabaseIdentity> => {
  const file = identityFileOf(databaseFile);
  const [row, noted] = await Promise.all([readRow(connection), readNoted(file)]);
  let problem = compare(databaseFile, row, noted);
  return {
    problem: () => problem,
    isSettled: async () => {
      if (problem !== undefined && (await readNoted(file)) === undefined) problem = undefined;
      return problem === undefined;
    },
    advance: async (writer) => {
      await writer.exec(`INSERT INTO ${TABLE} VALUES(1, lower(hex(randomblob(16))), 1) ON CONFLICT (one) DO UPDATE SET mark = mark + 1;`);
      await atomicWrite(file, `${JSON.stringify(await readRow(writer))}\n`, { modeWhenNew: 0o600 });
    },
  };
};

/** Undefined in a database that has not rested yet. */
const readRow = async (connection: SqliteConnection): Promise<Identity | undefined> => {
  const rows = (await connection.all(`SELECT id, mark FROM ${TABLE}`, [])) as Identity[]; // the shape of this SELECT
  return rows[0];
};

/** Undefined when there is no such file: a new home, or a person has accepted what is there. */
const readNoted = async (file: string): Promise<Identity | 'unreadable' | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unreadable';
  }
  try {
    const { id, mark } = JSON.parse(text) as Partial<Identity>; // checked in the next line
    return typeof id === 'string' && Number.isSafeInteger(mark) ? { id, mark: Number(mark) } : 'unreadable';
  } catch {
    return 'unreadable'; // said as such
  }
};

const compare = (file: string, inside: Identity | undefined, noted: Identity | 'unreadable' | undefined): string | undefined => {
  if (noted === undefined) return undefined;
  if (noted === 'unreadable') return `${identityFileOf(file)}, which says which database was here last, cannot be read: whether ${file} is that one is not known.`;
  if (inside === undefined) return `${file} is empty or new, but another database was here before: what that one held is missing.`;
  if (inside.id !== noted.id) return `${file} is another database than the one that was here last.`;
  if (inside.mark < noted.mark) return `${file} is older than what was here last (${inside.mark} of ${noted.mark}): what was accepted since is missing, and what was done since may be done again.`;
  return undefined;
};
