/**
 * Lists over HTTP: one declaration gives the query, the answer in the envelope that the interface names, and both ways of
 * paging: `limit` and `offset` with a total, and a cursor (`after`, `next`) that repeats and hides nothing while rows come and go.
 */
import { reply } from '../http/http.js';
import type { BodyOf } from '../http/http.js';
import type { Headers, JsonReply } from '../http/reply.js';
import type { TInteger, TOptional, TString, TUnsafe } from '@sinclair/typebox';
import { Nullable, OneOf, type Static, type TObject, type TSchema, Type } from '../schema/schema.js';

type Filters = Readonly<Record<string, TSchema>>;

export interface ListSpec<F extends Filters = Filters, I extends TSchema = TSchema> {
  /** Schema of one item. */
  readonly item: I;
  /** Names of the list in the answer: `['agents', 'items']` gives it under both. An empty list of names makes the answer the bare array. */
  readonly as: readonly string[];
  /** What it can be sorted by; the first one is the default. */
  readonly sort?: readonly string[];
  /** Default `desc`. */
  readonly order?: 'asc' | 'desc';
  /** Parameters that narrow the list, by name. */
  readonly filters?: F;
  /** What `q` looks into, in words for the documentation; left out where the list has no search. */
  readonly searches?: string;
  readonly limit?: { readonly default: number; readonly max: number };
  /** Of the answer in the documentation and in clients: `SessionList`. */
  readonly name?: string;
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

type ListParameters<F extends Filters> = {
  limit: TOptional<TInteger>;
  offset: TOptional<TInteger>;
  after: TOptional<TString>;
  q: TOptional<TString>;
  sort: TOptional<TString>;
  order: TOptional<TUnsafe<'asc' | 'desc'>>;
} & { [N in keyof F]: TOptional<F[N]> };

declare const LIST: unique symbol;
/** A page of items under the names that the list has. */
interface ListBody<T> {
  readonly [LIST]: T;
}

export interface ListDecl<F extends Filters = Filters, I extends TSchema = TSchema> {
  readonly spec: ListSpec<F, I>;
  /** What the list takes: those of `q`, `sort` and `order` that it has. */
  readonly query: TObject<ListParameters<F>>;
  /** Schema of the answer. */
  readonly answer: TUnsafe<ListBody<Static<I>>>;
  limitOf(query: ListQuery): number;
  reply(query: ListQuery, found: Found<BodyOf<Static<I>>>): JsonReply<200, ListBody<Static<I>>>;
}

const LIMIT = { default: 100, max: 500 };
const MAX_SEARCH = 200;
const MAX_OFFSET = 1_000_000;

export const defineList = <I extends TSchema, const F extends Filters = Record<never, TSchema>>(spec: ListSpec<F, I>): ListDecl<F, I> => {
  const { default: usual, max } = spec.limit ?? LIMIT;
  const limitOf = ({ limit = usual }: ListQuery): number => Math.min(limit, max);
  return {
    spec,
    limitOf,
    // It is made from the same filters; a parameter that is left out is never given.
    query: queryOf(spec, usual, max) as unknown as ListDecl<F, I>['query'],
    answer: Type.Unsafe(answerOf(spec)),
    reply: (query, { rows, total, next }) => {
      const page = { total, offset: query.offset ?? 0, limit: limitOf(query), next };
      if (spec.as.length === 0) return listReply(rows, { 'x-total-count': String(total), ...(next === null ? {} : { 'x-next': next }) });
      return listReply({ ...Object.fromEntries(spec.as.map((name) => [name, rows])), ...page });
    },
  };
};

/** The names of the rows are known to the declaration alone, so its body has a type of its own. */
const listReply = <T>(body: object, headers: Headers = {}): JsonReply<200, ListBody<T>> => reply(200, body, headers) as unknown as JsonReply<200, ListBody<T>>;

const queryOf = ({ sort = [], order = 'desc', filters = {}, searches }: ListSpec, usual: number, max: number): TObject =>
  Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, description: `Items of a page: ${usual} by default, ${max} at most` })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OFFSET, description: 'Items to leave out first' })),
    after: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048, description: '`next` of the page before; instead of `offset`' })),
    ...(searches === undefined ? {} : { q: Type.Optional(Type.String({ maxLength: MAX_SEARCH, description: `Words to search for in ${searches}` })) }),
    ...(sort.length === 0 ? {} : { sort: Type.Optional(OneOf(sort, { description: `Default ${sort[0]}` })) }),
    ...(sort.length === 0 ? {} : { order: Type.Optional(OneOf(['asc', 'desc'], { description: `Default ${order}` })) }),
    ...Object.fromEntries(Object.entries(filters).map(([name, schema]) => [name, Type.Optional(schema)])),
  });

const answerOf = ({ as, item, name }: ListSpec): TSchema => {
  const rows = Type.Array(item);
  if (as.length === 0) return rows;
  const [first] = as;
  const lists = as.map((key) => [key, key === first ? rows : { ...rows, description: `The same as \`${first}\`` }]);
  return Type.Object(
    {
      ...Object.fromEntries(lists),
      total: Type.Integer({ description: 'Of all pages' }),
      offset: Type.Integer(),
      limit: Type.Integer(),
      next: Nullable(Type.String(), { description: '`after` of the next page; null after the last one' }),
    },
    name === undefined ? {} : { 'x-name': name },
  );
};
