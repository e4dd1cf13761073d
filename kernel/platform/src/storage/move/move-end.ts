/**
 * What a move needs of a database, whichever engine it is and whichever end. Values travel as text: whole numbers of any
 * size, fractions in their shortest exact form, bytes as hexadecimal digits, words sorted and parted by spaces.
 */
import type { ColumnSpec } from '@svc/api';
import type { AppliedMigrations, DriverRow } from '../contract/engine.js';
import type { MigrationStep } from '../contract/migrations/migration-builder.js';
import type { TableNames } from '../contract/table-names.js';

export type Cell = string | null;
export type Cells = readonly Cell[];

export interface MoveTable {
  /** Physical. */
  readonly name: string;
  readonly columns: ReadonlyArray<{ readonly name: string; readonly kind: ColumnSpec['kind'] }>;
  readonly key: readonly string[];
  /** The column whose numbers the database gives. */
  readonly counted?: string;
}

export interface OwnerSchema {
  readonly names: TableNames;
  /** Of each migration that the source has applied, in order of name. */
  readonly steps: ReadonlyArray<readonly MigrationStep[]>;
}

export interface MoveBatch {
  readonly rows: readonly Cells[];
  /** Where the next batch begins; undefined behind the last row. */
  readonly next: string | undefined;
}

/**
 * `snapshot`: all reads see what was committed when it was opened, in small batches beside a daemon that works.
 * `make`: a file may have to be made. `scratch`: the same for a file that nobody needs after a crash.
 */
export type EndUse = 'read' | 'snapshot' | 'change' | 'make' | 'scratch';

export interface MoveEnd {
  readonly dialect: 'sqlite' | 'postgres';
  /** For people: a path, or host and name. Never a password. */
  readonly place: string;
  /** Keeps daemons out until `close`. Rejects with `storage_move_daemons`. */
  hold(): Promise<void>;
  /** Physical names of all tables, without those that the engine keeps for itself. */
  tables(): Promise<string[]>;
  applied(): Promise<AppliedMigrations>;
  /** One SELECT that both engines understand. */
  query(sql: string): Promise<readonly DriverRow[]>;
  /** All of it or nothing, on the disk when it resolves. */
  change(statements: readonly string[]): Promise<void>;
  literal(value: string | number | null): string;
  /** What makes these tables, empty, and those of the kernel itself. */
  schema(owners: readonly OwnerSchema[]): string[];
  /** The rows behind a place in the order of the key, as many as memory allows. */
  read(table: MoveTable, after: string | undefined): Promise<MoveBatch>;
  /** Puts rows in, and carries out `then` in the same transaction. */
  write(table: MoveTable, rows: readonly Cells[], then: readonly string[]): Promise<void>;
  /** The last number that the database gave in a counted column. */
  counter(table: MoveTable): Promise<string>;
  setCounter(table: MoveTable, value: string): string;
  /** What makes writes of a daemon fail that is not known to be alive, and the way back. */
  fence(): string[];
  unfence(): string[];
  /** Of the engine. */
  version(): Promise<string>;
  bytes(): Promise<number>;
  close(): Promise<void>;
}
