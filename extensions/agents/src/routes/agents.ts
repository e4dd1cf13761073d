import { type Actor, allKnown, type AtOnce, defineList, IdempotencyKey, isSvcError, Nullable, OneOf, reply, type RouteDecl, routeGroup, TextOf, Type, Uuid, whenKnown, wordForm } from '@svc/api';
import { AgentSummary, type SummaryDeps, summariesOf } from '../shown/agent-summary.js';
import type { Agent, AgentsService, SpawnRequest } from '../contract.js';
import { agentErrors } from '../errors.js';
import type { LastActive } from '../shown/last-active.js';
import { shownText } from '../shown/manifest-text.js';
import { shownModels } from '../shown/model-shown.js';
import type { Spawned } from '../spawning.js';
import type { AgentStore } from '../store.js';
import { AgentDetail, detailOf } from '../shown/views.js';
import { AgentParams, MAX_MANIFEST_BODY_BYTES, Warnings } from './bodies.js';
import { checkedId } from '../service.js';
import type { BinnedAgent, Removing } from '../removing.js';
import { keyOf } from './idempotency-key.js';
import { SpawnBody, spawnRequestOf } from './spawn-body.js';

const route = routeGroup({ area: 'agents' });

const MAX_PAGE = 500;
export interface AgentRouteDeps extends SummaryDeps {
  readonly agents: AgentsService;
  /** The same as their `get`: at once where the agent is kept. */
  readonly agentOf: (actor: Actor, agentId: string) => AtOnce<Agent>;
  readonly spawn: (actor: Actor, request: SpawnRequest) => Promise<Spawned>;
  readonly removing: Removing;
  readonly store: AgentStore;
  readonly lastActive: LastActive;
}

const STATES = ['Created', 'Running', 'Suspended', 'Crashed', 'Terminated'] as const;
/** Without case; an empty one is none. */
const STATE_WORD = wordForm(['', ...STATES]);

const DELETED = OneOf(['no', 'only'], {
  description: '`only`: deleted agents that can be restored, the newest first; of the filters, `owner` and `q` hold. Default no',
});

const AgentList = defineList({
  item: AgentSummary,
  as: ['agents', 'items'],
  sort: ['name', 'created_at', 'last_active', 'state'],
  order: 'asc',
  filters: {
    status: TextOf(STATE_WORD, { description: `State, without case: ${STATES.join(', ')}` }),
    owner: Type.String({ maxLength: 200, description: 'Owner of the agents, such as `user:alice`. Callers who cannot see all agents only see their own' }),
    include_hands: Type.Boolean({ description: 'Changes nothing: there are no hands in this version' }),
    deleted: DELETED,
  },
  searches: 'the name and the description',
  limit: { default: MAX_PAGE, max: MAX_PAGE },
});

export const agentRoutes = (deps: AgentRouteDeps): RouteDecl[] => [listAgents(deps), spawnAgent(deps), getAgent(deps), killAgent(deps), suspendAgent(deps), resumeAgent(deps)];

const listAgents = (deps: AgentRouteDeps): RouteDecl =>
  route({
    id: 'listAgents',
    method: 'GET',
    path: '/api/agents',
    summary: 'List agents',
    description:
      'Owners and admins see all agents, everyone else their own. If the manifest says `default`, `model_provider` and `model_name` are those of the current default. Unknown values are null, such as costs while llm is off.',
    cost: 2,
    query: AgentList.query,
    responses: { 200: AgentList.answer },
    handler: async ({ actor, query }) => {
      const { status, owner } = query;
      const state = status === undefined || status === '' ? undefined : STATES.find((one) => one.toLowerCase() === status.toLowerCase());
      if (status && state === undefined) throw agentErrors.agents_unknown_state(status, STATES);
      if (query.deleted === 'only') return AgentList.reply(query, { ...(await deletedOnes(deps, actor, query, owner)), next: null });
      // The order is made in the database, which has to know of the newest runs.
      if (query.sort === 'last_active') await deps.lastActive.flush();
      const found = await deps.store.page(actor, AgentList, query, { ...(state ? { state } : {}), ...(owner ? { owner } : {}) });
      return AgentList.reply(query, { ...found, rows: await summariesOf(deps, actor, found.rows) });
    },
  });

const deletedOnes = async (deps: AgentRouteDeps, actor: Actor, query: { readonly limit?: number; readonly offset?: number; readonly q?: string }, owner: string | undefined) => {
  const wanted = (query.q ?? '').toLowerCase();
  const isMeant = ({ agent }: BinnedAgent): boolean => (!owner || agent.ownerId === owner) && `${agent.name}\n${agent.manifest.description}`.toLowerCase().includes(wanted);
  const found = (await deps.removing.binned(actor)).filter(isMeant);
  const { offset = 0 } = query;
  const page = found.slice(offset, offset + AgentList.limitOf(query));
  const summaries = await summariesOf(
    deps,
    actor,
    page.map(({ agent }) => agent),
  );
  const rows = summaries.map((summary, index) => ({ ...summary, ready: false, deleted_at: page[index]?.deletedAt, restorable_until: page[index]?.keepUntil }));
  return { rows, total: found.length };
};

