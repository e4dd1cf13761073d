/** The kernel's own tables of purges. */
import { type Migration, createTables, defineTable } from '@svc/api';

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

export const purgeTables: Migration = createTables('0004_purges', [Purges, Receipts]);
