/**
 * Files of builds that named tables `<id>_<table>`. What an owner has under such names is renamed, with its bookkeeping and
 * in one commit, before its migrations are looked at: otherwise they would make empty tables beside the full ones.
 */
import type { AppliedMigrations } from '../contract/engine.js';
import type { TableNames } from '../contract/table-names.js';
import type { WriteQueue } from '../contract/write-queue.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { identifier } from './sqlite-dialect.js';

const earlier = (name: string): string => name.replace('__', '_');

interface EarlierDeps {
  readonly connection: SqliteConnection;
  readonly queue: Pick<WriteQueue, 'exclusive'>;
  readonly applied: AppliedMigrations;
}

/** Resolves to whether there was anything to rename. */
export const renameEarlier = async ({ connection, queue, applied }: EarlierDeps, names: TableNames): Promise<boolean> => {
  const book = earlier(names.bookkeeping);
  const done = applied.get(book);
  if (done === undefined || applied.has(names.bookkeeping)) return false;
  // The shape is that of the SELECT.
  const tables = (await connection.all("SELECT name FROM sqlite_schema WHERE type = 'table'", [])) as Array<{ name: string }>;
  const there = new Set(tables.map(({ name }) => name));
  const renamed = [names.bookkeeping, ...names.own].filter((name) => there.has(earlier(name)) && !there.has(name));
  const statements = renamed.map((name) => `ALTER TABLE ${identifier(earlier(name))} RENAME TO ${identifier(name)};`);
  await queue.exclusive(() => connection.exec(`BEGIN IMMEDIATE;${statements.join('')}COMMIT;`));
  applied.set(names.bookkeeping, done);
  applied.delete(book);
  return true;
};
