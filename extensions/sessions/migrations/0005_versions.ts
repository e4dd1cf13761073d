import type { Migration } from '@svc/api';

/** The sessions that were branched from each other are versions of one conversation, and the newest of them is chosen. */
export const versions: Migration = {
  name: '0005_versions',
  up(m) {
    m.addColumn('sessions', 'conversation_id', { kind: 'text' });
    m.addColumn('sessions', 'unchosen', { kind: 'integer' });
    m.createIndex('sessions', ['conversation_id'], { where: 'conversation_id IS NOT NULL' });
    m.createIndex('sessions', ['owner_id', 'aside', 'unchosen', 'created_at', 'id']);
    m.sql(
      `UPDATE {sessions} SET conversation_id = (
         WITH RECURSIVE up(id, parent, steps) AS (
           SELECT s.id, s.branched_from, 0 FROM {sessions} s WHERE s.id = {sessions}.id
           UNION ALL SELECT s.id, s.branched_from, up.steps + 1 FROM {sessions} s JOIN up ON s.id = up.parent
         ) SELECT up.id FROM up ORDER BY up.steps DESC LIMIT 1
       ) WHERE branched_from IS NOT NULL OR id IN (SELECT s.branched_from FROM {sessions} s WHERE s.branched_from IS NOT NULL)`,
    );
    m.sql(
      `UPDATE {sessions} SET unchosen = 1 WHERE conversation_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM {sessions} s WHERE s.conversation_id = {sessions}.conversation_id
         AND (s.created_at > {sessions}.created_at OR (s.created_at = {sessions}.created_at AND s.id > {sessions}.id))
       )`,
    );
  },
};
