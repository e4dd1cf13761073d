/** One SQLite file: one writer connection with a group-commit queue, and a few read-only ones. */
import { isSvcError, type Logger } from '@svc/api';
import { identityFileOf } from '../../config/home.js';
import { createDeadlines } from '../contract/deadlines.js';
import { createCommit } from '../contract/commit-ops.js';
import type { AppliedMigrations, Engine } from '../contract/engine.js';
import { createEvents, createEventStore } from '../contract/event-store.js';
import { CREATE_IDENTITY, type DatabaseIdentity, openIdentity, IDENTITY_TABLE, identityIn, type IdentityRow } from '../contract/migrations/identity.js';
import { createStatementRules, KERNEL } from '../contract/statement-limits.js';
import type { StorageOptions } from '../contract/storage-contract.js';
import { createTending } from '../contract/tending.js';
import { createCompiler } from '../contract/write-compiler.js';
import { checkMark, FORGET_MARK, markIn, MOVE_TABLE, READ_MARK } from '../move/marks.js';
import { sqliteTableCopies } from './table-copies.js';
import { dropTables, migrate, readApplied } from './migrations.js';
import { createReaderPool } from './reader-pool.js';
import { saveCopy } from './saved-copy.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';
import { CHANGES_TABLE, literal, sqliteDialect } from './sqlite-dialect.js';
import { openFailure } from './sqlite-errors.js';
import { createSqliteQueue } from './sqlite-queue.js';
import { createForgetting } from './forget-words.js';
import { sqliteWords } from './word-index.js';

const DEFAULT_READERS = 2;
const WRITER_STATEMENTS = 20;
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Rejects with `storage_unavailable`, naming the file and the reason, when it cannot be opened for writing. */
export const openSqliteEngine = async (options: StorageOptions): Promise<Engine> => {
  const { connection, applied, identity } = await openWriter(options.file, options.log);
  const { file, clock, log, now } = options;
  const deadlines = createDeadlines();
  const rules = createStatementRules(options.limits, options.onSlow);
  const queue = createSqliteQueue({ connection, deadlines, rules, clock, log, onEvents: (batch) => options.onEvents(batch) });
  const kept = await sqliteTableCopies({ connection, queue, applied, clock });
  const readers = createReaderPool({ file, size: options.readers ?? DEFAULT_READERS, deadlines, rules });
  const migrations = { file, connection, queue, deadlines, rules, applied, kept, clock, log };
  const events = createEventStore({ queue, clock, log, literal, isStored: (event) => options.storeEvent?.(event) ?? false });
  const compile = createCompiler({ dialect: sqliteDialect, storeEvent: events.sqlOf });
  const countApplied = (): number => [...applied.values()].reduce((sum, one) => sum + one.size, 0);
  const tending = createTending({
    forget: createForgetting({ connection, exclusive: queue.exclusive, elapsed: () => clock.mono() }),
    checkpoint: () => checkpoint(connection),
    queue,
    identity,
    log,
    activity: () => `${queue.stats().batches}/${countApplied()}`,
  });
  let closing: Promise<void> | undefined;
  return {
    dialect: 'sqlite',
    place: file,
    commit: createCommit(compile, queue),
    read: readers.all,
    identifier: sqliteDialect.identifier,
    words: sqliteWords,
    nowSql: () => (now ? String(now()) : NOW),
    migrate: (names, pending) => migrate(migrations, names, pending),
    drop: (names) => dropTables(migrations, names),
    kept,
    saveTo: async (copy, pause) => {
      await saveCopy(file, copy, pause);
      // While the copy was read, the WAL could only grow.
      await queue.exclusive(() => checkpoint(connection));
    },
    appliedMigrations: () => applied,
    stats: queue.stats,
    tend: tending.tend,
    identityProblem: identity.problem,
    ping: async () => void (await readers.all(KERNEL, 'SELECT 1', [])),
    close: () => {
      deadlines.hurry(options.closingMs);
      closing ??= tending.leave().then(queue.close).then(readers.close).then(connection.close);
      return closing;
    },
  };
};

export const CREATE_EVENTS = createEvents('integer PRIMARY KEY AUTOINCREMENT', 'text', 'integer');
/** `synchronous=FULL` in WAL: a commit survives a power cut. The temp table carries counts out of a batch. */
const SET_UP = [
  'PRAGMA busy_timeout=5000',
  'PRAGMA journal_mode=WAL',
  'PRAGMA synchronous=FULL',
  'PRAGMA foreign_keys=ON',
  'PRAGMA temp_store=MEMORY',
  // What is deleted is overwritten in the file: a purge leaves nothing to whoever reads its bytes (decision 0017).
  'PRAGMA secure_delete=ON',
  // The WAL file shrinks back to this after a checkpoint.
  'PRAGMA journal_size_limit=67108864',
  'PRAGMA wal_autocheckpoint=4000',
  `CREATE TABLE ${CHANGES_TABLE} (unit integer, write integer, n integer)`,
  CREATE_EVENTS,
  CREATE_IDENTITY,
].join(';');

const openWriter = async (file: string, log: Logger): Promise<{ connection: SqliteConnection; applied: AppliedMigrations; identity: DatabaseIdentity }> => {
  let connection: SqliteConnection | undefined;
  try {
    connection = await openSqlite({ file, readOnly: false, maxStatements: WRITER_STATEMENTS });
    await connection.exec(SET_UP);
    await checkMove(connection, file, log);
    return { connection, applied: await readApplied(connection), identity: await openIdentity({ file: identityFileOf(file), place: file, row: identityRow(connection) }) };
  } catch (error) {
    await connection?.close();
    throw isSvcError(error) ? error : openFailure(file, error);
  }
};

const checkMove = async (connection: SqliteConnection, file: string, log: Logger): Promise<void> => {
  const there = await connection.all("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [MOVE_TABLE]);
  if (there.length === 0) return;
  // A file is restored by a rename (backup/restore-swap.ts), so it never has the mark of a restore.
  await checkMark(markIn(await connection.all(READ_MARK, [])), { place: file, isRestored: false, log, forget: () => connection.exec(FORGET_MARK) });
};

/** Waits for nobody. False when a reader still needs what stood before. */
const checkpoint = async (connection: SqliteConnection): Promise<boolean> => {
  const [row] = await connection.all('PRAGMA wal_checkpoint(PASSIVE)', []);
  if (row === undefined || row.log !== row.checkpointed) return false;
  // What was deleted stands in the -wal until it is written over. Where somebody reads just now, the next rest empties it.
  await connection.exec('PRAGMA busy_timeout=0');
  try {
    await connection.all('PRAGMA wal_checkpoint(TRUNCATE)', []);
  } finally {
    await connection.exec('PRAGMA busy_timeout=5000');
  }
  return true;
};

export const identityRow = (connection: SqliteConnection): IdentityRow => ({
  read: async () => identityIn(await connection.all(`SELECT id, mark FROM ${IDENTITY_TABLE}`, [])),
  advance: () => connection.exec(`INSERT INTO ${IDENTITY_TABLE} VALUES(1, lower(hex(randomblob(16))), 1) ON CONFLICT (one) DO UPDATE SET mark = mark + 1;`),
});
