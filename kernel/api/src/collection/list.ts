/**
 * Lists over HTTP: one declaration gives the query, the answer in the envelope that the interface names, and both ways of
 * paging: `limit` and `offset` with a total, and a cursor (`after`, `next`) that repeats and hides nothing while rows come and go.
 */
import { reply } from '../http/http.js';
import type { Reply } from '../http/reply.js';
import { Nullable, OneOf, type TObject, type TSchema, Type } from '../schema/schema.js';

export interface ListSpec {
  /** Schema of one item. */
  readonly item: TSchema;
  /** Names of the list in the answer: `['agents', 'items']` gives it under both. An empty list of names makes the answer the bare array. */
  readonly as: readonly string[];
  /** What it can be sorted by; the first one is the default. */
  readonly sort?: readonly string[];
  /** Default `desc`. */
  readonly order?: 'asc' | 'desc';
  /** Parameters that narrow the list, by name. */
  readonly filters?: Readonly<Record<string, TSchema>>;
  /** What `q` looks into, in words for the documentation; left out where the list has no search. */
  readonly searches?: string;
  readonly limit?: { readonly default: number; readonly max: number };
}

export interface ListQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly after?: string;
  readonly q?: string;
  readonly sort?: string;
  readonly order?: 'asc' | 'desc';
}

/** What was found: `total` counts all pages; `next` is null after the last one. */
export interface Found<T> {
  readonly rows: readonly T[];
  readonly total: number;
  readonly next: string | null;
}

export interface ListDecl {
  readonly spec: ListSpec;
  readonly query: TObject;
  /** Schema of the answer. */
  readonly answer: TSchema;
  limitOf(query: ListQuery): number;
  reply<T>(query: ListQuery, found: Found<T>): Reply;
}

const LIMIT = { default: 100, max: 500 };
const MAX_SEARCH = 200;
const MAX_OFFSET = 1_000_000;

export const defineList = (spec: ListSpec): ListDecl => {
  const { default: usual, max } = spec.limit ?? LIMIT;
  const limitOf = ({ limit = usual }: ListQuery): number => Math.min(limit, max);
  return {
    spec,
    limitOf,
    query: queryOf(spec, usual, max),
    answer: answerOf(spec),
    reply: (query, { rows, total, next }) => {
      const page = { total, offset: query.offset ?? 0, limit: limitOf(query), next };
      if (spec.as.length === 0) return reply(200, rows, { 'x-total-count': String(total), ...(next === null ? {} : { 'x-next': next }) });
      return reply(200, { ...Object.fromEntries(spec.as.map((name) => [name, rows])), ...page });
    },
  };
};

const queryOf = ({ sort = [], order = 'desc', filters = {}, searches }: ListSpec, usual: number, max: number): TObject =>
  Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, description: `Items of a page: ${usual} by default, ${max} at most` })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET, description: 'Items to leave out first' })),
    after: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048, description: '`next` of the page before; instead of `offset`' })),
    ...(searches === undefined ? {} : { q: Type.Optional(Type.String({ maxLength: MAX_SEARCH, description: `Words to find in ${searches}` })) }),
    ...(sort.length === 0 ? {} : { sort: Type.Optional(OneOf(sort, { description: `Default ${sort[0]}` })) }),
    ...(sort.length === 0 ? {} : { order: Type.Optional(OneOf(['asc', 'desc'], { description: `Default ${order}` })) }),
    ...Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, Type.Optional(schema)])),
  });

const answerOf = ({ as, item }: ListSpec): TSchema => {
  const rows = Type.Array(item);
  if (as.length === 0) return rows;
  const [first] = as;
  const named = as.map((name) => [name, name === first ? rows : { ...rows, description: `The same as \`${first}\`` }]);
  return Type.Object({
    ...Object.fromEntries(named),
    total: Type.Integer({ description: 'Of all pages' }),
    offset: Type.Integer(),
    limit: Type.Integer(),
    next: Nullable(Type.String(), { description: '`after` of the next page; null after the last one' }),
  });
};
