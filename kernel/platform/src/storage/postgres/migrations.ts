/**
 * Migrations on PostgreSQL: each in one transaction under the lock of all commits, so that of several daemons that
 * start at the same time one applies it and the others find it applied. No copy is made first: what fails is undone
 * whole, and going back is the business of the server's own backups.
 */
import { isSvcError, type Clock, type Logger, type Migration } from '@svc/api';
import type { Deadlines } from '../contract/deadlines.js';
import type { AppliedMigrations, DriverRow } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { forgetSql, type PendingMigration, pendingOf } from '../contract/migrations/pending-migrations.js';
import { secondsOf, type StatementRules } from '../contract/statement-limits.js';
import type { TableNames } from '../contract/table-names.js';
import type { WriteQueue } from '../contract/write-queue.js';
import { type PostgresConnection, type StatementResult, timeoutSql } from './postgres-connection.js';
import { identifier, literal, postgresSchema, TAKE_LOCK } from './postgres-dialect.js';
import { postgresWords } from './word-index.js';
import { isLost, mapStatementError } from './postgres-errors.js';
import type { PostgresWriter } from './postgres-writer.js';

const BOOKKEEPING_COLUMNS = '(name text COLLATE "C" PRIMARY KEY NOT NULL, sha256 text NOT NULL, applied_at text NOT NULL)';
export const bookkeepingSql = (name: string): string => `CREATE TABLE IF NOT EXISTS ${identifier(name)} ${BOOKKEEPING_COLUMNS}`;
const BOOKS = `
  SELECT table_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE '%\\_migrations'
  GROUP BY table_name HAVING string_agg(column_name::text, ',' ORDER BY ordinal_position) = 'name,sha256,applied_at'`;

export interface MigrationDeps {
  readonly writer: PostgresWriter;
  readonly queue: Pick<WriteQueue, 'exclusive'>;
  readonly applied: AppliedMigrations;
  readonly deadlines: Deadlines;
  readonly rules: StatementRules;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What every extension has applied, in two queries for all of them. */
export const readApplied = async (connection: PostgresConnection): Promise<AppliedMigrations> => {
  const names = rowsOf(await connection.query(BOOKS)).map(({ name }) => String(name));
  const applied: AppliedMigrations = new Map(names.map((name) => [name, new Map()]));
  if (names.length === 0) return applied;
  const union = names.map((name) => `SELECT ${literal(name)} AS owner, name, sha256 FROM ${identifier(name)}`).join(' UNION ALL ');
  for (const { owner, name, sha256 } of rowsOf(await connection.query(union))) applied.get(String(owner))?.set(String(name), String(sha256));
  return applied;
};

const rowsOf = (results: readonly StatementResult[]): readonly DriverRow[] => results.at(-1)?.rows ?? [];

export const migrate = async (deps: MigrationDeps, names: TableNames, migrations: readonly Migration[]): Promise<{ applied: string[] }> => {
  if (pendingOf(names.id, deps.applied.get(names.bookkeeping) ?? new Map(), migrations).length === 0) return { applied: [] };
  const { compileSteps } = await import('../contract/migrations/migration-sql.js');
  const compile = ({ steps }: PendingMigration): string[] => compileSteps({ ...postgresSchema, words: postgresWords }, steps, names.physical);
  return deps.queue.exclusive(async () => {
    const connection = await deps.writer.connection();
    const applied: string[] = [];
    try {
      await connection.query(`BEGIN;${TAKE_LOCK};${bookkeepingSql(names.bookkeeping)};COMMIT;`);
      for (;;) {
        const name = await applyNext(deps, connection, names, migrations, compile);
        if (name === undefined) return { applied };
        applied.push(name);
      }
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => deps.writer.drop(connection)); // it is gone, and its transaction with it
      throw error;
    }
  });
};

export const dropTables = async (deps: MigrationDeps, names: TableNames): Promise<void> => {
  await deps.queue.exclusive(async () => {
    const connection = await deps.writer.connection();
    try {
      const found = rowsOf(
        await connection.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND left(tablename, ${names.prefix.length}) = ${literal(names.prefix)}`),
      );
      const tables = found.map(({ name }) => identifier(String(name)));
      if (tables.length > 0) await connection.query(`BEGIN;${TAKE_LOCK};DROP TABLE IF EXISTS ${tables.join(', ')} CASCADE;COMMIT`);
      deps.log.info('Tables were dropped.', { owner: names.id, tables: tables.length });
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => deps.writer.drop(connection)); // it is gone, and its transaction with it
      throw await mapStatementError(error, async () => []);
    }
  });
  deps.applied.delete(names.bookkeeping);
};

/** What is pending is validated anew under the lock: another daemon may have been faster. */
const applyNext = async (
  deps: MigrationDeps,
  connection: PostgresConnection,
  names: TableNames,
  migrations: readonly Migration[],
  compile: (migration: PendingMigration) => string[],
): Promise<string | undefined> => {
  const book = identifier(names.bookkeeping);
  const rows = rowsOf(await connection.query(`BEGIN;${TAKE_LOCK};SELECT name, sha256 FROM ${book}`));
  const done = new Map(rows.map(({ name, sha256 }) => [String(name), String(sha256)]));
  deps.applied.set(names.bookkeeping, done);
  const [next] = pendingOf(names.id, done, migrations);
  if (!next) {
    await connection.query('COMMIT');
    return undefined;
  }
  const row = [next.name, next.sha256, deps.clock.iso()].map(literal).join();
  const { migrationMs } = deps.rules.limitsOf(names);
  await deps.deadlines.within(migrationMs, connection.cancel, async (deadline) => {
    try {
      await connection.query(`${[timeoutSql(migrationMs, 'LOCAL '), ...compile(next), ...forgetSql(next, book, literal), `INSERT INTO ${book} VALUES(${row})`].join('\n;')}\n;COMMIT`);
    } catch (error) {
      if (!deadline.isOver) throw await failureOf(names.id, next.name, error);
      deps.rules.late(names, 'migration', deadline.ms());
      throw storageErrors.migration_too_slow(names.id, next.name, secondsOf(migrationMs)).with({ cause: error });
    }
  });
  for (const name of next.forgets) done.delete(name);
  done.set(next.name, next.sha256);
  deps.log.debug('Migration applied.', { owner: names.id, migration: next.name });
  return next.name;
};

const failureOf = async (owner: string, migration: string, error: unknown): Promise<Error> => {
  if (isSvcError(error)) return error;
  if (isLost(error)) return storageErrors.io().with({ cause: error });
  const mapped = await mapStatementError(error, async () => []);
  if (mapped.code === 'storage_full' || mapped.code === 'storage_io') return mapped;
  return storageErrors.migration_failed(owner, migration, error instanceof Error ? error.message : String(error)).with({ cause: error });
};
