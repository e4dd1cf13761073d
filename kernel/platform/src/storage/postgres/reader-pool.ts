/** Read-only connections, opened when first needed. A read whose connection was lost is asked once more when the server is back. */
import { errnoOf } from '../../config/errno.js';
import type { Scalar } from '@svc/api';
import pg from 'pg';
import type { Deadlines } from '../contract/deadlines.js';
import type { DriverRow } from '../contract/engine.js';
import { storageErrors } from '../contract/errors.js';
import { createReadTurns } from '../contract/read-turns.js';
import { createTemplates, fill } from '../contract/sql-template.js';
import { secondsOf, type StatementOwner, type StatementRules } from '../contract/statement-limits.js';
import { createCanceller } from './canceller.js';
import { beginSession, clientConfig, readerSession } from './postgres-connection.js';
import { literal } from './postgres-dialect.js';
import { isPassing, isReaderLost, mapStatementError, reasonOf } from './postgres-errors.js';
import type { PostgresAddress } from './postgres-url.js';
import { createRowReader, type RowReader } from './row-reader.js';
import type { WatchSilence } from './silent-connection.js';

const TRY_EVERY_MS = 250;
const PATIENCE_MS = 30_000;
const IDLE_MS = 60_000;
/** Of all third-party extensions together. */
const THIRD_PARTY_READERS = 4;
const MIB = 1_048_576;

export interface PostgresReaders {
  all(owner: StatementOwner, sql: string, args: readonly Scalar[]): Promise<DriverRow[]>;
  close(): Promise<void>;
}

export interface ReadersOptions {
  readonly address: PostgresAddress;
  /** Of the kernel and of what is shipped. */
  readonly size: number;
  readonly patienceMs?: number | undefined;
  readonly silentMs?: number | undefined;
  readonly deadlines: Deadlines;
  readonly rules: StatementRules;
}

export const createReaders = (options: ReadersOptions): PostgresReaders => {
  const { address, rules, silentMs, size, patienceMs = PATIENCE_MS } = options;
  const template = createTemplates();
  const read = createRowReader();
  const pools = { own: poolOf(address, rules, size, false, silentMs), thirdParty: poolOf(address, rules, THIRD_PARTY_READERS, true, silentMs) };
  const turns = createReadTurns(Array<pg.Pool>(size).fill(pools.own), Array<pg.Pool>(THIRD_PARTY_READERS).fill(pools.thirdParty));
  let closed = false;
  return {
    all: async (owner, sql, args) => {
      if (closed) throw storageErrors.closed();
      const text = fill(template(sql), args, literal);
      return turns.use(owner, async (pool) => {
        const deadline = performance.now() + patienceMs;
        for (;;) {
          if (closed) throw storageErrors.closed();
          try {
            return await readOn(options, pool, read, owner, text);
          } catch (error) {
            if (!isReaderLost(error) && errnoOf(error) !== '53300') throw await mapStatementError(error, async () => []);
            if (closed) throw storageErrors.closed();
            if (!isPassing(error) || performance.now() > deadline) throw storageErrors.unreachable(address.place, reasonOf(error));
            await new Promise<void>((resolve) => setTimeout(resolve, TRY_EVERY_MS));
          }
        }
      });
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await Promise.all([pools.own.end(), pools.thirdParty.end()]);
    },
  };
};

/** Of each connection of a pool. */
const watches = new WeakMap<pg.ClientBase, WatchSilence>();

/** Its connections, lent or at rest, may be lost at any time: whoever asks next is told by the rejection. */
export const poolOf = ({ url }: Pick<PostgresAddress, 'url'>, rules: Pick<StatementRules, 'limitsOf'>, max: number, isThirdParty: boolean, silentMs?: number): pg.Pool => {
  const pool = new pg.Pool({
    ...clientConfig(url),
    max,
    idleTimeoutMillis: IDLE_MS,
    onConnect: async (client) => {
      // The pool listens to those that rest alone: one that is lost while it is lent and asks nothing would end the daemon.
      client.on('error', () => undefined);
      watches.set(client, await beginSession(client, url, readerSession(rules.limitsOf({ isThirdParty }).statementMs, isThirdParty), silentMs));
    },
  });
  // One that rests was lost: the pool has dropped it.
  pool.on('error', () => undefined);
  return pool;
};

/** Rejects with the driver's error, or with ours where the read came too late or found too much. */
const readOn = async ({ address, deadlines, rules }: ReadersOptions, pool: pg.Pool, read: RowReader, owner: StatementOwner, text: string): Promise<DriverRow[]> => {
  const { statementMs } = rules.limitsOf(owner);
  const readBytes = rules.readBytesOf(owner);
  const client = await pool.connect();
  const canceller = createCanceller(address.url, client);
  let unfit: Error | undefined;
  try {
    const rows = await deadlines.within(statementMs, canceller.cancel, async (deadline) => {
      try {
        const rows = read(client, text, readBytes);
        return await (watches.get(client)?.(rows) ?? rows);
      } catch (error) {
        if (isReaderLost(error)) unfit = error instanceof Error ? error : new Error(String(error));
        if (!deadline.isOver) throw error;
        rules.late(owner, 'read', deadline.ms());
        throw storageErrors.too_slow(owner.id, 'read', secondsOf(statementMs));
      }
    });
    if (rows !== undefined) return rows;
    // The rest of its rows is still on its way.
    unfit = storageErrors.read_too_large(owner.id, Math.round(readBytes / MIB));
    throw unfit;
  } finally {
    // A cancel that is late must not hit the next read.
    await canceller.settled();
    client.release(unfit);
  }
};
