import type { Migration } from '@svc/api';

export const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable(
      'agents',
      {
        id: { kind: 'text', primaryKey: true },
        name: { kind: 'text', notNull: true },
        // Beside the manifest, because people search for it.
        description: { kind: 'text', notNull: true },
        owner_id: { kind: 'text', notNull: true },
        state: { kind: 'text', notNull: true },
        mode: { kind: 'text', notNull: true },
        parent_id: { kind: 'text' },
        session_id: { kind: 'text', notNull: true },
        manifest: { kind: 'json', notNull: true },
        created_at: { kind: 'text', notNull: true },
        last_active_at: { kind: 'text' },
      },
      { unique: [['owner_id', 'name']] },
    );
    m.createIndex('agents', ['parent_id']);
    // What has been done once and is never done again.
    m.createTable('marks', { name: { kind: 'text', primaryKey: true }, at: { kind: 'text', notNull: true } });
  },
};
