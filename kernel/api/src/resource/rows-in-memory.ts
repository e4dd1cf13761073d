/** A page of a list that its source gives whole: searched, filtered, sorted and cut as a table is. */
import { collectionErrors } from './errors.js';
import type { Found, ListDecl, ListQuery } from './list.js';

type Item = Readonly<Record<string, unknown>>;

/** `after` is the place of the first row of the next page. */
export const pageOfRows = <T extends Item>(list: ListDecl, query: ListQuery & Item, rows: readonly T[], search: readonly string[] = []): Found<T> => {
  const { after, offset, q, sort, order = list.spec.order ?? (sort === undefined ? 'asc' : 'desc') } = query;
  if (offset !== undefined && after !== undefined) throw collectionErrors.two_pages();
  const filters = Object.keys(list.spec.filters ?? {}).filter((name) => query[name] !== undefined);
  const words = q?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  const left = rows.filter(
    (row) =>
      filters.every((name) => row[name] === query[name]) &&
      words.every((word) =>
        search.some((field) =>
          String(row[field] ?? '')
            .toLowerCase()
            .includes(word),
        ),
      ),
  );
  const sorted = sort === undefined ? left : left.toSorted((one, other) => (order === 'desc' ? -1 : 1) * compared(one[sort], other[sort]));
  const from = offset ?? placeOf(after);
  const end = from + list.limitOf(query);
  return { rows: sorted.slice(from, end), total: sorted.length, next: end < sorted.length ? String(end) : null };
};

const placeOf = (after: string | undefined): number => {
  if (after === undefined) return 0;
  if (!/^\d{1,9}$/.test(after)) throw collectionErrors.bad_cursor();
  return Number(after);
};

const compared = (one: unknown, other: unknown): number => {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one ?? '').localeCompare(String(other ?? ''), 'en', { numeric: true });
};
