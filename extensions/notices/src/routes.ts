/** Notices over HTTP. */
import { Nullable, OneOf, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { NoticeRow } from './contract.js';
import type { Notices } from './notices.js';

export interface NoticeRouteDeps {
  readonly agents: Pick<AgentsService, 'briefs'>;
  readonly notices: Notices;
}

const route = routeGroup({ area: 'notices' });
const DEFAULT_NOTICES = 50;
const MAX_NOTICES = 200;
const Count = Type.Integer({ minimum: 0 });
const NoticePath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Notice id' }) });
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
const YOURS = 'Only the owner of the agent sees a notice; owners of the daemon and admins see those of their own agents.';

export const noticeRoutes = (deps: NoticeRouteDeps): RouteDecl[] => [listNotices(deps), readNotice(deps), deleteNotice(deps)];

const listNotices = ({ agents, notices }: NoticeRouteDeps): RouteDecl =>
  route({
    id: 'listNotices',
    method: 'GET',
    path: '/api/notices',
    summary: 'List what your agents told you, newest first',
    description: `Agents send notices with the tool \`notify_owner\`. ${YOURS}`,
    query: Type.Object({
      unread: Type.Optional(Type.Boolean({ description: 'true: only those that are not marked as read' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_NOTICES, description: `How many at most; more than ${MAX_NOTICES} is ${MAX_NOTICES}` })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })),
    }),
    responses: { 200: Type.Object({ notices: Type.Array(Notice), total: Count, unread: { ...Count, description: 'Of all of them' } }) },
    handler: async ({ actor, query: { unread, limit = DEFAULT_NOTICES, offset = 0 } }) => {
      const found = await notices.list(actor, { limit: Math.min(limit, MAX_NOTICES), offset, ...(unread === undefined ? {} : { unread }) });
      const briefs = await agents.briefs(actor, [...new Set(found.rows.map(({ agent_id: id }) => id))]);
      return reply(200, { notices: found.rows.map((row) => shown(row, briefs[row.agent_id]?.name ?? '')), total: found.total, unread: found.unread });
    },
  });

const shown = ({ owner_id: _owner, ...row }: NoticeRow, name: string) => ({ ...row, agent_name: name });

const readNotice = ({ notices }: NoticeRouteDeps): RouteDecl =>
  route({
    id: 'readNotice',
    method: 'POST',
    path: '/api/notices/{id}/read',
    summary: 'Mark a notice as read',
    description: YOURS,
    permission: 'notices.write',
    errors: [404],
    params: NoticePath,
    responses: { 200: Type.Object({ status: OneOf(['read']), notice_id: Uuid }) },
    handler: async ({ actor, params: { id } }) => {
      await notices.read(actor, id);
      return reply(200, { status: 'read' as const, notice_id: id });
    },
  });

const deleteNotice = ({ notices }: NoticeRouteDeps): RouteDecl =>
  route({
    id: 'deleteNotice',
    method: 'DELETE',
    path: '/api/notices/{id}',
    summary: 'Delete a notice',
    description: YOURS,
    permission: 'notices.write',
    errors: [404],
    params: NoticePath,
    responses: { 200: Type.Object({ status: OneOf(['deleted']), notice_id: Uuid }) },
    handler: async ({ actor, params: { id } }) => {
      await notices.remove(actor, id);
      return reply(200, { status: 'deleted' as const, notice_id: id });
    },
  });
