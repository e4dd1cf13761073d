/**
 * The daemons on one database: a row for each, which a heartbeat keeps.
 *
 * D1  Ages go by the database's own clock: whose clock is wrong is not taken for dead.
 * D2  A daemon that stops takes its row away, and one that starts again in the same home that of its former life. The row
 *     of one that was killed stays for a minute, so that people see that it is silent.
 * D3  On a file there is one daemon, and nothing is written.
 */
import type { Db, Disposable, Logger } from '@svc/api';
import type { TimerClock } from '../clock/clock.js';
import { createTimers } from '../clock/timers.js';

export interface Self {
  /** Of this life: what leases are held under. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: string;
  /** Where it is reached. */
  readonly address: string;
}

export interface Member extends Self {
  readonly isSelf: boolean;
  /** Since its last heartbeat. */
  readonly silentMs: number;
}

export interface Members {
  /** Oldest first. */
  list(): Promise<Member[]>;
  /** Keeps this daemon's row from now on; its end takes the row away. */
  keep(clock: TimerClock): Promise<Disposable>;
}

export interface MembersDeps {
  readonly db: Db;
  /** SQL for the database's own time in milliseconds. */
  readonly nowSql: () => string;
  readonly self: () => Self;
  /** The life before this one in the same home. */
  readonly predecessor: string | undefined;
  /** A file that no other daemon opens. */
  readonly isAlone: boolean;
  readonly log: Logger;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: string;
  readonly address: string;
  readonly silent_ms: number;
}

const BEAT_MS = 5_000;
const FORGET_MS = 60_000;

export const createMembers = ({ db, isAlone, log, nowSql, predecessor, self }: MembersDeps): Members => {
  const table = db.table('daemons');
  const beat = async (): Promise<void> => {
    const { address, host, id, name, pid, startedAt, version } = self();
    await db.commit([
      db.sql(
        `INSERT INTO ${table}(id, name, host, pid, version, started_at, address, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ${nowSql()})
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, seen = excluded.seen`,
        [id, name, host, pid, version, startedAt, address],
      ),
      db.sql(`DELETE FROM ${table} WHERE id = ? OR seen < ${nowSql()} - ${FORGET_MS}`, [predecessor ?? '']),
    ]);
  };
  return {
    list: async () => {
      const own = self();
      if (isAlone) return [{ ...own, isSelf: true, silentMs: 0 }];
      const rows = await db
        .system('daemons on this database')
        .read<Row>(`SELECT id, name, host, pid, version, started_at, address, ${nowSql()} - seen AS silent_ms FROM ${table} ORDER BY started_at, id`, []);
      return rows.map(({ started_at: startedAt, silent_ms: silentMs, ...row }) => ({ ...row, startedAt, silentMs: Math.max(0, silentMs), isSelf: row.id === own.id }));
    },
    keep: async (clock) => {
      if (isAlone) return { dispose: () => undefined };
      const onError = (cause: unknown): void => log.warn('The row of this daemon could not be written; svc tries again.', { cause });
      const timers = createTimers({ clock, onError });
      const beating = timers.every(BEAT_MS, beat);
      await beat().catch(onError);
      return {
        dispose: async () => {
          await beating.dispose();
          await db.commit([db.sql(`DELETE FROM ${table} WHERE id = ?`, [self().id])]).catch(onError);
        },
      };
    },
  };
};
