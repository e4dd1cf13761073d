/** The last dream of each agent, and whether one is under way. */
import { defineEvent, defineTable, defineWork, OneOf, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const optional = { kind: 'text' } as const;
const count = { kind: 'integer', notNull: true } as const;

export const STATES = ['running', 'completed', 'failed', 'aborted'] as const;
export const PHASES = ['orient', 'gather', 'consolidate', 'prune', 'done'] as const;

export const DreamRows = defineTable('dreams', '1.0.0', {
  columns: {
    agent_id: { kind: 'text', primaryKey: true },
    owner_id: text,
    /** Increases with each dream: of two that begin one at the same time, one does. */
    number: count,
    /** The work in the journal, which holds the lease. */
    task_id: text,
    /** The run of the agent, once it has begun. */
    run_id: optional,
    status: text,
    phase: text,
    started_at: text,
    ended_at: optional,
    /** When the last one ended well. */
    consolidated_at: optional,
    /** Dreams in a row that failed, and the day (UTC) they are counted for. */
    failures: count,
    failed_on: optional,
    tool_use_count: count,
    memories_touched: { kind: 'json', notNull: true },
    turns: { kind: 'json', notNull: true },
    usage: { kind: 'json' },
    error: optional,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['owner_id'], ['status']],
});
export type DreamRow = RowOf<typeof DreamRows>;

export const Dream = defineWork('auto-dream', '1.0.0', { input: Type.Object({ agentId: Type.String(), number: Type.Integer() }), result: Type.Object({ merged: Type.Integer() }) });

export const DreamChanged = defineEvent('auto-dream.changed', '1.0.0', Type.Object({ ownerId: Type.String(), agentId: Type.String(), status: OneOf(STATES) }), {
  what: 'auto-dream',
  permission: 'auto-dream.read',
  owner: 'ownerId',
  agent: 'agentId',
  id: 'agentId',
  state: 'status',
});
