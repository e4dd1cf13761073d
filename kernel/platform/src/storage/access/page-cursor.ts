/** Where a page ended: the values of its last row in the columns that order it. Text for callers, who never look inside. */
import type { Scalar } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import { both, type Condition, equal, type Quote } from './where-sql.js';

export interface OrderColumn {
  readonly column: string;
  readonly descending: boolean;
  readonly isNotNull: boolean;
  readonly ignoreCase: boolean;
}

/** What an order goes by: the column's value, or the same without case. */
export const orderTerm = (name: string, { ignoreCase }: OrderColumn): string => (ignoreCase ? `LOWER(${name})` : name);

/** What a cursor belongs to: one of another order would skip rows. */
const markOf = (order: readonly OrderColumn[]): string => order.map(({ column, descending, ignoreCase }) => `${column}${ignoreCase ? '~' : ''}${descending ? '-' : '+'}`).join('');

export const cursorAt = (order: readonly OrderColumn[], row: Readonly<Record<string, Scalar>>): string =>
  Buffer.from(JSON.stringify([markOf(order), ...order.map(({ column }) => row[column] ?? null)])).toString('base64url');

/** The values in it, one per column; throws `storage_bad_cursor`, which callers may see. */
const valuesOf = (cursor: string, order: readonly OrderColumn[]): Scalar[] => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (cause) {
    throw storageErrors.bad_cursor().with({ cause });
  }
  if (!Array.isArray(parsed)) throw storageErrors.bad_cursor();
  const [mark, ...values]: unknown[] = parsed;
  if (mark !== markOf(order) || values.length !== order.length || !values.every(isScalar)) throw storageErrors.bad_cursor();
  return values;
};

const isScalar = (value: unknown): value is Scalar => value === null || typeof value === 'string' || typeof value === 'number';

/** Rows behind the cursor: later in the first column, or equal there and later in the next, and so on. */
export const behind = (cursor: string, order: readonly OrderColumn[], quote: Quote): Condition => {
  const values = valuesOf(cursor, order);
  const turns = order.flatMap((one, at) => {
    const later = laterThan(one, orderTerm(quote(one.column), one), values[at] ?? null);
    const same = order.slice(0, at).map((earlier, before) => sameAs(earlier, orderTerm(quote(earlier.column), earlier), values[before] ?? null));
    return later ? [both([...same, later])] : [];
  });
  const known = turns.filter((turn) => turn !== undefined);
  if (known.length === 0) return { sql: '1 = 0', args: [] };
  return { sql: `(${known.map(({ sql }) => `(${sql})`).join(' OR ')})`, args: known.flatMap(({ args }) => args) };
};

const sameAs = (one: OrderColumn, term: string, value: Scalar): Condition => (value === null ? equal(term, value) : { sql: `${term} = ${orderTerm('?', one)}`, args: [value] });

/** NULL is the least of all values; undefined when nothing can come later. */
const laterThan = (one: OrderColumn, term: string, value: Scalar): Condition | undefined => {
  const { descending, isNotNull } = one;
  if (value === null) return descending ? undefined : { sql: `${term} IS NOT NULL`, args: [] };
  const given = orderTerm('?', one);
  if (!descending) return { sql: `${term} > ${given}`, args: [value] };
  return { sql: isNotNull ? `${term} < ${given}` : `(${term} < ${given} OR ${term} IS NULL)`, args: [value] };
};
