/**
 * Migrations of each extension, with bookkeeping of its own: one that is switched
 * off takes nothing away from the others. They only expand; there is no way down.
 */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isSvcError, type Clock, type Logger, type Migration } from '@svc/api';
import type { Deadlines } from '../contract/deadlines.js';
import type { AppliedMigrations } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import type { TableCopies } from '../contract/table-copies.js';
import { forgetSql, type PendingMigration, pendingOf } from '../contract/migrations/pending-migrations.js';
import { secondsOf, type StatementRules } from '../contract/statement-limits.js';
import type { TableNames } from '../contract/table-names.js';
import type { WriteQueue } from '../contract/write-queue.js';
import { OWN_BOUNDS, THIRD_PARTY_BOUNDS } from './sqlite-bounds.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { mapSqliteError } from './sqlite-errors.js';
import { identifier, literal, sqliteSchema } from './sqlite-dialect.js';
import { sqliteWords } from './word-index.js';

const COPIES_KEPT = 3;
/** SQLite has a journal beside the copy that it makes. */
const PARTIAL = /\.partial(-journal)?$/;
const BOOKKEEPING_COLUMNS = '(name text PRIMARY KEY NOT NULL, sha256 text NOT NULL, applied_at text NOT NULL)';
export const bookkeepingSql = (name: string): string => `CREATE TABLE IF NOT EXISTS ${identifier(name)} ${BOOKKEEPING_COLUMNS}`;

export interface MigrationDeps {
  file: string;
  connection: SqliteConnection;
  queue: Pick<WriteQueue, 'exclusive'>;
  deadlines: Deadlines;
  rules: StatementRules;
  applied: AppliedMigrations;
  kept: Pick<TableCopies, 'has'>;
  clock: Clock;
  log: Logger;
}

/** What every extension has applied, in two queries for all of them. */
export const readApplied = async (connection: SqliteConnection): Promise<AppliedMigrations> => {
  const tables = await connection.all(`SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(sql, ?) = ?`, [-BOOKKEEPING_COLUMNS.length, BOOKKEEPING_COLUMNS]);
  const names = tables.map(({ name }) => String(name));
  const applied: AppliedMigrations = new Map(names.map((name) => [name, new Map()]));
  if (names.length === 0) return applied;
  const union = names.map((name) => `SELECT ${literal(name)} AS owner, name, sha256 FROM ${identifier(name)}`).join(' UNION ALL ');
  for (const { owner, name, sha256 } of await connection.all(union, [])) applied.get(String(owner))?.set(String(name), String(sha256));
  return applied;
};

export const migrate = async (deps: MigrationDeps, names: TableNames, migrations: readonly Migration[]): Promise<{ applied: string[] }> => {
  const done = deps.applied.get(names.bookkeeping) ?? new Map<string, string>();
  const pending = pendingOf(names.id, done, migrations);
  if (pending.length === 0) return { applied: [] };
  // An extension without rows yet has nothing that a copy could save, and of one that is tried its own tables are kept.
  const changing = pending.find(({ forgets }) => forgets.length === 0);
  if (changing && done.size > 0 && !deps.kept.has(names.id)) await keepCopy(deps, names.id, changing.name);
  const { compileSteps } = await import('../contract/migrations/migration-sql.js');
  for (const migration of pending) {
    await apply(deps, names, migration, compileSteps({ ...sqliteSchema, words: sqliteWords }, migration.steps, names.physical));
    for (const name of migration.forgets) done.delete(name);
    done.set(migration.name, migration.sha256);
    deps.applied.set(names.bookkeeping, done);
    deps.log.debug('Migration applied.', { owner: names.id, migration: migration.name });
  }
  return { applied: pending.map(({ name }) => name) };
};

