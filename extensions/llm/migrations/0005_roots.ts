import type { Migration } from '@svc/api';

export const roots: Migration = {
  name: '0005_roots',
  up: (m) => {
    for (const table of ['usage', 'reservations']) {
      m.addColumn(table, 'root_id', { kind: 'text' });
      m.addColumn(table, 'channel', { kind: 'text' });
      m.addColumn(table, 'unit', { kind: 'text' });
      m.addColumn(table, 'quantity', { kind: 'integer' });
    }
    // What a root that no person began has spent.
    m.createIndex('usage', ['root_id'], { where: 'root_id IS NOT NULL' });
    m.createIndex('reservations', ['root_id'], { where: 'root_id IS NOT NULL' });
  },
};
