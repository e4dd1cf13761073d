/**
 * Storage as an extension sees it. A write is sealed data: it is batched with everyone else's, it can be handed to
 * whoever commits it with theirs, and nobody but its owner's `db` can make one for its owner's tables.
 *
 * S1  `commit` is atomic and durable: it resolves after COMMIT, or nothing of it happened.
 * S2  Reads see everything committed before they began.
 * S3  A write that expected a row and did not find it rolls the whole commit back (`storage_conflict`).
 * S4  A commit takes what `ctx.db` or `ctx.events.event` has sealed, anybody's; anything else is refused (`storage_write_unsealed`).
 * S5  Names are the own short names of tables. No other area's rows are reached, by data or by SQL text.
 * S6  Every read says who reads: one person (`as`), who gets their own rows, or nobody (`system`), with the reason.
 */
import type { Actor } from './actor.js';

import { Type } from './schema/schema.js';

export type Scalar = string | number | null;
export type Row = Record<string, Scalar>;

/**
 * A change built by `ctx.db` and sealed with its owner. Hand it to others, who commit it with theirs; nobody can read
 * or alter what is in it. Frozen; a copy of it is nothing. It may be committed more than once: what is tried again
 * after a conflict (a run whose lane was not free, say) carries the same writes.
 */
export interface Write {
  /** For messages: `sessions: insert entries`. */
  readonly sealed: string;
}

/** Writes that one area hands another, to join its commit. */
export const SealedWrites = Type.Array(Type.Unsafe<Write>({ type: 'object' }));

export interface CommitResult {
  /** Rows changed, one number per write in order (events give 0). */
  readonly changes: readonly number[];
}

/** Bounds of a column; all that are given hold. `not` keeps rows where the column is NULL. */
export interface Bounds {
  readonly gt?: string | number;
  readonly gte?: string | number;
  readonly lt?: string | number;
  readonly lte?: string | number;
  readonly not?: Scalar | readonly Scalar[];
  /** Of a column of the kind `words`, in reads: rows that hold every word of at least one of these groups. */
  readonly has?: readonly (readonly string[])[];
}

/** By column: equal to a value (null finds NULL), one of a list (an empty one finds nothing), or within bounds. */
export type Where = Readonly<Record<string, Scalar | readonly Scalar[] | Bounds>>;

/** Rows that hold each of these words in one of these columns at least. Case makes no difference for the letters A to Z. */
export interface TextSearch {
  /** Words between spaces, 16 at most; a text without words finds every row. */
  readonly text: string;
  /** Of the kind `text`. */
  readonly columns: readonly string[];
}

export interface OrderBy {
  readonly column: string;
  readonly descending?: boolean;
  /** For a text column: sorts without regard to case. */
  readonly ignoreCase?: boolean;
}

export interface Select {
  /** An own table, by its short name. */
  readonly from: string;
  /** All when not given. */
  readonly columns?: readonly string[];
  readonly where?: Where;
  readonly search?: TextSearch;
  /** NULL comes before everything else, and last when descending. */
  readonly order?: readonly OrderBy[];
  /** Goes on behind a page: its `next`, with the same `order`. */
  readonly after?: string;
  /** How many rows to leave out, in the order of `order`. Not together with `after`. */
  readonly offset?: number;
  /** At most 10,000. Without it a select that finds more fails (`storage_too_many_rows`), and a page has 100. */
  readonly limit?: number;
}

export interface Page<T> {
  readonly rows: T[];
  /** Where the next page begins; null after the last one. Opaque. */
  readonly next: string | null;
}

/** Reads of own tables, made by `ctx.db.as` and `ctx.db.system`. Cheap to make: make one for each use. */
export interface Reader {
  select<T = Row>(query: Select): Promise<T[]>;
  first<T = Row>(query: Select): Promise<T | undefined>;
  count(table: string, where?: Where, search?: TextSearch): Promise<number>;
  /** Pages by the order columns and the table's primary key: rows that come or go meanwhile repeat and hide no other. */
  page<T = Row>(query: Select): Promise<Page<T>>;
  /** Runs a SELECT on a read-only connection; needs the grant `db:sql`. `?` placeholders; each text is checked and prepared once, so texts are constants. */
  read<T = Row>(sql: string, args?: readonly Scalar[]): Promise<T[]>;
  readOne<T = Row>(sql: string, args?: readonly Scalar[]): Promise<T | undefined>;
}

