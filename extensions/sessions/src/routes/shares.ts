/** Links to conversations: made, listed, updated, revoked, and read by anyone who has one. */
import { bytes, ErrorBody, type Logger, Nullable, OneOf, reply, type RouteDecl, Type, Uuid, UuidText } from '@svc/api';
import { sessionsErrors } from '../errors.js';
import { endedPage, PAGE_HEADERS, PAGE_TYPE, sharePage } from '../sharing/share-page.js';
import type { ShareRow } from '../tables.js';
import { route, type SessionRouteDeps } from './route-deps.js';
import { visible } from './sessions.js';
import { checkedId, SessionPath } from './shapes.js';

const MAX_DAYS = 36_500;
const READ_COST = 5;

const ExpiresInDays = (usual: string) =>
  Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: MAX_DAYS }), { description: `How many days it is valid. ${usual} null means without an expiry, unless \`[session] share_max_days\` sets a limit` }),
  );

const Share = Type.Object(
  {
    id: Uuid,
    session_id: Uuid,
    agent_id: Uuid,
    title: Type.String({ description: 'Of the page: as a model named the conversation, or how it began; never its label' }),
    through_seq: Type.Integer({ description: 'The last entry of the session that it shows' }),
    created_at: Type.String(),
    as_of: Type.String({ description: 'When it was made or last updated' }),
    expires_at: Nullable(Type.String(), { description: 'When it ends, by its own expiry or `[session] share_max_days`; null means never' }),
    is_over: Type.Boolean({ description: 'It has expired' }),
  },
  { 'x-name': 'ConversationShare' },
);

const SharePath = Type.Object({ id: UuidText('Id of the link, as lists show it') });

/** Its page asks no key: what it shows was shared with whoever has the link. */
export const PUBLIC_PREFIX = '/shared/';

export const shareRoutes = (deps: SessionRouteDeps): RouteDecl[] => [create(deps), list(deps), update(deps), revoke(deps), page(deps)];

const shownShare = ({ clock, sharing }: Pick<SessionRouteDeps, 'sharing' | 'clock'>, row: ShareRow) => {
  const end = sharing.endOf(row);
  const { id, session_id, agent_id, title, through_seq, created_at, as_of } = row;
  return { id, session_id, agent_id, title, through_seq, created_at, as_of, expires_at: end, is_over: end !== null && end <= clock.iso() };
};

const create = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'shareSession',
    method: 'POST',
    path: '/api/sessions/{id}/shares',
    summary: 'Make a link to a conversation',
    description:
      'Anyone who has the link can read the conversation as it is now, without a login. Later messages are not shown unless the link is updated. The page shows what was written, and no tools, files, reasoning, ids or names. The answer has the link; it cannot be read again, because only its hash is stored. Needs `[session] share_links`.',
    audit: 'session_shared',
    params: SessionPath,
    body: Type.Object({ expires_in_days: ExpiresInDays('30 by default.') }),
    bodyRule: 'optional',
    examples: { 'for 30 days': {}, 'for a week': { expires_in_days: 7 }, 'until it is revoked': { expires_in_days: null } },
    errors: [403, 404, 409],
    responses: { 201: Type.Object({ share: Share, path: Type.String({ description: 'The link, below the address of the daemon: `/shared/TOKEN`' }) }) },
    handler: async ({ actor, params, body }) => {
      const session = await visible(deps.listing, actor, params.id);
      const { row, token, writes } = await deps.sharing.create(actor, session, body.expires_in_days);
      await deps.commit([deps.closingStore.isOpen(session.id), ...writes, ...deps.changeEvents(session, 'changed')]);
      return reply(201, { share: shownShare(deps, row), path: PUBLIC_PREFIX + token }, { 'cache-control': 'no-store' });
    },
  });

