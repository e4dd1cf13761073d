/**
 * Copies of an owner's tables while a new version of it is tried.
 *
 * K1  A copy is made, put back or dropped in one transaction, together with the row that says so: whenever the process
 *     ends, the tables are those of before or those of now, never a mix.
 * K2  What is put back is all that the owner had: tables, rows, indexes, and the list of its applied migrations.
 * K3  A copy has the token of whoever asked for it. Nobody puts back the copy of another attempt.
 */
import { createHash } from 'node:crypto';
import type { TableNames } from './table-names.js';

export const COPY_TABLE = 'kernel_kept_tables';

export interface TableCopies {
  /** Copies all tables of the owner. A copy of an earlier attempt goes. */
  keep(names: TableNames, token: string): Promise<void>;
  /** Puts the copy with this token back and drops it. False where there is none. */
  restore(names: TableNames, token: string): Promise<boolean>;
  /** Drops the copy of this owner, where there is one. */
  forget(owner: string): Promise<void>;
  /** What is kept now, by owner. */
  all(): Promise<ReadonlyArray<{ readonly owner: string; readonly token: string }>>;
  /** Whether there is a copy, as far as this process knows. */
  has(owner: string): boolean;
}

/** Without `__`, which every table of an extension has in its name, and short enough for every engine. */
export const copyName = (owner: string, nth: number): string => `kernel_kept_${createHash('sha256').update(owner).digest('hex').slice(0, 24)}_${nth}`;
