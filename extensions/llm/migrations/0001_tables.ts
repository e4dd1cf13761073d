import { createTables, type Migration } from '@svc/api';
import { ReservationRows, UsageRows } from '../src/tables.js';

const tables = createTables('0001_tables', [UsageRows, ReservationRows], { replaces: ['0001_init', '0002_reservations', '0003_begun', '0004_index', '0005_roots'] });

/** All tables of this area, with the indexes that only some rows have, or that a later migration drops. */
export const llmTables: Migration = {
  ...tables,
  up: (m) => {
    tables.up(m);
    // Sums over all agents.
    m.createIndex('usage', ['at']);
    m.createIndex('usage', ['agent_id', 'begun_by', 'at']);
    m.createIndex('reservations', ['agent_id', 'run_id']);
    // What a root that no person began has spent.
    m.createIndex('usage', ['root_id'], { where: 'root_id IS NOT NULL' });
    m.createIndex('reservations', ['root_id'], { where: 'root_id IS NOT NULL' });
  },
};
