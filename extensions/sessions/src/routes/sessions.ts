/** Sessions of all agents: list, search, read, label, delete, clean up. */
import { type Actor, DAY_OR_TIME, Nullable, OneOf, reply, type RouteDecl, TextOf, timeOfText, Type, Uuid, UuidText } from '@svc/api';
import { sessionsErrors } from '../errors.js';
import { shownLabel, type ListedSession } from '../listing.js';
import { searchSaid } from '../search/search.js';
import { RawMessage, rawMessages } from './raw-messages.js';
import { newestOf } from './newest-entries.js';
import { BATCHES_FIRST, route, type SessionRouteDeps } from './route-deps.js';
import { AllVersions, checkedId, checkedLabel, LabelText, limitOf, Paging, SessionList, SessionPath, SessionSummary, summaryOf } from './shapes.js';

export const sessionRoutes = (deps: SessionRouteDeps): RouteDecl[] => [list(deps), search(deps), cleanup(deps), get(deps), remove(deps), label(deps), archive(deps)];

const list = ({ agents, bin, listing, catalogue }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'listSessions',
    method: 'GET',
    path: '/api/sessions',
    summary: 'List all sessions',
    description: 'Of all agents that you may see, the newest first.',
    cost: 2,
    query: SessionList.query,
    errors: [404],
    responses: { 200: SessionList.answer },
    handler: async ({ actor, query }) => {
      const agentId = query.agent_id === undefined ? undefined : (await agents.get(actor, query.agent_id)).id;
      if (query.deleted === 'only') return SessionList.reply(query, { ...(await deletedOnes(agents, bin, actor, query, agentId)), next: null });
      await catalogue.catchUp(BATCHES_FIRST);
      const [found, active] = await Promise.all([listing.page(actor, SessionList, query, agentId), listing.active(actor, agentId)]);
      const briefs = await agents.briefs(actor, [...new Set(found.rows.map((session) => session.agentId))]);
      return SessionList.reply(query, { ...found, rows: found.rows.map((session) => summaryOf(session, briefs[session.agentId], active)) });
    },
  });

const NOTHING_ACTIVE: ReadonlySet<string> = new Set();

const deletedOnes = async (
  agents: SessionRouteDeps['agents'],
  bin: SessionRouteDeps['bin'],
  actor: Actor,
  query: { readonly limit?: number; readonly offset?: number },
  agentId: string | undefined,
) => {
  const found = await bin.list(actor, { limit: limitOf(query.limit), offset: query.offset ?? 0, ...(agentId === undefined ? {} : { agentId }) });
  const briefs = await agents.briefs(actor, [...new Set(found.rows.map((session) => session.agentId))]);
  const rows = found.rows.map((session) => ({ ...summaryOf(session, briefs[session.agentId], NOTHING_ACTIVE), deleted_at: session.deletedAt, restorable_until: session.keepUntil }));
  return { rows, total: found.total };
};

const Hit = Type.Object(
  {
    session_id: Uuid,
    agent_id: Uuid,
    agent_name: Nullable(Type.String()),
    label: Nullable(Type.String(), { description: 'Of the session, as lists show it' }),
    seq: Type.Integer({ description: 'Number of the entry in its session' }),
    role: OneOf(['user', 'assistant']),
    timestamp: Type.String(),
    snippet: Type.String({ description: 'The text around the first word that fits' }),
    rank: Type.Number({ description: 'Lower is better; 0 after the hundred newest, which are sorted by time' }),
    active: Type.Boolean({ description: 'The session has an active run' }),
  },
  { 'x-name': 'SessionHit' },
);

