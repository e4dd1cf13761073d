/**
 * The rows of a SELECT as far as they fit into a number of bytes.
 *
 * Small rows come as they are found, and one that is too many interrupts the statement. The thread that reads does not
 * wait for this one, so that large rows would pile up between the two: a statement that finds one is asked again row by
 * row, and is known from then on.
 */
import type sqlite3 from 'sqlite3';
import type { Scalar } from '@svc/api';
import type { DriverRow } from '../contract/engine.js';
import { bytesOf } from '../contract/row-bytes.js';

const LARGE_ROW_BYTES = 262_144;

export interface BoundedRead {
  readonly db: sqlite3.Database;
  readonly statement: sqlite3.Statement;
  readonly args: readonly Scalar[];
  readonly maxBytes: number;
  interrupt(): void;
}

/** Undefined when the rows are more than `maxBytes`. One at a time on a connection. */
export type BoundedRows = (read: BoundedRead) => Promise<DriverRow[] | undefined>;

export const createBoundedRows = (): BoundedRows => {
  const large = new WeakSet<sqlite3.Statement>();
  return async (read) => {
    if (!large.has(read.statement)) {
      const found = await streamed(read);
      if (found !== 'large') return found;
      large.add(read.statement);
    }
    return stepped(read);
  };
};

const streamed = ({ args, db, interrupt, maxBytes, statement }: BoundedRead): Promise<DriverRow[] | 'large' | undefined> =>
  new Promise((resolve, reject) => {
    const rows: DriverRow[] = [];
    let bytes = 0;
    let stopped: { readonly as: 'large' | undefined } | undefined;
    let failure: Error | undefined;
    const stop = (as: 'large' | undefined): void => {
      stopped = { as };
      rows.length = 0;
      interrupt();
    };
    const take = (error: Error | null, row: DriverRow): void => {
      if (error) {
        failure = error;
        return;
      }
      if (stopped) {
        // Once more: what runs between two steps hears nothing.
        interrupt();
        return;
      }
      const size = bytesOf(row);
      bytes += size;
      if (bytes > maxBytes) stop(undefined);
      else if (size > LARGE_ROW_BYTES) stop('large');
      else rows.push(row);
    };
    const end = (): void => {
      if (stopped) resolve(stopped.as);
      else if (failure) reject(failure);
      else resolve(rows);
    };
    // The driver tells a failure after the end of the rows: it is known when the connection has nothing left to do.
    statement.each(args, take, () => void db.wait(end));
  });

const stepped = async ({ args, maxBytes, statement }: BoundedRead): Promise<DriverRow[] | undefined> => {
  const rows: DriverRow[] = [];
  let bytes = 0;
  // Without arguments the driver does not begin anew by itself.
  await reset(statement);
  try {
    for (let row = await next(statement, args); row !== undefined; row = await next(statement)) {
      bytes += bytesOf(row);
      if (bytes > maxBytes) return undefined;
      rows.push(row);
    }
    return rows;
  } finally {
    // One left on its way would keep an old snapshot open.
    await reset(statement);
  }
};

const next = (statement: sqlite3.Statement, args?: readonly Scalar[]): Promise<DriverRow | undefined> =>
  new Promise((resolve, reject) => {
    const take = (error: Error | null, row?: DriverRow): void => (error ? reject(error) : resolve(row));
    if (args === undefined || args.length === 0) statement.get(take);
    else statement.get(args, take);
  });

const reset = (statement: sqlite3.Statement): Promise<void> => new Promise((resolve) => void statement.reset(() => resolve()));
