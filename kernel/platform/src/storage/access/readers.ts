/**
 * Reads of an owner's tables, as one actor or as nobody.
 *
 * R1  A read as an actor gives that actor's rows alone, whatever the query or the SQL text says.
 * R2  An error of a read says who read: `as user:alice`, `system: pruning`.
 */
import { type Actor, type Db, isSvcError, type Page, type Reader, type Row, type Scalar, type Select, type Where, actorFrom } from '@svc/api';
import type { TextSearch } from '@svc/api/internal';
import type { Engine } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import type { StatementOwner } from '../contract/statement-limits.js';
import type { TableNames } from '../contract/table-names.js';
import { createOwnedSql, type OwnedSql } from './owned-sql.js';
import { cursorAt } from './page-cursor.js';
import { countSql, limitOf, MAX_ROWS, orderOf, pageOrderOf, type SelectDeps, selectSql, type Statement } from './select-sql.js';
import type { SqlValidate } from './sql-policy.js';
import type { TableShapes } from './table-shapes.js';
import type { Quote } from './where-sql.js';

const NO_ACTOR: Partial<Actor> = {};
const PAGE_ROWS = 100;
const MAX_WHY_CHARS = 100;

export interface ReadersInputs {
  readonly engine: Pick<Engine, 'read' | 'words'>;
  readonly shapes: TableShapes;
  readonly names: TableNames;
  readonly validate: SqlValidate;
  readonly quote: Quote;
}

/** What a reader is made of, for one actor or for none. */
interface ReadParts extends SelectDeps {
  readonly engine: Pick<Engine, 'read'>;
  readonly validate: SqlValidate;
  readonly owned: OwnedSql;
  readonly owner: StatementOwner & { readonly reader: string };
}

export const createReaders = ({ engine, shapes, names, validate, quote }: ReadersInputs): Pick<Db, 'as' | 'system'> => {
  const owned = createOwnedSql({ names, shapes, quote });
  const { id, isPlatform, isThirdParty } = names;
  const readerFor = (actor: Actor | undefined, reader: string): Reader =>
    createReader({ engine, validate, owned, names, shapes, words: engine.words, quote, actor, owner: { id, isPlatform, isThirdParty, reader } });
  return {
    as: (actor) => {
      // No compiler has checked what a third party hands in. Each member is read once, so that it is the same in every use.
      const { id: name, role, ownerId } = (actor as Actor | undefined) ?? NO_ACTOR;
      if (typeof name !== 'string' || typeof role !== 'string' || typeof ownerId !== 'string') throw storageErrors.bad_query('db.as takes an actor');
      return readerFor(actorFrom({ id: name, role, ownerId }), `as ${name}`);
    },
    system: (why) => {
      if (typeof why !== 'string' || why === '' || why.length > MAX_WHY_CHARS) throw storageErrors.bad_query(`a read without an actor needs a reason of 1 to ${MAX_WHY_CHARS} characters`);
      return readerFor(undefined, `system: ${why}`);
    },
  };
};

const createReader = (parts: ReadParts): Reader => {
  const read = async <T = Row>(sql: string, args: readonly Scalar[] = []): Promise<T[]> => named(parts, () => rowsOf<T>(parts, textOf(parts, sql, args)));
  return {
    select: async <T = Row>(query: Select) => named(parts, () => select<T>(parts, query)),
    first: async <T = Row>(query: Select) => named(parts, async () => (await rowsOf<T>(parts, selectSql(parts, query, orderFor(parts, query), query.columns, 1)))[0]),
    count: async (table: string, where?: Where, search?: TextSearch) => named(parts, async () => Number((await rowsOf<{ n: number }>(parts, countSql(parts, table, where, search)))[0]?.n ?? 0)),
    page: async <T = Row>(query: Select) => named(parts, () => pageOf<T>(parts, query)),
    read,
    // Reads to the end: a statement left on its first row would keep an old snapshot open.
    readOne: async <T = Row>(sql: string, args: readonly Scalar[] = []) => (await read<T>(sql, args))[0],
  };
};

/** What fails says who read (R2). */
const named = async <T>({ owner }: ReadParts, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isSvcError(error) || error.details !== undefined) throw error;
    throw error.with({ details: { reader: owner.reader } });
  }
};

/** The caller names the shape of its own SELECT. */
const rowsOf = <T>({ engine, owner }: ReadParts, { sql, args }: Statement): Promise<T[]> => engine.read(owner, sql, args) as Promise<T[]>;

const textOf = ({ validate, owned, actor }: ReadParts, sql: string, args: readonly Scalar[]): Statement => {
  validate(sql, 'read');
  return actor === undefined ? { sql, args } : owned(sql, args, actor);
};

const select = async <T>(parts: ReadParts, query: Select): Promise<T[]> => {
  const rows = await rowsOf<T>(parts, selectSql(parts, query, orderFor(parts, query), query.columns, limitOf(query.limit, MAX_ROWS + 1)));
  if (rows.length > MAX_ROWS) throw storageErrors.too_many_rows(query.from, MAX_ROWS);
  return rows;
};

/** A cursor names places by the key, too: with one, a select is ordered as its page was. */
const orderFor = (deps: SelectDeps, query: Select) => (query.after === undefined ? orderOf(deps, query) : pageOrderOf(deps, query));

const pageOf = async <T>(parts: ReadParts, query: Select): Promise<Page<T>> => {
  const limit = limitOf(query.limit, PAGE_ROWS);
  if (limit === 0) throw storageErrors.bad_query('a page of no rows has no end');
  const order = pageOrderOf(parts, query);
  const hidden = query.columns === undefined ? [] : order.map(({ column }) => column).filter((column) => !query.columns?.includes(column));
  const found = await rowsOf<Row>(parts, selectSql(parts, query, order, query.columns && [...query.columns, ...hidden], limit + 1));
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? cursorAt(order, last) : null;
  for (const row of rows) for (const column of hidden) delete row[column];
  // The caller names the shape of the rows of its own table.
  return { rows: rows as T[], next };
};
