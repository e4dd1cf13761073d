/** The tables of agents, and whose their rows are. */
import { defineTable } from '@svc/api';

/** An agent's own row goes with the fact that it was killed, and so not by a purge of the agent. */
export const AgentRows = defineTable('agents', '1.1.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    name: { kind: 'text', notNull: true },
    // Beside the manifest, because people search for it.
    description: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    state: { kind: 'text', notNull: true },
    mode: { kind: 'text', notNull: true },
    parent_id: { kind: 'text' },
    session_id: { kind: 'text', notNull: true },
    manifest: { kind: 'json', notNull: true },
    created_at: { kind: 'text', notNull: true },
    last_active_at: { kind: 'text' },
    // Of the manifest, the state and the mode: what two changes at once are told apart by.
    revision: { kind: 'integer', notNull: true, default: 0 },
    // Of one on its way into the bin or out of it: when, until when, and what it was. Null for others.
    bin: { kind: 'json' },
  },
  owner: 'owner_id',
  unique: [['owner_id', 'name']],
  indexes: [['parent_id']],
});

/** Of builds before requests left receipts in the journal. Nobody writes it; it stands because a migration stays what it was, and its rows go with their people. */
export const SpawnKeys = defineTable('spawn_keys', '1.0.0', {
  columns: {
    owner_id: { kind: 'text', notNull: true },
    spawn_key: { kind: 'text', notNull: true },
    fingerprint: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    name: { kind: 'text', notNull: true },
    created_at: { kind: 'text', notNull: true },
  },
  owner: 'owner_id',
  primaryKey: ['owner_id', 'spawn_key'],
});

/** What has been done once and is never done again. */
export const Marks = defineTable('marks', '1.0.0', { columns: { name: { kind: 'text', primaryKey: true }, at: { kind: 'text', notNull: true } } });
