/** A PostgreSQL database as one end of a move. */
import { setTimeout } from 'node:timers/promises';
import { CREATE_IDENTITY } from '../contract/migrations/identity.js';
import { compileSteps } from '../contract/migrations/migration-sql.js';
import { batchSizes, type Sized } from '../move/batch-sizes.js';
import { moveErrors } from '../move/errors.js';
import type { Cells, EndUse, MoveBatch, MoveEnd, MoveTable } from '../move/move-end.js';
import { bookkeepingSql, readApplied } from './migrations.js';
import { openPostgres, type PostgresConnection, type StatementResult } from './postgres-connection.js';
import { COMMIT_LOCK, identifier, literal, postgresSchema } from './postgres-dialect.js';
import { CREATE_BATCHES, CREATE_EVENTS } from './postgres-engine.js';
import { reasonOf } from './postgres-errors.js';
import type { PostgresAddress } from './postgres-url.js';
import { storageErrors } from '../contract/errors.js';
import { checkServer } from './server-check.js';
import { postgresWords } from './word-index.js';

const BATCH_BYTES = 4 * 1_048_576;
/** Beside people who wait for answers. */
const SNAPSHOT_BATCH_BYTES = 256 * 1_024;
const READ_ONLY = 'SET default_transaction_read_only = on';
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** Named otherwise than a daemon's, which this one looks for. No limit of time: a large index takes what it takes. */
const SESSION =
  "SET application_name = 'svc storage';SET standard_conforming_strings = on;SET client_min_messages = error;SET bytea_output = hex;SET extra_float_digits = 1;SET lock_timeout = '10s';SET statement_timeout = 0;SET idle_in_transaction_session_timeout = 0";
const FENCE = 'kernel_moved';
/** How long the server may still count a connection that its daemon has closed. */
const CLOSING_MS = 2_000;
const LOOK_AGAIN_MS = 20;

export const openPostgresEnd = async ({ place, url }: PostgresAddress, use: EndUse, schema?: string): Promise<MoveEnd> => {
  const session = [
    SESSION,
    ...(schema === undefined ? [] : [`SET search_path = ${identifier(schema)}`]),
    ...(use === 'read' ? [READ_ONLY] : []),
    // The session begins with the transaction that all reads of it belong to.
    ...(use === 'snapshot' ? [SNAPSHOT] : []),
  ].join(';');
  const batchBytes = use === 'snapshot' ? SNAPSHOT_BATCH_BYTES : BATCH_BYTES;
  const connection = await openPostgres(url, session).catch((error: unknown) => Promise.reject(storageErrors.server_unavailable(place, reasonOf(error)).with({ cause: error })));
  try {
    await checkServer(connection, place);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const sized = batchSizes<StatementResult['rows']>();
  const query = async (sql: string): Promise<StatementResult['rows']> => (await connection.query(sql)).at(-1)?.rows ?? [];
  return {
    dialect: 'postgres',
    place,
    hold: () => hold(connection, place),
    tables: async () => (await query('SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename')).map(({ name }) => String(name)),
    applied: () => readApplied(connection),
    query,
    change: (statements) => allOrNothing(connection, statements),
    literal,
    schema: (owners) => [
      CREATE_EVENTS,
      CREATE_BATCHES,
      CREATE_IDENTITY,
      ...owners.flatMap(({ names, steps }) => [bookkeepingSql(names.bookkeeping), ...steps.flatMap((each) => compileSteps({ ...postgresSchema, words: postgresWords }, each, names.physical))]),
    ],
    read: (table, after) => readBatch({ connection, sized, batchBytes }, table, after),
    write: (table, rows, then) => allOrNothing(connection, [...insertSql(table, rows), ...then]),
    counter: async (table) => String((await query(`SELECT CASE WHEN is_called THEN last_value ELSE 0 END::text AS value FROM ${await sequenceOf(query, table)}`))[0]?.value ?? 0),
    setCounter: ({ counted = '', name }, value) => (BigInt(value) > 0n ? `SELECT setval(pg_get_serial_sequence(${literal(identifier(name))}, ${literal(counted)}), ${BigInt(value)})` : 'SELECT 1'),
    // Each commit of a daemon notes its number there first (W2 of postgres-writer.ts).
    fence: () => [`${CREATE_BATCHES};ALTER TABLE kernel_batches DROP CONSTRAINT IF EXISTS ${FENCE};ALTER TABLE kernel_batches ADD CONSTRAINT ${FENCE} CHECK (false) NOT VALID`],
    unfence: () => [`ALTER TABLE kernel_batches DROP CONSTRAINT IF EXISTS ${FENCE}`],
    version: async () => String((await query("SELECT current_setting('server_version') AS version"))[0]?.version),
    bytes: async () => Number((await query('SELECT pg_database_size(current_database())::text AS bytes'))[0]?.bytes),
    close: connection.close,
  };
};

const allOrNothing = async (connection: PostgresConnection, statements: readonly string[]): Promise<void> => {
  try {
    await connection.query(['BEGIN', ...statements, 'COMMIT'].join('\n;'));
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined); // the connection is gone, and the transaction with it
    throw error;
  }
};

