/** The tables of files: uploads and whose they are, and the bytes behind them. */
import { defineTable, type RowOf } from '@svc/api';

export const UploadRows = defineTable('uploads', '1.1.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: { kind: 'text', notNull: true },
    /** The agent it was sent to. It is deleted with the agent. */
    agent_id: { kind: 'text' },
    filename: { kind: 'text', notNull: true },
    content_type: { kind: 'text', notNull: true },
    size_bytes: { kind: 'integer', notNull: true },
    /** Names the bytes. */
    sha256: { kind: 'text', notNull: true },
    created_at: { kind: 'text', notNull: true },
    /** Of a file that was deleted from the agent's workspace: where it was. Null for what was uploaded. */
    path: { kind: 'text' },
    /** When a deleted file is erased. */
    keep_until: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['owner_id', 'created_at'], ['agent_id'], ['sha256']],
});

/** Bytes that are kept once, however many uploads have them. Nobody's own: they go when no upload names them. */
export const BlobRows = defineTable('blobs', '1.0.0', {
  columns: {
    sha256: { kind: 'text', primaryKey: true },
    /** The folder of the file, below the root of uploads. */
    folder: { kind: 'text', notNull: true },
    size_bytes: { kind: 'integer', notNull: true },
    /** The upload that used it last: whoever takes the bytes away does so only where this is still what it was. */
    last_upload: { kind: 'text', notNull: true },
  },
  indexes: [['folder']],
});

/** Folders that may have no upload: those that are being written, and those that were let go. What a crash leaves is found by them. */
export const OrphanRows = defineTable('strays', '1.0.0', {
  columns: {
    folder: { kind: 'text', primaryKey: true },
    /** Not looked at before. */
    due_at: { kind: 'text', notNull: true },
  },
  indexes: [['due_at']],
});

export type UploadRow = RowOf<typeof UploadRows>;
export type BlobRow = RowOf<typeof BlobRows>;
