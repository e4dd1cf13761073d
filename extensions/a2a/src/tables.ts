/** Agents elsewhere, and what they were asked. */
import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

export const RemoteAgentRows = defineTable('agents', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    url: text,
    name: text,
    description: text,
    version: text,
    skills: text,
    endpoint: text,
    protocol: text,
    created_at: text,
    updated_at: text,
  },
  owner: 'owner_id',
  unique: [['owner_id', 'url']],
});
export type RemoteAgentRow = RowOf<typeof RemoteAgentRows>;

export const RemoteTaskRows = defineTable('tasks', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, agent_id: text, remote_id: { kind: 'text' }, status: text, result: { kind: 'text' }, created_at: text, updated_at: text },
  owner: 'owner_id',
  through: { table: RemoteAgentRows, column: 'agent_id' },
  indexes: [['owner_id', 'remote_id'], ['agent_id']],
});
export type RemoteTaskRow = RowOf<typeof RemoteTaskRows>;
