/** Accepting work (J1, J3): one commit in the usual case, with the run's first step where it has one; what the database refuses says why. */
import type { FirstStep, JournalRun, LeasedRun, Write } from '@svc/api';
import type { OpenedRun, OpenRun } from '@svc/api/internal';
import { conflictOf } from '../storage/contract/errors.js';
import { journalErrors } from './errors.js';
import type { JournalParts } from './journal-parts.js';
import { doubtLease } from './leases/leases.js';
import { limitsIn, type Place, type Room } from './rows/opening-writes.js';
import { runByKey } from './rows/run-reads.js';

/** Why the database refused: another run has the key, or the lane is not free. */
interface Refusal {
  readonly by: 'key' | 'lane';
  readonly error: unknown;
}

type FindFirst = (run: LeasedRun) => Promise<FirstStep | undefined>;

export const openRun = async (parts: JournalParts, request: OpenRun, also: readonly Write[], first?: FindFirst): Promise<OpenedRun> => {
  if (request.lane !== undefined) await parts.ready();
  const run = draftOf(parts, request, request.parentId === undefined ? undefined : await rootOf(parts, request.parentId));
  const place: Place = { position: parts.nextPosition(), session: request.session ?? null };
  const room = request.room ?? {};
  if (request.isQueued !== true && (run.lane === null || parts.lanes.isEmpty(run.lane))) {
    const opened = await openHeld(parts, run, place, room, also, first);
    if ('leased' in opened) return { run, replayed: false, ...opened };
    if (opened.by === 'key') return replayOf(parts, run, opened.error);
  }
  const queued: JournalRun = { ...run, status: 'queued', begunAt: null };
  const refusal = await tryCommit(parts, run, [parts.writes.openQueued(queued, place, room), ...also]);
  if (refusal?.by === 'lane') await refuseFull(parts, run, room);
  if (refusal !== undefined) return replayOf(parts, run, refusal.error);
  parts.lanes.put(run.lane, run.id, run.kind, false);
  return { run: queued, replayed: false };
};

/** One that is gone was the root, as far as anybody knows. */
const rootOf = async ({ db }: JournalParts, parentId: string): Promise<string> => {
  const row = await db.system('the root of a run: it counts whoever may see it').first<{ root_id: string | null }>({ from: 'runs', columns: ['root_id'], where: { id: parentId } });
  return row?.root_id ?? parentId;
};

const draftOf = (parts: JournalParts, request: OpenRun, rootId: string | undefined): JournalRun => {
  const at = parts.clock.iso();
  const id = request.id ?? parts.ids.uuid();
  return {
    id,
    kind: request.kind,
    ownerId: request.actor.ownerId,
    key: request.key ?? null,
    fingerprint: request.fingerprint ?? null,
    lane: request.lane ?? null,
    parentId: request.parentId ?? null,
    rootId: rootId ?? id,
    cause: request.cause ?? null,
    subject: request.subject ?? null,
    pool: request.pool ?? null,
    status: 'running',
    input: request.input ?? null,
    result: null,
    error: null,
    attempt: 1,
    createdAt: at,
    begunAt: at,
    updatedAt: at,
    wait: null,
  };
};

type Held = Required<Pick<OpenedRun, 'leased' | 'hasBegun'>>;

/** Tries to have the run from its first commit. */
const openHeld = async (parts: JournalParts, run: JournalRun, place: Place, room: Room, also: readonly Write[], first: FindFirst | undefined): Promise<Held | Refusal> => {
  // Known before it is committed, so that whoever comes in the same turn queues behind it.
  parts.lanes.put(run.lane, run.id, run.kind, true);
  const leased: LeasedRun = { ...run, token: 1, signal: parts.held.hold({ id: run.id, token: 1 }), steps: [] };
  const commit = ({ input = run.input, intents = [], also: more = [] }: FirstStep): Promise<Refusal | undefined> =>
    tryCommit(parts, run, [parts.writes.openRunning({ ...run, input }, place, parts.newLease(), room), ...also, ...parts.writes.progress(leased, { intents }, run.createdAt), ...more]);
  let isOpen = false;
  try {
    const step = await first?.(leased).catch(() => undefined); // it is found again where the run is driven, and fails there if it must
    let hasBegun = step !== undefined;
    const refusal = await commit(step ?? {})
      .catch((error: unknown) => {
        if (!hasBegun || conflictOf(error) === undefined) throw error;
        // The step does not fit any more, which is no fault of the run.
        hasBegun = false;
        return commit({});
      })
      .catch((error: unknown) => {
        doubtLease(parts, leased, error);
        throw error;
      });
    isOpen = refusal === undefined;
    return refusal ?? { leased, hasBegun };
  } finally {
    if (!isOpen) {
      parts.held.drop(leased);
      parts.lanes.remove(run.lane, run.id);
    }
  }
};

/** Undefined when it is committed; errors that are not about the key or the lane are the caller's. */
const tryCommit = async (parts: JournalParts, run: JournalRun, writes: readonly Write[]): Promise<Refusal | undefined> => {
  try {
    await parts.db.commit(writes);
    return undefined;
  } catch (error) {
    const conflict = conflictOf(error);
    const broken = conflict?.columns ?? [];
    if (run.key !== null && broken.includes(`${parts.tables.runs}.request_key`)) return { by: 'key', error };
    const laneTaken = broken.length === 1 && broken[0] === `${parts.tables.runs}.lane`;
    if (run.lane !== null && (laneTaken || (conflict?.reason === 'expect' && conflict.write === 0))) return { by: 'lane', error };
    throw error;
  }
};

/** Throws `journal_queue_full`, unless the key names a run that exists: that one needs no room. */
const refuseFull = async (parts: JournalParts, run: JournalRun, room: Room): Promise<void> => {
  if (run.key !== null && (await runByKey(parts, run.ownerId, run.kind, run.key))) return;
  const counts = limitsIn(run, room).map(async ({ by, of, args, limit }) => {
    const found = await parts.db.system('how many runs are queued').readOne<{ n: number | string }>(`SELECT COUNT(*) AS n FROM ${parts.tables.runs} WHERE ${of}`, args);
    return { by, limit, left: limit - Number(found?.n ?? 0) };
  });
  // One may have begun since: the limit that was nearest is named.
  const [fullest] = (await Promise.all(counts)).sort((a, b) => a.left - b.left);
  if (fullest) throw journalErrors.queue_full(fullest.limit).with({ details: { by: fullest.by, limit: fullest.limit } });
};

/** The key names a run that exists: the same request gets it, another is refused. */
const replayOf = async (parts: JournalParts, run: JournalRun, cause: unknown): Promise<OpenedRun> => {
  const existing = run.key === null ? undefined : await runByKey(parts, run.ownerId, run.kind, run.key);
  // Gone since: the conflict may be tried again, as it says itself.
  if (existing === undefined) throw cause;
  if (existing.fingerprint !== run.fingerprint) throw journalErrors.key_conflict(run.key ?? '');
  return { run: existing, replayed: true };
};
