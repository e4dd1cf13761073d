/** The sessions of one agent: read, list, begin, switch, find. */
import { Nullable, OneOf, reply, type RouteDecl, Type, Uuid, UuidText } from '@svc/api';
import { firstWordsIn } from '../catalogue/facts.js';
import { shownLabel } from '../listing.js';
import { ContextPart, Pressure } from '../contract.js';
import { sessionsErrors } from '../errors.js';
import { History, historyOf } from './history.js';
import { newestOf } from './newest-entries.js';
import { BATCHES_FIRST, route, type SessionRouteDeps } from './route-deps.js';
import { AgentPath, checkedId, checkedLabel, LabelText, SessionQuery, SessionsOfAgent, summaryOf } from './shapes.js';

export const agentSessionRoutes = (deps: SessionRouteDeps): RouteDecl[] => [current(deps), context(deps), list(deps), create(deps), switchTo(deps), byLabel(deps)];

const current = ({ agents, sessions, store, listing, versions }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'getSession',
    method: 'GET',
    path: '/api/agents/{id}/session',
    summary: "Get the agent's current conversation",
    description:
      'The conversation as people read it: tool calls belong to the message that made them. `compacted_summary` is the summary that a model reads instead of the older messages, which are still included. At most the newest 5,000 entries or 8 MiB are returned; `message_count` counts all. A new session is empty.',
    cost: 2,
    params: AgentPath,
    query: SessionQuery,
    errors: [404],
    responses: { 200: History },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const ref = await sessions.named(req.actor, agent, req.query.session_id ?? agent.sessionId);
      const [session, { entries, isWhole }] = await Promise.all([listing.one(req.actor, ref.id), newestOf(store, req.actor, ref.id)]);
      // The summary that a model reads instead of the older messages may stand before those that are shown.
      const summary = isWhole || entries.some(({ kind }) => kind === 'summary') ? undefined : await store.lastSummary(ref.id);
      const conversationId = session?.conversationId ?? undefined;
      const conversation = conversationId === undefined ? undefined : { id: conversationId, versions: await versions.of(req.actor, conversationId) };
      const shown = historyOf(
        {
          id: ref.id,
          agentId: agent.id,
          label: session?.label ?? null,
          // The catalogue of first words is behind what was said: here the words themselves are at hand.
          title: session ? shownLabel({ ...session, firstWords: session.firstWords ?? firstWordsIn(entries) }) : null,
          isTitled: typeof session?.title === 'string',
          isArchived: session?.isArchived,
          tags: session?.tags,
          model: ref.model,
          conversation,
        },
        summary ? [summary, ...entries] : entries,
      );
      return reply(200, { ...shown, message_count: isWhole ? shown.message_count : Math.max(session?.messages ?? 0, shown.message_count) });
    },
  });

const ContextUse = Type.Object(
  {
    used_tokens: Type.Integer({ description: 'Estimated, of the conversation and the system prompt' }),
    max_context_tokens: Type.Integer({ description: "The model's limit" }),
    pct: Type.Number({ description: 'Used of it, in per cent' }),
    model: Type.String(),
    pressure: Pressure,
    parts: Type.Array(ContextPart, {
      description: 'What is sent, by part. Instructions and tools are those of the newest message; before the first one, only the system prompt of the manifest is known',
    }),
  },
  { 'x-name': 'ContextUse' },
);

const context = ({ agents, sessions }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'getSessionContext',
    method: 'GET',
    path: '/api/agents/{id}/session/context',
    summary: 'Show context window usage',
    description: 'Estimated at four characters per token. Above 70% of the window, older messages are summarised automatically.',
    cost: 2,
    params: AgentPath,
    query: SessionQuery,
    errors: [404, 412],
    responses: { 200: ContextUse },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const { usedTokens, maxTokens, percent, model, pressure, parts } = await sessions.context(req.actor, agent, req.query.session_id ?? agent.sessionId);
      return reply(200, { used_tokens: usedTokens, max_context_tokens: maxTokens, pct: percent, model, pressure, parts: [...parts] });
    },
  });

const list = ({ agents, listing, catalogue }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'listAgentSessions',
    method: 'GET',
    path: '/api/agents/{id}/sessions',
    summary: 'List the sessions of an agent',
    description: 'Newest first. A session appears with its first message, or when created with `POST`. `is_canonical` marks the current one, which receives messages without a session id.',
    cost: 2,
    params: AgentPath,
    query: SessionsOfAgent.query,
    errors: [404],
    responses: { 200: SessionsOfAgent.answer },
    handler: async ({ actor, params, query }) => {
      const agent = await agents.get(actor, params.id);
      await catalogue.catchUp(BATCHES_FIRST);
      const [found, active] = await Promise.all([listing.page(actor, SessionsOfAgent, query, agent.id), listing.active(actor, agent.id)]);
      return SessionsOfAgent.reply(query, { ...found, rows: found.rows.map((session) => summaryOf(session, agent, active)) });
    },
  });