export interface Db {
  /** Append rows. Rows of many callers travel in one statement. `ifAbsent` skips rows whose key exists. */
  insert(table: string, rows: readonly Row[], options?: { readonly ifAbsent?: boolean }): Write;
  /** Set the other columns of the rows whose `key` columns match. `expect: 'each'` makes a missing row a conflict. */
  update(table: string, key: readonly string[], rows: readonly Row[], options?: { readonly expect?: 'each' }): Write;
  /** Insert, or replace the columns given when a row with this `key` exists. */
  upsert(table: string, key: readonly string[], rows: readonly Row[]): Write;
  /** Deletes what fits; at least one condition. `expect`: how many rows must go; with `any` nobody counts them, which is cheaper, and the commit's result has 0. */
  remove(table: string, where: Where, options?: { readonly expect?: number | 'any' }): Write;

  /**
   * Reads what this actor may see: rows whose `owner_id` is theirs; all rows for an owner, an admin or the system.
   *
   * A table without a column `owner_id` is refused (`storage_no_owner_column`), whoever asks: its rows belong to nobody.
   * Read it with `system`. In SQL text each own table that has the column stands for the actor's rows alone. At least one
   * must have it (`storage_no_owned_table`); the others are read as they are, so join them to one that does.
   *
   * A third-party extension reads as an actor that it was handed, or as nobody who made it up (`actor_made_up`).
   */
  as(actor: Actor): Reader;
  /** Reads own tables with no actor. `why` is a constant of a few words, such as `pruning`: slow and refused reads name it. */
  system(why: string): Reader;
  /** Commits your own writes and sealed writes of others, all or nothing. */
  commit(writes: readonly Write[]): Promise<CommitResult>;

  /** Needs the grant `db:sql`, as does `table`. `?` placeholders, portable SQL over own tables. `expect`: how many rows must change. */
  sql(text: string, args: readonly Scalar[], options?: { readonly expect?: number }): Write;
  /** The physical name of an own table, for SQL text: `table('entries')` → `sessions__entries`. */
  table(name: string): string;
}

/**
 * Column kinds that mean the same on SQLite and PostgreSQL. Ids and ISO timestamps are `text`; JSON is checked text.
 *
 * `words` is a set of words that a full-text index finds rows by (`has`): written as `wordList` makes it, never read.
 * Its table has one primary key, an integer, and is made with it. Rows that share words have no order of their own.
 */
export type ColumnKind = 'text' | 'integer' | 'real' | 'json' | 'boolean' | 'blob' | 'words';

export interface ColumnSpec {
  kind: ColumnKind;
  notNull?: boolean;
  default?: Scalar;
  primaryKey?: boolean;
  unique?: boolean;
}

/** What a migration may do: nothing that takes away what older code reads or writes. There is no way down; going back to old code never needs one. */
export interface MigrationBuilder {
  createTable(name: string, columns: Record<string, ColumnSpec>, options?: { primaryKey?: readonly string[]; unique?: readonly (readonly string[])[] }): void;
  addColumn(table: string, name: string, spec: ColumnSpec): void;
  createIndex(table: string, columns: readonly string[], options?: { unique?: boolean; where?: string }): void;
  /** Of an index that finds less than it costs. Not of a unique one, which is a rule. */
  dropIndex(table: string, columns: readonly string[]): void;
  /** INSERT, UPDATE or DELETE on your own tables; `{name}` is replaced with a table's physical name. */
  sql(text: string): void;
}

export const MIGRATION_STEPS = ['createTable', 'addColumn', 'createIndex', 'dropIndex', 'sql'] as const satisfies ReadonlyArray<keyof MigrationBuilder>;

export interface Migration {
  /** `0001_init`: number and name; applied in order. */
  readonly name: string;
  /**
   * Earlier migrations that this one joins: a database that has all of them has this one, and its tables stay as they are. A database
   * that has only some of them is refused.
   */
  readonly replaces?: readonly string[];
  up(m: MigrationBuilder): void;
}

/** Ids asked for in one statement; longer lists take several. */
const IDS_PER_READ = 256;

/** Ids in groups for `IN (…)`, each filled up to a power of two by repeating its last: few statement texts, each prepared once. */
export const idGroups = (ids: readonly string[]): string[][] => {
  const groups: string[][] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_READ) {
    const group = ids.slice(at, at + IDS_PER_READ);
    const size = 2 ** Math.ceil(Math.log2(group.length));
    groups.push([...group, ...new Array<string>(size - group.length).fill(group.at(-1) ?? '')]);
  }
  return groups;
};
