/** The tables of sessions, and whose their rows are. */
import { defineTable } from '@svc/api';

export const SessionRows = defineTable('sessions', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    agent_id: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    label: { kind: 'text' },
    created_at: { kind: 'text', notNull: true },
    /** Whether the model thinks before it answers in this session; null is what the agent's manifest says. */
    thinking: { kind: 'integer' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'id',
  indexes: [['agent_id', 'created_at']],
});

export const EntryRows = defineTable('entries', '1.0.0', {
  columns: {
    session_id: { kind: 'text', notNull: true },
    seq: { kind: 'integer', notNull: true },
    kind: { kind: 'text', notNull: true },
    run_id: { kind: 'text' },
    body: { kind: 'json', notNull: true },
    at: { kind: 'text', notNull: true },
  },
  primaryKey: ['session_id', 'seq'],
  through: { table: SessionRows, column: 'session_id' },
});
