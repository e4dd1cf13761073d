/** A PostgreSQL server: one writing connection with a group-commit queue, and a pool of read-only ones. */
import { isSvcError } from '@svc/api';
import { systemIds } from '../../clock/ids.js';
import { identityFileOf } from '../../config/home.js';
import { newCounters } from '../contract/batch-end.js';
import { createDeadlines } from '../contract/deadlines.js';
import { createCommit } from '../contract/commit-ops.js';
import type { AppliedMigrations, Engine } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { createEvents, createEventStore } from '../contract/event-store.js';
import { CREATE_IDENTITY, type DatabaseIdentity, IDENTITY_TABLE, identityIn, openIdentity } from '../contract/migrations/identity.js';
import { createStatementRules, KERNEL } from '../contract/statement-limits.js';
import type { StorageOptions } from '../contract/storage-contract.js';
import { createTending } from '../contract/tending.js';
import { createCompiler } from '../contract/write-compiler.js';
import { createWriteQueue } from '../contract/write-queue.js';
import { checkMark, FORGET_MARK, markIn, MOVE_TABLE, READ_MARK } from '../move/marks.js';
import { runBatch } from './batch-run.js';
import { postgresTableCopies } from './table-copies.js';
import { keyColumnsFrom } from './key-columns.js';
import { dropTables, migrate, readApplied } from './migrations.js';
import { openPostgres, type PostgresConnection, writerSession } from './postgres-connection.js';
import { literal, postgresDialect, TAKE_LOCK } from './postgres-dialect.js';
import { reasonOf } from './postgres-errors.js';
import { addressOf, type PostgresAddress } from './postgres-url.js';
import { createWriter, type PostgresWriter } from './postgres-writer.js';
import { createReaders } from './reader-pool.js';
import { checkServer } from './server-check.js';
import { postgresWords } from './word-index.js';

const DEFAULT_READERS = 8;
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

export const CREATE_EVENTS = createEvents('bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY', 'text COLLATE "C"', 'bigint');
export const CREATE_BATCHES = 'CREATE TABLE IF NOT EXISTS kernel_batches (writer text PRIMARY KEY, batch bigint NOT NULL, at timestamptz NOT NULL)';
const SET_UP = ['BEGIN', TAKE_LOCK, CREATE_EVENTS, CREATE_BATCHES, CREATE_IDENTITY, 'COMMIT'].join(';');

export type PostgresOptions = StorageOptions & { readonly url: string };

/** Rejects with `storage_bad_url` or `storage_server_unavailable`, which say why and never with which password. */
export const openPostgresEngine = async (options: PostgresOptions): Promise<Engine> => {
  const { clock, log, now, patienceMs, silentMs } = options;
  const address = addressOf(options.url);
  const deadlines = createDeadlines();
  const rules = createStatementRules(options.limits, options.onSlow);
  const session = (): string => writerSession(rules.limitsOf(KERNEL).statementMs);
  const { applied, first } = await openFirst(address, session(), options);
  const writer = createWriter({ address, writerId: systemIds().uuid(), first, log, patienceMs, silentMs, session, onOlder: () => noteOlder() });
  const readers = createReaders({ address, size: options.readers ?? DEFAULT_READERS, patienceMs, silentMs, deadlines, rules });
  const counters = newCounters();
  const deps = {
    deadlines,
    rules,
    clock,
    log,
    counters,
    writer,
    keyColumns: keyColumnsFrom((sql) => readers.all(KERNEL, sql, [])),
    onEvents: (events: Parameters<StorageOptions['onEvents']>[0]) => options.onEvents(events),
  };
  const queue = createWriteQueue({ counters, runBatch: (batch) => runBatch(deps, batch) });
  const kept = await postgresTableCopies({ writer, queue, applied, clock }, first);
  const identity = await identityOf(options.file, address, writer);
  const noteOlder = (): void => void identity.foundOlder(log, queue.exclusive);
  const events = createEventStore({ queue, clock, log, literal, isStored: (event) => options.storeEvent?.(event) ?? false });
  const compile = createCompiler({ dialect: postgresDialect, storeEvent: events.sqlOf });
  const countApplied = (): number => [...applied.values()].reduce((sum, one) => sum + one.size, 0);
  const tending = createTending({ forget: async () => true, checkpoint: async () => true, queue, identity, log, activity: () => `${queue.stats().batches}/${countApplied()}` });
  const migrations = { writer, queue, deadlines, rules, applied, clock, log };
  let closing: Promise<void> | undefined;
  return {
    dialect: 'postgres',
    place: address.place,
    commit: createCommit(compile, queue),
    read: readers.all,
    identifier: postgresDialect.identifier,
    words: postgresWords,
    nowSql: () => (now ? String(now()) : NOW),
    migrate: (names, pending) => migrate(migrations, names, pending),
    drop: (names) => dropTables(migrations, names),
    kept,
    appliedMigrations: () => applied,
    stats: queue.stats,
    tend: tending.tend,
    identityProblem: identity.problem,
    ping: async () => void (await readers.all(KERNEL, 'SELECT 1', [])),
    close: () => {
      deadlines.hurry(options.closingMs);
      closing ??= tending.leave().then(queue.close).then(readers.close).then(writer.close);
      return closing;
    },
  };
};

const openFirst = async (
  address: PostgresAddress,
  session: string,
  options: Pick<StorageOptions, 'isRestored' | 'log' | 'silentMs'>,
): Promise<{ first: PostgresConnection; applied: AppliedMigrations }> => {
  let first: PostgresConnection | undefined;
  try {
    first = await openPostgres(address.url, session, options.silentMs);
    await checkServer(first, address.place);
    await checkMove(first, address.place, options);
    await first.query(SET_UP);
    // While it waited for the lock, a backup may have been restored.
    await checkMove(first, address.place, options);
    return { first, applied: await readApplied(first) };
  } catch (error) {
    await first?.close();
    if (isSvcError(error)) throw error;
    throw storageErrors.server_unavailable(address.place, reasonOf(error)).with({ cause: error });
  }
};

const checkMove = async (connection: PostgresConnection, place: string, { isRestored = false, log }: Pick<StorageOptions, 'isRestored' | 'log'>): Promise<void> => {
  const [found] = await connection.query(`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = '${MOVE_TABLE}'`);
  if (found?.rowCount !== 1) return;
  const [mark] = await connection.query(READ_MARK);
  await checkMark(markIn(mark?.rows ?? []), { place, isRestored, log, forget: () => connection.query(`BEGIN;${TAKE_LOCK};${FORGET_MARK};COMMIT`) });
};

/** The file beside the data folder's own database says the same of this one: an older or another database is told apart. */
const identityOf = (file: string, address: PostgresAddress, writer: PostgresWriter): Promise<DatabaseIdentity> =>
  openIdentity({
    file: identityFileOf(file),
    place: address.place,
    row: {
      read: async () => {
        const [result] = await (await writer.connection()).query(`SELECT id, mark FROM ${IDENTITY_TABLE}`);
        return identityIn(result?.rows ?? []);
      },
      advance: async () =>
        void (await (
          await writer.connection()
        ).query(`INSERT INTO ${IDENTITY_TABLE} VALUES(1, md5(random()::text || clock_timestamp()::text), 1) ON CONFLICT (one) DO UPDATE SET mark = ${IDENTITY_TABLE}.mark + 1`)),
    },
  });
