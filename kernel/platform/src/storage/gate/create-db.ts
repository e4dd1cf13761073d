/**
 * `ctx.db` over an engine: the one place where writes are sealed and opened, and where queries and SQL text become
 * statements. Who reaches which table is decided here (S4, S5); the engine below takes physical names and asks nobody.
 */
import type { Db, Page, Row, Scalar, Select, Where, Write } from '@svc/api';
import type { Engine } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { cursorAt } from './page-cursor.js';
import type { SealedWrites } from './sealed-writes.js';
import { countSql, limitOf, MAX_ROWS, orderOf, pageOrderOf, type SelectDeps, selectSql, type Statement } from './select-sql.js';
import { createSqlJudge } from './sql-judge.js';
import type { TableNames } from '../contract/table-names.js';
import type { TableShapes } from './table-shapes.js';
import { both, conditionsOf, type Quote } from './where-sql.js';
import type { WriteOp } from '../contract/write-op.js';

const PAGE_ROWS = 100;

export interface DbParts {
  readonly engine: Pick<Engine, 'commit' | 'read' | 'identifier' | 'words'>;
  readonly sealed: SealedWrites;
  readonly shapes: TableShapes;
}

export const createDb = (parts: DbParts, names: TableNames): Db => ({ ...createWrites(parts, names), ...createReads(parts, names), ...createSqlText(parts, names) });

/** What a third-party extension makes says so wherever it is committed. */
const sealFor =
  (sealed: SealedWrites, { id, isThirdParty }: TableNames) =>
  (label: string, op: WriteOp): Write =>
    sealed.seal(label, isThirdParty ? { ...op, by: id } : op);

const createWrites = ({ engine, sealed }: DbParts, names: TableNames): Pick<Db, 'insert' | 'update' | 'upsert' | 'remove' | 'commit'> => {
  const label = (verb: string, table: string): string => `${names.id}: ${verb} ${table}`;
  const quote = quoteWith(engine);
  const seal = sealFor(sealed, names);
  return {
    insert: (table, rows, options) => seal(label('insert', table), { insert: names.physical(table), rows, ...(options?.ifAbsent ? { ifAbsent: true } : {}) }),
    update: (table, key, rows, options) => seal(label('update', table), { update: names.physical(table), key: Array.from(key, text), rows, ...(options?.expect ? { expect: options.expect } : {}) }),
    upsert: (table, key, rows) => seal(label('upsert', table), { upsert: names.physical(table), key: Array.from(key, text), rows }),
    remove: (table, where, options) => seal(label('remove', table), { ...removal(names.physical(table), where, quote), ...expected(options?.expect) }),
    // Not async: it is on the path of every message, and stands in the queue before this returns.
    commit: (writes: readonly Write[]) => {
      let ops: WriteOp[];
      try {
        ops = sealed.open(writes);
      } catch (error) {
        return Promise.reject(error);
      }
      return engine.commit(ops);
    },
  };
};

/** A condition less would delete rows nobody meant. */
const removal = (table: string, where: Where, quote: Quote): { sql: string; args: readonly Scalar[] } => {
  const found = both(conditionsOf(where, quote));
  if (!found) throw storageErrors.bad_write(`a removal from ${table} names no condition`);
  return { sql: `DELETE FROM ${quote(table)} WHERE ${found.sql}`, args: found.args };
};

/** The caller names the shape of its own SELECT. */
const rowsAs = <T>(engine: Pick<Engine, 'read'>, names: TableNames, sql: string, args: readonly Scalar[]): Promise<T[]> => engine.read(names, sql, args) as Promise<T[]>;

const createReads = ({ engine, shapes }: DbParts, names: TableNames): Pick<Db, 'select' | 'first' | 'count' | 'page'> => {
  const deps: SelectDeps = { names, shapes, words: engine.words, quote: quoteWith(engine) };
  const rowsOf = <T>({ sql, args }: Statement): Promise<T[]> => rowsAs<T>(engine, names, sql, args);
  const select = async <T = Row>(query: Select): Promise<T[]> => {
    const rows = await rowsOf<T>(selectSql(deps, query, orderFor(deps, query), query.columns, limitOf(query.limit, MAX_ROWS + 1)));
    if (rows.length > MAX_ROWS) throw storageErrors.too_many_rows(query.from, MAX_ROWS);
    return rows;
  };
  return {
    select,
    first: async <T = Row>(query: Select) => (await rowsOf<T>(selectSql(deps, query, orderFor(deps, query), query.columns, 1)))[0],
    count: async (table, where, actor, search) => {
      const [row] = await rowsOf<{ n: number }>(countSql(deps, table, where, actor, search));
      return Number(row?.n ?? 0);
    },
    page: async <T = Row>(query: Select) => pageOf<T>(deps, query, rowsOf),
  };
};

/** A cursor names places by the key, too: with one, a select is ordered as its page was. */
const orderFor = (deps: SelectDeps, query: Select) => (query.after === undefined ? orderOf(deps, query) : pageOrderOf(deps, query));

const pageOf = async <T>(deps: SelectDeps, query: Select, rowsOf: (statement: Statement) => Promise<Row[]>): Promise<Page<T>> => {
  const limit = limitOf(query.limit, PAGE_ROWS);
  if (limit === 0) throw storageErrors.bad_query('a page of no rows has no end');
  const order = pageOrderOf(deps, query);
  const hidden = query.columns === undefined ? [] : order.map(({ column }) => column).filter((column) => !query.columns?.includes(column));
  const found = await rowsOf(selectSql(deps, query, order, query.columns && [...query.columns, ...hidden], limit + 1));
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? cursorAt(order, last) : null;
  for (const row of rows) for (const column of hidden) delete row[column];
  // The caller names the shape of the rows of its own table.
  return { rows: rows as T[], next };
};

const createSqlText = ({ engine, sealed }: DbParts, names: TableNames): Pick<Db, 'sql' | 'table' | 'read' | 'readOne'> => {
  const judge = createSqlJudge(names);
  const seal = sealFor(sealed, names);
  const read = async <T = Row>(sql: string, args: readonly Scalar[] = []): Promise<T[]> => {
    judge(sql, 'read');
    return rowsAs<T>(engine, names, sql, args);
  };
  return {
    sql: (sql, args, options) => seal(`${names.id}: ${judge(sql, 'write').label}`, { sql, args, ...expected(options?.expect) }),
    table: names.physical,
    read,
    // Reads to the end: a statement left on its first row would keep an old snapshot open.
    readOne: async <T = Row>(sql: string, args: readonly Scalar[] = []) => (await read<T>(sql, args))[0],
  };
};

const expected = (expect: number | undefined): { expect?: number } => {
  if (expect === undefined) return {};
  if (!Number.isSafeInteger(expect) || expect < 0) throw storageErrors.bad_write(`${String(expect)} is no number of rows to expect`);
  return { expect };
};

/** Whoever hands in an object with a text of its own would have it judged once and used twice. */
const text = (name: string): string => {
  if (typeof name !== 'string') throw storageErrors.bad_write('a column is named by a text');
  return name;
};

const quoteWith =
  ({ identifier }: Pick<Engine, 'identifier'>): Quote =>
  (name) =>
    identifier(text(name));
