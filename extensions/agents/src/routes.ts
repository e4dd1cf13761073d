import { type Actor, IdempotencyKey, OneOf, reply, type RouteDecl, routeGroup, type Static, Type, Uuid, UuidText } from '@svc/api';
import { AgentSummary, type SummaryDeps, summariesOf } from './shown/agent-summary.js';
import type { AgentsService, SpawnRequest } from './contract.js';
import { agentErrors } from './errors.js';
import type { LastActive } from './shown/last-active.js';
import { shownModels } from './shown/model-shown.js';
import type { Spawned } from './spawning.js';
import type { AgentStore } from './store.js';
import { AgentDetail, detailOf } from './shown/views.js';

const route = routeGroup({ area: 'agents' });

const MAX_PAGE = 500;
/** A whole manifest (1 MiB) as a JSON string, where quotes and line ends take two bytes. */
const MAX_SPAWN_BODY_BYTES = 2 * 1_048_576 + 65_536;

export interface AgentRouteDeps extends SummaryDeps {
  readonly agents: AgentsService;
  readonly spawn: (actor: Actor, request: SpawnRequest) => Promise<Spawned>;
  readonly store: AgentStore;
  readonly lastActive: LastActive;
}

/** A bad id has an error of its own, `invalid_agent_id`. */
const AgentParams = Type.Object({ id: UuidText('Agent id') });

const STATES = ['Created', 'Running', 'Suspended', 'Crashed', 'Terminated'] as const;

const ListQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name or description' })),
  status: Type.Optional(Type.String({ maxLength: 40, description: `State, without case: ${STATES.join(', ')}` })),
  owner: Type.Optional(Type.String({ maxLength: 200, description: 'Whose agents, such as `user:alice`; who does not see all sees their own at most' })),
  include_hands: Type.Optional(Type.Boolean({ description: 'Changes nothing: there are no hands in this version' })),
  sort: Type.Optional(OneOf(['name', 'created_at', 'last_active', 'state'])),
  order: Type.Optional(OneOf(['asc', 'desc'], { description: 'Default asc' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Default and at most 500' })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
});

const SpawnBody = Type.Object({
  manifest_toml: Type.Optional(Type.String({ description: 'The text of an agent.toml' })),
  manifest: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'The same as a JSON object' })),
  template: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ description: "Instead of the manifest's name" })),
  model: Type.Optional(Type.Union([Type.String(), Type.Object({ provider: Type.Optional(Type.String()), model: Type.String() })], { description: "Instead of the manifest's model" })),
  provider: Type.Optional(Type.String()),
  signed_manifest: Type.Optional(Type.String()),
});
type SpawnBody = Static<typeof SpawnBody>;

export const agentRoutes = (deps: AgentRouteDeps): RouteDecl[] => [listAgents(deps), spawnAgent(deps), getAgent(deps), killAgent(deps), suspendAgent(deps), resumeAgent(deps)];

const listAgents = (deps: AgentRouteDeps): RouteDecl =>
  route({
    id: 'listAgents',
    method: 'GET',
    path: '/api/agents',
    summary: 'Agents that the caller may see',
    cost: 2,
    query: ListQuery,
    responses: {
      200: Type.Object({
        agents: Type.Array(AgentSummary),
        items: Type.Array(AgentSummary, { description: 'The same list under its other name' }),
        total: Type.Integer(),
        offset: Type.Integer(),
        limit: Type.Integer(),
      }),
    },
    handler: async ({ actor, query }) => {
      const limit = Math.min(query.limit ?? MAX_PAGE, MAX_PAGE);
      const offset = query.offset ?? 0;
      const { q, status, owner, sort = 'name', order = 'asc' } = query;
      if (status && !STATES.some((state) => state.toLowerCase() === status.toLowerCase())) throw agentErrors.agents_unknown_state(status, STATES);
      // The order is made in the database, which has to know of the newest runs.
      if (sort === 'last_active') await deps.lastActive.flush();
      const found = await deps.store.page(actor, { ...(q ? { q } : {}), ...(status ? { status } : {}), ...(owner ? { owner } : {}), sort, order, limit, offset });
      const agents = await summariesOf(deps, actor, found.agents);
      return reply(200, { agents, items: agents, total: found.total, offset, limit });
    },
  });

