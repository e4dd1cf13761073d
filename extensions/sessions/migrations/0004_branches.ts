import type { Migration } from '@svc/api';

/** Where a session that goes on from another one has left it. */
export const branches: Migration = {
  name: '0004_branches',
  up(m) {
    m.addColumn('sessions', 'branched_from', { kind: 'text' });
    m.addColumn('sessions', 'branched_through', { kind: 'integer' });
  },
};
