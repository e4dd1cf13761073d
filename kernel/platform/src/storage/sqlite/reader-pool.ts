/** Read-only connections, opened when first needed. Each has one statement at a time, so that an interrupt ends that one alone. */
import type { Scalar } from '@svc/api';
import type { Deadlines } from '../contract/deadlines.js';
import type { DriverRow } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { createReadTurns } from '../contract/read-turns.js';
import { secondsOf, type StatementOwner, type StatementRules } from '../contract/statement-limits.js';
import { OWN_BOUNDS, type SqliteBounds, THIRD_PARTY_BOUNDS } from './sqlite-bounds.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';
import { mapSqliteError } from './sqlite-errors.js';

const MAX_STATEMENTS = 200;
/** Of all third-party extensions together. */
const THIRD_PARTY_READERS = 2;
const MIB = 1_048_576;

export interface ReaderPool {
  all(owner: StatementOwner, sql: string, args: readonly Scalar[]): Promise<unknown[]>;
  /** When what is being read has come to its end. */
  close(): Promise<void>;
}

export interface ReaderPoolOptions {
  readonly file: string;
  /** How many reads of what is shipped run at the same time; more wait for their turn. */
  readonly size: number;
  readonly deadlines: Deadlines;
  readonly rules: StatementRules;
}

interface Reader {
  readonly bounds: SqliteBounds;
  connection: Promise<SqliteConnection> | undefined;
}

const readersOf = (count: number, bounds: SqliteBounds): Reader[] => Array.from({ length: count }, () => ({ bounds, connection: undefined }));

export const createReaderPool = (options: ReaderPoolOptions): ReaderPool => {
  const { file, size } = options;
  const own = readersOf(size, OWN_BOUNDS);
  const thirdParty = readersOf(THIRD_PARTY_READERS, THIRD_PARTY_BOUNDS);
  const turns = createReadTurns(own, thirdParty);
  let closed = false;
  return {
    all: async (owner, sql, args) => {
      if (closed) throw storageErrors.closed();
      return turns.use(owner, async (reader) => {
        // It may have waited long.
        if (closed) throw storageErrors.closed();
        return readOn(options, await opened(file, reader), owner, sql, args);
      });
    },
    async close() {
      closed = true;
      await Promise.all(
        [...own, ...thirdParty].map(async ({ connection }) => {
          const open = await connection?.catch(() => undefined); // one that could not be opened has nothing to close
          await open?.close();
        }),
      );
    },
  };
};

const readOn = async ({ deadlines, rules }: ReaderPoolOptions, connection: SqliteConnection, owner: StatementOwner, sql: string, args: readonly Scalar[]): Promise<DriverRow[]> => {
  const { statementMs } = rules.limitsOf(owner);
  const readBytes = rules.readBytesOf(owner);
  return deadlines.within(statementMs, connection.interrupt, async (deadline) => {
    let rows: DriverRow[] | undefined;
    try {
      rows = await connection.rows(sql, args, readBytes);
    } catch (error) {
      if (!deadline.isOver) throw mapSqliteError(error);
      rules.late(owner, 'read', deadline.ms());
      throw storageErrors.too_slow(owner.id, 'read', secondsOf(statementMs));
    }
    // What no interrupt ended came too late as well.
    if (deadline.isOver) rules.late(owner, 'read', deadline.ms());
    if (rows === undefined) throw storageErrors.read_too_large(owner.id, Math.round(readBytes / MIB));
    return rows;
  });
};

const opened = (file: string, reader: Reader): Promise<SqliteConnection> => {
  reader.connection ??= open(file, reader.bounds).catch((error: unknown) => {
    reader.connection = undefined;
    throw mapSqliteError(error);
  });
  return reader.connection;
};

const open = async (file: string, bounds: SqliteBounds): Promise<SqliteConnection> => {
  const connection = await openSqlite({ file, readOnly: true, maxStatements: MAX_STATEMENTS, bounds });
  await connection.exec('PRAGMA busy_timeout=5000;');
  return connection;
};
