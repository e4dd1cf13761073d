/**
 * The one writing connection, which is opened again when it was lost.
 *
 * W1  Each transaction begins by taking one lock of the database: commits of several daemons follow each other, as they
 *     do on SQLite, so that a condition validated in a commit still holds when it is committed, and none deadlock.
 * W2  Each transaction notes its number in `kernel_batches`. Whether one took effect whose COMMIT was not answered is
 *     therefore known as soon as the database answers again: whoever has the lock and reads another number knows that
 *     it did not.
 * W3  The number is read when a connection was lost and opened again. One that is smaller than what was committed tells
 *     that the server came back with an older copy of the database.
 */
import type { Logger } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import { openPostgres, type PostgresConnection, type StatementResult } from './postgres-connection.js';
import { literal, TAKE_LOCK } from './postgres-dialect.js';
import { isPassing, readOnlyServer, reasonOf } from './postgres-errors.js';
import type { PostgresAddress } from './postgres-url.js';

const TRY_EVERY_MS = 250;
/** How long a restart of the server may take before commits are refused. */
const PATIENCE_MS = 30_000;
const ROW_STAYS_MS = 12 * 3_600_000;

export interface PostgresWriter {
  /** The live connection, or a new one. Rejects with `storage_unreachable` when there is none in time. */
  connection(): Promise<PostgresConnection>;
  /** Takes it out of use: its state is not known. */
  drop(connection: PostgresConnection): Promise<void>;
  /** SQL that begins the next transaction; its statements come before those of the batch. */
  begin(): string;
  /** What the statements of `begin` come to, at the head of the results. */
  readonly beginStatements: number;
  /** The transaction that was begun last was committed. */
  committed(): void;
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
  readonly silentMs?: number | undefined;
  /** SQL that sets up a session. */
  session(): string;
  /** The database lacks what this process has committed (W3). */
  onOlder(): void;
}

export const createWriter = (options: WriterOptions): PostgresWriter => {
  const { first, writerId } = options;
  const id = literal(writerId);
  /** The number of the newest transaction that is known to be committed, and when it was. */
  let isOlder = false;
  let known = { batch: 0, atMs: 0 };
  let current: PostgresConnection | undefined = first;
  let batch = 0;
  const closing = new AbortController();
  const drop = async (connection: PostgresConnection): Promise<void> => {
    if (current === connection) current = undefined;
    await connection.close();
  };
  const connection = async (): Promise<PostgresConnection> => {
    if (current && !current.isAlive()) await drop(current);
    current ??= await reopen(options, closing.signal, findOlder);
    if (isOlder) options.onOlder();
    isOlder = false;
    return current;
  };
  const findOlder = async (opened: PostgresConnection): Promise<void> => {
    if (known.batch === 0) return;
    const [result] = await opened.query(`SELECT batch FROM kernel_batches WHERE writer=${id}`);
    // Whoever stops removes rows of writers that were idle for a day.
    const stored = batchIn(result) ?? (performance.now() - known.atMs < ROW_STAYS_MS ? 0 : known.batch);
    if (stored >= known.batch) return;
    known = { batch: stored, atMs: performance.now() };
    isOlder = true;
  };
  const committed = (): void => {
    known = { batch, atMs: performance.now() };
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
      if (batchIn(results[2]) !== batch) return false;
      committed();
      return true;
    },
    committed,
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

/** During a failover an address can lead to a copy that is not the new server yet. */
const checkWritable = async (opened: PostgresConnection): Promise<void> => {
  const [result] = await opened.query("SELECT current_setting('transaction_read_only') AS mode");
  const row = result?.rows[0];
  if (typeof row === 'object' && row !== null && 'mode' in row && row.mode === 'on') throw readOnlyServer();
};

const reopen = async (
  { address, log, patienceMs = PATIENCE_MS, session, silentMs }: WriterOptions,
  closing: AbortSignal,
  check: (opened: PostgresConnection) => Promise<void>,
): Promise<PostgresConnection> => {
  const deadline = performance.now() + patienceMs;
  for (let reported = false; ; reported = true) {
    try {
      const connection = await openPostgres(address.url, session(), silentMs);
      await checkWritable(connection)
        .then(() => check(connection))
        .catch(async (error: unknown) => {
          await connection.close();
          throw error;
        });
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
