/** The tables of llm: what each model call used, and what the calls on their way may use. */
import { defineTable } from '@svc/api';

/** Money that an agent or a session spent stays on the books; only its owner's leaving takes it away. Its index by time is made in 0001_tables. */
export const UsageRows = defineTable('usage', '1.2.0', {
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
    /** `person` or `agent`: whose message began the turn. Null for other calls, and in rows of earlier builds. */
    begun_by: { kind: 'text' },
    /** The root of the run, where no person began it: what counts against its limit. */
    root_id: { kind: 'text' },
    /** How the message came that the call belongs to. */
    channel: { kind: 'text' },
    /** Of what is not tokens: `image`, `second`, `character` or `track`, and how many of it. */
    unit: { kind: 'text' },
    quantity: { kind: 'integer' },
  },
  owner: 'owner_id',
  indexes: [['run_id'], ['agent_id', 'at'], ['owner_id', 'at']],
});

/**
 * A call on its way: the most that it may use. It goes with the commit that adds what it used. Every message writes and
 * deletes one, and there are only as many as calls: no index but that of its key and of roots.
 */
export const ReservationRows = defineTable('reservations', '1.2.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    /** The generation that makes the call. */
    holder: { kind: 'text', notNull: true },
    run_id: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    owner_id: { kind: 'text', notNull: true },
    purpose: { kind: 'text', notNull: true },
    provider: { kind: 'text', notNull: true },
    model: { kind: 'text', notNull: true },
    input_tokens: { kind: 'integer', notNull: true },
    output_tokens: { kind: 'integer', notNull: true },
    cost_micros: { kind: 'integer', notNull: true },
    /** No call lasts longer: what is still here was left by a process that ended. */
    until: { kind: 'text', notNull: true },
    /** As in usage, and so are the four that follow. */
    begun_by: { kind: 'text' },
    root_id: { kind: 'text' },
    channel: { kind: 'text' },
    unit: { kind: 'text' },
    quantity: { kind: 'integer' },
  },
  owner: 'owner_id',
});