const list = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'listShares',
    method: 'GET',
    path: '/api/shares',
    summary: 'List links to conversations',
    description: 'Yours; an admin sees those of all people. The newest first, 500 at most. The links themselves are not stored.',
    query: Type.Object({ session_id: Type.Optional(UuidText('Only of this session')) }),
    responses: {
      200: Type.Object({
        shares: Type.Array(Share),
        total: Type.Integer(),
        is_on: Type.Boolean({ description: 'Whether `[session] share_links` is true. If not, no link works' }),
        max_days: Type.Integer({ description: 'The limit for a new link; 0 means none' }),
        usual_days: Type.Integer({ description: 'If a request says nothing else' }),
      }),
    },
    handler: async ({ actor, query }) => {
      const rows = await deps.shares.list(actor, query.session_id === undefined ? undefined : checkedId(query.session_id));
      const { share_links, share_max_days } = deps.settings();
      return reply(200, { shares: rows.map((row) => shownShare(deps, row)), total: rows.length, is_on: share_links, max_days: share_max_days, usual_days: deps.sharing.usualDays() });
    },
  });

const update = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'updateShare',
    method: 'PUT',
    path: '/api/shares/{id}',
    summary: 'Update a link to a conversation',
    description: 'The link shows the conversation as it is now. Its address stays.',
    audit: 'session_share_updated',
    params: SharePath,
    body: Type.Object({ expires_in_days: ExpiresInDays('By default, its expiry stays.') }),
    bodyRule: 'optional',
    examples: { 'with what was written since': {}, 'and for 30 more days': { expires_in_days: 30 }, 'and without an expiry': { expires_in_days: null } },
    errors: [403, 404, 409],
    responses: { 200: Type.Object({ share: Share }) },
    handler: async ({ actor, params, body }) => {
      const { row, writes } = await deps.sharing.update(actor, await deps.shares.get(actor, params.id.toLowerCase()), body.expires_in_days);
      await deps.commit([deps.closingStore.isOpen(row.session_id), ...writes, ...changed(deps, row)]);
      return reply(200, { share: shownShare(deps, row) });
    },
  });

const revoke = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'revokeShare',
    method: 'DELETE',
    path: '/api/shares/{id}',
    summary: 'Revoke a link to a conversation',
    description: 'It ends at once. Whoever opened the page before may have kept a copy.',
    audit: 'session_share_revoked',
    params: SharePath,
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['revoked']), share_id: Uuid }) },
    handler: async ({ actor, params }) => {
      const row = await deps.shares.get(actor, params.id.toLowerCase());
      await deps.commit([deps.shares.remove(row), ...changed(deps, row)]);
      return reply(200, { status: 'revoked', share_id: row.id });
    },
  });

const changed = ({ changeEvents }: SessionRouteDeps, { agent_id: agentId, owner_id: ownerId, session_id: id }: ShareRow) => changeEvents({ id, agentId, ownerId }, 'changed');

const page = ({ sharing, drawnPages }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'getSharedConversation',
    method: 'GET',
    path: `${PUBLIC_PREFIX}{token}`,
    summary: 'Read a shared conversation',
    description:
      'A page for people, with no scripts and no cookies. It needs no key. A link that was revoked or has expired, whose conversation was deleted, or that never was is answered the same: 404. So is every link while `[session] share_links` is false. A browser gets the 404 as a page.',
    auth: 'public',
    cost: READ_COST,
    params: Type.Object({ token: Type.String({ maxLength: 200, description: 'What the link ends with', examples: ['wZ7Xc3mQ5b0y1nE2kLr8sT4vU6aJ9dHfGpOiYxKq-_M'] }) }),
    responses: { 200: { description: 'An HTML page', contentType: 'text/html' }, 404: ErrorBody, 503: ErrorBody },
    handler: async ({ headers, params, log }) => {
      const languages = headers['accept-language'];
      const shown = await readOrRefuse(() => sharing.read(params.token), log);
      if (shown) return bytes(200, PAGE_TYPE, sharePage(languages, shown.conversation, await drawnPages.of(shown.key, shown.conversation)), PAGE_HEADERS);
      if (headers.accept?.includes('text/html')) return bytes(404, PAGE_TYPE, endedPage(languages), PAGE_HEADERS);
      throw sessionsErrors.no_such_share();
    },
  });

/** A failure is logged here: the log of failed requests has their paths, and a path of this route is a secret. */
const readOrRefuse = async <T>(read: () => Promise<T>, log: Logger): Promise<T> => {
  try {
    return await read();
  } catch (cause) {
    log.error('a shared conversation could not be read', { cause });
    throw sessionsErrors.share_unreadable();
  }
};
