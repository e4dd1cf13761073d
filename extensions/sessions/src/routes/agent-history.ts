/** Shortening and clearing what an agent remembers of its conversations. */
import { OneOf, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import { route, type SessionRouteDeps } from './route-deps.js';
import { AgentPath, SessionQuery } from './shapes.js';

export const agentHistoryRoutes = (deps: SessionRouteDeps): RouteDecl[] => [compact(deps), reset(deps), clear(deps)];

/** Whoever names one session would lose another, or all of them: what is not asked for here is refused. */
const Nothing = Type.Object({}, { additionalProperties: false });

const compact = ({ agents, sessions }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'compactSession',
    method: 'POST',
    path: '/api/agents/{id}/session/compact',
    summary: 'Compact the conversation',
    description:
      "The agent's model summarises all but the newest 20 messages and reads the summary instead from then on. The history stays complete. This happens automatically when a conversation has more than 80 messages or fills 70% of the model's window. If there is little to summarise, nothing changes and `status` is `ok`; if no model is available, the request fails.",
    cost: 30,
    audit: 'session_compacted',
    params: AgentPath,
    query: SessionQuery,
    body: Nothing,
    bodyRule: 'optional',
    errors: [404, 409, 500],
    responses: {
      200: Type.Object({
        status: OneOf(['ok', 'compacted']),
        message: Type.String(),
        summarised: Type.Integer({ description: 'Messages that were summarised' }),
        kept: Type.Integer({ description: 'Messages that were not summarised' }),
        summary_chars: Type.Integer(),
      }),
    },
    handler: async (req) => {
      const agent = await agents.get(req.actor, req.params.id);
      const { summarised, kept, summaryChars, message } = await sessions.compact(req.actor, agent, req.query.session_id ?? agent.sessionId);
      return reply(200, { status: summarised === 0 ? 'ok' : 'compacted', message, summarised, kept, summary_chars: summaryChars });
    },
  });

const ALL_GO =
  'Deletes every session of the agent with its messages, and starts a new, empty one. They can be restored for `[trash] days`, as those of `DELETE /api/sessions/{id}`. Active runs are stopped first, and their remaining output is not stored. Usage and cost records stay. A request that names a session is refused: use `DELETE /api/sessions/{id}` to delete one.';

const reset = ({ agents, sessions }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'resetSession',
    method: 'POST',
    path: '/api/agents/{id}/session/reset',
    summary: 'Delete all conversations of an agent and start a new one',
    description: ALL_GO,
    cost: 10,
    audit: 'session_reset',
    params: AgentPath,
    query: Nothing,
    body: Nothing,
    bodyRule: 'optional',
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['reset']), agent_id: Uuid, new_session_id: Uuid, sessions_deleted: Type.Integer(), message: Type.String() }) },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      const { sessionId, deleted } = await sessions.wipe(actor, agent);
      return reply(200, { status: 'reset', agent_id: agent.id, new_session_id: sessionId, sessions_deleted: deleted, message: 'Session reset' });
    },
  });

const clear = ({ agents, sessions }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'clearHistory',
    method: 'DELETE',
    path: '/api/agents/{id}/history',
    summary: 'Delete all conversations of an agent',
    description: `${ALL_GO} The same as \`POST /api/agents/{id}/session/reset\`.`,
    cost: 10,
    audit: 'history_cleared',
    params: AgentPath,
    query: Nothing,
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['ok']), message: Type.String(), agent_id: Uuid, new_session_id: Uuid, sessions_deleted: Type.Integer() }) },
    handler: async ({ actor, params }) => {
      const agent = await agents.get(actor, params.id);
      const { sessionId, deleted } = await sessions.wipe(actor, agent);
      return reply(200, { status: 'ok', message: 'All history cleared', agent_id: agent.id, new_session_id: sessionId, sessions_deleted: deleted });
    },
  });
