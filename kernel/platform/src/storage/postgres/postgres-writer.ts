/**
 * The one writing connection, which is opened again when it was lost.
 *
 * W1  Each transaction begins by taking one lock of the database: commits of several daemons follow each other, as they
 *     do on SQLite, so that a condition validated in a commit still holds when it is committed, and none deadlock.
 * W2  Each transaction notes its number in `kernel_batches`. Whether one took effect whose COMMIT was not answered is
 *     therefore known as soon as the database answers again: whoever has the lock and reads another number knows that
 *     it did not.
 */
import type { Logger } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import { openPostgres, type PostgresConnection, type StatementResult } from './postgres-connection.js';
import { literal } from './postgres-dialect.js';
import { isPassing, reasonOf } from './postgres-errors.js';
import type { PostgresAddress } from './postgres-url.js';

/** Any number that nobody else is likely to lock in this database: `svc` and a version. */
export const COMMIT_LOCK = 0x73766301;
export const TAKE_LOCK = `SELECT pg_advisory_xact_lock(${COMMIT_LOCK})`;
const TRY_EVERY_MS = 250;
/** How long a restart of the server may take before commits are refused. */
const PATIENCE_MS = 30_000;

export interface PostgresWriter {
  /** The live connection, or a new one. Rejects with `storage_unreachable` when there is none in time. */
  connection(): Promise<PostgresConnection>;
  /** Takes it out of use: its state is not known. */
  drop(connection: PostgresConnection): Promise<void>;
  /** SQL that begins the next transaction; its statements come before those of the batch. */
  begin(): string;
  /** What the statements of `begin` come to, at the head of the results. */
  readonly beginStatements: number;
  /** Whether the transaction that was begun last took effect. Rejects when the database does not say so. */
  hasCommitted(): Promise<boolean>;
  close(): Promise<void>;
}

export interface WriterOptions {
  readonly address: PostgresAddress;
  /** Names this process among the writers. */
  readonly writerId: string;
  readonly first: PostgresConnection;
  readonly log: Logger;
  readonly patienceMs?: number | undefined;
  /** SQL that sets up a session. */
  session(): string;
}

export const createWriter = ({ address, first, log, patienceMs = PATIENCE_MS, session, writerId }: WriterOptions): PostgresWriter => {
  const id = literal(writerId);
  let current: PostgresConnection | undefined = first;
  let batch = 0;
  const closing = new AbortController();
  const drop = async (connection: PostgresConnection): Promise<void> => {
    if (current === connection) current = undefined;
    await connection.close();
  };
  const connection = async (): Promise<PostgresConnection> => {
    if (current && !current.isAlive()) await drop(current);
    current ??= await reopen({ address, log, patienceMs, session }, closing.signal);
    return current;
  };
  return {
    connection,
    drop,
    begin: () => {
      batch += 1;
      return `BEGIN;${TAKE_LOCK};INSERT INTO kernel_batches VALUES(${id},${batch},now()) ON CONFLICT (writer) DO UPDATE SET batch=excluded.batch,at=excluded.at;`;
    },
    beginStatements: 3,
    hasCommitted: async () => {
      const asked = await connection();
      const results = await asked.query(`BEGIN;${TAKE_LOCK};SELECT batch FROM kernel_batches WHERE writer=${id};COMMIT;`);
      return batchIn(results[2]) === batch;
    },
    close: async () => {
      closing.abort();
      const open = current;
      current = undefined;
      if (!open) return;
      await open.query(`DELETE FROM kernel_batches WHERE writer=${id} OR at < now() - interval '1 day'`).catch(() => undefined); // the rows of a day are few
      await open.close();
    },
  };
};

const batchIn = (result: StatementResult | undefined): number | undefined => {
  const row = result?.rows[0];
  return typeof row === 'object' && row !== null && 'batch' in row && typeof row.batch === 'number' ? row.batch : undefined;
};

const reopen = async ({ address, log, patienceMs = PATIENCE_MS, session }: Pick<WriterOptions, 'address' | 'log' | 'patienceMs' | 'session'>, closing: AbortSignal): Promise<PostgresConnection> => {
  const deadline = performance.now() + patienceMs;
  for (let reported = false; ; reported = true) {
    try {
      const connection = await openPostgres(address.url, session());
      log.info('The database answers again.', { database: address.place });
      return connection;
    } catch (error) {
      const why = reasonOf(error);
      if (!reported) log.warn('The connection to the database was lost; svc reconnects.', { database: address.place, why });
      if (closing.aborted || !isPassing(error) || performance.now() > deadline) throw storageErrors.unreachable(address.place, why);
      await new Promise<void>((resolve) => setTimeout(resolve, TRY_EVERY_MS));
    }
  }
};
