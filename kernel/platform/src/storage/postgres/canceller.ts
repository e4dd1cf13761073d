/** Ends what a connection runs, by a second connection: first by asking, then by ending its session. */
import { performance } from 'node:perf_hooks';
import pg from 'pg';

/** Between two requests. */
const PATIENCE_MS = 1_000;
const CONNECT_MS = 5_000;
/** Requests to cancel, before the session itself is ended. */
const ASKED_FIRST = 2;

export interface Canceller {
  /** May be called again and again. */
  cancel(): void;
  /** Resolves when no request is on its way, so that none hits a later statement. */
  settled(): Promise<void>;
}

/** What of a client is used here, in the typings or not. */
type Cancelled = pg.Client | pg.PoolClient;

const processOf = (client: Cancelled): number | undefined => ('processID' in client && typeof client.processID === 'number' ? client.processID : undefined);

export const createCanceller = (url: string, client: Cancelled): Canceller => {
  let asked = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let under: Promise<void> | undefined;
  return {
    cancel: () => {
      const pid = processOf(client);
      if (pid === undefined || under || performance.now() - lastAt < PATIENCE_MS) return;
      asked += 1;
      lastAt = performance.now();
      under = notify(url, `SELECT ${asked > ASKED_FIRST ? 'pg_terminate_backend' : 'pg_cancel_backend'}(${pid})`).finally(() => {
        under = undefined;
      });
    },
    settled: async () => {
      await under;
      asked = 0;
      lastAt = Number.NEGATIVE_INFINITY;
    },
  };
};

/** Never rejects: it is asked again while the statement runs. */
const notify = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS, application_name: 'svc cancel' });
  client.on('error', () => undefined); // its next call tells
  try {
    await client.connect();
    await client.query(sql);
  } catch {
    // The server does not answer: its own limits end the statement.
  } finally {
    await client.end().catch(() => undefined); // it is gone already
  }
};
