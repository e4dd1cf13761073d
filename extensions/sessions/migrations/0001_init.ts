import type { Migration } from '@svc/api';

export const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable('sessions', {
      id: { kind: 'text', primaryKey: true },
      agent_id: { kind: 'text', notNull: true },
      owner_id: { kind: 'text', notNull: true },
      label: { kind: 'text' },
      created_at: { kind: 'text', notNull: true },
    });
    m.createIndex('sessions', ['agent_id', 'created_at']);
    m.createTable(
      'entries',
      {
        session_id: { kind: 'text', notNull: true },
        seq: { kind: 'integer', notNull: true },
        kind: { kind: 'text', notNull: true },
        run_id: { kind: 'text' },
        body: { kind: 'json', notNull: true },
        at: { kind: 'text', notNull: true },
      },
      { primaryKey: ['session_id', 'seq'] },
    );
  },
};
