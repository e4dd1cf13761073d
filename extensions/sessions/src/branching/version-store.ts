/**
 * Versions: the sessions that were branched from each other. They are one conversation, of which one version is chosen.
 *
 * V1  Of a conversation exactly one version is chosen: the one that was branched off last, or that somebody chose since.
 * V2  When the chosen one is deleted, the newest of those that are left is chosen.
 */
import type { Actor, Db, Row, Write } from '@svc/api';

export interface Version {
  readonly id: string;
  readonly branchedFrom: string | null;
  /** The last entry that it has in common with the session that it was branched from. */
  readonly through: number;
  /** Its newest entry; 0 where it has none. */
  readonly newest: number;
  readonly createdAt: string;
  readonly isChosen: boolean;
}

export interface VersionStore {
  /** All that the actor may see, the oldest first. */
  of(actor: Actor, conversationId: string): Promise<readonly Version[]>;
  /** Writes that choose one of them; it conflicts where it is gone. */
  choose(id: string, conversationId: string): readonly Write[];
}

/** Of one conversation. */
const MAX_VERSIONS = 500;

export const createVersionStore = (db: Db): VersionStore => {
  const [sessions, entries] = [db.table('sessions'), db.table('entries')];
  return {
    of: async (actor, conversationId) => {
      const rows = await db.as(actor).read<Row>(
        `SELECT s.id, s.branched_from, s.branched_through, s.created_at, s.unchosen, (SELECT MAX(e.seq) FROM ${entries} e WHERE e.session_id = s.id) AS newest
         FROM ${sessions} s WHERE s.conversation_id = ? ORDER BY s.created_at, s.id LIMIT ${MAX_VERSIONS}`,
        [conversationId],
      );
      return rows.map((row) => ({
        id: String(row.id),
        branchedFrom: row.branched_from === null ? null : String(row.branched_from),
        through: Number(row.branched_through ?? 0),
        newest: Number(row.newest ?? 0),
        createdAt: String(row.created_at),
        isChosen: row.unchosen === null,
      }));
    },
    choose: (id, conversationId) => [
      db.sql(`UPDATE ${sessions} SET unchosen = 1 WHERE conversation_id = ? AND id <> ? AND unchosen IS NULL`, [conversationId, id]),
      db.sql(`UPDATE ${sessions} SET unchosen = NULL WHERE id = ?`, [id], { expect: 1 }),
    ],
  };
};

/** Writes for a session that is about to go. */
export const leaveConversation = (db: Db, id: string): Write => {
  const sessions = db.table('sessions');
  return db.sql(
    `UPDATE ${sessions} SET unchosen = NULL WHERE id = (
       SELECT o.id FROM ${sessions} o JOIN ${sessions} g ON o.conversation_id = g.conversation_id AND g.id = ? AND g.unchosen IS NULL
       WHERE o.id <> g.id ORDER BY o.created_at DESC, o.id DESC LIMIT 1
     )`,
    [id],
  );
};
