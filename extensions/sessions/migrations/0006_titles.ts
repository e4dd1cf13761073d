import type { Migration } from '@svc/api';

/** What a model calls a conversation. */
export const titles: Migration = {
  name: '0006_titles',
  up(m) {
    m.addColumn('sessions', 'title', { kind: 'text' });
  },
};
