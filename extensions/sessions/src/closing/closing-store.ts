/** Rows of sessions that are taken away. */
import type { Db, Row, Write } from '@svc/api';
import { leaveConversation } from '../branching/version-store.js';
import { columnsOf } from '../catalogue/catalogue-store.js';
import { NO_FACTS } from '../catalogue/facts.js';
import { tagsText } from '../tagging/tags.js';

export interface ClosingStore {
  /** From here on nothing is begun under these ids, and no search shows what was said there. */
  close(sessionIds: readonly string[], at: string, keepUntil?: string | null): Write[];
  /** Removes what is left of it, a piece at a time. */
  removeRows(sessionId: string): Promise<void>;
  /** Closed sessions of which other areas may still hold something, and which shall not come back. */
  unerased(now: string, limit: number): Promise<string[]>;
  /** Those on their way into the bin or out of it. */
  unmoved(limit: number): Promise<ClosedSession[]>;
  setBin(sessionId: string, bin: 'in' | 'back'): Write;
  /** The row as it is stored. */
  rowOf(sessionId: string): Promise<Row | undefined>;
  leaveConversation(sessionId: string): Write;
  /** It can be used again, and is read into lists and searches as if it was said now. */
  reopen(sessionId: string): Write[];
  /** All sessions of an agent that came back are read into lists and searches again: words of messages are in no bin. Nothing where there are none. */
  readAgain(agentId: string): Write[];
  /** Of a conversation that has several chosen versions, the others are no longer chosen. */
  chooseOnly(sessionId: string, conversationId: string): Write;
  erased(sessionId: string): Write;
  /** Ids that nobody can still mean. */
  forgetClosed(before: string): Promise<void>;
  /** Conflicts unless the session is there to stay. */
  isOpen(sessionId: string): Write;
  setArchived(sessionIds: readonly string[], archived: boolean): Write;
  setLabel(sessionIds: readonly string[], label: string | null): Write;
  setTags(sessionIds: readonly string[], tags: readonly string[]): Write;
  hasEntries(sessionId: string): Promise<boolean>;
  /** Begun until then and not closed, the oldest first. */
  ofAgent(agentId: string, until: string, limit: number): Promise<string[]>;
  agentIds(): Promise<string[]>;
  /** Whose these are. */
  ownersOf(sessionIds: readonly string[]): Promise<string[]>;
  crowded(max: number): Promise<string[]>;
  /** The oldest of an agent but for the newest `kept`. */
  beyond(agentId: string, kept: number, limit: number): Promise<string[]>;
  /** Begun before this time, and not gone on with since; in the order of their beginnings, after `after`. */
  restingSince(before: string, after: { readonly createdAt: string; readonly id: string }, limit: number): Promise<RestingSession[]>;
}

export interface ClosedSession {
  readonly id: string;
  readonly closedAt: string;
  readonly keepUntil: string;
  readonly isComingBack: boolean;
}

export interface RestingSession {
  readonly id: string;
  readonly agentId: string;
  readonly createdAt: string;
  readonly isResting: boolean;
}

const PIECE_ENTRIES = 1_000;
/** Why rows are read with no actor. */
const CLEANUP = 'sessions to delete';

