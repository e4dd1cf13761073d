/** Where the trail is. */
import { createTables, defineTable, type Migration, type RowOf } from '@svc/api';

/** One row an entry. Its text and hashes move into the segment when 256 entries are full; the rest finds it. */
export const Entries = defineTable('entries', '1.0.0', {
  columns: {
    id: { kind: 'integer', primaryKey: true },
    /** Id of the fact: a fact that is delivered twice is entered once. */
    source: { kind: 'text', notNull: true },
    event_type: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    body: { kind: 'text' },
    hash: { kind: 'text' },
    prev_hash: { kind: 'text' },
    /** Whose details stand beside it; cleared once the chain says that they were erased. */
    holder: { kind: 'text' },
  },
  unique: [['source'], ['prev_hash']],
  indexes: [
    ['event_type', 'id'],
    ['agent_id', 'id'],
  ],
});
export type EntryRow = RowOf<typeof Entries>;

/** 256 entries: their texts by line, none once they are trimmed; their hashes, 64 hex digits each; the root of their tile. */
export const Segments = defineTable('segments', '1.0.0', {
  columns: {
    n: { kind: 'integer', primaryKey: true },
    bodies: { kind: 'text' },
    hashes: { kind: 'text', notNull: true },
    root: { kind: 'text', notNull: true },
    /** Of the newest of them. */
    newest: { kind: 'text', notNull: true },
  },
});
export type SegmentRow = RowOf<typeof Segments>;

/** What may be erased: the entry holds a hash of `salt` and `detail`. */
export const Details = defineTable('details', '1.0.0', {
  columns: {
    id: { kind: 'integer', primaryKey: true },
    owner_id: { kind: 'text', notNull: true },
    event_type: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    at: { kind: 'text', notNull: true },
    salt: { kind: 'text', notNull: true },
    detail: { kind: 'text', notNull: true },
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'id'], ['at']],
});
export type DetailRow = RowOf<typeof Details>;

/** Signed notes; each also stands in a file of the data folder of the daemon that signed it. */
export const Checkpoints = defineTable('checkpoints', '1.0.0', {
  columns: {
    size: { kind: 'integer', notNull: true },
    key_id: { kind: 'text', notNull: true },
    public_key: { kind: 'text', notNull: true },
    note: { kind: 'text', notNull: true },
    at: { kind: 'text', notNull: true },
  },
  primaryKey: ['size', 'key_id'],
});
export type CheckpointRow = RowOf<typeof Checkpoints>;

export const tables = [Entries, Segments, Details, Checkpoints] as const;
export const migrations: readonly Migration[] = [createTables('0001_tables', tables, { replaces: ['0001_init', '0002_holder'] })];
