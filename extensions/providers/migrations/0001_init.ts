import type { Migration } from '@svc/api';

export const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable('settings', {
      name: { kind: 'text', primaryKey: true },
      base_url: { kind: 'text', notNull: true },
      updated_at: { kind: 'text', notNull: true },
    });
  },
};
