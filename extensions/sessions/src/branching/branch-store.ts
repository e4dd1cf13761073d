/** What a branch reads of the log that it goes on from, and what it takes along. */
import type { Db, Write } from '@svc/api';
import type { EntryKind } from '../contract.js';
import type { Outlined } from './turns.js';

export interface BranchStore {
  /** Entries after `after` without what they say, at most `limit`. */
  outline(sessionId: string, after: number, limit: number): Promise<Outlined[]>;
  /** Writes that give one session the entries of another through this one. They conflict where some of those are gone meanwhile. */
  copy(from: string, to: string, through: number): Promise<Write[]>;
}

/** Why rows are read with no actor. */
const COPY = 'entries of a session that was looked up for its actor';

export const createBranchStore = (db: Db): BranchStore => {
  const [entries, sessions] = [db.table('entries'), db.table('sessions')];
  return {
    outline: async (sessionId, after, limit) => {
      const rows = await db.system(COPY).select<{ seq: number; kind: EntryKind; run_id: string | null }>({
        from: 'entries',
        columns: ['seq', 'kind', 'run_id'],
        where: { session_id: sessionId, seq: { gt: after } },
        order: [{ column: 'seq' }],
        limit,
      });
      return rows.map(({ run_id: runId, ...row }) => ({ ...row, runId }));
    },
    copy: async (from, to, through) => {
      const count = through === 0 ? 0 : await db.system(COPY).count('entries', { session_id: from, seq: { lte: through } });
      const origin = [
        db.sql(`UPDATE ${sessions} SET conversation_id = COALESCE(conversation_id, id) WHERE id = ?`, [from], { expect: 1 }),
        db.sql(`UPDATE ${sessions} SET unchosen = 1 WHERE unchosen IS NULL AND conversation_id = (SELECT s.conversation_id FROM ${sessions} s WHERE s.id = ?)`, [from]),
        db.sql(
          `UPDATE ${sessions} SET branched_from = ?, branched_through = ?, conversation_id = (SELECT s.conversation_id FROM ${sessions} s WHERE s.id = ?), title = (SELECT s.title FROM ${sessions} s WHERE s.id = ?), model_provider = (SELECT s.model_provider FROM ${sessions} s WHERE s.id = ?), model_name = (SELECT s.model_name FROM ${sessions} s WHERE s.id = ?), tags = (SELECT s.tags FROM ${sessions} s WHERE s.id = ?) WHERE id = ?`,
          [from, through, from, from, from, from, from, to],
          { expect: 1 },
        ),
      ];
      if (count === 0) return origin;
      const copied = db.sql(
        `INSERT INTO ${entries}(session_id, seq, kind, run_id, body, at, pending) SELECT ?, seq, kind, run_id, body, at, 1 FROM ${entries} WHERE session_id = ? AND seq <= ?`,
        [to, from, through],
        { expect: count },
      );
      return [...origin, copied];
    },
  };
};