const spawnAgent = ({ spawn }: AgentRouteDeps): RouteDecl =>
  route({
    id: 'spawnAgent',
    method: 'POST',
    path: '/api/agents',
    summary: 'Spawn an agent',
    cost: 50,
    headers: Type.Object(IdempotencyKey),
    audit: 'agent_spawned',
    body: SpawnBody,
    maxBodyBytes: MAX_SPAWN_BODY_BYTES,
    errors: [403, 404, 409, 413],
    responses: {
      201: Type.Object({
        agent_id: Uuid,
        name: Type.String(),
        warnings: Type.Optional(Type.Array(Type.String(), { description: 'Keys of the manifest that do nothing here, and grants that are worth more than they look' })),
      }),
    },
    handler: async ({ actor, body, headers }) => {
      const key = headers['idempotency-key'];
      if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) throw agentErrors.agents_invalid_key();
      const { agentId, name, warnings } = await spawn(actor, { ...requestOf(body), ...(key === undefined ? {} : { key }) });
      return reply(201, { agent_id: agentId, name, ...(warnings.length > 0 ? { warnings } : {}) }, { location: `/api/agents/${agentId}` });
    },
  });

/** Of several descriptions the text wins, then the table, then the template. */
const requestOf = (body: SpawnBody): SpawnRequest => {
  if (body.signed_manifest !== undefined) throw agentErrors.agents_signature_unsupported();
  const described = body.manifest_toml !== undefined || body.manifest !== undefined;
  if (!described && body.template !== undefined) throw agentErrors.template_not_found(body.template);
  const model = typeof body.model === 'string' ? { model: body.model } : body.model;
  return {
    ...(body.manifest_toml !== undefined ? { manifestToml: body.manifest_toml } : body.manifest !== undefined ? { manifest: body.manifest } : {}),
    ...(body.name === undefined ? {} : { name: body.name }),
    // Without a provider, the gateway finds the one that has the model.
    ...(model ? { model: { provider: model.provider ?? body.provider ?? 'default', model: model.model } } : {}),
  };
};

const getAgent = (deps: AgentRouteDeps): RouteDecl =>
  route({
    id: 'getAgent',
    method: 'GET',
    path: '/api/agents/{id}',
    summary: 'One agent with its manifest',
    cost: 2,
    params: AgentParams,
    errors: [404],
    responses: { 200: AgentDetail },
    handler: async ({ actor, params }) => {
      const agent = await deps.agents.get(actor, params.id);
      const [[summary], fallbacks] = await Promise.all([summariesOf(deps, actor, [agent]), shownModels(deps, agent.manifest.fallback_models)]);
      if (!summary) throw agentErrors.agent_not_found(agent.id);
      return reply(200, detailOf(agent, { summary, fallbacks }));
    },
  });

const killAgent = ({ agents }: AgentRouteDeps): RouteDecl =>
  route({
    id: 'killAgent',
    method: 'DELETE',
    path: '/api/agents/{id}',
    summary: 'Kill an agent: its runs end, its sessions and rows go',
    audit: 'agent_killed',
    params: AgentParams,
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['killed']), agent_id: Uuid }) },
    handler: async ({ actor, params }) => {
      await agents.kill(actor, params.id);
      return reply(200, { status: 'killed', agent_id: params.id.toLowerCase() });
    },
  });

const switched = (deps: AgentRouteDeps, isSuspended: boolean, words: { id: string; path: string; summary: string; audit: string; status: 'suspended' | 'running' }): RouteDecl =>
  route({
    id: words.id,
    method: 'PUT',
    path: words.path,
    summary: words.summary,
    cost: 10,
    audit: words.audit,
    params: AgentParams,
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['suspended', 'running']), agent_id: Uuid }) },
    handler: async ({ actor, params }) => {
      const agent = await deps.agents.setSuspended(actor, params.id, isSuspended);
      return reply(200, { status: words.status, agent_id: agent.id });
    },
  });

const suspendAgent = (deps: AgentRouteDeps): RouteDecl =>
  switched(deps, true, { id: 'suspendAgent', path: '/api/agents/{id}/suspend', summary: 'Let an agent take no more messages', audit: 'agent_suspended', status: 'suspended' });

const resumeAgent = (deps: AgentRouteDeps): RouteDecl =>
  switched(deps, false, { id: 'resumeAgent', path: '/api/agents/{id}/resume', summary: 'Let a suspended agent take messages again', audit: 'agent_resumed', status: 'running' });
