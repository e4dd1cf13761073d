/** Who is at work on what, by the leases themselves, and how far behind it is: runs that wait, events that listeners have not had. */
import type { Db } from '@svc/api';

export interface Standing {
  /** Holder of the lease on durable events; undefined while nobody holds it. */
  readonly relay: string | undefined;
  /** Runs that a daemon holds now, by kind. */
  readonly held: ReadonlyArray<{ readonly holder: string; readonly kind: string; readonly runs: number }>;
  /** Runs that can go on and that nobody has taken yet, those whose lease has run out among them. */
  readonly waiting: { readonly runs: number; readonly oldest: string | undefined };
  /** How many durable events each listener has not had. */
  readonly listeners: ReadonlyArray<{ readonly listener: string; readonly behind: number }>;
}

export interface StandingDeps {
  readonly kernel: Db;
  readonly journal: Db;
  readonly nowSql: () => string;
}

const WHY = 'who is at work on what';

export const createStanding =
  ({ journal, kernel, nowSql }: StandingDeps): (() => Promise<Standing>) =>
  async () => {
    const [runs, events] = [journal.table('runs'), kernel.table('events')];
    const [leases, held, waiting, listeners] = await Promise.all([
      kernel.system(WHY).read<{ holder: string }>(`SELECT holder FROM ${kernel.table('leases')} WHERE name = 'relay' AND until > ${nowSql()}`, []),
      journal
        .system(WHY)
        .read<{ holder: string; kind: string; runs: number }>(
          `SELECT lease_owner AS holder, kind, count(*) AS runs FROM ${runs} WHERE status = 'running' AND lease_owner IS NOT NULL AND lease_until > ${nowSql()} GROUP BY lease_owner, kind ORDER BY lease_owner, kind`,
          [],
        ),
      journal
        .system(WHY)
        .readOne<{ runs: number; oldest: string | null }>(
          `SELECT count(*) AS runs, min(updated_at) AS oldest FROM ${runs} WHERE status = 'queued' OR (status = 'running' AND (lease_owner IS NULL OR lease_until <= ${nowSql()}))`,
          [],
        ),
      kernel
        .system(WHY)
        .read<{ listener: string; behind: number }>(
          `SELECT listener, (SELECT count(*) FROM ${events} WHERE seq > o.seq) + (SELECT count(*) FROM ${events} WHERE seq IS NULL) AS behind FROM ${kernel.table('offsets')} AS o ORDER BY listener`,
          [],
        ),
    ]);
    return { relay: leases[0]?.holder, held, waiting: { runs: waiting?.runs ?? 0, oldest: waiting?.oldest ?? undefined }, listeners };
  };