export const createClosingStore = (db: Db): ClosingStore => {
  const [sessions, entries, closed] = [db.table('sessions'), db.table('entries'), db.table('closed')];
  const ids = async (sql: string, args: ReadonlyArray<string | number>): Promise<string[]> => (await db.system(CLEANUP).read<{ id: string }>(sql, args)).map(({ id }) => id);
  const changeEach = (sessionIds: readonly string[], change: Row): Write =>
    db.update(
      'sessions',
      ['id'],
      sessionIds.map((id) => ({ id, ...change })),
      { expect: 'each' },
    );
  return {
    close: (sessionIds, at, keepUntil = null) =>
      sessionIds.length === 0
        ? []
        : [
            db.insert(
              'closed',
              sessionIds.map((id) => ({ id, closed_at: at, erased: 0, keep_until: keepUntil })),
              { ifAbsent: true },
            ),
            db.remove('said', { session_id: sessionIds }),
            // No list shows it while it is moved.
            ...(keepUntil === null ? [] : [changeEach(sessionIds, { aside: 1 })]),
          ],
    removeRows: async (sessionId) => {
      for (let removed = PIECE_ENTRIES; removed === PIECE_ENTRIES; ) {
        const piece = db.sql(`DELETE FROM ${entries} WHERE session_id = ? AND seq IN (SELECT seq FROM ${entries} WHERE session_id = ? ORDER BY seq LIMIT ${PIECE_ENTRIES})`, [sessionId, sessionId]);
        removed = (await db.commit([piece])).changes[0] ?? 0;
      }
      await db.commit([leaveConversation(db, sessionId), db.remove('entries', { session_id: sessionId }), db.remove('said', { session_id: sessionId }), db.remove('sessions', { id: sessionId })]);
    },
    unerased: (now, limit) =>
      ids(`SELECT id FROM ${closed} WHERE erased = 0 AND (keep_until IS NULL OR (keep_until <= ? AND (bin IS NULL OR bin <> 'back'))) ORDER BY closed_at LIMIT ?`, [now, limit]),
    unmoved: async (limit) => {
      const sql = `SELECT id, closed_at, keep_until, bin FROM ${closed} WHERE erased = 0 AND keep_until IS NOT NULL AND (bin IS NULL OR bin = 'back') ORDER BY closed_at LIMIT ?`;
      const rows = await db.system(CLEANUP).read<Row>(sql, [limit]);
      return rows.map((row) => ({ id: String(row.id), closedAt: String(row.closed_at), keepUntil: String(row.keep_until), isComingBack: row.bin === 'back' }));
    },
    setBin: (id, bin) => db.update('closed', ['id'], [{ id, bin }], { expect: 'each' }),
    rowOf: (id) => db.system(CLEANUP).first<Row>({ from: 'sessions', where: { id } }),
    hasEntries: async (id) => (await db.system(CLEANUP).first({ from: 'entries', columns: ['seq'], where: { session_id: id } })) !== undefined,
    leaveConversation: (id) => leaveConversation(db, id),
    reopen: (id) => [
      db.update('sessions', ['id'], [{ id, aside: null, ...columnsOf(NO_FACTS) }], { expect: 'each' }),
      db.update('entries', ['session_id'], [{ session_id: id, pending: 1 }]),
      db.remove('closed', { id }, { expect: 1 }),
    ],
    readAgain: (agentId) => {
      const those = `(SELECT id FROM ${sessions} WHERE agent_id = ?)`;
      return [
        db.sql(`DELETE FROM ${db.table('said')} WHERE session_id IN ${those}`, [agentId]),
        db.sql(`UPDATE ${entries} SET pending = 1 WHERE session_id IN ${those}`, [agentId]),
        db.update('sessions', ['agent_id'], [{ agent_id: agentId, ...columnsOf(NO_FACTS) }]),
      ];
    },
    chooseOnly: (id, conversationId) => db.sql(`UPDATE ${sessions} SET unchosen = 1 WHERE conversation_id = ? AND id <> ? AND unchosen IS NULL`, [conversationId, id]),
    erased: (sessionId) => db.update('closed', ['id'], [{ id: sessionId, erased: 1 }]),
    forgetClosed: async (before) => void (await db.commit([db.remove('closed', { erased: 1, closed_at: { lt: before } })])),
    isOpen: (sessionId) => db.sql(`UPDATE ${sessions} SET id = id WHERE id = ? AND NOT EXISTS (SELECT 1 FROM ${closed} WHERE id = ?)`, [sessionId, sessionId], { expect: 1 }),
    setArchived: (sessionIds, archived) => changeEach(sessionIds, { archived: archived ? 1 : null }),
    setLabel: (sessionIds, label) => changeEach(sessionIds, { label }),
    setTags: (sessionIds, tags) => changeEach(sessionIds, { tags: tagsText(tags) }),
    ofAgent: (agentId, until, limit) =>
      ids(`SELECT s.id AS id FROM ${sessions} s WHERE s.agent_id = ? AND s.created_at <= ? AND NOT EXISTS (SELECT 1 FROM ${closed} c WHERE c.id = s.id) ORDER BY s.created_at LIMIT ?`, [
        agentId,
        until,
        limit,
      ]),
    agentIds: () => ids(`SELECT DISTINCT agent_id AS id FROM ${sessions}`, []),
    ownersOf: async (sessionIds) => [
      ...new Set((await db.system(CLEANUP).select<{ owner_id: string }>({ from: 'sessions', columns: ['owner_id'], where: { id: sessionIds } })).map((row) => row.owner_id)),
    ],
    crowded: (max) => ids(`SELECT agent_id AS id FROM ${sessions} WHERE aside IS NULL GROUP BY agent_id HAVING COUNT(*) > ?`, [max]),
    beyond: (agentId, kept, limit) => ids(`SELECT id FROM ${sessions} WHERE agent_id = ? AND aside IS NULL ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`, [agentId, limit, kept]),
    restingSince: async (before, after, limit) => {
      const rows = await db
        .system(CLEANUP)
        .read<Row>(
          `SELECT id, agent_id, created_at, last_at FROM ${sessions} WHERE aside IS NULL AND created_at < ? AND (created_at > ? OR (created_at = ? AND id > ?)) ORDER BY created_at, id LIMIT ?`,
          [before, after.createdAt, after.createdAt, after.id, limit],
        );
      return rows.map((row) => ({ id: String(row.id), agentId: String(row.agent_id), createdAt: String(row.created_at), isResting: row.last_at === null || String(row.last_at) < before }));
    },
  };
};
