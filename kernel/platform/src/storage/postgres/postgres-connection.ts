/** One connection to a PostgreSQL server. With the pool of readers the only importer of the driver. */
import pg from 'pg';
import type { ClientConfig } from 'pg';
import type { DriverRow } from '../contract/engine.js';
import { bytesOf } from '../contract/row-bytes.js';
import { DEFAULT_LIMITS } from '../contract/statement-limits.js';
import { createCanceller } from './canceller.js';
import { createSilenceWatch, streamOf, WHICH_PROCESS, type WatchSilence } from './silent-connection.js';
import { valueTypes } from './value-types.js';

const CONNECT_MS = 10_000;

export interface StatementResult {
  /** What was done: INSERT, COMMIT, … */
  readonly command: string;
  readonly rowCount: number;
  readonly rows: readonly DriverRow[];
}

export interface PostgresConnection {
  /** Carries out all statements of the text, in one trip; stops at the first that fails. One result for each. Rows beyond `maxBytes` are counted and not kept. */
  query(sql: string, maxBytes?: number): Promise<StatementResult[]>;
  /** Asks the server to end what runs now, which then fails with 57014. What comes next is sent when that was done. */
  cancel(): void;
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
/** What a daemon that is gone left running ends, where the server can look (14 and newer). */
const NOTICE_GONE = "SELECT set_config('client_connection_check_interval', '5s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'";
/** Settable by a superuser alone; elsewhere the server's own limit stands. */
const BOUND_FILES = "SELECT set_config('temp_file_limit', '1GB', false) WHERE current_setting('is_superuser') = 'on'";
/** Behind the deadlines of the daemon, for when it is gone. */
const SLACK_MS = 30_000;
export const timeoutSql = (limitMs: number, scope: '' | 'LOCAL ' = ''): string => `SET ${scope}statement_timeout = ${Math.ceil(limitMs + SLACK_MS)}`;
export const writerSession = (limitMs: number): string => `${SESSION};${NOTICE_GONE};${timeoutSql(limitMs)};SET lock_timeout = '20s';SET idle_in_transaction_session_timeout = '10s'`;
export const readerSession = (limitMs: number, isThirdParty: boolean): string =>
  `${SESSION};${NOTICE_GONE};${timeoutSql(limitMs)};SET default_transaction_read_only = on${isThirdParty ? `;${BOUND_FILES};SET lock_timeout = '2s'` : ''}`;

export const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  types: valueTypes,
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
  application_name: 'svc',
});

/** Sets up the session of a new connection. Gives what each of its statements is to be watched with. */
export const beginSession = async (client: pg.ClientBase, url: string, session: string, silentMs?: number): Promise<WatchSilence> => {
  const results: unknown = await client.query(`${session};${WHICH_PROCESS}`);
  // The driver gives a list for a text of several statements, which its types do not say.
  const pid = Number((results as ReadonlyArray<pg.QueryResult<{ pid: unknown }>>).at(-1)?.rows[0]?.pid);
  const stream = streamOf(client);
  return stream ? createSilenceWatch({ url, pid, stream, silentMs }) : (answer) => answer;
};

/** Rejects with the driver's error. */
export const openPostgres = async (url: string, session = writerSession(DEFAULT_LIMITS.own.statementMs), silentMs?: number): Promise<PostgresConnection> => {
  const client = new pg.Client(clientConfig(url));
  const canceller = createCanceller(url, client);
  let alive = true;
  const die = (): void => {
    alive = false;
  };
  // Told while nothing is asked; whoever asks next is told by its own rejection.
  client.on('error', die);
  client.on('end', die);
  await client.connect();
  const watch = await beginSession(client, url, session, silentMs);
  return {
    query: async (sql, maxBytes = MAX_KEPT_BYTES) => {
      await canceller.settled();
      return resultsOf(await watch(ask(client, sql, maxBytes)));
    },
    cancel: canceller.cancel,
    isAlive: () => alive,
    close: async () => {
      die();
      await client.end().catch(() => undefined); // it is gone already
    },
  };
};

/** Rows that a write returns are nobody's: beyond these bytes they are not kept. */
const MAX_KEPT_BYTES = 16 * 1_048_576;

const ask = (client: pg.Client, sql: string, maxBytes: number): Promise<pg.QueryResult | pg.QueryResult[]> =>
  new Promise((resolve, reject) => {
    let bytes = 0;
    const query = new pg.Query<DriverRow>(sql);
    query.on('row', (row, result) => {
      bytes += bytesOf(row);
      if (bytes <= maxBytes) result?.addRow(row);
    });
    query.once('error', reject);
    query.once('end', resolve);
    client.query(query);
  });

/** The driver gives a list only where there was more than one statement. */
const resultsOf = (answer: pg.QueryResult | pg.QueryResult[]): StatementResult[] =>
  (Array.isArray(answer) ? answer : [answer]).map(({ command, rowCount, rows }) => ({ command, rowCount: rowCount ?? 0, rows }));
