/** What an import leaves: how it went, what became of each item, and what is known of the source ever after. */
import { defineEvent, defineTable, defineWork, OneOf, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;
const json = { kind: 'json', notNull: true } as const;

export const STATES = ['queued', 'running', 'completed', 'failed'] as const;
export const KINDS = ['Config', 'Agent', 'Workspace', 'Memory', 'Skill', 'Session', 'Cron', 'Channel', 'Secret', 'Tool'] as const;
export type ItemKind = (typeof KINDS)[number];

export const ImportRows = defineTable('imports', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    source: text,
    path: text,
    options: json,
    dry_run: { kind: 'boolean', notNull: true },
    status: text,
    step: text,
    /** Items that will be looked at, as far as they are known. */
    total: count,
    warnings: json,
    error: { kind: 'text' },
    created_at: text,
    ended_at: { kind: 'text' },
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'created_at']],
});
export type ImportRow = RowOf<typeof ImportRows>;

/** One item of the source in one import. */
export const OutcomeRows = defineTable('outcomes', '1.0.0', {
  columns: {
    import_id: text,
    kind: text,
    key: text,
    owner_id: text,
    name: text,
    imported: { kind: 'boolean', notNull: true },
    /** Where it went, or why it was skipped. */
    detail: text,
    /** Messages of a session: in the source, and of these imported now. */
    messages: count,
    messages_imported: count,
  },
  primaryKey: ['import_id', 'kind', 'key'],
  through: { table: ImportRows, column: 'import_id' },
  owner: 'owner_id',
});
export type OutcomeRow = RowOf<typeof OutcomeRows>;

/** What is here of the source, so that it comes once. It goes with its agent. */
export const ItemRows = defineTable('items', '1.0.0', {
  columns: {
    owner_id: text,
    source: text,
    kind: text,
    key: text,
    agent_id: { kind: 'text' },
    target: text,
    /** Of a session: messages that were imported, and their digest. */
    messages: count,
    digest: text,
  },
  primaryKey: ['owner_id', 'source', 'kind', 'key'],
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id']],
});
export type ItemRow = RowOf<typeof ItemRows>;

export const Migrating = defineWork('migrate', '1.0.0', { input: Type.Object({ importId: Type.String() }), result: Type.Undefined() });

export const MigrateChanged = defineEvent('migrate.changed', '1.0.0', Type.Object({ id: Type.String(), ownerId: Type.String(), status: OneOf(STATES) }), {
  what: 'migrate',
  permission: 'migrate.admin',
  owner: 'ownerId',
  id: 'id',
  state: 'status',
});
