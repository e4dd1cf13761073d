import type { Migration } from '@svc/api';

export const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable('usage', {
      id: { kind: 'text', primaryKey: true },
      run_id: { kind: 'text', notNull: true },
      agent_id: { kind: 'text', notNull: true },
      owner_id: { kind: 'text', notNull: true },
      provider: { kind: 'text', notNull: true },
      model: { kind: 'text', notNull: true },
      input_tokens: { kind: 'integer', notNull: true },
      output_tokens: { kind: 'integer', notNull: true },
      cost_micros: { kind: 'integer', notNull: true },
      estimated: { kind: 'integer', notNull: true, default: 0 },
      purpose: { kind: 'text', notNull: true },
      attempts: { kind: 'json' },
      at: { kind: 'text', notNull: true },
    });
    m.createIndex('usage', ['run_id']);
    m.createIndex('usage', ['agent_id', 'at']);
    m.createIndex('usage', ['owner_id', 'at']);
  },
};
