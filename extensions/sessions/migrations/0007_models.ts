import type { Migration } from '@svc/api';

/** A conversation can have a model of its own, and be put away. */
export const models: Migration = {
  name: '0007_models',
  up(m) {
    m.addColumn('sessions', 'model_provider', { kind: 'text' });
    m.addColumn('sessions', 'model_name', { kind: 'text' });
    m.addColumn('sessions', 'archived', { kind: 'integer' });
    m.createIndex('sessions', ['owner_id', 'aside', 'archived', 'unchosen', 'last_at', 'id']);
  },
};
