/**
 * LISTEN and NOTIFY on one connection of its own. Never inside the transaction of a commit: NOTIFY takes a lock that
 * makes commits follow each other (six times slower).
 */
import pg from 'pg';
import { clientConfig } from '../storage/postgres/postgres-connection.js';
import { reasonOf } from '../storage/postgres/postgres-errors.js';
import type { Carrier } from './carrier.js';

/** Channels belong to a database: daemons on two databases of one server do not hear each other. */
const CHANNEL = 'svc_bus';
/** PostgreSQL takes less than 8,000. */
const MAX_BYTES = 7_900;
const ANSWER_MS = 5_000;
/**
 * What is lost here is found in rows, so no commit waits for the disk. A process that stands still for half a minute is
 * hung up on: what it does not take would stay in the server's queue for everybody.
 */
const SESSION = `SET client_min_messages = error; SET synchronous_commit = off; SET tcp_user_timeout = '30s'; LISTEN ${CHANNEL}`;

export const postgresCarrier = (url: string): Carrier => ({
  kind: 'postgres',
  reasonOf,
  deafness: 'messages do not come back; a connection pooler in transaction mode does not carry LISTEN',
  connect: async ({ lost, received }) => {
    const client = new pg.Client({ ...clientConfig(url), application_name: 'svc bus', query_timeout: ANSWER_MS });
    let isOver = false;
    const end = (cause?: unknown): void => {
      if (isOver) return;
      isOver = true;
      lost(cause);
    };
    client.on('error', end);
    client.on('end', () => end());
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) received(payload);
    });
    try {
      await client.connect();
      await client.query(SESSION);
    } catch (error) {
      isOver = true;
      await client.end().catch(() => undefined); // it was never whole
      throw error;
    }
    return {
      maxBytes: MAX_BYTES,
      send: async (packets) => void (await client.query(`SELECT pg_notify('${CHANNEL}', packet) FROM unnest($1::text[]) AS packet`, [packets])),
      close: async () => {
        isOver = true;
        await client.end().catch(() => undefined); // it is gone already
      },
    };
  },
});
