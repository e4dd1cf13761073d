/** What SQLite says, as errors of ours. */
import { errnoOf } from '../../config/errno.js';
import { isSvcError, type SvcError } from '@svc/api';
import { conflict, storageErrors } from '../contract/errors.js';
import { EXPECT_MARK } from './sqlite-dialect.js';

/** What SQLite said, as an error of ours. Its own words go to `cause`, and from there to the log only. */
export const mapSqliteError = (error: unknown): SvcError => {
  if (isSvcError(error) && error.code.startsWith('storage_')) return error;
  const text = error instanceof Error ? error.message : String(error);
  const expected = new RegExp(`${EXPECT_MARK}(\\d+)`).exec(text);
  if (expected) return conflict('a row it expected was not there', { reason: 'expect', write: Number(expected[1]) }, error);
  switch (errnoOf(error)) {
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
    case 'SQLITE_TOOBIG':
    case 'SQLITE_NOMEM':
      return storageErrors.too_large().with({ cause: error });
    case 'SQLITE_MISUSE':
      return storageErrors.closed().with({ cause: error });
    default:
      if (text.includes('pattern too complex')) return storageErrors.too_large().with({ cause: error });
      return storageErrors.failed().with({ cause: error });
  }
};

const constraint = (text: string, cause: unknown): SvcError => {
  const unique = /UNIQUE constraint failed: (.+)$/.exec(text);
  if (unique) return conflict('a row with the same key exists', { reason: 'unique', columns: (unique[1] ?? '').split(', ') }, cause);
  if (text.includes('FOREIGN KEY')) return conflict('it refers to a row that does not exist', { reason: 'foreign_key' }, cause);
  return storageErrors.invalid_row(/constraint failed: (.+)$/.exec(text)?.[1] ?? 'a constraint').with({ cause });
};

/** Opening failed: says which file, why in plain words, and what to do. */
export const openFailure = (file: string, error: unknown): SvcError => {
  const why: Record<string, string> = {
    SQLITE_CANTOPEN: 'the folder is missing, or this user may not write there',
    SQLITE_READONLY: 'the file or its folder is read-only',
    SQLITE_PERM: 'this user may not open it',
    SQLITE_NOTADB: 'the file is not a database (or is encrypted)',
    SQLITE_CORRUPT: 'the file is damaged; restore a backup or one of the copies next to it',
    SQLITE_FULL: 'the disk is full',
    SQLITE_IOERR: 'the disk reported an error',
    SQLITE_BUSY: 'another program has locked it',
  };
  return storageErrors.unavailable(file, why[errnoOf(error) ?? ''] ?? 'the database engine refused').with({ cause: error });
};
