/** What a database engine does for the store code above it, whichever engine it is. */
import type { CommitResult, Migration, Scalar } from '@svc/api';
import type { TableCopies } from './table-copies.js';
import type { StatementOwner } from './statement-limits.js';
import type { TableNames } from './table-names.js';
import type { WordIndex } from './word-index.js';
import type { WriteStats } from './write-queue.js';
import type { WriteOp } from './write-op.js';

/** A row as a driver gives it, by column: what stands in it is for whoever wrote the SELECT to say. */
export type DriverRow = Readonly<Record<string, unknown>>;

/** Name and hash of each applied migration, by bookkeeping table. */
export type AppliedMigrations = Map<string, Map<string, string>>;

export interface Engine {
  readonly dialect: 'sqlite' | 'postgres';
  /** Which database this is, for people: a path, or host and name. Never a password. */
  readonly place: string;
  /** All of it or nothing, durable when it resolves (S1, S3). Table names are physical. */
  commit(ops: readonly WriteOp[]): Promise<CommitResult>;
  /** One SELECT with `?` placeholders, on a read-only connection (S2). */
  read(owner: StatementOwner, sql: string, args: readonly Scalar[]): Promise<unknown[]>;
  /** A quoted column or table name. */
  identifier(name: string): string;
  /** How rows are found by the words they hold. */
  readonly words: Pick<WordIndex, 'condition' | 'sorted' | 'query'>;
  /** SQL for the database's own time in whole milliseconds since the epoch; leases go by it. */
  nowSql(): string;
  migrate(names: TableNames, migrations: readonly Migration[]): Promise<{ applied: string[] }>;
  /** Takes away every table that begins with the owner's prefix, and what is known of its migrations. */
  drop(names: TableNames): Promise<void>;
  /** Copies of an owner's tables while a new version of it is tried. */
  readonly kept: TableCopies;
  /** Writes all that is committed now to a file that does not exist, while commits go on; `pause` lets them. Undefined where the database is a server's (platform/backup/server-database.ts). */
  readonly saveTo?: ((file: string, pause?: (ms: number) => Promise<void>) => Promise<void>) | undefined;
  appliedMigrations(): ReadonlyMap<string, ReadonlyMap<string, string>>;
  stats(): WriteStats;
  /** To be called every second. */
  tend(): Promise<void>;
  /** Why this may not be the database that was here last; undefined when it is. */
  identityProblem(): string | undefined;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
