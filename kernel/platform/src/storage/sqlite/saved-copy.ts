/** A copy of a SQLite database in use, and what a copy holds. On connections of their own, so that commits go on meanwhile. */
import { open, stat } from 'node:fs/promises';
import type { DriverRow } from '../contract/engine.js';
import { pauseFor } from '../contract/pace.js';
import { batchSizes } from '../move/batch-sizes.js';
import { createRowSum } from '../move/row-sum.js';
import { identifier } from './sqlite-dialect.js';
import { mapSqliteError } from './sqlite-errors.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';

const STEP_PAGES = 64;
/** Without anybody else. */
const STEP_PAGES_ALONE = 4_096;
/** A large fsync keeps each commit waiting: the copy is synced in small parts. */
const STEPS_PER_SYNC = 64;
/** The WAL grows until the copy is complete. Beyond this the copy no longer pauses. */
const LARGE_WAL_BYTES = 256 * 1_048_576;
/** Beside people who wait for answers. */
const SUM_BATCH_BYTES = 64 * 1_024;

/**
 * All that was committed when it began, in a file that must not exist. Rejects with the errors of storage.
 * `pause`: beside a daemon that works. VACUUM INTO is one statement, whose load and fsync kept commits of others waiting for more than 100 ms.
 */
export const saveCopy = async (file: string, copy: string, pause?: (ms: number) => Promise<void>): Promise<void> => {
  await withConnection(file, async (connection) => {
    // One snapshot: the transaction begins with its first read.
    await connection.exec('PRAGMA busy_timeout=5000;BEGIN;SELECT 1 FROM sqlite_schema;');
    let isHurried = pause === undefined;
    let steps = 0;
    await connection.copyPages(copy, isHurried ? STEP_PAGES_ALONE : STEP_PAGES, async (workMs) => {
      steps += 1;
      if (isHurried) return;
      if (steps % STEPS_PER_SYNC === 0) {
        await syncFile(copy);
        isHurried = ((await stat(`${file}-wal`).catch(() => undefined))?.size ?? 0) > LARGE_WAL_BYTES;
      }
      await pause?.(pauseFor(workMs));
    });
    await connection.exec('COMMIT');
  });
  // The copy is one file, and needs no -wal beside it to be read.
  await withConnection(copy, (connection) => connection.exec('PRAGMA journal_mode=DELETE'), false);
};

/** Empties these tables of a copy that nobody has open, and gives back their room: nothing of them is left in the file. */
export const emptyTables = (copy: string, tables: readonly string[]): Promise<void> =>
  withConnection(
    copy,
    async (connection) => {
      const there = new Set((await connection.all("SELECT name FROM sqlite_schema WHERE type = 'table'", [])).map(({ name }) => String(name)));
      let isEmpty = true;
      for (const table of tables.filter((name) => there.has(name))) {
        if ((await connection.all(`SELECT 1 FROM ${identifier(table)} LIMIT 1`, [])).length === 0) continue;
        isEmpty = false;
        await connection.exec(`PRAGMA secure_delete=ON;DELETE FROM ${identifier(table)};`);
      }
      if (!isEmpty) await connection.exec('VACUUM');
    },
    false,
  );

/** Its close drops the locks that SQLite has on the file in this process: nobody else opens a copy that is not complete. */
const syncFile = async (file: string): Promise<void> => {
  const handle = await open(file, 'r+');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
};

export interface TableContent {
  readonly rows: number;
  /** Of all rows, whatever their order: the same for a copy of SQLite and of a server. */
  readonly sum: string;
}

/** By table. The words of a search index are not in it: they follow from the rows that they index. */
export const readTables = (file: string, pause?: (ms: number) => Promise<void>): Promise<Record<string, TableContent>> =>
  withConnection(file, async (connection) => {
    const tables = await connection.all("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", []);
    const virtual = tables.filter(({ sql }) => String(sql).startsWith('CREATE VIRTUAL')).map(({ name }) => String(name));
    const plain = tables.map(({ name }) => String(name)).filter((name) => !virtual.some((one) => name === one || name.startsWith(`${one}_`)));
    const contents: Record<string, TableContent> = {};
    for (const name of plain) contents[name] = await readTable(connection, name, pause);
    return contents;
  });

/** Columns by name: a table that was made whole and one that a column was added to are the same. */
const readTable = async (connection: SqliteConnection, table: string, pause: ((ms: number) => Promise<void>) | undefined): Promise<TableContent> => {
  const columns = (await connection.all('SELECT name FROM pragma_table_info(?) ORDER BY name', [table])).map(({ name }, index) => cellSql(identifier(String(name)), `c${index}`));
  const sized = batchSizes<DriverRow[]>();
  const sum = createRowSum();
  let rows = 0;
  for (let after = ''; ; ) {
    const startedMs = performance.now();
    const textFor = (limit: number): string =>
      `SELECT CAST(rowid AS TEXT) AS place, ${columns.join(', ')} FROM ${identifier(table)}${after === '' ? '' : ` WHERE rowid > ${BigInt(after)}`} ORDER BY rowid LIMIT ${limit}`;
    const found = await sized(table, (limit) => (limit === 1 ? connection.all(textFor(1), []) : connection.rows(textFor(limit), [], SUM_BATCH_BYTES)));
    for (const row of found) sum.add(columns.map((_, index) => textOf(row[`c${index}`])));
    rows += found.length;
    const last = found.at(-1)?.place;
    if (last === undefined) return { rows, sum: sum.text() };
    after = String(last);
    await pause?.(pauseFor(performance.now() - startedMs));
  }
};

const cellSql = (column: string, as: string): string => `CASE typeof(${column}) WHEN 'blob' THEN lower(hex(${column})) WHEN 'integer' THEN CAST(${column} AS TEXT) ELSE ${column} END AS ${as}`;

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** What SQLite finds wrong with a file; undefined when nothing is. */
export const damageOf = async (file: string): Promise<string | undefined> => {
  try {
    const [row] = await withConnection(file, (connection) => connection.all('PRAGMA quick_check(1)', []));
    const found = String(Object.values(row ?? {})[0]);
    return found === 'ok' ? undefined : found;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const withConnection = async <T>(file: string, work: (connection: SqliteConnection) => Promise<T>, readOnly = true): Promise<T> => {
  const connection = await openSqlite({ file, readOnly, maxStatements: 10 });
  try {
    return await work(connection);
  } catch (error) {
    throw mapSqliteError(error);
  } finally {
    await connection.close();
  }
};
