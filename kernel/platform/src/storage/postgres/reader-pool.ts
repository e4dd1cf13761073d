/** Read-only connections, opened when first needed. A read whose connection was lost is asked once more when the server is back. */
import { errnoOf } from '../../config/errno.js';
import type { Scalar } from '@svc/api';
import pg from 'pg';
import type { DriverRow } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { createTemplates, fill } from '../contract/sql-template.js';
import { clientConfig, READER_SESSION } from './postgres-connection.js';
import { literal } from './postgres-dialect.js';
import { isLost, isPassing, mapStatementError, reasonOf } from './postgres-errors.js';
import type { PostgresAddress } from './postgres-url.js';

const TRY_EVERY_MS = 250;
const PATIENCE_MS = 30_000;
const IDLE_MS = 60_000;

export interface PostgresReaders {
  all(sql: string, args: readonly Scalar[]): Promise<DriverRow[]>;
  close(): Promise<void>;
}

export const createReaders = (address: PostgresAddress, size: number, patienceMs = PATIENCE_MS): PostgresReaders => {
  const template = createTemplates();
  const pool = new pg.Pool({
    ...clientConfig(address.url),
    max: size,
    idleTimeoutMillis: IDLE_MS,
    onConnect: async (client) => void (await client.query(READER_SESSION)),
  });
  // One that rests was lost: the pool has dropped it.
  pool.on('error', () => undefined);
  let closed = false;
  return {
    all: async (sql, args) => {
      if (closed) throw storageErrors.closed();
      const text = fill(template(sql), args, literal);
      const deadline = performance.now() + patienceMs;
      for (;;) {
        try {
          return (await pool.query(text)).rows;
        } catch (error) {
          if (!isLost(error) && errnoOf(error) !== '53300') throw await mapStatementError(error, async () => []);
          if (closed) throw storageErrors.closed();
          if (!isPassing(error) || performance.now() > deadline) throw storageErrors.unreachable(address.place, reasonOf(error));
          await new Promise<void>((resolve) => setTimeout(resolve, TRY_EVERY_MS));
        }
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await pool.end();
    },
  };
};
