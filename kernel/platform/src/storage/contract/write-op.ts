/** One change as an engine carries it out: data, with physical table names. */
import type { Row, Scalar } from '@svc/api';

/** `by`: the third-party extension that made it. */
export type WriteOp = Change & { readonly by?: string };

type Change =
  /** Append rows to one table. Rows of many callers travel in one statement. `ifAbsent` skips rows whose key exists. */
  | { insert: string; rows: readonly Row[]; ifAbsent?: boolean }
  /** Set the other columns of the rows whose `key` columns match. `expect: 'each'` makes a missing row a conflict. */
  | { update: string; key: readonly string[]; rows: readonly Row[]; expect?: 'each' }
  /** Insert, or replace the columns given when a row with this `key` exists. */
  | { upsert: string; key: readonly string[]; rows: readonly Row[] }
  /** One statement with `?` placeholders. `expect`: how many rows must change; `any` are not counted. */
  | { sql: string; args: readonly Scalar[]; expect?: number | 'any' }
  /** A fact that becomes known when this commit does. */
  | { event: string; data: unknown };
