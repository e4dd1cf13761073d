/** Folders of other programs on this machine: they are read, and never written. */
import type { Dir } from '../adapters.js';

export type ForeignValue = string | number | null | Uint8Array;

/** A copy of a database of another program. */
export interface ForeignDatabase {
  /** One SELECT of at most 64 MiB. Throws `file_not_a_database`. */
  all<T extends object = Record<string, ForeignValue>>(sql: string, args?: readonly (string | number)[]): Promise<T[]>;
  /** Closes and deletes the copy. */
  close(): Promise<void>;
}

/** Paths are relative, never leave the folder, and never follow a link out of it. */
export interface ForeignDir extends Pick<Dir, 'path' | 'read' | 'readText' | 'readStream' | 'stat' | 'list'> {
  /** Copies a SQLite database with its WAL, and opens the copy: the original is not even locked. Throws `file_changing` when it is written meanwhile. */
  database(path: string): Promise<ForeignDatabase>;
  /** Ids of processes that hold locks on the file; empty where nobody does, and where the system does not say. */
  heldBy(path: string): Promise<readonly number[]>;
  /** Whether a process of this id runs. */
  isRunning(pid: number): boolean;
}
