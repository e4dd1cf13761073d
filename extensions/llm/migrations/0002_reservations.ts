import { createTables, type Migration } from '@svc/api';
import { ReservationRows } from '../src/tables.js';

const { up } = createTables('0002_reservations', [ReservationRows], { later: ['begun_by', 'root_id', 'channel', 'unit', 'quantity'] });

export const reservations: Migration = {
  name: '0002_reservations',
  up: (m) => {
    up(m);
    for (const column of ['run_id', 'agent_id', 'until']) m.createIndex('reservations', [column]);
    // Sums over all agents.
    m.createIndex('usage', ['at']);
  },
};
