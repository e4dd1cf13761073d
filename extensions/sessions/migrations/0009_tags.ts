import type { Migration } from '@svc/api';

/** Short words that a conversation can be found by. */
export const tags: Migration = {
  name: '0009_tags',
  up(m) {
    m.addColumn('sessions', 'tags', { kind: 'text' });
  },
};
