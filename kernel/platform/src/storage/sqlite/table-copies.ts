/** Copies of an owner's tables in the same SQLite file (K1 to K3 of contract/table-copies.ts). */
import type { Clock } from '@svc/api';
import { copyName, COPY_TABLE, type TableCopies } from '../contract/table-copies.js';
import type { AppliedMigrations } from '../contract/engine.js';
import type { TableNames } from '../contract/table-names.js';
import type { WriteQueue } from '../contract/write-queue.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { identifier, literal } from './sqlite-dialect.js';
import { mapSqliteError } from './sqlite-errors.js';

export interface CopyDeps {
  readonly connection: SqliteConnection;
  readonly queue: Pick<WriteQueue, 'exclusive'>;
  readonly applied: AppliedMigrations;
  readonly clock: Clock;
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly tbl: string;
  readonly sql: string | null;
}

interface Copied {
  readonly name: string;
  readonly copy: string;
}

/** What brings an owner's tables back, in this order. */
interface Plan {
  readonly tables: ReadonlyArray<Copied & { readonly sql: string }>;
  /** Indexes of words: what they hold stands in tables of their own, which SQLite makes with them. */
  readonly virtual: ReadonlyArray<{ readonly name: string; readonly sql: string; readonly shadows: readonly Copied[] }>;
  /** Indexes and triggers. */
  readonly after: readonly string[];
}

const CREATE = `CREATE TABLE IF NOT EXISTS ${COPY_TABLE} (owner text PRIMARY KEY NOT NULL, token text NOT NULL, at text NOT NULL, plan text NOT NULL)`;

export const sqliteTableCopies = async (deps: CopyDeps): Promise<TableCopies> => {
  const { connection, queue } = deps;
  const known = new Set((await rowsOf(connection)).map(({ owner }) => owner));
  const change = <T>(work: () => Promise<T>): Promise<T> =>
    queue.exclusive(work).catch((error: unknown) => {
      throw mapSqliteError(error);
    });
  const planOf = async (owner: string): Promise<{ token: string; plan: Plan } | undefined> => {
    const [row] = (await rowsOf(connection)).filter((one) => one.owner === owner);
    return row && { token: row.token, plan: JSON.parse(row.plan) as Plan }; // written below
  };
  const dropOf = (owner: string, plan: Plan | undefined): string[] => [
    ...copiesOf(plan).map(({ copy }) => `DROP TABLE IF EXISTS ${identifier(copy)}`),
    `DELETE FROM ${COPY_TABLE} WHERE owner = ${literal(owner)}`,
  ];
  return {
    has: (owner) => known.has(owner),
    all: async () => (await rowsOf(connection)).map(({ owner, token }) => ({ owner, token })),
    keep: (names, token) =>
      change(async () => {
        const earlier = known.has(names.id) ? await planOf(names.id) : undefined;
        const plan = planFor(names.id, await schemaOf(connection, names));
        const row = [names.id, token, deps.clock.iso(), JSON.stringify(plan)].map(literal).join();
        const copies = copiesOf(plan).map(({ copy, name }) => `CREATE TABLE ${identifier(copy)} AS SELECT * FROM ${identifier(name)}`);
        await allOrNothing(connection, [CREATE, ...dropOf(names.id, earlier?.plan), ...copies, `INSERT INTO ${COPY_TABLE} VALUES(${row})`]);
        known.add(names.id);
      }),
    restore: (names, token) =>
      change(async () => {
        const kept = known.has(names.id) ? await planOf(names.id) : undefined;
        if (kept?.token !== token) return false;
        const now = planFor(names.id, await schemaOf(connection, names));
        const gone = [...now.virtual, ...now.tables].map(({ name }) => `DROP TABLE ${identifier(name)}`);
        await allOrNothing(connection, [...gone, ...putBack(kept.plan), ...dropOf(names.id, kept.plan)]);
        // An index of words was filled behind its back: every connection looks at it anew.
        if (kept.plan.virtual.length > 0) await connection.exec('PRAGMA writable_schema = RESET');
        known.delete(names.id);
        await learnApplied(deps, names, kept.plan);
        return true;
      }),
    forget: async (owner) => {
      if (!known.has(owner)) return;
      await change(async () => {
        const kept = await planOf(owner);
        await allOrNothing(connection, dropOf(owner, kept?.plan));
        known.delete(owner);
      });
    },
  };
};

