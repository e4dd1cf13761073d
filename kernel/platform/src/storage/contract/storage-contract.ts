/** Storage as the daemon sees it, whichever engine is below. */
import type { Clock, Db, Logger, Migration, Write } from '@svc/api';
import type { Engine } from './engine.js';
import type { SlowStatement, StorageLimits } from './statement-limits.js';
import type { TableOwner } from './table-names.js';

export interface StorageOptions {
  /** Path of the database file of SQLite; its folder must exist. With `url` only what is noted beside it. */
  file: string;
  /** `postgres://…`: the server to use instead of the file. */
  url?: string | undefined;
  /** This start is part of a restore on the server, which opens for nobody else until it is confirmed. */
  isRestored?: boolean | undefined;
  /** How long a server that does not answer is waited for; default 30 s. */
  patienceMs?: number;
  /** After this long without a byte of an answer PostgreSQL is asked whether it still works on it; 10 s when left out. */
  silentMs?: number;
  /** Reads at the same time. */
  readers?: number;
  /** How long statements may go on that run when it is closed; 5 s. */
  closingMs?: number;
  /** How long statements may take and how much they may read; asked for each time. */
  limits?: (() => StorageLimits) | undefined;
  /** Hears of time that statements of third-party extensions took beyond what they may. */
  onSlow?: ((slow: SlowStatement) => void) | undefined;
  clock: Clock;
  log: Logger;
  /** Gets the events of each batch after its COMMIT, in commit order. Must not throw. */
  onEvents(events: ReadonlyArray<{ event: string; data: unknown }>): void;
  /** Whether somebody listens durably: such events are kept in `kernel__events` too. */
  storeEvent?(event: string): boolean;
  /** Stands in for the database's own time, in milliseconds, where a test moves the clock. */
  now?: (() => number) | undefined;
}

export interface Storage extends Pick<Engine, 'dialect' | 'place' | 'nowSql' | 'appliedMigrations' | 'stats' | 'tend' | 'identityProblem' | 'saveTo' | 'ping' | 'close'> {
  dbFor(owner: TableOwner): Db;
  /** A sealed write that makes the fact known with the commit it joins. Whoever hands it out validates whether this owner may publish it. */
  event(ownerId: string, event: string, data: unknown): Write;
  /** Applies what is not applied yet, in order of name. What each does is hashed, so that one changed after it was applied is refused. */
  migrate(owner: TableOwner, migrations: readonly Migration[]): Promise<{ applied: string[] }>;
  /** Whether these, by name, would have something to do. */
  isPending(owner: TableOwner, migrations: readonly string[]): boolean;
  /** Copies all tables of the owner, until they are put back or forgotten. While one is kept, nobody should write to them whose rows are to stay. */
  copyTables(owner: TableOwner, token: string): Promise<void>;
  /** Makes the owner's tables what they were when this token was given. False where nothing is kept under it. */
  restoreTables(owner: TableOwner, token: string): Promise<boolean>;
  forgetTables(ownerId: string): Promise<void>;
  /** Copies that are there, by owner and token. */
  tableCopies(): Promise<ReadonlyArray<{ readonly owner: string; readonly token: string }>>;
  /** What the rows of an owner take, with their indexes. A server's indexes count only while its tables are small. */
  rowBytes(owner: TableOwner): Promise<number>;
  /** Takes away all tables of an extension that was removed, its rows and the memory of its migrations. There is no way back. */
  drop(owner: TableOwner): Promise<void>;
}
