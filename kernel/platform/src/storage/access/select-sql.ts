/** Reads as data, turned into portable SQL. */
import { type Actor, type OrderBy, type Scalar, type Select, seesAll, type Where } from '@svc/api';
import type { Bounds, TextSearch } from '@svc/api/internal';
import { storageErrors } from '../contract/errors.js';
import { behind, type OrderColumn, orderTerm } from './page-cursor.js';
import type { Engine } from '../contract/engine.js';
import type { TableNames } from '../contract/table-names.js';
import { checkGroups } from '../contract/word-index.js';
import type { TableShape, TableShapes } from './table-shapes.js';
import { both, type Condition, conditionsOf, type Quote, searchConditions } from './where-sql.js';

/** Also how many rows a select without a limit may find. */
export const MAX_ROWS = 10_000;
/** Whose a row is. */
export const OWNER_COLUMN = 'owner_id';

export interface SelectDeps {
  readonly names: TableNames;
  readonly shapes: TableShapes;
  readonly words: Engine['words'];
  readonly quote: Quote;
  /** Whose rows are read; undefined for a read with no actor. */
  readonly actor: Actor | undefined;
}

export interface Statement {
  readonly sql: string;
  readonly args: readonly Scalar[];
}

/** `limit` rows at most, whatever the query says. */
export const selectSql = (deps: SelectDeps, query: Select, order: readonly OrderColumn[], columns: readonly string[] | undefined, limit: number): Statement => {
  const { quote } = deps;
  const from = deps.names.physical(query.from);
  const conditions = conditionsFor(deps, query.from, query.where ?? {}, query.search);
  const offset = offsetOf(query);
  if (query.after !== undefined) conditions.push(behind(query.after, order, quote));
  const where = both(conditions);
  const picked = columns === undefined ? '*' : Array.from(columns, (column) => quote(column)).join();
  const ordered = order.length === 0 ? '' : ` ORDER BY ${order.map((one) => orderSql(one, orderedBy(deps, query))).join()}`;
  return {
    sql: `SELECT ${picked} FROM ${quote(from)}${where ? ` WHERE ${where.sql}` : ''}${ordered} LIMIT ?${offset === 0 ? '' : ' OFFSET ?'}`,
    args: [...(where?.args ?? []), limit, ...(offset === 0 ? [] : [offset])],
  };
};

const offsetOf = ({ offset = 0, after }: Select): number => {
  if (!Number.isSafeInteger(offset) || offset < 0) throw storageErrors.bad_query(`the offset is ${String(offset)}, and it is a whole number from 0`);
  if (offset > 0 && after !== undefined) throw storageErrors.bad_query('it names both an offset and a cursor, and a page begins at one place');
  return offset;
};

/** How a column is named in ORDER BY. */
const orderedBy = ({ names, shapes, words, quote }: SelectDeps, { from, where = {} }: Select): Quote => {
  const { words: worded, key = [] } = shapes.of(names.physical(from)) ?? {};
  if (worded === undefined || where[worded] === undefined) return quote;
  return (column) => (key.includes(column) ? words.sorted(quote(column)) : quote(column));
};

export const countSql = (deps: SelectDeps, table: string, where: Select['where'], search: TextSearch | undefined): Statement => {
  const found = both(conditionsFor(deps, table, where ?? {}, search));
  return { sql: `SELECT COUNT(*) AS n FROM ${deps.quote(deps.names.physical(table))}${found ? ` WHERE ${found.sql}` : ''}`, args: found?.args ?? [] };
};

const conditionsFor = (deps: SelectDeps, table: string, where: NonNullable<Select['where']>, search: TextSearch | undefined): Condition[] => {
  const own = deps.actor === undefined ? [] : ownedBy(deps, table, deps.actor);
  const { plain, held } = partedWords(deps, table, where);
  return [...conditionsOf(plain, deps.quote), ...held, ...searchConditions(search, deps.quote), ...own];
};

/** What an index of words answers, apart from what is compared. */
const partedWords = (deps: SelectDeps, table: string, where: Where): { plain: Where; held: Condition[] } => {
  const physical = deps.names.physical(table);
  const { words: column, key: [key = ''] = [] } = deps.shapes.of(physical) ?? {};
  if (column === undefined || where[column] === undefined) return { plain: where, held: [] };
  const { [column]: wanted, ...plain } = where;
  return { plain, held: [{ sql: deps.words.condition({ table: physical, column, key }), args: [deps.words.query(checkGroups(column, groupsOf(column, wanted)))] }] };
};

const groupsOf = (column: string, wanted: Where[string] | undefined): NonNullable<Bounds['has']> => {
  const isBounds = typeof wanted === 'object' && wanted !== null && 'has' in wanted;
  if (!isBounds || !wanted.has || Object.keys(wanted).length > 1) throw storageErrors.bad_query(`${column} holds words, and a row is found by those it has`);
  return wanted.has;
};

/** Refused for whoever sees all, too: otherwise a missing column would show with the first person who does not. */
const ownedBy = (deps: SelectDeps, table: string, actor: Actor): Condition[] => {
  if (!deps.shapes.of(deps.names.physical(table))?.columns.has(OWNER_COLUMN)) throw storageErrors.no_owner_column(deps.names.id, table);
  return seesAll(actor) ? [] : [{ sql: `${deps.quote(OWNER_COLUMN)} = ?`, args: [actor.ownerId] }];
};

/** The columns as asked for; throws for a direction or a column that is none. */
export const orderOf = (deps: SelectDeps, query: Select): OrderColumn[] => {
  const shape = deps.shapes.of(deps.names.physical(query.from));
  return Array.from(query.order ?? [], (one) => orderColumn(shape, one));
};

/** With the table's key behind them, so that no two rows stand in the same place. */
export const pageOrderOf = (deps: SelectDeps, query: Select): OrderColumn[] => {
  const shape = deps.shapes.of(deps.names.physical(query.from));
  if (!shape || shape.key.length === 0) throw storageErrors.bad_query(`${query.from} of ${deps.names.id} has no primary key that a page could go by`);
  const order = orderOf(deps, query);
  const rest = shape.key.filter((column) => !order.some((one) => one.column === column));
  // In the direction of the last column, so that one index serves both.
  const descending = order.at(-1)?.descending ?? false;
  return [...order, ...rest.map((column) => orderColumn(shape, { column, descending }))];
};

const orderColumn = (shape: TableShape | undefined, { column, descending, ignoreCase }: OrderBy): OrderColumn => ({
  column,
  descending: descending === true,
  isNotNull: shape?.notNull.has(column) ?? false,
  ignoreCase: ignoreCase === true,
});

/** Said only where a NULL can be: PostgreSQL puts it elsewhere, and an index must fit. */
const orderSql = (one: OrderColumn, quote: Quote): string => {
  const { column, descending, isNotNull } = one;
  const direction = descending ? ' DESC' : '';
  return `${orderTerm(quote(column), one)}${direction}${isNotNull ? '' : descending ? ' NULLS LAST' : ' NULLS FIRST'}`;
};

/** Throws for what is no number of rows. */
export const limitOf = (limit: number | undefined, whenNone: number): number => {
  if (limit === undefined) return whenNone;
  if (!Number.isSafeInteger(limit) || limit < 0 || limit > MAX_ROWS) throw storageErrors.bad_query(`the limit is ${String(limit)}, and it is a whole number from 0 to ${MAX_ROWS}`);
  return limit;
};
