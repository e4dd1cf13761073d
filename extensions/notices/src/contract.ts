/** What notices stores, and what it tells others: that there is one, and nothing of what it says. */
import { defineEvent, defineTable, OneOf, type RowOf, Type } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

export const NoticeRows = defineTable('notices', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    agent_id: text,
    session_id: text,
    run_id: text,
    reason: text,
    summary: text,
    created_at: text,
    read_at: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  session: 'session_id',
  indexes: [['owner_id', 'created_at'], ['agent_id', 'created_at'], ['session_id'], ['created_at']],
});
export type NoticeRow = RowOf<typeof NoticeRows>;

export const NoticeChanged = defineEvent('notice.changed', '1.0.0', Type.Object({ id: Type.String(), agentId: Type.String(), ownerId: Type.String(), change: OneOf(['sent', 'read', 'deleted']) }), {
  what: 'notice',
  permission: 'notices.read',
  owner: 'ownerId',
  id: 'id',
  agent: 'agentId',
  state: 'change',
});
