/** Notices over HTTP. */
import { openResource, type RouteDecl } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { NoticeRow } from './contract.js';
import type { Notices } from './notices.js';
import { DEFAULT_NOTICES, MAX_NOTICES, NoticeList } from './resource.js';

export interface NoticeRouteDeps {
  readonly agents: Pick<AgentsService, 'briefs'>;
  readonly notices: Notices;
}

export const noticeRoutes = ({ agents, notices }: NoticeRouteDeps): readonly RouteDecl[] =>
  openResource(NoticeList, {
    list: async ({ actor, query: { unread, limit = DEFAULT_NOTICES, offset = 0 } }) => {
      const found = await notices.list(actor, { limit: Math.min(limit, MAX_NOTICES), offset, ...(unread === undefined ? {} : { unread }) });
      const briefs = await agents.briefs(actor, [...new Set(found.rows.map(({ agent_id: id }) => id))]);
      return { notices: found.rows.map((row) => shown(row, briefs[row.agent_id]?.name ?? '')), total: found.total, unread: found.unread };
    },
    delete: ({ actor, key }) => notices.remove(actor, key),
    actions: {
      read: async ({ actor, key }) => {
        await notices.read(actor, key);
        return { status: 'read', notice_id: key };
      },
    },
  }).routes;

const shown = ({ owner_id: _owner, ...row }: NoticeRow, name: string) => ({ ...row, agent_name: name });