const search = ({ agents, listing, catalogue, search: store }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'searchSessions',
    method: 'GET',
    path: '/api/sessions/search',
    summary: 'Search messages',
    description:
      'Finds messages and answers that contain every word of `q`, in your sessions or those of one agent. Ignores case and accents; matches any part of Chinese, Japanese, Korean and Thai text; has no operators. The hundred newest matches come first, by relevance; then the others, by time. Tool results are not searched.',
    cost: 5,
    query: Type.Object({
      q: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words that a message must all contain, 1 to 32' })),
      limit: Paging.limit,
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0, description: 'How many to leave out' })),
      agent_id: Type.Optional(UuidText('Only sessions of this agent')),
      label: Type.Optional(LabelText),
      from: Type.Optional(TextOf(DAY_OR_TIME, { maxLength: 40, description: 'Messages from this time on: a day, or a time in ISO 8601' })),
      to: Type.Optional(TextOf(DAY_OR_TIME, { maxLength: 40, description: 'Messages up to this time; a day is included to its end' })),
    }),
    errors: [404],
    responses: {
      200: Type.Object({
        items: Type.Array(Hit),
        total: Type.Integer({ description: 'How many were found; at least so many unless `total_is_exact`' }),
        total_is_exact: Type.Boolean(),
        offset: Type.Integer(),
        limit: Type.Integer(),
        indexed_until: Type.Optional(Type.String({ description: 'Set while older messages are being indexed, for example after an upgrade: results from this time on may be missing' })),
      }),
    },
    handler: async ({ actor, query }) => {
      const { q = '', offset = 0, agent_id: of, label: asked } = query;
      const limit = limitOf(query.limit);
      const agent = of === undefined ? undefined : await agents.get(actor, of);
      const found = await searchSaid(store, catalogue, {
        ownerId: agent?.ownerId ?? actor.ownerId,
        q,
        limit,
        offset,
        agentId: agent?.id,
        label: asked === undefined ? undefined : checkedLabel(asked),
        from: timeOf('from', query.from, '00:00:00.000'),
        to: timeOf('to', query.to, '23:59:59.999'),
      });
      const [briefs, active] = await Promise.all([agents.briefs(actor, [...new Set(found.hits.map(({ session }) => session.agent_id))]), listing.active(actor, agent?.id)]);
      const items = found.hits.map(({ session, at, ...hit }) => ({
        session_id: session.id,
        agent_id: session.agent_id,
        agent_name: briefs[session.agent_id]?.name ?? null,
        label: shownLabel({ ...session, firstWords: session.first_words }),
        ...hit,
        timestamp: at,
        active: active.has(session.id),
      }));
      const { total, isTotal, indexedUntil } = found;
      return reply(200, { items, total, total_is_exact: isTotal, offset, limit, ...(indexedUntil === undefined ? {} : { indexed_until: indexedUntil }) });
    },
  });

/** As times of messages are kept. Throws `sessions_invalid_time`. */
const timeOf = (name: string, value: string | undefined, ofDay: string): string | undefined => {
  if (value === undefined) return undefined;
  const ms = timeOfText(value, ofDay);
  if (ms === undefined) throw sessionsErrors.invalid_time(name, value);
  return new Date(ms).toISOString();
};

const cleanup = ({ cleanUp }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'pruneSessions',
    method: 'POST',
    path: '/api/sessions/cleanup',
    summary: 'Clean up sessions',
    description:
      'Deletes sessions of deleted agents, those older than `[session] retention_days`, and the oldest of agents with more than `max_sessions_per_agent`. Sessions with an active run stay. If either setting is set, this also runs every `cleanup_interval_hours`.',
    permission: 'sessions.admin',
    cost: 30,
    audit: 'sessions_pruned',
    responses: {
      200: Type.Object({
        sessions_deleted: Type.Integer(),
        orphaned: Type.Integer({ description: 'Of agents that are gone' }),
        expired: Type.Integer({ description: 'Older than the retention period' }),
        surplus: Type.Integer({ description: 'More than an agent may have' }),
      }),
    },
    handler: async ({ actor }) => {
      const { deleted, ...counts } = await cleanUp(actor);
      return reply(200, { sessions_deleted: deleted, ...counts });
    },
  });

const SessionDetail = Type.Object(
  { ...SessionSummary.properties, model_override: Nullable(Type.String(), { description: "Always null: sessions have no model. Set the agent's model instead" }), messages: Type.Array(RawMessage) },
  { 'x-name': 'SessionDetail' },
);

const get = ({ agents, listing, catalogue, store }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'getSessionById',
    method: 'GET',
    path: '/api/sessions/{id}',
    summary: 'Get a session',
    description: 'Messages as stored in the log, with tool calls and results as blocks: the newest 5,000, at most 8 MiB. For a chat view, use `GET /api/agents/{id}/session`.',
    cost: 2,
    params: SessionPath,
    errors: [404],
    responses: { 200: SessionDetail },
    handler: async ({ actor, params }) => {
      await catalogue.catchUp(BATCHES_FIRST);
      const session = await visible(listing, actor, params.id);
      const [briefs, active, { entries }] = await Promise.all([agents.briefs(actor, [session.agentId]), listing.active(actor, session.agentId), newestOf(store, actor, session.id)]);
      return reply(200, { ...summaryOf(session, briefs[session.agentId], active), model_override: null, messages: rawMessages(entries) });
    },
  });

export const visible = async (listing: SessionRouteDeps['listing'], actor: Parameters<SessionRouteDeps['listing']['one']>[0], id: string): Promise<ListedSession> => {
  const session = await listing.one(actor, checkedId(id));
  if (!session) throw sessionsErrors.no_such_session(id);
  return session;
};

