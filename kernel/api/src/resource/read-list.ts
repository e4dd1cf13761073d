/** A list over HTTP, read from an own table: the page, and how many there are in all. */
import type { OrderBy, Reader, Row, Select, Where } from '../storage.js';
import { collectionErrors } from './errors.js';
import type { Found, ListDecl, ListQuery } from './list.js';

export interface ListSource {
  /** An own table, by its short name. */
  readonly from: string;
  readonly where?: Where;
  /** Columns of text that `q` looks into. */
  readonly search?: readonly string[];
  /** What the words of `sort` are in the table; default: the column of that name. */
  readonly columns?: Readonly<Record<string, Omit<OrderBy, 'descending'>>>;
}

const USUAL_ORDER = 'created_at';

/** Throws `collection_two_pages`, and `storage_bad_cursor` for an `after` that is none of this list. */
export const readList = async <R = Row>(
  reader: Pick<Reader, 'page' | 'count'>,
  list: ListDecl,
  query: ListQuery,
  { from, where = {}, search: columns, columns: named = {} }: ListSource,
): Promise<Found<R>> => {
  const { after, offset, q, sort = list.spec.sort?.[0] ?? USUAL_ORDER, order = list.spec.order ?? 'desc' } = query;
  if (offset !== undefined && after !== undefined) throw collectionErrors.two_pages();
  const search = q === undefined || columns === undefined ? undefined : { text: q, columns };
  const select: Select = {
    from,
    where,
    ...(search ? { search } : {}),
    order: [{ column: sort, ...named[sort], descending: order === 'desc' }],
    limit: list.limitOf(query),
    ...(after === undefined ? {} : { after }),
    ...(offset === undefined ? {} : { offset }),
  };
  const [{ rows, next }, total] = await Promise.all([reader.page<R>(select), reader.count(from, where, search)]);
  return { rows, next, total };
};
