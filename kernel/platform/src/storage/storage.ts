/**
 * The database behind every `ctx.db`: one SQLite file, one writer connection with
 * a group-commit queue, and a few read-only ones (promises S1 to S3 of the contract).
 */
import type { Clock, Db, Logger, Migration, Write } from '@svc/api';
import { openFailure } from './errors.js';
import { createEventStore } from './event-store.js';
import { type DatabaseIdentity, IDENTITY_TABLE, openIdentity } from './identity.js';
import { migrate, readApplied, type AppliedMigrations } from './migrations.js';
import { createReaderPool, type ReaderPool } from './reader-pool.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';
import { tableNames, type TableNames, type TableOwner } from './table-names.js';
import { createTending } from './tending.js';
import { CHANGES_TABLE, createCompiler, type Compiler, type CompilerOptions, type Unit } from './write-compiler.js';
import { createWriteQueue, type WriteQueue, type WriteStats } from './write-queue.js';

const DEFAULT_READERS = 2;
const WRITER_STATEMENTS = 20;

export interface StorageOptions {
  /** Path of the database file; its folder must exist. */
  file: string;
  /** Reads at the same time. */
  readers?: number;
  clock: Clock;
  log: Logger;
  /** Gets the events of each batch after its COMMIT, in commit order. Must not throw. */
  onEvents(events: ReadonlyArray<{ event: string; data: unknown }>): void;
  /** Whether somebody listens durably: such events are kept in `kernel_events` too. */
  storeEvent?(event: string): boolean;
}

export interface Storage {
  readonly dialect: 'sqlite';
  dbFor(owner: TableOwner): Db;
  /** Applies what is not applied yet, in order of name. What each does is hashed, so that one changed after it was applied is refused. */
  migrate(owner: TableOwner, migrations: readonly Migration[]): Promise<{ applied: string[] }>;
  /** Applied migrations of all owners, as read at opening and kept since. */
  appliedMigrations(): ReadonlyMap<string, ReadonlyMap<string, string>>;
  stats(): WriteStats;
  /** To be called every second: brings the file itself up to date when there is a rest. */
  tend(): Promise<void>;
  /** Why this may not be the database that was here last; undefined when it is. */
  identityProblem(): string | undefined;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface Parts {
  readonly queue: WriteQueue;
  readonly readers: ReaderPool;
  readonly compile: Compiler;
  readonly storeEvent: CompilerOptions['storeEvent'];
}

/** Rejects with `storage_unavailable`, naming the file and the reason, when it cannot be opened for writing. */
export const openStorage = async (options: StorageOptions): Promise<Storage> => {
  const { connection, applied, identity } = await openWriter(options.file);
  const { file, clock, log } = options;
  const queue = createWriteQueue({ connection, clock, log, onEvents: (events) => options.onEvents(events) });
  const readers = createReaderPool(file, options.readers ?? DEFAULT_READERS);
  const events = createEventStore({ queue, clock, log, isStored: (event) => options.storeEvent?.(event) ?? false });
  const parts: Parts = { queue, readers, compile: createCompiler(), storeEvent: events.sqlOf };
  const known = new Set<string>();
  const countApplied = (): number => [...applied.values()].reduce((sum, one) => sum + one.size, 0);
  const tending = createTending({ queue, identity, log, activity: () => `${queue.stats().batches}/${countApplied()}` });
  let closing: Promise<void> | undefined;
  return {
    dialect: 'sqlite',
    dbFor: (owner) => createDb(parts, tableNames(owner, known)),
    migrate: async (owner, migrations) => migrate({ file, queue, applied, clock, log }, tableNames(owner, known), migrations),
    appliedMigrations: () => applied,
    stats: () => queue.stats(),
    tend: tending.tend,
    identityProblem: identity.problem,
    ping: async () => void (await readers.all('SELECT 1', [])),
    close: () => {
      closing ??= tending.leave().then(queue.close).then(readers.close).then(connection.close);
      return closing;
    },
  };
};

/** `synchronous=FULL` in WAL: a commit survives a power cut. The temp table carries counts out of a batch. */
const SET_UP = [
  'PRAGMA busy_timeout=5000',
  'PRAGMA journal_mode=WAL',
  'PRAGMA synchronous=FULL',
  'PRAGMA foreign_keys=ON',
  'PRAGMA temp_store=MEMORY',
  // The WAL file shrinks back to this after a checkpoint.
  'PRAGMA journal_size_limit=67108864',
  `CREATE TABLE ${CHANGES_TABLE} (unit integer, write integer, n integer)`,
  'CREATE TABLE IF NOT EXISTS kernel_events (seq integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, data text NOT NULL, at text NOT NULL)',
  IDENTITY_TABLE,
].join(';');

const openWriter = async (file: string): Promise<{ connection: SqliteConnection; applied: AppliedMigrations; identity: DatabaseIdentity }> => {
  let connection: SqliteConnection | undefined;
  try {
    connection = await openSqlite({ file, readOnly: false, maxStatements: WRITER_STATEMENTS });
    await connection.exec(SET_UP);
    return { connection, applied: await readApplied(connection), identity: await openIdentity(file, connection) };
  } catch (error) {
    await connection?.close();
    throw openFailure(file, error);
  }
};

const createDb = (parts: Parts, names: TableNames): Db => {
  const compilerOptions: CompilerOptions = { checkTable: names.checkWrite, storeEvent: parts.storeEvent };
  const read = async <T>(sql: string, args: readonly (string | number | null)[] = []): Promise<T[]> =>
    // The caller names the shape of its own SELECT.
    (await parts.readers.all(sql, args)) as T[];
  return {
    table: names.physical,
    read,
    // Reads to the end: a statement left on its first row would keep an old snapshot open.
    readOne: async (sql, args) => (await read<never>(sql, args))[0],
    commit: (writes: readonly Write[]) => {
      let unit: Unit;
      try {
        unit = parts.compile(writes, compilerOptions);
      } catch (error) {
        return Promise.reject(error);
      }
      return unit.sql === '' && unit.events.length === 0 ? Promise.resolve({ changes: unit.changes }) : parts.queue.commit(unit);
    },
  };
};
