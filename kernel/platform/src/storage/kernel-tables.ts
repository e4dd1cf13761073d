/** The kernel's own tables: what people switched on or off, how far durable events were relayed, and who is to be erased. */
import { type Migration, createTables, defineTable } from '@svc/api';

/** What people switched on or off. */
const Choices = defineTable('choices', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, enabled: { kind: 'integer', notNull: true }, at: { kind: 'text', notNull: true } } });

/** How far each listener of durable events has come. */
const Offsets = defineTable('offsets', '1.0.0', { columns: { listener: { kind: 'text', primaryKey: true }, seq: { kind: 'integer', notNull: true } } });

/** `until` is in milliseconds of the database's own clock; `numbered` the newest number of a durable event. */
const Leases = defineTable('leases', '1.0.0', {
  columns: {
    name: { kind: 'text', primaryKey: true },
    holder: { kind: 'text', notNull: true },
    until: { kind: 'integer', notNull: true },
    numbered: { kind: 'integer', notNull: true },
  },
});

const Purges = defineTable('purges', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: { kind: 'text' },
    agent_id: { kind: 'text' },
    session_id: { kind: 'text' },
    begun_at: { kind: 'text', notNull: true },
    done_at: { kind: 'text' },
  },
  indexes: [['done_at']],
});

const Receipts = defineTable('receipts', '1.0.0', {
  columns: { purge_id: { kind: 'text', notNull: true }, area: { kind: 'text', notNull: true }, done_at: { kind: 'text' } },
  primaryKey: ['purge_id', 'area'],
  indexes: [['area', 'done_at']],
});

/** Settings that were changed over the API, for the other daemons on this database. */
const Settings = defineTable('settings', '1.0.0', {
  columns: {
    path: { kind: 'text', primaryKey: true },
    value: { kind: 'text' },
    n: { kind: 'integer', notNull: true },
    daemon: { kind: 'text', notNull: true },
    at: { kind: 'text', notNull: true },
  },
  indexes: [['n']],
});

/** Daemons on this database; `seen` is in milliseconds of the database's own clock. */
const Daemons = defineTable('daemons', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    name: { kind: 'text', notNull: true },
    host: { kind: 'text', notNull: true },
    pid: { kind: 'integer', notNull: true },
    version: { kind: 'text', notNull: true },
    started_at: { kind: 'text', notNull: true },
    address: { kind: 'text', notNull: true },
    seen: { kind: 'integer', notNull: true },
  },
});

/** What the daemons on this database know, and others on the way between them do not. */
const Bus = defineTable('bus', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, secret: { kind: 'text', notNull: true } } });

/** What was deleted and can come back: one row for each agent or session, and one for each of the rows that it had. No backup holds them. */
const Trash = defineTable('trash', '1.0.0', {
  columns: {
    kind: { kind: 'text', notNull: true },
    id: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    agent_id: { kind: 'text' },
    about: { kind: 'json', notNull: true },
    deleted_at: { kind: 'text', notNull: true },
    keep_until: { kind: 'text', notNull: true },
    /** `moving` on its way there, `there`, `returning` on its way back. */
    state: { kind: 'text', notNull: true },
  },
  primaryKey: ['kind', 'id'],
  indexes: [['owner_id', 'kind', 'deleted_at'], ['agent_id'], ['keep_until']],
});

const TrashRows = defineTable('trash_rows', '1.0.0', {
  columns: {
    kind: { kind: 'text', notNull: true },
    id: { kind: 'text', notNull: true },
    n: { kind: 'integer', notNull: true },
    area: { kind: 'text', notNull: true },
    name: { kind: 'text', notNull: true },
    /** Of this row alone, which may be another person's than the item. */
    owner_id: { kind: 'text' },
    body: { kind: 'json', notNull: true },
  },
  primaryKey: ['kind', 'id', 'n'],
  indexes: [['owner_id']],
});

/** Their rows are left out of every backup. */
export const NOT_BACKED_UP: readonly string[] = ['kernel__trash_rows', 'kernel__trash'];

export const kernelTables = { id: 'kernel', tables: ['bus', 'choices', 'daemons', 'events', 'leases', 'offsets', 'purges', 'receipts', 'settings', 'trash', 'trash_rows'], isPlatform: true } as const;

export const kernelMigrations: readonly Migration[] = [
  createTables('0001_tables', [Choices, Offsets, Leases, Purges, Receipts, Settings, Daemons, Bus, Trash, TrashRows], {
    replaces: ['0001_choices', '0002_offsets', '0003_leases', '0004_purges', '0005_settings_and_daemons', '0006_bus', '0007_trash'],
  }),
];
