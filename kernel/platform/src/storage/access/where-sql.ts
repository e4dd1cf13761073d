/** Conditions as data, turned into portable SQL with `?` placeholders. */
import type { Scalar, Where } from '@svc/api';
import type { Bounds, TextSearch } from '@svc/api/internal';
import { storageErrors } from '../contract/errors.js';

export interface Condition {
  readonly sql: string;
  readonly args: readonly Scalar[];
}

/** Quotes a column's name for the engine; throws for what is no name. */
export type Quote = (name: string) => string;

const MAX_LIST = 10_000;
const MAX_SEARCHED = 16;
const NOTHING: Condition = { sql: '1 = 0', args: [] };
const COMPARED = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** All conditions together; undefined when there are none. */
export const both = (conditions: readonly Condition[]): Condition | undefined =>
  conditions.length === 0 ? undefined : { sql: conditions.map(({ sql }) => sql).join(' AND '), args: conditions.flatMap(({ args }) => args) };

export const conditionsOf = (where: Where, quote: Quote): Condition[] => Object.entries(where).flatMap(([column, wanted]) => conditionsOn(column, wanted, quote));

const conditionsOn = (column: string, wanted: Where[string] | undefined, quote: Quote): Condition[] => {
  const name = quote(column);
  if (isList(wanted)) return [among(column, name, wanted)];
  if (typeof wanted === 'object' && wanted !== null) return within(column, name, wanted);
  return [equal(name, scalar(column, wanted))];
};

export const equal = (name: string, value: Scalar): Condition => (value === null ? { sql: `${name} IS NULL`, args: [] } : { sql: `${name} = ?`, args: [value] });

const within = (column: string, name: string, bounds: Bounds): Condition[] => {
  const entries = Object.entries(bounds);
  if (entries.length === 0) throw storageErrors.bad_query(`the bounds of ${column} are empty`);
  return entries.map(([bound, value]) => {
    if (bound === 'not') return except(column, name, bounds.not);
    if (!isComparison(bound) || value === null) throw storageErrors.bad_query(`${column} cannot be compared by "${bound}" with ${String(value)}`);
    return { sql: `${name} ${COMPARED[bound]} ?`, args: [scalar(column, value)] };
  });
};

const isComparison = (bound: string): bound is keyof typeof COMPARED => Object.hasOwn(COMPARED, bound);

/** In SQL nothing differs from NULL; here a row without a value is one that has another. */
const except = (column: string, name: string, value: Scalar | readonly Scalar[] | undefined): Condition => {
  if (isList(value)) {
    if (value.length === 0) return { sql: '1 = 1', args: [] };
    const { sql, args } = among(column, name, value);
    return { sql: `(NOT (${sql}) OR ${name} IS NULL)`, args };
  }
  if (value === null) return { sql: `${name} IS NOT NULL`, args: [] };
  return { sql: `(${name} <> ? OR ${name} IS NULL)`, args: [scalar(column, value)] };
};

/** Filled up to a power of two by repeating the last: few texts, each prepared once. */
const among = (column: string, name: string, values: readonly Scalar[]): Condition => {
  if (values.length > MAX_LIST) throw storageErrors.bad_query(`the list for ${column} has ${values.length} values, and ${MAX_LIST} are the limit`);
  // A list of its own: one that reads otherwise the second time would be validated as one and used as another.
  const wanted = Array.from(values);
  const last = wanted.at(-1);
  if (last === undefined) return NOTHING;
  const args = wanted.map((value) => {
    if (value === null) throw storageErrors.bad_query(`the list for ${column} contains null`);
    return scalar(column, value);
  });
  while (!isPowerOfTwo(args.length)) args.push(last);
  return { sql: `${name} IN (${args.map(() => '?').join()})`, args };
};

/** Each word in one of the columns. Both sides are lowered by the database, so that both mean the same by it. */
export const searchConditions = (search: TextSearch | undefined, quote: Quote): Condition[] => {
  if (search === undefined) return [];
  const names = Array.from(search.columns, quote);
  if (names.length === 0) throw storageErrors.bad_query('a search names no column');
  const words = String(search.text)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length > MAX_SEARCHED) throw storageErrors.search_too_long(MAX_SEARCHED);
  return words.map((word) => ({
    sql: `(${names.map((name) => `LOWER(${name}) LIKE LOWER(?) ESCAPE '!'`).join(' OR ')})`,
    args: names.map(() => `%${word.replace(/[!%_]/g, '!$&')}%`),
  }));
};

const isPowerOfTwo = (n: number): boolean => (n & (n - 1)) === 0;

const isList = (value: unknown): value is readonly Scalar[] => Array.isArray(value);

/** A condition without a value would find rows that nobody meant. */
const scalar = (column: string, value: unknown): Scalar => {
  if (value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))) return value;
  throw storageErrors.bad_query(`the condition on ${column} has ${value === undefined ? 'no value' : `a value of the kind ${typeof value}`}`);
};
