/** One connection to a PostgreSQL server. With the pool of readers the only importer of the driver. */
import pg from 'pg';
import type { ClientConfig } from 'pg';
import type { DriverRow } from '../contract/engine.js';
import { valueTypes } from './value-types.js';

const CONNECT_MS = 10_000;

export interface StatementResult {
  /** What was done: INSERT, COMMIT, … */
  readonly command: string;
  readonly rowCount: number;
  readonly rows: readonly DriverRow[];
}

export interface PostgresConnection {
  /** Carries out all statements of the text, in one trip; stops at the first that fails. One result for each. */
  query(sql: string): Promise<StatementResult[]>;
  isAlive(): boolean;
  close(): Promise<void>;
}

/**
 * Quotes are doubled and nothing else is special; a commit is on disk when it is told; a session that stands still
 * inside a transaction, or waits for another's, ends by itself and frees what it holds.
 */
const SESSION = [
  'SET standard_conforming_strings = on',
  'SET client_min_messages = error',
  'SET bytea_output = hex',
  'SET extra_float_digits = 1',
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
].join(';');
export const WRITER_SESSION = `${SESSION};SET lock_timeout = '20s';SET idle_in_transaction_session_timeout = '10s'`;
export const READER_SESSION = `${SESSION};SET default_transaction_read_only = on`;

export const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  types: valueTypes,
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  application_name: 'svc',
});

/** Rejects with the driver's error. */
export const openPostgres = async (url: string, session = WRITER_SESSION): Promise<PostgresConnection> => {
  const client = new pg.Client(clientConfig(url));
  let alive = true;
  const die = (): void => {
    alive = false;
  };
  // Told while nothing is asked; whoever asks next is told by its own rejection.
  client.on('error', die);
  client.on('end', die);
  await client.connect();
  await client.query(session);
  return {
    query: async (sql) => resultsOf(await client.query(sql)),
    isAlive: () => alive,
    close: async () => {
      die();
      await client.end().catch(() => undefined); // it is gone already
    },
  };
};

/** The driver gives a list only where there was more than one statement. */
const resultsOf = (answer: pg.QueryResult | pg.QueryResult[]): StatementResult[] =>
  (Array.isArray(answer) ? answer : [answer]).map(({ command, rowCount, rows }) => ({ command, rowCount: rowCount ?? 0, rows }));
