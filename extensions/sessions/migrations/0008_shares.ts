import type { Migration } from '@svc/api';

/** Links to conversations that people can read without a login. */
export const shares: Migration = {
  name: '0008_shares',
  up(m) {
    m.createTable('shares', {
      id: { kind: 'text', primaryKey: true },
      owner_id: { kind: 'text', notNull: true },
      agent_id: { kind: 'text', notNull: true },
      session_id: { kind: 'text', notNull: true },
      token_hash: { kind: 'text', notNull: true, unique: true },
      title: { kind: 'text', notNull: true },
      through_seq: { kind: 'integer', notNull: true },
      created_at: { kind: 'text', notNull: true },
      as_of: { kind: 'text', notNull: true },
      valid_from: { kind: 'text', notNull: true },
      expires_at: { kind: 'text' },
    });
    m.createIndex('shares', ['owner_id', 'created_at']);
    m.createIndex('shares', ['agent_id']);
    m.createIndex('shares', ['session_id']);
  },
};