const rowsOf = async (connection: SqliteConnection): Promise<ReadonlyArray<{ readonly owner: string; readonly token: string; readonly plan: string }>> => {
  const there = await connection.all(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, [COPY_TABLE]);
  if (there.length === 0) return [];
  return (await connection.all(`SELECT owner, token, plan FROM ${COPY_TABLE}`, [])).map(({ owner, token, plan }) => ({ owner: String(owner), token: String(token), plan: String(plan) }));
};

const schemaOf = async (connection: SqliteConnection, { prefix }: TableNames): Promise<SchemaRow[]> => {
  const rows = await connection.all('SELECT type, name, tbl_name AS tbl, sql FROM sqlite_schema WHERE substr(tbl_name, 1, ?) = ? ORDER BY rowid', [prefix.length, prefix]);
  return rows.map(({ type, name, tbl, sql }) => ({ type: String(type), name: String(name), tbl: String(tbl), sql: sql === null ? null : String(sql) }));
};

const planFor = (owner: string, rows: readonly SchemaRow[]): Plan => {
  const virtual = rows.filter(({ sql, type }) => type === 'table' && sql?.startsWith('CREATE VIRTUAL'));
  const isShadow = (table: string): boolean => virtual.some(({ name }) => table.startsWith(`${name}_`) && SHADOWS.has(table.slice(name.length + 1)));
  let nth = 0;
  const copied = ({ name }: SchemaRow): Copied => ({ name, copy: copyName(owner, nth++) });
  const own = rows.filter(({ tbl }) => !isShadow(tbl));
  return {
    tables: own.flatMap((row) => (row.type === 'table' && row.sql !== null && !virtual.includes(row) ? [{ ...copied(row), sql: row.sql }] : [])),
    virtual: virtual.map((row) => ({
      name: row.name,
      sql: row.sql ?? '',
      shadows: rows.filter(({ name, type }) => type === 'table' && name.startsWith(`${row.name}_`) && SHADOWS.has(name.slice(row.name.length + 1))).map(copied),
    })),
    after: ['index', 'trigger'].flatMap((type) => own.flatMap((row) => (row.type === type && row.sql !== null ? [row.sql] : []))),
  };
};

/** The tables that FTS5 keeps beside an index. */
const SHADOWS: ReadonlySet<string> = new Set(['data', 'idx', 'content', 'docsize', 'config']);

const copiesOf = (plan: Plan | undefined): Copied[] => (plan ? [...plan.tables, ...plan.virtual.flatMap(({ shadows }) => shadows)] : []);

const putBack = ({ after, tables, virtual }: Plan): string[] => {
  const fill = ({ copy, name }: Copied): string => `INSERT INTO ${identifier(name)} SELECT * FROM ${identifier(copy)} ORDER BY rowid`;
  return [
    ...tables.flatMap((table) => [table.sql, fill(table)]),
    ...virtual.flatMap(({ shadows, sql }) => [sql, ...shadows.flatMap((shadow) => [`DELETE FROM ${identifier(shadow.name)}`, fill(shadow)])]),
    // Last: they would act on what is put back.
    ...after,
  ];
};

const learnApplied = async ({ applied, connection }: CopyDeps, { bookkeeping }: TableNames, plan: Plan): Promise<void> => {
  if (!plan.tables.some(({ name }) => name === bookkeeping)) {
    applied.delete(bookkeeping);
    return;
  }
  const rows = await connection.all(`SELECT name, sha256 FROM ${identifier(bookkeeping)}`, []);
  applied.set(bookkeeping, new Map(rows.map(({ name, sha256 }) => [String(name), String(sha256)])));
};

const allOrNothing = async (connection: SqliteConnection, statements: readonly string[]): Promise<void> => {
  try {
    await connection.exec(`BEGIN IMMEDIATE;${statements.join('\n;')}\n;COMMIT;`);
  } catch (error) {
    await connection.exec('ROLLBACK;').catch(() => undefined); // SQLite may have ended the transaction itself
    throw error;
  }
};
