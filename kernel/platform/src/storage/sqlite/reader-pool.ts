/** Read-only connections, opened when first needed. Each read goes to the one with the least to do. */
import type { Scalar } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';
import { mapSqliteError } from './sqlite-errors.js';

const MAX_STATEMENTS = 200;

export interface ReaderPool {
  all(sql: string, args: readonly Scalar[]): Promise<unknown[]>;
  close(): Promise<void>;
}

interface Reader {
  connection: Promise<SqliteConnection> | undefined;
  busy: number;
}

/** `size` is how many reads run at the same time; more wait in their connection's queue. */
export const createReaderPool = (file: string, size: number): ReaderPool => {
  const readers: Reader[] = Array.from({ length: size }, () => ({ connection: undefined, busy: 0 }));
  let closed = false;
  return {
    async all(sql, args) {
      if (closed) throw storageErrors.closed();
      const reader = readers.reduce((least, next) => (next.busy < least.busy ? next : least));
      reader.busy += 1;
      try {
        return await (await opened(file, reader)).all(sql, args);
      } catch (error) {
        throw mapSqliteError(error);
      } finally {
        reader.busy -= 1;
      }
    },
    async close() {
      closed = true;
      await Promise.all(readers.map(async ({ connection }) => (await connection)?.close()));
    },
  };
};

const opened = (file: string, reader: Reader): Promise<SqliteConnection> => {
  reader.connection ??= open(file).catch((error: unknown) => {
    reader.connection = undefined;
    throw error;
  });
  return reader.connection;
};

const open = async (file: string): Promise<SqliteConnection> => {
  const connection = await openSqlite({ file, readOnly: true, maxStatements: MAX_STATEMENTS });
  await connection.exec('PRAGMA busy_timeout=5000;');
  return connection;
};
