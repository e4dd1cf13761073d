/** The rows of stored results: whose they are, where their text came from, and the text in pieces. */
import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const count = { kind: 'integer', notNull: true } as const;

export const ArtifactRows = defineTable('artifacts', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: text,
    session_id: text,
    tool: text,
    /** Of what is stored, in UTF-8. */
    bytes: count,
    /** Characters of what is stored, which offsets count. */
    chars: count,
    /** Of the whole result: more than `chars` where the rest was too much. */
    total_chars: count,
    /** Taint labels, separated by spaces; null where the tool named no origin. */
    labels: { kind: 'text' },
    source: { kind: 'text' },
    /** The conversation that the text came from, where it came from one. */
    from_session: { kind: 'text' },
    created_at: text,
  },
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
  indexes: [['agent_id', 'created_at'], ['created_at'], ['session_id']],
});

export const ArtifactPieces = defineTable('artifact_pieces', '1.0.0', {
  columns: {
    artifact_id: text,
    n: count,
    owner_id: text,
    agent_id: text,
    session_id: text,
    /** A JSON text, so that every character of a result can be stored: PostgreSQL takes no NUL. */
    piece: text,
  },
  primaryKey: ['artifact_id', 'n'],
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
  indexes: [['agent_id'], ['session_id']],
});

export type ArtifactRow = RowOf<typeof ArtifactRows>;
export type PieceRow = RowOf<typeof ArtifactPieces>;
