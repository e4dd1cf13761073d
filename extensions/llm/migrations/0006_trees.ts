import type { Migration } from '@svc/api';

export const fewerIndexes: Migration = {
  name: '0006_trees',
  up: (m) => {
    // The turns of an agent since its last person are read by their time: each of them counts.
    m.dropIndex('usage', ['agent_id', 'begun_by', 'at']);
    // As few rows as calls on their way, written and deleted by every message: to read them all costs less.
    m.dropIndex('reservations', ['agent_id', 'run_id']);
  },
};
