/** One connection to a SQLite file. The only importer of the driver, so that another one can take its place. */
import sqlite3 from 'sqlite3';
import type { Scalar } from '@svc/api';
import type { DriverRow } from '../contract/engine.js';
import { createBoundedRows } from './bounded-rows.js';
import { OWN_BOUNDS, type SqliteBounds } from './sqlite-bounds.js';

export interface SqliteConnection {
  /** Runs all statements of the text in one trip to the thread pool; stops at the first that fails. */
  exec(sql: string): Promise<void>;
  /** Runs one prepared SELECT to its end. A statement is never left half-read: that would pin an old snapshot. */
  all(sql: string, args: readonly Scalar[]): Promise<DriverRow[]>;
  /** The same, for a result of any size: undefined when its rows are more than `maxBytes`. One at a time on a connection. */
  rows(sql: string, args: readonly Scalar[], maxBytes: number): Promise<DriverRow[] | undefined>;
  /** Copies the pages of the database to a file, `pages` at a time, and calls `between` after each step. What a transaction of this connection sees stays the same meanwhile; without one, a commit of another connection begins the copy anew. */
  copyPages(file: string, pages: number, between: (workMs: number) => Promise<void>): Promise<void>;
  /** For what is run from now on, while nothing runs. */
  setBounds(bounds: SqliteBounds): void;
  /** What runs now ends with SQLITE_INTERRUPT, and takes its transaction along where it wrote. */
  interrupt(): void;
  close(): Promise<void>;
}

export interface OpenSqlite {
  file: string;
  readOnly: boolean;
  /** Prepared statements kept, the least recently used goes first. */
  maxStatements: number;
  /** Those of what is shipped, where nothing is said. */
  bounds?: SqliteBounds;
}

/** Of all connections of this process together; more fails the statement that asks for it. */
const MAX_HEAP_BYTES = 536_870_912;

type Prepared = Promise<sqlite3.Statement>;

/** What the driver's declarations leave out: sqlite3_backup (sqlite.org/c3ref/backup_finish.html). */
interface DriverBackup {
  readonly completed: boolean;
  step(pages: number, done: (error: Error | null) => void): void;
  finish(done: (error: Error | null) => void): void;
}
type WithBackup = sqlite3.Database & { backup(file: string, done: (error: Error | null) => void): DriverBackup };

export const openSqlite = async ({ file, readOnly, maxStatements, bounds = OWN_BOUNDS }: OpenSqlite): Promise<SqliteConnection> => {
  const mode = readOnly ? sqlite3.OPEN_READONLY : sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE;
  const db = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(file, mode, (error) => (error ? reject(error) : resolve(opened)));
  });
  let bound: SqliteBounds | undefined;
  const setBounds = (wanted: SqliteBounds): void => {
    if (wanted === bound) return;
    bound = wanted;
    db.configure('limit', sqlite3.LIMIT_LENGTH, wanted.valueBytes);
    db.configure('limit', sqlite3.LIMIT_LIKE_PATTERN_LENGTH, wanted.patternBytes);
  };
  setBounds(bounds);
  const exec = (sql: string): Promise<void> => new Promise((resolve, reject) => void db.exec(sql, (error) => (error ? reject(error) : resolve())));
  await exec(`PRAGMA hard_heap_limit=${MAX_HEAP_BYTES};`);
  const statements = new Map<string, Prepared>();
  const readRows = createBoundedRows();
  let isOpen = true;
  const interrupt = (): void => {
    if (isOpen) db.interrupt();
  };
  return {
    exec,
    setBounds,
    interrupt,
    async all(sql, args) {
      const statement = await prepared(db, statements, sql, maxStatements);
      return new Promise((resolve, reject) => void statement.all(args, (error: Error | null, rows: DriverRow[]) => (error ? reject(error) : resolve(rows))));
    },
    copyPages: (copy, pages, between) => copyPages(db, copy, pages, between),
    rows: async (sql, args, maxBytes) => readRows({ db, statement: await prepared(db, statements, sql, maxStatements), args, maxBytes, interrupt }),
    close: () =>
      closeAll(db, statements, () => {
        isOpen = false;
      }),
  };
};

const copyPages = async (db: sqlite3.Database, file: string, pages: number, between: (workMs: number) => Promise<void>): Promise<void> => {
  const backup = await new Promise<DriverBackup>((resolve, reject) => {
    // The driver has it; its declarations do not.
    const opened: DriverBackup = (db as WithBackup).backup(file, (error) => (error ? reject(error) : resolve(opened)));
  });
  try {
    while (!backup.completed) {
      const startedMs = performance.now();
      await new Promise<void>((resolve, reject) => backup.step(pages, (error) => (error ? reject(error) : resolve())));
      await between(performance.now() - startedMs);
    }
  } finally {
    await new Promise<void>((resolve) => backup.finish(() => resolve()));
  }
};

const prepared = (db: sqlite3.Database, statements: Map<string, Prepared>, sql: string, max: number): Prepared => {
  const known = statements.get(sql);
  if (known) {
    // Map order is age: put it back as the newest.
    statements.delete(sql);
    statements.set(sql, known);
    return known;
  }
  const fresh: Prepared = new Promise((resolve, reject) => {
    const statement: sqlite3.Statement = db.prepare(sql, (error: Error | null) => (error ? reject(error) : resolve(statement)));
  });
  statements.set(sql, fresh);
  // A text that does not compile is asked again next time: its table may exist by then.
  fresh.catch(() => statements.get(sql) === fresh && statements.delete(sql));
  if (statements.size > max) evictOldest(statements);
  return fresh;
};

const evictOldest = (statements: Map<string, Prepared>): void => {
  for (const [sql, statement] of statements) {
    statements.delete(sql);
    // Finalizing queues behind calls already made on it. One that never compiled has nothing to free, and its caller has the error.
    statement.then(finalize, () => undefined);
    return;
  }
};

const finalize = (statement: sqlite3.Statement): Promise<void> => new Promise((resolve) => void statement.finalize(() => resolve()));

const closeAll = async (db: sqlite3.Database, statements: Map<string, Prepared>, begins: () => void): Promise<void> => {
  await Promise.all([...statements.values()].map((statement) => statement.then(finalize, () => undefined)));
  statements.clear();
  begins();
  await new Promise<void>((resolve, reject) => void db.close((error) => (error ? reject(error) : resolve())));
};
