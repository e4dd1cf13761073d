/** Notices, as people see and handle them. */
import { defineResource, Nullable, OneOf, Type, Uuid } from '@svc/api';
import { noticeErrors } from './errors.js';

export const DEFAULT_NOTICES = 50;
export const MAX_NOTICES = 200;
const Count = Type.Integer({ minimum: 0 });
const YOURS = 'Only the owner of the agent sees a notice; owners of the daemon and admins see those of their own agents.';

const Notice = Type.Object(
  {
    id: Uuid,
    agent_id: Uuid,
    agent_name: Type.String(),
    session_id: Type.String({ description: 'The conversation in which the agent sent it' }),
    run_id: Type.String(),
    reason: Type.String(),
    summary: Type.String({ description: 'Plain text that a model wrote' }),
    created_at: Type.String({ format: 'date-time' }),
    read_at: Nullable(Type.String({ format: 'date-time' })),
  },
  { 'x-name': 'Notice' },
);

export const NoticeList = defineResource({
  area: 'notices',
  one: 'notice',
  path: '/api/notices',
  key: { name: 'id', schema: Type.String({ format: 'uuid', description: 'Notice id' }) },
  item: Notice,
  operations: {
    list: {
      summary: 'List what your agents told you, newest first',
      description: `Agents send notices with the tool \`notify_owner\`. ${YOURS}`,
      query: Type.Object({
        unread: Type.Optional(Type.Boolean({ description: 'true: only those that are not marked as read' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_NOTICES, description: `How many at most; more than ${MAX_NOTICES} is ${MAX_NOTICES}` })),
        offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })),
      }),
      answer: Type.Object({ notices: Type.Array(Notice), total: Count, unread: { ...Count, description: 'Of all of them' } }),
    },
    delete: { description: YOURS, isBlind: true, audit: false },
  },
  actions: {
    read: {
      summary: 'Mark a notice as read',
      description: YOURS,
      isBlind: true,
      audit: false,
      answer: Type.Object({ status: OneOf(['read']), notice_id: Uuid }),
      done: { en: 'Marked as read.', zh: '已标为已读。' },
      button: { label: { en: 'Mark as read', zh: '标为已读' }, when: { read_at: [null] } },
    },
  },
  columns: [
    { field: 'reason', title: { en: 'Notice', zh: '通知' }, below: 'summary' },
    { field: 'read_at', title: { en: 'Read', zh: '已读' }, format: 'ago', none: { en: 'unread', zh: '未读' } },
    { field: 'agent_name', title: { en: 'Agent', zh: '智能体' }, isMinor: true, none: { en: 'deleted agent', zh: '已删除的智能体' } },
    { field: 'created_at', title: { en: 'Sent', zh: '发送时间' }, format: 'ago' },
  ],
  words: {
    title: { en: 'Notices', zh: '通知' },
    one: { en: 'notice', zh: '通知' },
    note: { en: 'What your agents told you outside a conversation.', zh: '智能体在对话之外告诉你的事。' },
    empty: { en: 'Your agents have told you nothing.', zh: '智能体还没有告诉你什么。' },
  },
  view: { opens: { panel: 'runs', field: 'run_id' }, event: 'notice' },
  missing: noticeErrors.not_found,
});
