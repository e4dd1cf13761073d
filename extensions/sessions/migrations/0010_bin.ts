import type { Migration } from '@svc/api';

/** What was deleted can come back for a while. */
export const bin: Migration = {
  name: '0010_bin',
  up(m) {
    m.addColumn('closed', 'keep_until', { kind: 'text' });
    m.addColumn('closed', 'bin', { kind: 'text' });
  },
};
