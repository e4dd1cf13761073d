/**
 * Who numbers durable events and hands them on: one daemon of those on a database, by a lease on its own clock.
 *
 * R1  Events are written without a number, in the commits that cause them; their order is given by whoever holds the
 *     lease, in a commit that fails when it is lost. So a reader that has seen a number has seen all smaller ones.
 * R2  A lease that is not renewed runs out; that of the life before this one in the same home is taken over at once.
 * R3  Whoever does not hold it reads whether it is free before it commits anything: a commit that fails undoes the batch
 *     that it travels in, and all of that is written again.
 */
import type { Db, Write } from '@svc/api';
import { conflictOf } from '../storage/contract/errors.js';

/** Numbered in one commit. */
const MAX_NUMBERED = 5_000;

export interface RelayLease {
  /** Nobody else can be alive on this database. */
  readonly isSole: boolean;
  /** Takes or renews the lease and gives numbers to what has none. False while somebody else holds it. */
  number(): Promise<boolean>;
  /** Goes first in a commit that only the holder may make. */
  guard(): Write;
  /** Lets others take it without waiting. */
  release(): Promise<void>;
}

export interface RelayLeaseOptions {
  readonly db: Db;
  /** SQL for the database's own time in milliseconds. */
  readonly nowSql: () => string;
  readonly holder: string;
  /** Until others may take it from one that does not renew it. */
  readonly leaseMs: number;
  /** The life before this one, which is over. */
  readonly predecessor?: string | undefined;
  /** Nobody else can be alive on this database. */
  readonly soleWriter: boolean;
}

export const createRelayLease = ({ db, holder, leaseMs, nowSql, predecessor, soleWriter }: RelayLeaseOptions): RelayLease => {
  const leases = db.table('leases');
  const events = db.table('events');
  const take = (): Write =>
    db.sql(
      `INSERT INTO ${leases}(name, holder, until, numbered) VALUES ('relay', ?, ${nowSql()} + ?, 0) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
      WHERE ${leases}.holder IN (?, ?) OR ${leases}.until <= ${nowSql()}${soleWriter ? ' OR 1 = 1' : ''}`,
      [holder, leaseMs, holder, predecessor ?? ''],
      { expect: 1 },
    );
  const isFree = async (): Promise<boolean> => {
    const held = await db
      .system('the lease of durable events')
      .readOne<{ holder: string }>(`SELECT holder FROM ${leases} WHERE name = 'relay' AND holder NOT IN (?, ?) AND until > ${nowSql()}`, [holder, predecessor ?? '']);
    return held === undefined;
  };
  let isHeld = soleWriter;
  const numbering = (): Write[] => [
    db.sql(
      `UPDATE ${events} SET seq = n.seq FROM (SELECT id, row_number() OVER (ORDER BY id) + (SELECT numbered FROM ${leases} WHERE name = 'relay') AS seq
        FROM ${events} WHERE seq IS NULL ORDER BY id LIMIT ${MAX_NUMBERED}) AS n WHERE ${events}.id = n.id`,
      [],
    ),
    db.sql(`UPDATE ${leases} SET numbered = (SELECT MAX(seq) FROM ${events}) WHERE name = 'relay' AND EXISTS (SELECT 1 FROM ${events} WHERE seq > ${leases}.numbered)`, []),
  ];
  return {
    isSole: soleWriter,
    number: async () => {
      if (!isHeld && !(await isFree())) return false;
      try {
        for (let numbered = MAX_NUMBERED; numbered === MAX_NUMBERED; ) numbered = (await db.commit([take(), ...numbering()])).changes[1] ?? 0;
        isHeld = true;
        return true;
      } catch (error) {
        if (conflictOf(error)?.reason !== 'expect') throw error;
        isHeld = soleWriter;
        return false;
      }
    },
    guard: () => db.sql(`UPDATE ${leases} SET until = ${nowSql()} + ? WHERE name = 'relay' AND holder = ?`, [leaseMs, holder], { expect: 1 }),
    release: async () => void (await db.commit([db.sql(`UPDATE ${leases} SET until = 0 WHERE name = 'relay' AND holder = ?`, [holder])])),
  };
};
