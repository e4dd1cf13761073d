/** A copy of a SQLite database in use, and what a copy holds. On connections of their own, so that commits go on meanwhile. */
import { open, stat } from 'node:fs/promises';
import { pauseFor } from '../contract/pace.js';
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

/** Its close drops the locks that SQLite has on the file in this process: nobody else opens a copy that is not complete. */
const syncFile = async (file: string): Promise<void> => {
  const handle = await open(file, 'r+');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
};

/** Rows by table. The words of a search index are counted with the rows that they index. */
export const countTableRows = (file: string): Promise<Record<string, number>> =>
  withConnection(file, async (connection) => {
    const tables = await connection.all("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", []);
    const virtual = tables.filter(({ sql }) => String(sql).startsWith('CREATE VIRTUAL')).map(({ name }) => String(name));
    const plain = tables.map(({ name }) => String(name)).filter((name) => !virtual.some((one) => name === one || name.startsWith(`${one}_`)));
    const counts: Record<string, number> = {};
    for (const name of plain) counts[name] = Number((await connection.all(`SELECT count(*) AS rows FROM ${identifier(name)}`, []))[0]?.rows);
    return counts;
  });

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
