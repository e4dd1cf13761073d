/** The writes by which a run begins: held at once, in the queue, or over already. */
import type { Db, JournalRun, Scalar, Write, RunSubject } from '@svc/api';
import type { OpenRun } from '@svc/api/internal';
import { toJson } from './run-rows.js';

export interface Lease {
  readonly owner: string;
  /** How long from now, in milliseconds. */
  readonly ms: number;
}

const RUN_INSERT =
  'id, kind, owner_id, request_key, fingerprint, lane, parent_id, root_id, cause_kind, cause_id, subject, pool, session_id, status, position, input, attempt, created_at, begun_at, updated_at, lease_owner, lease_token, lease_until';

/** What its row holds beside the run. */
export interface Place {
  readonly position: number;
  /** Read by purges alone. */
  readonly session: string | null;
}

export type Room = NonNullable<OpenRun['room']>;

/** Each limit with the condition of the runs that it counts. */
export const limitsIn = (
  { id, kind, subject, rootId }: Pick<JournalRun, 'id' | 'kind' | 'subject' | 'rootId'>,
  room: Room,
): ReadonlyArray<{ of: string; args: readonly Scalar[]; limit: number; by: keyof Room }> => [
  ...(room.subject === undefined ? [] : [{ by: 'subject' as const, of: "kind = ? AND status = 'queued' AND subject = ?", args: [kind, subject], limit: room.subject }]),
  ...(room.kind === undefined ? [] : [{ by: 'kind' as const, of: "kind = ? AND status = 'queued'", args: [kind], limit: room.kind }]),
  ...(room.root === undefined || rootId === id ? [] : [{ by: 'root' as const, of: 'root_id = ?', args: [rootId], limit: room.root }]),
];

/** Of a queued run that lets those without a pool go first: nobody has begun it. */
export const givesWay = (of = ''): string => `${of}pool IS NOT NULL AND ${of}lease_token = 0`;

const conditionsOf = (runs: string, run: JournalRun, room: Room) =>
  limitsIn(run, room).map(({ limit, of, args }) => ({ sql: `(SELECT COUNT(*) FROM ${runs} WHERE ${of}) < ?`, args: [...args, limit] }));

interface Statement {
  readonly sql: string;
  readonly args: readonly Scalar[];
  readonly expect?: number;
}

export const sealed = (db: Db, { sql, args, expect }: Statement): Write => db.sql(sql, args, expect === undefined ? {} : { expect });

export const createOpeningWrites = (db: Db, runs: string, nowSql: () => string) => ({
  /** Inserts the run as already running; conflicts when somebody stands before it in its lane (the unique index sees to running and waiting ones). */
  openRunning: (run: JournalRun, place: Place, lease: Lease, room: Room): Write => {
    // What runs at once needs no room in the queue.
    const conditions = room.root === undefined ? [] : conditionsOf(runs, run, { root: room.root });
    return sealed(db, {
      sql: `INSERT INTO ${runs}(${RUN_INSERT}) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, 1, ?, ?, ?, ?, 1, ${nowSql()} + ? WHERE NOT EXISTS (SELECT 1 FROM ${runs} WHERE lane = ? AND status = 'queued' AND position < ?${run.pool === null ? ` AND NOT (${givesWay()})` : ''})${conditions.map(({ sql }) => ` AND ${sql}`).join('')}`,
      args: [...opened(run, place), lease.owner, lease.ms, run.lane, place.position, ...conditions.flatMap(({ args }) => args)],
      expect: 1,
    });
  },

  /** Inserts nothing, which conflicts, where as many are queued as may be. Commits follow each other on each engine, so the count holds until this one is there. */
  openQueued: (run: JournalRun, place: Place, room: Room): Write => {
    const conditions = conditionsOf(runs, run, room);
    return sealed(db, {
      sql: `INSERT INTO ${runs}(${RUN_INSERT}) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, 1, ?, ?, ?, NULL, 0, 0${conditions.length === 0 ? '' : ' WHERE '}${conditions.map(({ sql }) => sql).join(' AND ')}`,
      args: [...opened(run, place), ...conditions.flatMap(({ args }) => args)],
      expect: 1,
    });
  },

  /** A run that is over when it begins: it stands for an effect that is in the same commit. */
  receipt: (run: RunSubject & { id: string; kind: string; ownerId: string; key: string | null; fingerprint: string; at: string }, position: number, result: unknown): Write =>
    db.insert('runs', [
      {
        id: run.id,
        kind: run.kind,
        owner_id: run.ownerId,
        request_key: run.key,
        fingerprint: run.fingerprint,
        subject: run.subject ?? null,
        session_id: run.session ?? null,
        status: 'done',
        position,
        result: toJson(result),
        attempt: 1,
        created_at: run.at,
        updated_at: run.at,
        lease_token: 0,
        lease_until: 0,
      },
    ]),
});

const opened = (run: JournalRun, { position, session }: Place): Scalar[] => [
  run.id,
  run.kind,
  run.ownerId,
  run.key,
  run.fingerprint,
  run.lane,
  run.parentId,
  run.rootId === run.id ? null : run.rootId,
  run.cause?.kind ?? null,
  run.cause?.id ?? null,
  run.subject,
  run.pool,
  session,
  position,
  toJson(run.input),
  run.createdAt,
  run.begunAt,
  run.updatedAt,
];
