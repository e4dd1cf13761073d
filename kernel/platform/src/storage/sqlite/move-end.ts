/** A SQLite file as one end of a move. */
import { stat } from 'node:fs/promises';
import type { DriverRow } from '../contract/engine.js';
import { CREATE_IDENTITY } from '../contract/migrations/identity.js';
import { compileSteps } from '../contract/migrations/migration-sql.js';
import { batchSizes, type Sized } from '../move/batch-sizes.js';
import { moveErrors } from '../move/errors.js';
import type { Cells, EndUse, MoveBatch, MoveEnd, MoveTable } from '../move/move-end.js';
import { bookkeepingSql, readApplied } from './migrations.js';
import { openSqlite, type SqliteConnection } from './sqlite-connection.js';
import { identifier, literal, sqliteSchema } from './sqlite-dialect.js';
import { openFailure } from './sqlite-errors.js';
import { CREATE_EVENTS } from './sqlite-engine.js';
import { sqliteWords } from './word-index.js';

const BATCH_BYTES = 4 * 1_048_576;
const STATEMENTS = 50;
/** What FTS5 keeps beside an index of words. */
const OF_WORDS = /__words(?:_(?:data|idx|content|docsize|config))?$/;
const SET_UP = 'PRAGMA busy_timeout=5000;PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA foreign_keys=OFF';
const SET_UP_SCRATCH = 'PRAGMA journal_mode=MEMORY;PRAGMA synchronous=OFF;PRAGMA foreign_keys=OFF';

/** The home's lock keeps daemons away from the file. */
export const openSqliteEnd = async (file: string, use: EndUse): Promise<MoveEnd> => {
  const isRead = use === 'read' || use === 'snapshot';
  if (isRead || use === 'change') await stat(file).catch((error: unknown) => Promise.reject(openFailure(file, error)));
  const connection = await openSqlite({ file, readOnly: isRead, maxStatements: STATEMENTS }).catch((error: unknown) => Promise.reject(openFailure(file, error)));
  try {
    await connection.exec(isRead ? 'PRAGMA busy_timeout=5000' : use === 'scratch' ? SET_UP_SCRATCH : SET_UP);
  } catch (error) {
    await connection.close();
    throw openFailure(file, error);
  }
  const words = wordReader(connection);
  const sized = batchSizes<DriverRow[]>();
  return {
    dialect: 'sqlite',
    place: file,
    hold: async () => undefined,
    tables: async () => {
      const rows = await connection.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", []);
      return rows.map(({ name }) => String(name)).filter((name) => !OF_WORDS.test(name));
    },
    applied: () => readApplied(connection),
    query: (sql) => connection.all(sql, []),
    change: (statements) => allOrNothing(connection, () => connection.exec(statements.join('\n;'))),
    literal,
    schema: (owners) => [
      CREATE_EVENTS,
      CREATE_IDENTITY,
      ...owners.flatMap(({ names, steps }) => [bookkeepingSql(names.bookkeeping), ...steps.flatMap((each) => compileSteps({ ...sqliteSchema, words: sqliteWords }, each, names.physical))]),
    ],
    read: (table, after) => readBatch({ connection, words, sized }, table, after),
    write: (table, rows, then) =>
      allOrNothing(connection, async () => {
        await insert(connection, table, rows);
        await connection.exec(then.join('\n;'));
      }),
    counter: async ({ name }) => String((await connection.all('SELECT CAST(seq AS TEXT) AS seq FROM sqlite_sequence WHERE name = ?', [name]))[0]?.seq ?? 0),
    setCounter: ({ name }, value) => `DELETE FROM sqlite_sequence WHERE name = ${literal(name)};INSERT INTO sqlite_sequence(name, seq) VALUES(${literal(name)}, ${BigInt(value)})`,
    fence: () => [],
    unfence: () => [],
    version: async () => String((await connection.all('SELECT sqlite_version() AS version', []))[0]?.version),
    bytes: async () => Number((await connection.all('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()', []))[0]?.bytes),
    close: connection.close,
  };
};

const allOrNothing = async (connection: SqliteConnection, work: () => Promise<void>): Promise<void> => {
  await connection.exec('BEGIN IMMEDIATE');
  try {
    await work();
    await connection.exec('COMMIT');
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => undefined); // SQLite has undone it by itself
    throw error;
  }
};

interface Reading {
  readonly connection: SqliteConnection;
  readonly words: WordReader;
  readonly sized: Sized<DriverRow[]>;
}

