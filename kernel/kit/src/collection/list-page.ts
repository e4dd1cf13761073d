/** One page of a list: how it is asked for, and what an answer of any of the interface's envelopes says. */
import { daemon } from '@svc/kit';
import type { CollectionView } from '@svc/api/collection-view';
import { said } from './field-words.js';

export type Item = Readonly<Record<string, unknown>>;

/** Where a page begins. */
export type Place = { readonly offset: number } | { readonly after: string };

export interface Sought {
  readonly q?: string | undefined;
  /** A field, with `-` before it for the largest first. */
  readonly sort?: string | undefined;
  readonly filters: Readonly<Record<string, string>>;
}

export interface ListPage {
  readonly rows: readonly Item[];
  /** Of all pages, where the daemon says it. */
  readonly total: number | undefined;
  /** Where the next page begins; undefined after the last one. */
  readonly next: Place | undefined;
}

/** An address with its names filled in: of the parent, of the item, of an answer. */
export const addressWith = (path: string, ...values: readonly Item[]): string =>
  path.replaceAll(/\{\*?([^}]+)\}/g, (whole, name: string) => {
    const found = values.map((one) => valueAt(one, name)).find((value) => value !== undefined && value !== null);
    return found === undefined ? whole : encodeURIComponent(String(found));
  });

/** Names in a path that nobody filled in. */
export const isOpenPath = (path: string): boolean => path.includes('{');

/** `{idField}` of the item's path may have another name than the field. */
export const itemAddress = ({ path, itemPath, idField }: CollectionView, id: string, item: Item = {}): string =>
  itemPath === undefined ? `${path}/${encodeURIComponent(id)}` : addressWith(itemPath, { [idField]: id }, item);

export const FIRST: Place = { offset: 0 };
const ROWS = 50;

export const addressOfPage = ({ path, cursor = 'after', limit = ROWS }: CollectionView, { q, sort, filters }: Sought, place: Place): string => {
  const query = new URLSearchParams({ limit: String(limit) });
  if ('after' in place) query.set(cursor, place.after);
  else if (place.offset > 0) query.set('offset', String(place.offset));
  if (q) query.set('q', q);
  if (sort) {
    query.set('sort', sort.replace(/^-/, ''));
    query.set('order', sort.startsWith('-') ? 'desc' : 'asc');
  }
  for (const [name, value] of Object.entries(filters)) if (value !== '') query.set(name, value);
  return `${path}?${query}`;
};

export const loadPage = async (view: CollectionView, sought: Sought, place: Place, signal: AbortSignal): Promise<ListPage> => {
  const { data, headers } = await daemon.request('GET', addressOfPage(view, sought, place), undefined, { signal });
  return pageIn(view, place, data, (name) => headers.get(name));
};

export const loadItem = async (view: CollectionView, id: string, signal: AbortSignal): Promise<Item> => {
  const address = itemAddress(view, id);
  const { data } = await daemon.request('GET', address, undefined, { signal });
  if (!isItem(data)) throw new TypeError(`GET ${address} answered with no object.`);
  return data;
};

const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * `{rows, next}`, `{items, total, offset, limit}`, `{goals, total}`, or the list itself with what it says in its headers. A list
 * that says neither a total nor a next page came whole, and is shown page by page all the same.
 */
export const pageIn = ({ rows: field, path, cursor, limit = ROWS }: CollectionView, place: Place, answer: unknown, header: (name: string) => string | null): ListPage => {
  const said: Item = isItem(answer) ? answer : { total: numberIn(header('x-total-count')), next: header('x-next') ?? undefined };
  const all = rowsIn(answer, field);
  if (!all) throw new TypeError(`GET ${path} answered with no list${field === undefined ? '' : ` in ${field}`}.`);
  const rows = all.filter(isItem);
  const total = typeof said['total'] === 'number' ? said['total'] : undefined;
  const offset = 'offset' in place ? place.offset : 0;
  if (total !== undefined && 'offset' in place && !(cursor !== undefined && typeof said['next'] === 'string')) {
    // One that takes no offset answers with everything.
    if (rows.length === total) return whole(rows, offset, limit);
    const end = offset + rows.length;
    return { rows, total, next: rows.length > 0 && end < total ? { offset: end } : undefined };
  }
  if (typeof said['next'] === 'string') return { rows, total, next: { after: said['next'] } };
  return said['next'] === undefined && 'offset' in place ? whole(rows, offset, limit) : { rows, total, next: undefined };
};

const whole = (rows: readonly Item[], offset: number, limit: number): ListPage => {
  const end = Math.min(rows.length, offset + limit);
  return { rows: rows.slice(offset, end), total: rows.length, next: end < rows.length ? { offset: end } : undefined };
};

const numberIn = (text: string | null): number | undefined => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined);

export const rowsIn = (answer: unknown, field: string | undefined): readonly unknown[] | undefined => {
  if (Array.isArray(answer)) return answer;
  if (!isItem(answer)) return undefined;
  if (field !== undefined) return Array.isArray(answer[field]) ? answer[field] : undefined;
  const usual = [answer['items'], answer['rows'], ...Object.values(answer)];
  return usual.find((value): value is unknown[] => Array.isArray(value));
};

/** What stands at `agent.name`. */
export const valueAt = (item: Item, field: string): unknown => {
  if (Object.hasOwn(item, field)) return item[field];
  return field.split('.').reduce<unknown>((at, name) => (isItem(at) ? at[name] : undefined), item);
};

export const idOf = ({ idField }: CollectionView, item: Item): string => String(valueAt(item, idField) ?? '');

/** What it is called by in a question. */
export const nameOf = (view: CollectionView, item: Item): string => {
  // The id of something else names nothing.
  if (view.columns[0]?.format === 'reference') return said(view.one);
  const name = valueAt(item, view.nameField ?? view.columns[0]?.field ?? view.idField);
  return name === undefined || name === null || name === '' ? idOf(view, item) : String(name);
};