/** Ids of all versions of the session's conversation, its own first. */
export const conversationOf = async ({ versions }: SessionRouteDeps, actor: Actor, { id, conversationId }: ListedSession): Promise<string[]> => {
  const others = conversationId === null ? [] : await versions.of(actor, conversationId);
  return [id, ...others.flatMap((other) => (other.id === id ? [] : other.id))];
};

const remove = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'deleteSession',
    method: 'DELETE',
    path: '/api/sessions/{id}',
    summary: 'Delete a session',
    description:
      "Deletes the session with all its messages, in every extension. An active run is stopped first, and its remaining output is discarded. If it was the agent's current session, a new, empty one replaces it. Its id is not reused. Usage and cost records stay. For `[trash] days` it can be restored: `GET /api/sessions?deleted=only` lists it, and `PUT /api/sessions/{id}/archive` with `archived: false` brings it back. With `erase=true` it is erased at once, also if it was deleted before.",
    audit: 'session_deleted',
    params: SessionPath,
    query: Type.Object({ all_versions: AllVersions, erase: Type.Optional(Type.Boolean({ default: false, description: 'So that nobody can restore it' })) }),
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['deleted']), session_id: Uuid, restorable_until: Nullable(Type.String(), { description: 'null if it is erased' }) }) },
    handler: async ({ actor, params, query }) => {
      const binned = query.erase ? await deps.bin.find(actor, checkedId(params.id)) : undefined;
      if (binned) {
        for (const id of query.all_versions ? await deps.bin.versionsOf(actor, binned) : [binned.id]) await deps.closing.eraseBinned(id);
        return reply(200, { status: 'deleted', session_id: binned.id, restorable_until: null });
      }
      const session = await visible(deps.listing, actor, params.id);
      const ids = query.all_versions ? await conversationOf(deps, actor, session) : [session.id];
      let until: string | null = null;
      // The chosen version goes last: none of the others is chosen for it on the way.
      for (const id of ids.toReversed()) {
        const of = { id, agentId: session.agentId };
        if (query.erase) await deps.closing.erase(actor, of);
        else until = (await deps.closing.remove(actor, of)) ?? until;
      }
      return reply(200, { status: 'deleted', session_id: session.id, restorable_until: until });
    },
  });

const label = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'updateSessionLabel',
    method: 'PUT',
    path: '/api/sessions/{id}/label',
    summary: 'Label a session',
    description: 'null removes the label; lists then show the start of the conversation. Several sessions can have the same label.',
    audit: 'session_labelled',
    params: SessionPath,
    body: Type.Object({ label: Nullable(LabelText), all_versions: AllVersions }),
    examples: { 'a name': { label: 'Trip to Lisbon' }, 'in another script': { label: '出差 上海' }, 'no label': { label: null } },
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['updated']), session_id: Uuid, label: Nullable(Type.String(), { description: 'As lists show it from now on' }) }) },
    handler: async ({ actor, params, body }) => {
      const session = await visible(deps.listing, actor, params.id);
      const given = body.label === null ? null : checkedLabel(body.label);
      const ids = body.all_versions ? await conversationOf(deps, actor, session) : [session.id];
      await deps.commit([deps.closingStore.isOpen(session.id), deps.closingStore.setLabel(ids, given), ...deps.changeEvents(session, 'changed')]);
      return reply(200, { status: 'updated', session_id: session.id, label: shownLabel({ ...session, label: given }) });
    },
  });

const archive = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'archiveSession',
    method: 'PUT',
    path: '/api/sessions/{id}/archive',
    summary: 'Archive a conversation',
    description:
      'All versions of it. An archived conversation is left out of lists with `archived=no`; it is found by searches, and can be continued. `archived: false` takes it out of the archive, and restores a deleted one.',
    audit: 'session_archived',
    params: SessionPath,
    body: Type.Object({ archived: Type.Boolean() }),
    examples: { 'put away': { archived: true }, 'back in the list': { archived: false } },
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['updated']), session_id: Uuid, archived: Type.Boolean() }) },
    handler: async ({ actor, params, body: { archived } }) => {
      if (!archived && (await deps.bin.find(actor, checkedId(params.id)))) await deps.bin.restore(actor, checkedId(params.id));
      const session = await visible(deps.listing, actor, params.id);
      const ids = await conversationOf(deps, actor, session);
      await deps.commit([deps.closingStore.isOpen(session.id), deps.closingStore.setArchived(ids, archived), ...deps.changeEvents(session, 'changed')]);
      return reply(200, { status: 'updated', session_id: session.id, archived });
    },
  });