const CreateBody = Type.Object({
  label: Type.Optional(Nullable(LabelText, { description: 'What to call it. Several sessions may have one label' })),
  session_id: Type.Optional(Type.String({ format: 'uuid', description: 'Its id, chosen by the client: repeating the request returns the same session' })),
  activate: Type.Optional(Type.Boolean({ description: 'Make it the current session, which receives messages without a session id; default true' })),
});

const create = ({ agents, sessions, store, commit }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'createSession',
    method: 'POST',
    path: '/api/agents/{id}/sessions',
    summary: 'Begin a session',
    description:
      'The new session is empty and becomes the current one, which receives messages without a session id, unless `activate` is false. The previous one stays. An active run continues where it started.',
    audit: 'session_created',
    params: AgentPath,
    body: CreateBody,
    bodyRule: 'optional',
    examples: { 'a fresh conversation': {}, 'one with a name': { label: 'Trip to Lisbon' }, 'in addition to the current one': { label: 'drafts', activate: false } },
    errors: [404, 409],
    responses: { 200: Type.Object({ session_id: Uuid, label: Nullable(Type.String()) }) },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const { label: asked = null, session_id: wanted, activate = true } = req.body;
      const label = asked === null ? null : checkedLabel(asked);
      const id = wanted?.toLowerCase();
      if (id !== undefined && (await store.isClosed(id))) throw sessionsErrors.session_closed(id);
      const known = id === undefined ? undefined : await sessions.agentOf(id);
      if (known !== undefined && known !== agent.id) throw sessionsErrors.session_taken(String(id));
      const { ref, writes } = await sessions.create({ ...req.actor, ownerId: agent.ownerId }, agent.id, { ...(id === undefined ? {} : { id }), ...(label === null ? {} : { label }) });
      await commit([...writes, ...(activate ? await agents.setSession(req.actor, agent.id, ref.id) : [])]);
      return reply(200, { session_id: ref.id, label });
    },
  });

const switchTo = ({ agents, sessions, closingStore, commit }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'switchSession',
    method: 'POST',
    path: '/api/agents/{id}/sessions/{session_id}/switch',
    summary: 'Switch to a session',
    description: 'The session becomes the current one, which receives messages without a session id. An active run continues where it started.',
    audit: 'session_switched',
    params: Type.Object({ id: UuidText('Agent id'), session_id: UuidText('A session of the agent') }),
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['ok']), message: Type.String(), session_id: Uuid, agent_id: Uuid }) },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      const ref = await sessions.named(actor, agent, checkedId(params.session_id));
      // One in which nothing was said yet has no row, and is the current one already. One that is deleted meanwhile is a conflict.
      if (ref.id !== agent.sessionId) await commit([closingStore.isOpen(ref.id), ...(await agents.setSession(actor, agent.id, ref.id))]);
      return reply(200, { status: 'ok', message: 'Session switched', session_id: ref.id, agent_id: agent.id });
    },
  });

const byLabel = ({ agents, listing, catalogue }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'getSessionByLabel',
    method: 'GET',
    path: '/api/agents/{id}/sessions/by-label/{label}',
    summary: 'Find a session by its label',
    description: 'The newest session with exactly this label. You can give the agent by id or name. Titles taken from the first message are not labels.',
    cost: 2,
    params: Type.Object({ id: Type.String({ description: 'Agent id or name', maxLength: 256, examples: ['librarian'] }), label: { ...LabelText, examples: ['Holiday plans'] } }),
    errors: [404],
    responses: { 200: Type.Object({ session_id: Uuid, agent_id: Uuid, label: Type.String(), message_count: Type.Integer() }) },
    handler: async ({ actor, params }) => {
      // `get` says of an id what is wrong with it; a name has no such error.
      const agent = (await agents.find(actor, params.id)) ?? (await agents.get(actor, params.id));
      const label = checkedLabel(params.label);
      await catalogue.catchUp(BATCHES_FIRST);
      const session = await listing.byLabel(agent.id, label);
      if (!session) throw sessionsErrors.no_such_label(label);
      return reply(200, { session_id: session.id, agent_id: agent.id, label, message_count: session.messages });
    },
  });
