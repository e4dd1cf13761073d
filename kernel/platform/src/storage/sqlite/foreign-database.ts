/** A copy of a database of another program: whatever its schema says, nothing but reading happens. */
import type { ForeignDatabase } from '@svc/api';
import { filesErrors } from '../../adapters/errors.js';
import { openSqlite } from './sqlite-connection.js';

const MAX_STATEMENTS = 32;
const MAX_BYTES = 64 * 1_048_576;

/** `file` is the copy, `shown` how the original is named in messages. It is opened for writing, so that SQLite can take its WAL in. */
export const openForeignDatabase = async (file: string, shown: string): Promise<ForeignDatabase> => {
  const named = (error: unknown): Error => (error instanceof Error && 'errno' in error ? filesErrors.not_a_database(shown, reasonOf(error)) : (error as Error));
  const connection = await openSqlite({ file, readOnly: false, maxStatements: MAX_STATEMENTS }).catch((error: unknown) => {
    throw named(error);
  });
  try {
    await connection.exec('PRAGMA trusted_schema=OFF;PRAGMA cell_size_check=ON;PRAGMA mmap_size=0;SELECT COUNT(*) FROM sqlite_schema;PRAGMA query_only=ON;');
  } catch (error) {
    await connection.close();
    throw named(error);
  }
  return {
    all: async <T extends object>(sql: string, args: readonly (string | number)[] = []) => {
      const rows = await connection.rows(sql, args, MAX_BYTES).catch((error: unknown) => {
        throw named(error);
      });
      if (rows === undefined) throw filesErrors.not_a_database(shown, `rows of more than ${MAX_BYTES / 1_048_576} MiB were to be read at once`);
      // The caller names the columns of its statement.
      return rows as T[];
    },
    close: () => connection.close(),
  };
};

const reasonOf = ({ message }: Error): string => message.replace(/^SQLITE_\w+:\s*/, '').replace(/\.$/, '');
