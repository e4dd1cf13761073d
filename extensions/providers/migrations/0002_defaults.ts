import type { Migration } from '@svc/api';

/** Who answers for `default`: one row, by the name it answers for. */
export const defaults: Migration = {
  name: '0002_defaults',
  up(m) {
    m.createTable('defaults', {
      name: { kind: 'text', primaryKey: true },
      provider: { kind: 'text', notNull: true },
      model: { kind: 'text', notNull: true },
      reason: { kind: 'text', notNull: true },
      chosen_by: { kind: 'text', notNull: true },
      chosen_at: { kind: 'text', notNull: true },
    });
  },
};
