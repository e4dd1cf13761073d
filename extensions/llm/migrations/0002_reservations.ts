import { createTables, type Migration } from '@svc/api';
import { ReservationRows } from '../src/tables.js';

const { up } = createTables('0002_reservations', [ReservationRows], { later: ['begun_by'] });

export const reservations: Migration = {
  name: '0002_reservations',
  up: (m) => {
    up(m);
    // Sums over all agents.
    m.createIndex('usage', ['at']);
  },
};