const spawnAgent = ({ spawn }: AgentRouteDeps): RouteDecl =>
  route({
    id: 'spawnAgent',
    method: 'POST',
    path: '/api/agents',
    summary: 'Create an agent',
    description: [
      'Send `manifest_toml`, `manifest` or the name of a `template`; the first of these is used. A `name` alone creates an agent with every default. `name` and `model` override the manifest.',
      'If a key is misspelt, misplaced, out of range, or sets a limit that svc cannot enforce, the whole manifest is refused, with all errors and their lines. Keys of features that are not part of svc yet are stored and listed under `warnings`.',
      'You can grant only what your role allows (403): shell and private networks need an admin. Names are unique per owner (409). Ids are random, so a reused name inherits nothing.',
      'With an `Idempotency-Key`, the same request gives the same agent, and another request under that key is refused.',
    ].join('\n\n'),
    examples: {
      'the shortest': { name: 'helper' },
      'from a template': { template: 'researcher', name: 'librarian' },
      'with a manifest': { manifest_toml: 'name = "reader"\n[model]\nsystem_prompt = "You sum up what you are given."\n[capabilities]\ntools = ["file_read", "file_list"]\n' },
    },
    cost: 50,
    headers: Type.Object(IdempotencyKey),
    audit: 'agent_spawned',
    auditCategory: 'grants',
    body: SpawnBody,
    maxBodyBytes: MAX_MANIFEST_BODY_BYTES,
    errors: [403, 404, 409, 413],
    responses: {
      201: Type.Object({
        agent_id: Uuid,
        name: Type.String(),
        warnings: Type.Optional(Warnings),
      }),
    },
    handler: async ({ actor, body, headers }) => {
      const { agentId, name, warnings } = await spawn(actor, { ...spawnRequestOf(body), ...keyOf(headers) });
      return reply(201, { agent_id: agentId, name, ...(warnings.length > 0 ? { warnings } : {}) }, { location: `/api/agents/${agentId}` });
    },
  });

const getAgent = (deps: AgentRouteDeps): RouteDecl =>
  route({
    id: 'getAgent',
    method: 'GET',
    path: '/api/agents/{id}',
    summary: 'Get an agent',
    description:
      'The fields of the list, and the manifest: as fields with all defaults, and as `manifest_toml`, from which you can create the same agent again. `revision` increases with each change; a change that sends it is refused if the agent was changed since.',
    cost: 2,
    params: AgentParams,
    errors: [404],
    responses: { 200: AgentDetail },
    handler: ({ actor, params }) =>
      whenKnown(deps.agentOf(actor, params.id), (agent) =>
        whenKnown(allKnown([summariesOf(deps, actor, [agent]), shownModels(deps, agent.manifest.fallback_models), shownText(agent.manifest)]), ([[summary], fallbacks, manifestToml]) => {
          if (!summary) throw agentErrors.agent_not_found(agent.id);
          return reply(200, detailOf(agent, { summary, manifestToml, fallbacks }));
        }),
      ),
  });

const killAgent = ({ removing }: AgentRouteDeps): RouteDecl =>
  route({
    id: 'killAgent',
    method: 'DELETE',
    path: '/api/agents/{id}',
    summary: 'Delete an agent with its sessions and data',
    description:
      'There is no confirmation. Its runs end, and nothing that belongs to it is listed or found any more. Its name is free, and its children stay. For `[trash] days` it can be restored: `GET /api/agents?deleted=only` lists it, and `PUT /api/agents/{id}/resume` brings it back with its conversations, jobs and data. With `erase=true` it is erased at once, also if it was deleted before: every extension deletes its data of the agent; one that is off does so when it comes back. To pause the agent instead, suspend it.',
    audit: 'agent_killed',
    params: AgentParams,
    query: Type.Object({ erase: Type.Optional(Type.Boolean({ default: false, description: 'So that nobody can restore it' })) }),
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['killed']), agent_id: Uuid, restorable_until: Nullable(Type.String(), { description: 'null if it is erased' }) }) },
    handler: async ({ actor, params, query }) => {
      const id = checkedId(params.id);
      const until = query.erase ? await removing.erase(actor, id).then(() => null) : await removing.remove(actor, id);
      return reply(200, { status: 'killed', agent_id: id, restorable_until: until });
    },
  });

const switched = (deps: AgentRouteDeps, isSuspended: boolean, words: { id: string; path: string; summary: string; description: string; audit: string; errors?: readonly number[] }): RouteDecl =>
  route({
    id: words.id,
    method: 'PUT',
    path: words.path,
    summary: words.summary,
    description: words.description,
    cost: 10,
    audit: words.audit,
    params: AgentParams,
    errors: words.errors ?? [404],
    responses: { 200: Type.Object({ status: OneOf(['suspended', 'running']), agent_id: Uuid }) },
    handler: async ({ actor, params }) => {
      const agent = await deps.agents.setSuspended(actor, params.id, isSuspended).catch((error: unknown) => {
        if (isSuspended || !isSvcError(error) || error.code !== 'agent_not_found') throw error;
        return deps.removing.restore(actor, checkedId(params.id));
      });
      return reply(200, { status: agent.state === 'Suspended' ? 'suspended' : 'running', agent_id: agent.id });
    },
  });

const suspendAgent = (deps: AgentRouteDeps): RouteDecl =>
  switched(deps, true, {
    id: 'suspendAgent',
    path: '/api/agents/{id}/suspend',
    summary: 'Suspend an agent',
    description: 'Its runs are cancelled, and messages answer 409 `run_agent_suspended` until it is resumed. It stays suspended over a restart.',
    audit: 'agent_suspended',
  });

const resumeAgent = (deps: AgentRouteDeps): RouteDecl =>
  switched(deps, false, {
    id: 'resumeAgent',
    path: '/api/agents/{id}/resume',
    summary: 'Resume an agent',
    description:
      'Also resumes an agent whose manifest says `enabled = false`, which starts suspended. Has no effect on a running agent. A deleted agent is restored as it was, with its conversations, jobs and data; if it was suspended, it still is, and `status` says so. If another agent has its name now, the answer is 409.',
    errors: [404, 409],
    audit: 'agent_resumed',
  });
