/** What notices stores, and what it tells others: that there is one, and nothing of what it says. */
import { Actor, defineEvent, defineService, defineTable, method, OneOf, type RowOf, type Service, Type } from '@svc/api';

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

/** For areas that have something to say to the owner of an agent. */
export const NoticesServed = defineService('notices', '1.0.0', {
  /** Once for each key. Counts among the notices of the agent; throws `notice_too_many`. Answers with its id. */
  send: method(
    [
      Actor,
      Type.Object({
        agentId: Type.String(),
        sessionId: Type.Optional(Type.String()),
        runId: Type.Optional(Type.String()),
        key: Type.String({ description: 'The same one is the same notice' }),
        reason: Type.String(),
        summary: Type.String(),
      }),
    ],
    Type.String(),
    { what: 'sends you notices', changes: true },
  ),
});
export type NoticesService = Service<typeof NoticesServed>;
