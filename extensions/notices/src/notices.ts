/**
 * What agents tell their owner.
 *
 * N1  A notice is read, marked and deleted by the owner of its agent alone: owners of the daemon and admins see their own, like everyone else.
 * N2  An agent sends so many within an hour, on all daemons together: the count is a condition of the insert. More are refused, and the agent is told.
 * N3  A call that a restart repeats sends no second notice.
 * N4  What is stored is plain text: no control or direction characters that could make it look like something else.
 */
import { createHash } from 'node:crypto';
import { type Actor, type CallFacts, type Clock, type Db, type Events, isSvcError, uuidOfDigest, type Write } from '@svc/api';
import type { NoticesConfig } from './config.js';
import { NoticeChanged, type NoticeRow } from './contract.js';
import { noticeErrors } from './errors.js';

export interface NoticeFilter {
  readonly unread?: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface Notices {
  send(call: Pick<CallFacts, 'actor' | 'agentId' | 'callId' | 'runId' | 'sessionId'>, said: { readonly reason: string; readonly summary: string }): Promise<string>;
  list(actor: Actor, filter: NoticeFilter): Promise<{ rows: readonly NoticeRow[]; total: number; unread: number }>;
  read(actor: Actor, id: string): Promise<void>;
  remove(actor: Actor, id: string): Promise<void>;
  prune(): Promise<void>;
}

export interface NoticeDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly settings: () => NoticesConfig;
}

const COLUMNS = ['id', 'owner_id', 'agent_id', 'session_id', 'run_id', 'reason', 'summary', 'created_at', 'read_at'] as const satisfies ReadonlyArray<keyof NoticeRow>;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of one person: older ones make room. */
const MAX_STORED = 1_000;

export const createNotices = ({ db, events, clock, settings }: NoticeDeps): Notices => {
  // `as` shows owners and admins everybody's rows; a notice is for one person.
  const own = (actor: Actor) => ({ owner_id: actor.ownerId });
  const one = async (actor: Actor, id: string): Promise<NoticeRow> => {
    const row = await db.as(actor).first<NoticeRow>({ from: 'notices', where: { id: id.toLowerCase(), ...own(actor) } });
    if (!row) throw noticeErrors.not_found(id);
    return row;
  };
  const changed = ({ id, agent_id: agentId, owner_id: ownerId }: Pick<NoticeRow, 'id' | 'agent_id' | 'owner_id'>, change: 'sent' | 'read' | 'deleted') =>
    events.event(NoticeChanged, { id, agentId, ownerId, change });
  /** Changes no row, and so conflicts, where the agent has sent `most` within the hour. */
  const insertWithin = (most: number, row: NoticeRow): Write => {
    const table = db.table('notices');
    const since = new Date(clock.now() - HOUR_MS).toISOString();
    return db.sql(
      `INSERT INTO ${table}(${COLUMNS.join(', ')}) SELECT ${COLUMNS.map(() => '?').join(', ')} WHERE (SELECT COUNT(*) FROM ${table} WHERE agent_id = ? AND created_at > ?) < ? ON CONFLICT (id) DO NOTHING`,
      [...COLUMNS.map((column) => row[column]), row.agent_id, since, most],
      { expect: 1 },
    );
  };
  const makeRoom = async (actor: Actor): Promise<void> => {
    const old = await db.as(actor).select<{ id: string }>({ from: 'notices', columns: ['id'], where: own(actor), order: [{ column: 'created_at', descending: true }], offset: MAX_STORED, limit: 100 });
    if (old.length > 0) await db.commit([db.remove('notices', { id: old.map(({ id }) => id) })]);
  };
  return {
    send: async ({ actor, agentId, callId, runId, sessionId }, { reason, summary }) => {
      const said = { reason: plain(reason), summary: plain(summary) };
      if (said.summary === '') throw noticeErrors.empty();
      const id = idOf(runId, callId);
      if (await db.as(actor).first({ from: 'notices', columns: ['id'], where: { id } })) return id;
      const { max_per_hour: most } = settings();
      const row = { id, owner_id: actor.ownerId, agent_id: agentId, session_id: sessionId, run_id: runId, ...said, created_at: clock.iso(), read_at: null };
      try {
        await db.commit([insertWithin(most, row), changed(row, 'sent')]);
      } catch (error) {
        if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
        if (await db.as(actor).first({ from: 'notices', columns: ['id'], where: { id } })) return id;
        throw noticeErrors.too_many(most);
      }
      await makeRoom(actor);
      return id;
    },
    list: async (actor, { unread, limit, offset }) => {
      const where = { ...own(actor), ...(unread ? { read_at: null } : {}) };
      const reader = db.as(actor);
      const [rows, total, left] = await Promise.all([
        reader.select<NoticeRow>({ from: 'notices', where, order: [{ column: 'created_at', descending: true }, { column: 'id' }], limit, offset }),
        reader.count('notices', where),
        reader.count('notices', { ...own(actor), read_at: null }),
      ]);
      return { rows, total, unread: left };
    },
    read: async (actor, id) => {
      const row = await one(actor, id);
      if (row.read_at === null) await db.commit([db.update('notices', ['id'], [{ id: row.id, read_at: clock.iso() }]), changed(row, 'read')]);
    },
    remove: async (actor, id) => {
      const row = await one(actor, id);
      await db.commit([db.remove('notices', { id: row.id }), changed(row, 'deleted')]);
    },
    prune: async () => void (await db.commit([db.remove('notices', { created_at: { lt: new Date(clock.now() - settings().max_age_days * DAY_MS).toISOString() } })])),
  };
};

/** A UUID that the call alone decides. */
const idOf = (runId: string, callId: string): string => {
  const hex = createHash('sha256').update(`notice|${runId}|${callId}`).digest('hex');
  return uuidOfDigest(hex);
};

/** Control and format characters go, but for line ends: they can hide text or turn it round. */
export const plain = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n]/gu, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
