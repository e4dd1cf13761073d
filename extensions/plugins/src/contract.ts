/** What plugins declare: their tables, and the event that tells pages of a change. */
import { defineEvent, defineTable, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const optional = { kind: 'text' } as const;

/** Plugins that came from elsewhere. They are of the daemon: owners and admins install them. */
export const InstallRows = defineTable('installs', '1.0.0', {
  columns: {
    name: { kind: 'text', primaryKey: true },
    source: text,
    /** Hex SHA-256 over its files, as they were installed. */
    digest: text,
    /** JSON: the walls that somebody agreed to lower. */
    granted: text,
    installed_at: text,
  },
});
export type InstallRow = RowOf<typeof InstallRows>;

/** One call of a hook. */
export const TraceRows = defineTable('traces', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: optional,
    session_id: optional,
    run_id: optional,
    plugin: text,
    hook: text,
    at: text,
    elapsed_ms: { kind: 'integer', notNull: true },
    /** Null for a success. */
    error: optional,
    message: optional,
    /** What came of the response, or why nothing did. */
    note: optional,
    exit_code: { kind: 'integer' },
    /** Number of the line of standard output that was taken, from 1. */
    line: { kind: 'integer' },
    walls: text,
    input: text,
    output: text,
    stderr: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
  indexes: [['at'], ['plugin', 'at'], ['run_id']],
});
export type TraceRow = RowOf<typeof TraceRows>;

export const PluginsChanged = defineEvent('plugins.changed', '1.0.0', Type.Object({ name: Type.String() }), { what: 'plugins', permission: 'plugins.read', id: 'name' });
