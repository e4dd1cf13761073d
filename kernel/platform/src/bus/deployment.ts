/** What only the daemons on one database know: a secret that is a row of it, and a name for it that copies do not have. */
import { createHash } from 'node:crypto';
import type { Ids } from '@svc/api';
import type { PostgresConnection } from '../storage/postgres/postgres-connection.js';
import { openPostgres } from '../storage/postgres/postgres-connection.js';

export interface Deployment {
  readonly secret: Buffer;
  /** 32 hexadecimal digits. A dump that is restored elsewhere has another one, although it has the secret. */
  readonly id: string;
}

const SECRET_BYTES = 32;
/** Where the daemon's first start has yet to make the tables. */
const UNDEFINED_TABLE = '42P01';
const TRIES = 150;
const PAUSE_MS = 200;

/** Rejects with the driver's error. */
export const deploymentOf = async (url: string, ids: Pick<Ids, 'hex'>): Promise<Deployment> => {
  const connection = await openPostgres(url);
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await read(connection, ids.hex(SECRET_BYTES));
      } catch (error) {
        if (tries === TRIES || !(error instanceof Error) || !('code' in error) || error.code !== UNDEFINED_TABLE) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  } finally {
    await connection.close();
  }
};

/** Of daemons that start at once, one makes the secret. */
const read = async (connection: PostgresConnection, fresh: string): Promise<Deployment> => {
  const results = await connection.query(
    `INSERT INTO kernel__bus(id, secret) VALUES ('secret', '${fresh}') ON CONFLICT (id) DO NOTHING;
    SELECT secret, (SELECT system_identifier::text FROM pg_control_system()) AS server, (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS number FROM kernel__bus WHERE id = 'secret'`,
  );
  const row = results.at(-1)?.rows[0];
  if (!row) throw new Error('the table kernel__bus has no secret');
  const secret = Buffer.from(String(row.secret), 'hex');
  return { secret, id: createHash('sha256').update(`${row.server}/${row.number}/`).update(secret).digest('hex').slice(0, 32) };
};
