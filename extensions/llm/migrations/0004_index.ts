import type { Migration } from '@svc/api';

export const oneIndex: Migration = {
  name: '0004_index',
  up: (m) => {
    for (const column of ['run_id', 'agent_id', 'until']) m.dropIndex('reservations', [column]);
    m.createIndex('reservations', ['agent_id', 'run_id']);
  },
};
