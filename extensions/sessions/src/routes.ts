/** Sessions over HTTP: read the conversation, begin another one, shorten it. */
import { type Db, Nullable, OneOf, reply, type RouteDecl, routeGroup, Type, Uuid, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { SessionsService } from './contract.js';
import { sessionsErrors } from './errors.js';
import { History, historyOf } from './history.js';
import type { SessionStore } from './store.js';

const route = routeGroup({ area: 'sessions' });

/** Entries a history answer shows at most, newest kept. */
const MAX_HISTORY_ENTRIES = 5_000;

export interface SessionRouteDeps {
  readonly sessions: SessionsService;
  readonly agents: AgentsService;
  readonly store: SessionStore;
  commit: Db['commit'];
}

const AgentPath = Type.Object({ id: UuidText('Agent id') });
const SessionQuery = Type.Object({ session_id: Type.Optional(UuidText('A session of the agent; its current one when left out')) });

export const sessionRoutes = (deps: SessionRouteDeps): RouteDecl[] => [current(deps), create(deps), compact(deps)];

const current = ({ agents, sessions, store }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'getSession',
    method: 'GET',
    path: '/api/agents/{id}/session',
    summary: "The agent's current conversation",
    cost: 2,
    params: AgentPath,
    query: SessionQuery,
    errors: [404],
    responses: { 200: History },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const ref = await sessions.named(req.actor, agent, req.query.session_id ?? agent.sessionId);
      const row = ref.seq === 0 ? undefined : await store.find(req.actor, ref.id);
      const entries = ref.seq === 0 ? [] : await store.entries(ref.id, Math.max(0, ref.seq - MAX_HISTORY_ENTRIES), MAX_HISTORY_ENTRIES);
      return reply(200, historyOf({ id: ref.id, agentId: agent.id, label: row?.label ?? null }, entries));
    },
  });

const CreateBody = Type.Object({
  label: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9 _-]{1,128}$', description: 'What to call it' })),
  session_id: Type.Optional(Type.String({ format: 'uuid', description: 'Its id, chosen by the client: the same request sent again gives the same session' })),
  activate: Type.Optional(Type.Boolean({ description: 'Whether messages without a session id go there from now on; default true' })),
});

const create = ({ agents, sessions, commit }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'createSession',
    method: 'POST',
    path: '/api/agents/{id}/sessions',
    summary: 'Begin a session',
    params: AgentPath,
    body: CreateBody,
    bodyRule: 'optional',
    errors: [404, 409],
    responses: { 200: Type.Object({ session_id: Uuid, label: Nullable(Type.String()) }) },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const { label, session_id: asked, activate = true } = req.body;
      const id = asked?.toLowerCase();
      const known = id === undefined ? undefined : await sessions.agentOf(id);
      if (known !== undefined && known !== agent.id) throw sessionsErrors.session_taken(String(id));
      const { ref, writes } = await sessions.create({ ...req.actor, ownerId: agent.ownerId }, agent.id, { ...(id === undefined ? {} : { id }), ...(label === undefined ? {} : { label }) });
      await commit([...writes, ...(activate ? await agents.setSession(req.actor, agent.id, ref.id) : [])]);
      return reply(200, { session_id: ref.id, label: label ?? null });
    },
  });

const compact = ({ agents, sessions }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'compactSession',
    method: 'POST',
    path: '/api/agents/{id}/session/compact',
    summary: 'Summarise the older part of the conversation now',
    cost: 30,
    params: AgentPath,
    query: SessionQuery,
    errors: [404, 409, 500],
    responses: { 200: Type.Object({ status: OneOf(['ok', 'compacted']), message: Type.String() }) },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const done = await sessions.compact(req.actor, agent, req.query.session_id ?? agent.sessionId);
      return reply(200, { status: done.summarised === 0 ? 'ok' : 'compacted', message: done.message });
    },
  });