/** The lock of all commits for as long as the connection lives; who else is connected, or was seconds ago, is a daemon. */
const hold = async (connection: PostgresConnection, place: string): Promise<void> => {
  try {
    await connection.query(`SELECT pg_advisory_lock(${COMMIT_LOCK})`);
  } catch (error) {
    throw moveErrors.move_daemons(place, 'its commits have not ended for 10 s, or another move runs').with({ cause: error });
  }
  const rowsOf = async (sql: string): Promise<StatementResult['rows']> => (await connection.query(sql)).at(-1)?.rows ?? [];
  const connected = async (): Promise<number> => Number((await rowsOf("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc'"))[0]?.n);
  const since = performance.now();
  let left = await connected();
  while (left > 0 && performance.now() - since < CLOSING_MS) {
    await setTimeout(LOOK_AGAIN_MS);
    left = await connected();
  }
  if (left > 0) throw moveErrors.move_daemons(place, `it has ${left === 1 ? 'a connection of a daemon' : `${left} connections of daemons`}`);
  const [{ there } = {}] = await rowsOf("SELECT to_regclass('kernel__leases') IS NOT NULL AS there");
  if (Number(there) !== 1) return;
  const [lease] = await rowsOf(`SELECT holder FROM kernel__leases WHERE until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint`);
  if (lease) throw moveErrors.move_daemons(place, 'a lease of it has not run out');
};

const sequenceOf = async (query: (sql: string) => Promise<StatementResult['rows']>, { counted = '', name }: MoveTable): Promise<string> =>
  String((await query(`SELECT pg_get_serial_sequence(${literal(identifier(name))}, ${literal(counted)}) AS name`))[0]?.name);

interface Reading {
  readonly connection: PostgresConnection;
  readonly sized: Sized<StatementResult['rows']>;
  readonly batchBytes: number;
}

/** Behind the key of the row that was read last. Without a key a table is read by the place of its rows, which nothing changes meanwhile. */
const readBatch = async ({ batchBytes, connection, sized }: Reading, { columns, key, name }: MoveTable, after: string | undefined): Promise<MoveBatch> => {
  const selected = columns.map((column, index) => `${textOf(identifier(column.name), column.kind)} AS c${index}`);
  const keys = key.length > 0 ? key.map(identifier) : ['ctid'];
  const place = `json_build_array(${keys.map((one) => `${one}::text`).join()})::text`;
  const where = after === undefined ? '' : ` WHERE (${keys.join()}) > (${(JSON.parse(after) as string[]).map(literal).join()})`; // written by the line above
  const textFor = (limit: number): string => `SELECT ${place} AS place, ${selected.join(', ')} FROM ${identifier(name)}${where} ORDER BY ${keys.join()} LIMIT ${limit}`;
  const found = await sized(name, async (limit) => whole(await connection.query(textFor(limit), limit === 1 ? Number.POSITIVE_INFINITY : batchBytes)));
  const rows = found.map((row) => columns.map(({ kind }, index) => cellOf(row[`c${index}`], kind)));
  const last = found.at(-1)?.place;
  return { rows, next: last === undefined ? undefined : String(last) };
};

/** Undefined where not all of them were kept. */
const whole = ([result]: readonly StatementResult[]): StatementResult['rows'] | undefined => (result?.rows.length === result?.rowCount ? (result?.rows ?? []) : undefined);

const textOf = (column: string, kind: MoveTable['columns'][number]['kind']): string => {
  if (kind === 'blob') return `encode(${column}, 'hex')`;
  return kind === 'words' ? `array_to_string(tsvector_to_array(${column}), ' ')` : `${column}::text`;
};

const cellOf = (value: unknown, kind: string): string | null => {
  if (value === null || value === undefined) return null;
  if (kind === 'real') return String(Number(value));
  // SQLite folds the letters of ASCII in its index, and keeps no empty list.
  if (kind === 'words')
    return value === ''
      ? null
      : [
          ...new Set(
            String(value)
              .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
              .split(' '),
          ),
        ]
          .sort(byBytes)
          .join(' ');
  return String(value);
};

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const insertSql = ({ columns, counted, name }: MoveTable, rows: readonly Cells[]): string[] => {
  if (rows.length === 0) return [];
  const tuple = (row: Cells): string => `(${row.map((cell, index) => literal(cell !== null && columns[index]?.kind === 'blob' ? `\\x${cell}` : cell)).join()})`;
  const overriding = counted === undefined ? '' : ' OVERRIDING SYSTEM VALUE';
  return [`INSERT INTO ${identifier(name)}(${columns.map((column) => identifier(column.name)).join()})${overriding} VALUES${rows.map(tuple).join()}`];
};
