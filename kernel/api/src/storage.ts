/**
 * Storage as an extension sees it. A write is data: it can be batched with
 * everyone else's, and it is the same across a process boundary.
 *
 * S1  `commit` is atomic and durable: it resolves after COMMIT, or nothing of it happened.
 * S2  Reads see everything committed before they began.
 * S3  A write that expected a row and did not find it rolls the whole commit back (`storage_conflict`).
 */

import { Type } from './schema.js';

export type Scalar = string | number | null;
export type Row = Record<string, Scalar>;

export type Write =
  /** Append rows to one table. Rows of many callers travel in one statement. `ifAbsent` skips rows whose key exists. */
  | { insert: string; rows: readonly Row[]; ifAbsent?: boolean }
  /** Set the other columns of the rows whose `key` columns match. `expect: 'each'` makes a missing row a conflict. */
  | { update: string; key: readonly string[]; rows: readonly Row[]; expect?: 'each' }
  /** Insert, or replace the columns given when a row with this `key` exists. */
  | { upsert: string; key: readonly string[]; rows: readonly Row[] }
  /** Anything else, for colder paths; `?` placeholders, portable SQL. `expect`: how many rows must change. */
  | { sql: string; args: readonly Scalar[]; expect?: number }
  /** A fact that becomes known when this commit does (built by `ctx.events.event`). */
  | { event: string; data: unknown };

/** Writes that one area hands another, to join its commit. */
export const SealedWrites = Type.Array(Type.Unsafe<Write>({ type: 'object' }));

export interface CommitResult {
  /** Rows changed, one number per write in order (`event` writes give 0). */
  readonly changes: readonly number[];
}

export interface Db {
  /** The physical name of one of this extension's tables, e.g. `table('entries')` → `sessions_entries`. */
  table(name: string): string;
  /** Runs a SELECT on a read-only connection. `?` placeholders; the statement is prepared once per text. */
  read<T = Row>(sql: string, args?: readonly Scalar[]): Promise<T[]>;
  readOne<T = Row>(sql: string, args?: readonly Scalar[]): Promise<T | undefined>;
  commit(writes: readonly Write[]): Promise<CommitResult>;
}

/** Column kinds that mean the same on SQLite and PostgreSQL. Ids and ISO timestamps are `text`; JSON is checked text or jsonb. */
export type ColumnKind = 'text' | 'integer' | 'real' | 'json' | 'boolean' | 'blob';

export interface ColumnSpec {
  kind: ColumnKind;
  notNull?: boolean;
  default?: Scalar;
  primaryKey?: boolean;
  unique?: boolean;
}

/** What a migration may do: expand only. There is no way down; going back to old code never needs one. */
export interface MigrationBuilder {
  createTable(name: string, columns: Record<string, ColumnSpec>, options?: { primaryKey?: readonly string[]; unique?: readonly (readonly string[])[] }): void;
  addColumn(table: string, name: string, spec: ColumnSpec): void;
  createIndex(table: string, columns: readonly string[], options?: { unique?: boolean; where?: string }): void;
  /** Raw SQL; `{name}` stands for the physical name of an own table. */
  sql(text: string): void;
}

export interface Migration {
  /** `0001_init`: number and name; applied in order. */
  readonly name: string;
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
