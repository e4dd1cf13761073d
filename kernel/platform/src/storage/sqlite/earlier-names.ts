/**
 * Files of builds that named tables `<id>_<table>`. What an owner has under such names is renamed before its migrations
 * are looked at: otherwise they would make empty tables beside the full ones.
 */
import type { AppliedMigrations } from '../contract/engine.js';
import type { TableNames } from '../contract/table-names.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { identifier } from './sqlite-dialect.js';

export interface EarlierTables {
  /** The bookkeeping table of then, and what stands in it. */
  readonly book: string;
  readonly done: Map<string, string>;
  /** To be run in one transaction. */
  readonly statements: readonly string[];
}

const earlier = (name: string): string => name.replace('__', '_');

/** A table that is renamed takes its indexes along, under the names that they have. */
export const earlierIndexes = async (connection: SqliteConnection, { prefix }: Pick<TableNames, 'prefix'>): Promise<(name: string) => string> => {
  const rows = await connection.all("SELECT name FROM sqlite_schema WHERE type = 'index' AND substr(tbl_name, 1, ?) = ? AND substr(name, 1, ?) <> ?", [prefix.length, prefix, prefix.length, prefix]);
  const there = new Set(rows.map(({ name }) => String(name)));
  return (name) => (there.has(earlier(name)) ? earlier(name) : name);
};

/** Undefined where there is nothing of such a build. */
export const renamesOf = async (connection: SqliteConnection, applied: AppliedMigrations, names: TableNames): Promise<EarlierTables | undefined> => {
  const book = earlier(names.bookkeeping);
  const done = applied.get(book);
  if (done === undefined || applied.has(names.bookkeeping)) return undefined;
  const tables = await connection.all("SELECT name FROM sqlite_schema WHERE type = 'table'", []);
  const there = new Set(tables.map(({ name }) => String(name)));
  const renamed = [names.bookkeeping, ...names.own].filter((name) => there.has(earlier(name)) && !there.has(name));
  return { book, done, statements: renamed.map((name) => `ALTER TABLE ${identifier(earlier(name))} RENAME TO ${identifier(name)}`) };
};
