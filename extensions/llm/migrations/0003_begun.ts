import type { Migration } from '@svc/api';

export const begunBy: Migration = {
  name: '0003_begun',
  up: (m) => {
    m.addColumn('usage', 'begun_by', { kind: 'text' });
    m.addColumn('reservations', 'begun_by', { kind: 'text' });
    // The last turn of a person, and what other turns spent since.
    m.createIndex('usage', ['agent_id', 'begun_by', 'at']);
  },
};
