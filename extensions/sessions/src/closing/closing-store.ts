/** Rows of sessions that are taken away. */
import type { Db, Row, Write } from '@svc/api';
import { leaveConversation } from '../branching/version-store.js';
import { tagsText } from '../tagging/tags.js';

export interface ClosingStore {
  /** From here on nothing is begun under these ids, and no search shows what was said there. */
  close(sessionIds: readonly string[], at: string): Write[];
  /** Removes what is left of it, a piece at a time. */
  removeRows(sessionId: string): Promise<void>;
  /** Closed sessions of which other areas may still hold something. */
  unerased(limit: number): Promise<string[]>;
  erased(sessionId: string): Write;
  /** Ids that nobody can still mean. */
  forgetClosed(before: string): Promise<void>;
  /** Conflicts unless the session is there to stay. */
  isOpen(sessionId: string): Write;
  setArchived(sessionIds: readonly string[], archived: boolean): Write;
  setLabel(sessionIds: readonly string[], label: string | null): Write;
  setTags(sessionIds: readonly string[], tags: readonly string[]): Write;
  /** Begun until then, the oldest first. */
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
    close: (sessionIds, at) =>
      sessionIds.length === 0
        ? []
        : [
            db.insert(
              'closed',
              sessionIds.map((id) => ({ id, closed_at: at, erased: 0 })),
              { ifAbsent: true },
            ),
            db.remove('said', { session_id: sessionIds }),
          ],
    removeRows: async (sessionId) => {
      for (let removed = PIECE_ENTRIES; removed === PIECE_ENTRIES; ) {
        const piece = db.sql(`DELETE FROM ${entries} WHERE session_id = ? AND seq IN (SELECT seq FROM ${entries} WHERE session_id = ? ORDER BY seq LIMIT ${PIECE_ENTRIES})`, [sessionId, sessionId]);
        removed = (await db.commit([piece])).changes[0] ?? 0;
      }
      await db.commit([leaveConversation(db, sessionId), db.remove('entries', { session_id: sessionId }), db.remove('said', { session_id: sessionId }), db.remove('sessions', { id: sessionId })]);
    },
    unerased: async (limit) =>
      (await db.system(CLEANUP).select<{ id: string }>({ from: 'closed', columns: ['id'], where: { erased: 0 }, order: [{ column: 'closed_at' }], limit })).map(({ id }) => id),
    erased: (sessionId) => db.update('closed', ['id'], [{ id: sessionId, erased: 1 }]),
    forgetClosed: async (before) => void (await db.commit([db.remove('closed', { erased: 1, closed_at: { lt: before } })])),
    isOpen: (sessionId) => db.sql(`UPDATE ${sessions} SET id = id WHERE id = ? AND NOT EXISTS (SELECT 1 FROM ${closed} WHERE id = ?)`, [sessionId, sessionId], { expect: 1 }),
    setArchived: (sessionIds, archived) => changeEach(sessionIds, { archived: archived ? 1 : null }),
    setLabel: (sessionIds, label) => changeEach(sessionIds, { label }),
    setTags: (sessionIds, tags) => changeEach(sessionIds, { tags: tagsText(tags) }),
    ofAgent: async (agentId, until, limit) =>
      (await db.system(CLEANUP).select<{ id: string }>({ from: 'sessions', columns: ['id'], where: { agent_id: agentId, created_at: { lte: until } }, order: [{ column: 'created_at' }], limit })).map(
        ({ id }) => id,
      ),
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
