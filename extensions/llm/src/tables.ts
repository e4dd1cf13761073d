/** The table of llm: what each model call used. */
import { defineTable } from '@svc/api';

/** Money that an agent or a session spent stays on the books; only its owner's leaving takes it away. */
export const UsageRows = defineTable('usage', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    run_id: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    provider: { kind: 'text', notNull: true },
    model: { kind: 'text', notNull: true },
    input_tokens: { kind: 'integer', notNull: true },
    output_tokens: { kind: 'integer', notNull: true },
    cost_micros: { kind: 'integer', notNull: true },
    estimated: { kind: 'integer', notNull: true, default: 0 },
    purpose: { kind: 'text', notNull: true },
    attempts: { kind: 'json' },
    at: { kind: 'text', notNull: true },
  },
  owner: 'owner_id',
  indexes: [['run_id'], ['agent_id', 'at'], ['owner_id', 'at']],
});
