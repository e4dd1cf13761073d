import type { Migration, MigrationBuilder } from '@svc/api';

/** What lists show of a session, what searches find, and which ids are gone. What was said before is read once, as if it were new. */
export const catalogue: Migration = {
  name: '0003_catalogue',
  up(m) {
    addFacts(m);
    m.addColumn('entries', 'pending', { kind: 'integer', notNull: true, default: 1 });
    m.createIndex('entries', ['at'], { where: 'pending = 1' });
    m.createTable('closed', { id: { kind: 'text', primaryKey: true }, closed_at: { kind: 'text', notNull: true }, erased: { kind: 'integer', notNull: true, default: 0 } });
    m.createIndex('closed', ['erased', 'closed_at']);
    m.createTable('shelves', { owner_id: { kind: 'text', primaryKey: true }, number: { kind: 'integer', notNull: true, unique: true } });
    m.createTable(
      'spans',
      {
        owner_id: { kind: 'text', notNull: true },
        span: { kind: 'integer', notNull: true },
        size: { kind: 'integer', notNull: true },
        first_at: { kind: 'text', notNull: true },
        last_at: { kind: 'text', notNull: true },
      },
      { primaryKey: ['owner_id', 'span'] },
    );
    m.createTable('said', {
      id: { kind: 'integer', primaryKey: true },
      session_id: { kind: 'text', notNull: true },
      seq: { kind: 'integer', notNull: true },
      role: { kind: 'text', notNull: true },
      at: { kind: 'text', notNull: true },
      text: { kind: 'text', notNull: true },
      words: { kind: 'words' },
    });
    m.createIndex('said', ['session_id']);
  },
};

const addFacts = (m: MigrationBuilder): void => {
  m.addColumn('sessions', 'aside', { kind: 'integer' });
  for (const count of ['messages', 'context_chars', 'input_tokens', 'output_tokens', 'cost_micros']) m.addColumn('sessions', count, { kind: 'integer', notNull: true, default: 0 });
  for (const text of ['first_words', 'first_at', 'last_at', 'last_role']) m.addColumn('sessions', text, { kind: 'text' });
  m.createIndex('sessions', ['aside', 'created_at', 'id']);
  for (const whose of ['agent_id', 'owner_id']) m.createIndex('sessions', [whose, 'aside', 'created_at', 'id']);
  for (const whose of ['agent_id', 'owner_id']) m.createIndex('sessions', [whose, 'label', 'created_at'], { where: 'label IS NOT NULL' });
};