/** A virtual table takes those along that stand for it. */
export const dropTables = async (deps: MigrationDeps, names: TableNames): Promise<void> => {
  const rows = await deps.connection.all(`SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?`, [names.prefix.length, names.prefix]);
  const isVirtual = (sql: unknown): boolean => String(sql).startsWith('CREATE VIRTUAL');
  const first = [...rows].sort((a, b) => Number(isVirtual(b.sql)) - Number(isVirtual(a.sql)));
  if (first.length > 0)
    await allOrNothing(
      deps,
      first.map(({ name }) => `DROP TABLE IF EXISTS ${identifier(String(name))}`),
    ).catch((error: unknown) => {
      throw mapSqliteError(error);
    });
  deps.applied.delete(names.bookkeeping);
  deps.log.info('Tables were dropped.', { owner: names.id, tables: first.length });
};

const apply = async (deps: MigrationDeps, names: TableNames, migration: PendingMigration, steps: readonly string[]): Promise<void> => {
  const book = identifier(names.bookkeeping);
  const row = [migration.name, migration.sha256, deps.clock.iso()].map(literal).join();
  const statements = [
    bookkeepingSql(names.bookkeeping),
    ...steps,
    ...forgetSql(migration, book, literal),
    // Fails on the name when another process was faster, and undoes the whole of it.
    `INSERT INTO ${book} VALUES(${row})`,
  ];
  const { migrationMs } = deps.rules.limitsOf(names);
  let isLate = false;
  const inTime = (work: () => Promise<void>): Promise<void> =>
    deps.deadlines.within(migrationMs, deps.connection.interrupt, async (deadline) => {
      deps.connection.setBounds(names.isThirdParty ? THIRD_PARTY_BOUNDS : OWN_BOUNDS);
      try {
        await work();
      } finally {
        deps.connection.setBounds(OWN_BOUNDS);
        isLate = deadline.isOver;
        if (isLate) deps.rules.late(names, 'migration', deadline.ms());
      }
    });
  await allOrNothing(deps, statements, inTime).catch((error: unknown) => {
    if (isLate) throw storageErrors.migration_too_slow(names.id, migration.name, secondsOf(migrationMs)).with({ cause: error });
    const mapped = mapSqliteError(error);
    if (mapped.code === 'storage_full' || mapped.code === 'storage_io') throw mapped;
    throw storageErrors.migration_failed(names.id, migration.name, error instanceof Error ? error.message : String(error)).with({ cause: error });
  });
};

type Run = (work: () => Promise<void>) => Promise<void>;

const allOrNothing = ({ connection, queue, log }: MigrationDeps, statements: readonly string[], run: Run = (work) => work()): Promise<void> =>
  queue.exclusive(async () => {
    try {
      await run(() => connection.exec(`BEGIN IMMEDIATE;${statements.join('\n;')}\n;COMMIT;`));
    } catch (error) {
      await connection.exec('ROLLBACK;').catch((failure: unknown) => log.debug('There was nothing to undo.', { error: failure }));
      throw error;
    }
  });

/** A whole copy of the database as it was, so that going back to the old state is copying a file. */
const keepCopy = async (deps: MigrationDeps, owner: string, migration: string): Promise<void> => {
  const copy = `${deps.file}.before-${owner}-${migration}`;
  const partial = `${copy}.partial`;
  await rm(partial, { force: true });
  try {
    await deps.queue.exclusive(() => deps.connection.exec(`VACUUM INTO ${literal(partial)};`));
    await rename(partial, copy);
  } catch (error) {
    await rm(partial, { force: true });
    throw isSvcError(error) ? error : mapSqliteError(error);
  }
  await dropOldCopies(deps.file);
};

/** Areas migrate side by side: what the folder lists may be gone by now, or become a copy. */
const dropOldCopies = async (file: string): Promise<void> => {
  const folder = dirname(file);
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file)}.before-`) && !PARTIAL.test(name));
  const aged = await Promise.all(names.map(async (name) => ({ path: join(folder, name), madeMs: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })));
  for (const { path } of aged.toSorted((a, b) => b.madeMs - a.madeMs).slice(COPIES_KEPT)) await rm(path, { force: true });
};
