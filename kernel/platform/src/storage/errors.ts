import { defineErrors, isSvcError, type SvcError } from '@svc/api';

/** Why a commit was refused, in `details` of `storage_conflict`. */
export interface ConflictDetails {
  /** `expect`: a row that the write expected was not there. The others: a rule of the table. */
  readonly reason: 'expect' | 'unique' | 'foreign_key';
  /** Index of the write in its commit; known for `expect` only. */
  readonly write?: number;
  /** `table.column` names of the broken unique key. */
  readonly columns?: readonly string[];
}

export const storageErrors = defineErrors('storage', {
  conflict: {
    status: 409,
    retry: true,
    message: (what: string) => `Nothing was written: ${what}.`,
    hint: 'Somebody else changed the same thing first. Read it again and decide anew.',
  },
  invalid_row: { status: 500, retry: false, message: (what: string) => `The row breaks a rule of its table: ${what}.`, hint: 'This is a fault in the area that wrote it; the log names it.' },
  bad_write: { status: 500, retry: false, message: (what: string) => `The write cannot be carried out: ${what}.`, hint: 'This is a fault in the area that wrote it.' },
  unknown_table: {
    status: 500,
    retry: false,
    message: (owner: string, table: string) => `${owner} has no table "${table}".`,
    hint: 'Name it under "tables" in extension.json; rows of other areas are reached through their services.',
  },
  full: { status: 507, retry: true, message: () => 'The disk is full: nothing was written.', hint: 'Free some space on the disk that holds the database, then try again.' },
  io: { status: 500, retry: false, message: () => 'The disk reported an error while writing.', hint: 'Look at the disk and the log. Whether the last change was kept is seen after a restart.' },
  busy: { status: 503, retry: true, message: () => 'Another program holds the database.', hint: 'Close what else has the database file open, then try again.' },
  overloaded: { status: 503, retry: true, message: (waiting: number) => `${waiting} commits already wait for the disk.`, hint: 'Try again in a moment.' },
  closed: { status: 503, retry: true, message: () => 'The database is closed.', hint: 'The daemon is stopping.' },
  failed: { status: 500, retry: false, message: () => 'The database refused a statement.', hint: 'The log holds the cause.' },
  unavailable: {
    status: 503,
    retry: false,
    message: (file: string, why: string) => `The database ${file} cannot be opened: ${why}.`,
    hint: 'Check that the folder exists, that this user may write there, and that the disk has space; or name another home.',
  },
  migration_changed: {
    status: 500,
    retry: false,
    message: (owner: string, name: string) => `Migration ${name} of ${owner} was changed after it had been applied here.`,
    hint: 'Put the old text back and add a new migration for the change.',
  },
  migration_missing: {
    status: 500,
    retry: false,
    message: (owner: string, name: string) => `Migration ${name} of ${owner} comes before one that is already applied.`,
    hint: 'Give the new migration a higher number.',
  },
  migration_failed: {
    status: 500,
    retry: false,
    message: (owner: string, name: string, why: string) => `Migration ${name} of ${owner} failed and was undone: ${why}.`,
    hint: 'Nothing of it was kept.',
  },
});

/** Marks a guard's failure in SQLite's message; the number of the write follows. */
export const EXPECT_MARK = 'svc-expect-';

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** What SQLite said, as an error of ours. Its own words go to `cause`, and from there to the log only. */
export const mapSqliteError = (error: unknown): SvcError => {
  if (isSvcError(error) && error.code.startsWith('storage_')) return error;
  const text = error instanceof Error ? error.message : String(error);
  const expected = new RegExp(`${EXPECT_MARK}(\\d+)`).exec(text);
  if (expected) return conflict('a row it expected was not there', { reason: 'expect', write: Number(expected[1]) }, error);
  switch (codeOf(error)) {
    case 'SQLITE_CONSTRAINT':
      return constraint(text, error);
    case 'SQLITE_FULL':
      return storageErrors.full().with({ cause: error });
    case 'SQLITE_IOERR':
    case 'SQLITE_CORRUPT':
    case 'SQLITE_READONLY':
      return storageErrors.io().with({ cause: error });
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return storageErrors.busy().with({ cause: error });
    case 'SQLITE_MISUSE':
      return storageErrors.closed().with({ cause: error });
    default:
      return storageErrors.failed().with({ cause: error });
  }
};

const constraint = (text: string, cause: unknown): SvcError => {
  const unique = /UNIQUE constraint failed: (.+)$/.exec(text);
  if (unique) return conflict('a row with the same key exists', { reason: 'unique', columns: (unique[1] ?? '').split(', ') }, cause);
  if (text.includes('FOREIGN KEY')) return conflict('it refers to a row that does not exist', { reason: 'foreign_key' }, cause);
  return storageErrors.invalid_row(/constraint failed: (.+)$/.exec(text)?.[1] ?? 'a constraint').with({ cause });
};

const conflict = (what: string, details: ConflictDetails, cause: unknown): SvcError => storageErrors.conflict(what).with({ details, cause });

/** The reason of a `storage_conflict`, or undefined for any other error. */
export const conflictOf = (error: unknown): ConflictDetails | undefined =>
  // `details` of this code is always written by `conflict` above.
  isSvcError(error) && error.code === 'storage_conflict' ? (error.details as ConflictDetails) : undefined;

/** Opening failed: says which file, why in plain words, and what to do. */
export const openFailure = (file: string, error: unknown): SvcError => {
  const why: Record<string, string> = {
    SQLITE_CANTOPEN: 'the folder is missing, or this user may not write there',
    SQLITE_READONLY: 'the file or its folder is read-only',
    SQLITE_PERM: 'this user may not open it',
    SQLITE_NOTADB: 'the file is not a database (or is encrypted)',
    SQLITE_CORRUPT: 'the file is damaged; restore a backup or one of the copies beside it',
    SQLITE_FULL: 'the disk is full',
    SQLITE_IOERR: 'the disk reported an error',
    SQLITE_BUSY: 'another program holds it',
  };
  return storageErrors.unavailable(file, why[codeOf(error)] ?? 'the database engine refused').with({ cause: error });
};
