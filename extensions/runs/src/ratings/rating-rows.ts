/** What people think of answers: one row for each person and run. */
import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

export const RatingRows = defineTable('ratings', '1.0.0', {
  columns: {
    run_id: text,
    /** Who rated it. */
    owner_id: text,
    agent_id: text,
    session_id: text,
    /** As provider/model; empty where no model was asked. */
    model: text,
    /** 1 for good, -1 for bad. */
    value: { kind: 'integer', notNull: true },
    comment: { kind: 'text' },
    rated_at: text,
  },
  primaryKey: ['run_id', 'owner_id'],
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
  indexes: [['owner_id', 'rated_at'], ['agent_id'], ['session_id']],
});
export type RatingRow = RowOf<typeof RatingRows>;
