/** Copies of an owner's tables in the same database (K1 to K3 of contract/table-copies.ts), under the lock of all commits. */
import type { Clock } from '@svc/api';
import type { AppliedMigrations, DriverRow } from '../contract/engine.js';
import { copyName, COPY_TABLE, type TableCopies } from '../contract/table-copies.js';
import type { TableNames } from '../contract/table-names.js';
import type { WriteQueue } from '../contract/write-queue.js';
import type { PostgresConnection, StatementResult } from './postgres-connection.js';
import { identifier, literal, TAKE_LOCK } from './postgres-dialect.js';
import { mapStatementError } from './postgres-errors.js';
import type { PostgresWriter } from './postgres-writer.js';

export interface CopyDeps {
  readonly writer: PostgresWriter;
  readonly queue: Pick<WriteQueue, 'exclusive'>;
  readonly applied: AppliedMigrations;
  readonly clock: Clock;
}

interface Plan {
  /** Each with what a copy of rows does not bring: its keys and its indexes, under their names. */
  readonly tables: ReadonlyArray<{ readonly name: string; readonly copy: string; readonly after: readonly string[] }>;
}

const CREATE = `CREATE TABLE IF NOT EXISTS ${COPY_TABLE} (owner text COLLATE "C" PRIMARY KEY NOT NULL, token text NOT NULL, at text NOT NULL, plan text NOT NULL)`;

export const postgresTableCopies = async (deps: CopyDeps, first: PostgresConnection): Promise<TableCopies> => {
  const known = new Set((await rowsOf(first)).map(({ owner }) => owner));
  /** `work` answers with what one transaction does; it reads under the same lock. */
  const change = <T>(work: (connection: PostgresConnection) => Promise<{ readonly statements: readonly string[]; readonly answer: T }>): Promise<T> =>
    deps.queue.exclusive(async () => {
      const connection = await deps.writer.connection();
      try {
        await connection.query(`BEGIN;${TAKE_LOCK};${CREATE}`);
        const { answer, statements } = await work(connection);
        await connection.query([...statements, 'COMMIT'].join('\n;'));
        return answer;
      } catch (error) {
        await connection.query('ROLLBACK').catch(() => deps.writer.drop(connection)); // it is gone, and its transaction with it
        throw await mapStatementError(error, async () => []);
      }
    });
  const planOf = async (connection: PostgresConnection, owner: string): Promise<{ token: string; plan: Plan } | undefined> => {
    const [row] = (await rowsOf(connection)).filter((one) => one.owner === owner);
    return row && { token: row.token, plan: JSON.parse(row.plan) as Plan }; // written below
  };
  const dropOf = (owner: string, plan: Plan | undefined): string[] => [
    ...(plan?.tables ?? []).map(({ copy }) => `DROP TABLE IF EXISTS ${identifier(copy)}`),
    `DELETE FROM ${COPY_TABLE} WHERE owner = ${literal(owner)}`,
  ];
  return {
    has: (owner) => known.has(owner),
    all: async () => (await rowsOf(await deps.writer.connection())).map(({ owner, token }) => ({ owner, token })),
    keep: async (names, token) => {
      await change(async (connection) => {
        const earlier = await planOf(connection, names.id);
        const plan = await planFor(connection, names);
        const row = [names.id, token, deps.clock.iso(), JSON.stringify(plan)].map(literal).join();
        const copies = plan.tables.flatMap(({ copy, name }) => [
          `CREATE TABLE ${identifier(copy)} (LIKE ${identifier(name)} INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING GENERATED INCLUDING STORAGE)`,
          `INSERT INTO ${identifier(copy)} SELECT * FROM ${identifier(name)}`,
        ]);
        return { statements: [...dropOf(names.id, earlier?.plan), ...copies, `INSERT INTO ${COPY_TABLE} VALUES(${row})`], answer: undefined };
      });
      known.add(names.id);
    },
    restore: async (names, token) => {
      const restored = await change(async (connection) => {
        const kept = await planOf(connection, names.id);
        if (kept?.token !== token) return { statements: [], answer: undefined };
        const now = (await tablesOf(connection, names)).map((name) => `DROP TABLE ${identifier(name)} CASCADE`);
        const back = kept.plan.tables.flatMap(({ after, copy, name }) => [`ALTER TABLE ${identifier(copy)} RENAME TO ${identifier(name)}`, ...after]);
        return { statements: [...now, ...back, `DELETE FROM ${COPY_TABLE} WHERE owner = ${literal(names.id)}`], answer: kept.plan };
      });
      known.delete(names.id);
      if (!restored) return false;
      await learnApplied(deps, names, restored);
      return true;
    },
    forget: async (owner) => {
      if (!known.has(owner)) return;
      await change(async (connection) => ({ statements: dropOf(owner, (await planOf(connection, owner))?.plan), answer: undefined }));
      known.delete(owner);
    },
  };
};

const last = (results: readonly StatementResult[]): readonly DriverRow[] => results.at(-1)?.rows ?? [];

const rowsOf = async (connection: PostgresConnection): Promise<ReadonlyArray<{ readonly owner: string; readonly token: string; readonly plan: string }>> => {
  const there = last(await connection.query(`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ${literal(COPY_TABLE)}`));
  if (there.length === 0) return [];
  return last(await connection.query(`SELECT owner, token, plan FROM ${COPY_TABLE}`)).map(({ owner, token, plan }) => ({ owner: String(owner), token: String(token), plan: String(plan) }));
};

const tablesOf = async (connection: PostgresConnection, { prefix }: TableNames): Promise<string[]> => {
  const rows = last(
    await connection.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND left(tablename, ${prefix.length}) = ${literal(prefix)} ORDER BY tablename`),
  );
  return rows.map(({ name }) => String(name));
};

const planFor = async (connection: PostgresConnection, names: TableNames): Promise<Plan> => {
  const tables = [];
  for (const [nth, name] of (await tablesOf(connection, names)).entries()) tables.push({ name, copy: copyName(names.id, nth), after: await afterOf(connection, name) });
  return { tables };
};

/** The keys first: an index that belongs to one comes with it. NOT NULL is copied with the columns. */
const afterOf = async (connection: PostgresConnection, table: string): Promise<string[]> => {
  const of = `${literal(identifier(table))}::regclass`;
  const keys = last(
    await connection.query(
      `SELECT conname AS name, pg_get_constraintdef(oid) AS def FROM pg_constraint WHERE conrelid = ${of} AND contype IN ('p', 'u', 'c', 'f', 'x') ORDER BY contype = 'f', conname`,
    ),
  );
  const indexes = last(
    await connection.query(
      `SELECT pg_get_indexdef(indexrelid) AS def FROM pg_index WHERE indrelid = ${of} AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x')) ORDER BY indexrelid`,
    ),
  );
  return [...keys.map(({ def, name }) => `ALTER TABLE ${identifier(table)} ADD CONSTRAINT ${identifier(String(name))} ${String(def)}`), ...indexes.map(({ def }) => String(def))];
};

const learnApplied = async ({ applied, writer }: CopyDeps, { bookkeeping }: TableNames, plan: Plan): Promise<void> => {
  if (!plan.tables.some(({ name }) => name === bookkeeping)) {
    applied.delete(bookkeeping);
    return;
  }
  const rows = last(await (await writer.connection()).query(`SELECT name, sha256 FROM ${identifier(bookkeeping)}`));
  applied.set(bookkeeping, new Map(rows.map(({ name, sha256 }) => [String(name), String(sha256)])));
};
