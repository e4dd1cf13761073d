/** A copy of a SQLite database in use, and what a copy holds. On connections of their own, so that commits go on meanwhile. */
import { literal, identifier } from './sqlite-dialect.js';
import { mapSqliteError } from './sqlite-errors.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';

/** All that was committed when it began, in a file that must not exist. Rejects with the errors of storage. */
export const saveCopy = (file: string, copy: string): Promise<void> => withConnection(file, (connection) => connection.exec(`PRAGMA busy_timeout=5000;VACUUM INTO ${literal(copy)};`));

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

const withConnection = async <T>(file: string, work: (connection: SqliteConnection) => Promise<T>): Promise<T> => {
  const connection = await openSqlite({ file, readOnly: true, maxStatements: 10 });
  try {
    return await work(connection);
  } catch (error) {
    throw mapSqliteError(error);
  } finally {
    await connection.close();
  }
};
