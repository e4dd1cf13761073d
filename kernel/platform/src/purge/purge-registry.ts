/** Who is to be erased, and which area has done so: one row per purge, one receipt per area that may hold something. */
import type { Clock, Db, Ids, PurgeSubject } from '@svc/api';

export interface OpenPurge {
  readonly id: string;
  readonly subject: PurgeSubject;
}

export interface Waiting {
  readonly area: string;
  readonly purges: number;
}

export interface PurgeRegistry {
  /** One commit: the purge and its open receipts. */
  begin(subject: PurgeSubject, areas: readonly string[]): Promise<OpenPurge>;
  /** What this area has not erased yet, oldest first. */
  openOf(area: string): Promise<OpenPurge[]>;
  /** The area has erased it. Resolves with true when it was the last. */
  receive(purge: OpenPurge, area: string): Promise<boolean>;
  waitingOf(purgeId: string): Promise<string[]>;
  waiting(): Promise<Waiting[]>;
  /** Drops what was complete before the ISO time: the subject's id is the last that is known of it. */
  forgetBefore(at: string): Promise<void>;
}

interface PurgeRow {
  readonly id: string;
  readonly area: string;
  readonly owner_id: string | null;
  readonly agent_id: string | null;
  readonly session_id: string | null;
}

export const createPurgeRegistry = (db: Db, clock: Pick<Clock, 'iso'>, ids: Pick<Ids, 'uuid'>): PurgeRegistry => {
  const purges = db.table('purges');
  const receipts = db.table('receipts');
  const waitingOf = async (purgeId: string): Promise<string[]> =>
    (await db.system('active purges').select<{ area: string }>({ from: 'receipts', columns: ['area'], where: { purge_id: purgeId, done_at: null }, order: [{ column: 'area' }] })).map(
      ({ area }) => area,
    );
  const openRows = gathered((areas) =>
    db
      .system('active purges')
      .read<PurgeRow>(
        `SELECT p.id, r.area, p.owner_id, p.agent_id, p.session_id FROM ${receipts} r JOIN ${purges} p ON p.id = r.purge_id WHERE r.area IN (${areas.map(() => '?').join()}) AND r.done_at IS NULL ORDER BY p.begun_at, p.id`,
        areas,
      ),
  );
  return {
    begin: async (subject, areas) => {
      const id = ids.uuid();
      const row = {
        id,
        owner_id: subject.ownerId ?? null,
        agent_id: subject.agentId ?? null,
        session_id: subject.sessionId ?? null,
        begun_at: clock.iso(),
        done_at: areas.length === 0 ? clock.iso() : null,
      };
      const open = areas.map((area) => ({ purge_id: id, area, done_at: null }));
      await db.commit([db.insert('purges', [row]), ...(open.length === 0 ? [] : [db.insert('receipts', open)])]);
      return { id, subject };
    },
    openOf: async (area) => (await openRows(area)).filter((row) => row.area === area).map((row) => ({ id: row.id, subject: subjectOf(row) })),
    receive: async ({ id }, area) => {
      const at = clock.iso();
      await db.commit([db.update('receipts', ['purge_id', 'area'], [{ purge_id: id, area, done_at: at }])]);
      if ((await waitingOf(id)).length > 0) return false;
      // Of two that came last at once, one says so.
      const { changes } = await db.commit([db.sql(`UPDATE ${purges} SET done_at = ? WHERE id = ? AND done_at IS NULL`, [at, id])]);
      return changes[0] === 1;
    },
    waitingOf,
    waiting: async () =>
      (await db.system('active purges').read<{ area: string; n: number | string }>(`SELECT area, COUNT(*) AS n FROM ${receipts} WHERE done_at IS NULL GROUP BY area ORDER BY area`)).map(
        ({ area, n }) => ({
          area,
          purges: Number(n),
        }),
      ),
    forgetBefore: async (at) => {
      await db.commit([db.sql(`DELETE FROM ${receipts} WHERE purge_id IN (SELECT id FROM ${purges} WHERE done_at < ?)`, [at]), db.remove('purges', { done_at: { lt: at } })]);
    },
  };
};

/** Areas start side by side, and each asks: those that ask while a read runs share the next one, which begins after they asked. */
const gathered = <T>(read: (areas: readonly string[]) => Promise<T>): ((area: string) => Promise<T>) => {
  let next: { readonly areas: Set<string>; readonly found: Promise<T> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (area) => {
    if (!next) {
      const areas = new Set<string>();
      const found = running.then(() => {
        next = undefined;
        return read([...areas].sort());
      });
      running = found.catch(() => undefined); // who asked hears of it
      next = { areas, found };
    }
    next.areas.add(area);
    return next.found;
  };
};

const subjectOf = ({ owner_id, agent_id, session_id }: PurgeRow): PurgeSubject => {
  if (owner_id !== null) return { ownerId: owner_id };
  if (agent_id !== null) return { agentId: agent_id };
  return { sessionId: session_id ?? '' };
};