/** Rows by their place in the file, which is the order in which they were written where no whole number is their key. */
const readBatch = async ({ connection, sized, words }: Reading, table: MoveTable, after: string | undefined): Promise<MoveBatch> => {
  const columns = table.columns.map(({ kind, name }, index) => `${selected(identifier(name), kind)} AS c${index}`);
  const where = after === undefined ? '' : ` WHERE rowid > ${BigInt(after)}`;
  const textFor = (limit: number): string => `SELECT CAST(rowid AS TEXT) AS place, ${columns.join(', ')} FROM ${identifier(table.name)}${where} ORDER BY rowid LIMIT ${limit}`;
  const found = await sized(table.name, (limit) => (limit === 1 ? connection.all(textFor(1), []) : connection.rows(textFor(limit), [], BATCH_BYTES)));
  const last = found.at(-1)?.place;
  const at = table.columns.findIndex(({ kind }) => kind === 'words');
  const worded = at < 0 || last === undefined ? undefined : await words(table.name, after ?? '-9223372036854775808', String(last));
  const rows = found.map((row) => {
    if (Object.values(row).some((value) => value instanceof Uint8Array)) throw moveErrors.move_row(table.name, String(row.place), 'A column of text', 'its value is bytes');
    return table.columns.map(({ kind }, index) => (index === at ? (worded?.get(String(row.place)) ?? null) : cellOf(row[`c${index}`], kind)));
  });
  return { rows, next: last === undefined ? undefined : String(last) };
};

const selected = (column: string, kind: MoveTable['columns'][number]['kind']): string => {
  if (kind === 'integer' || kind === 'boolean') return `CAST(${column} AS TEXT)`;
  return kind === 'blob' ? `CASE WHEN ${column} IS NOT NULL THEN lower(hex(${column})) END` : column;
};

const cellOf = (value: unknown, kind: string): string | null => {
  if (value === null || value === undefined) return null;
  return kind === 'real' ? String(Number(value)) : String(value);
};

type WordReader = (table: string, after: string, through: string) => Promise<ReadonlyMap<string, string>>;

/** An index of words holds rows by word; they are turned round once, in a temporary file beside the source. */
const wordReader = (connection: SqliteConnection): WordReader => {
  const turned = new Map<string, string>();
  const turn = async (table: string): Promise<string> => {
    const name = `temp.move_words_${turned.size}`;
    const index = `temp.move_index_${turned.size}`;
    await connection.exec(`CREATE VIRTUAL TABLE ${index} USING fts5vocab('main', ${literal(`${table}__words`)}, 'instance');
      CREATE TABLE ${name} (doc integer, term text, PRIMARY KEY (doc, term)) WITHOUT ROWID;
      INSERT OR IGNORE INTO ${name} SELECT doc, term FROM ${index}; DROP TABLE ${index}`);
    turned.set(table, name);
    return name;
  };
  return async (table, after, through) => {
    const name = turned.get(table) ?? (await turn(table));
    const rows = await connection.all(`SELECT CAST(doc AS TEXT) AS doc, group_concat(term, ' ') AS words FROM ${name} WHERE doc > ${literal(after)} AND doc <= ${literal(through)} GROUP BY doc`, []);
    return new Map(rows.map(({ doc, words }) => [String(doc), String(words)]));
  };
};

/** Fractions are bound as numbers: SQLite reads one in ten thousand of their texts as its neighbour. */
const insert = async (connection: SqliteConnection, { columns, name }: MoveTable, rows: readonly Cells[]): Promise<void> => {
  if (rows.length === 0) return;
  const into = `INSERT INTO ${identifier(name)}(${columns.map((column) => identifier(column.name)).join()}) VALUES`;
  if (columns.some(({ kind }) => kind === 'real')) {
    const text = `${into}(${columns.map(({ kind }) => (kind === 'real' ? '?' : kind === 'blob' ? 'unhex(?)' : '?')).join()})`;
    for (const row of rows)
      await connection.all(
        text,
        row.map((cell, index) => (cell !== null && columns[index]?.kind === 'real' ? Number(cell) : cell)),
      );
    return;
  }
  const tuple = (row: Cells): string => `(${row.map((cell, index) => (cell !== null && columns[index]?.kind === 'blob' ? `X'${cell}'` : literal(cell))).join()})`;
  await connection.exec(`${into}${rows.map(tuple).join()}`);
};
