/** Which MCP servers an agent is given. */
import { OneOf, reply, type RouteDecl, routeGroup, Type, UuidText } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import { mcpErrors } from '../errors.js';
import type { Servers } from '../servers.js';

const route = routeGroup({ area: 'agents', errors: [404] });
const Params = Type.Object({ id: UuidText('Agent id') });
const MAX_ASSIGNED = 50;

export interface AgentRouteDeps {
  readonly agents: Pick<AgentsService, 'get' | 'edit'>;
  readonly servers: Pick<Servers, 'list' | 'find'>;
}

export const agentServerRoutes = ({ agents, servers }: AgentRouteDeps): RouteDecl[] => [
  route({
    id: 'getAgentMcpServers',
    method: 'GET',
    path: '/api/agents/{id}/mcp_servers',
    summary: "Get an agent's MCP servers",
    description: '`all`: the tools of all servers, as far as its list of tools allows. `allowlist`: those of the assigned servers, whatever that list says. `none`: no tools of MCP servers.',
    params: Params,
    responses: { 200: Type.Object({ assigned: Type.Array(Type.String()), available: Type.Array(Type.String()), mode: OneOf(['none', 'all', 'allowlist']) }, { 'x-name': 'AgentMcpServers' }) },
    handler: async ({ actor, params }) => {
      const { manifest } = await agents.get(actor, params.id);
      return reply(200, { assigned: [...(manifest.mcp_servers ?? [])], available: servers.list().map(({ spec }) => spec.name), mode: modeOf(manifest) });
    },
  }),
  route({
    id: 'setAgentMcpServers',
    method: 'PUT',
    path: '/api/agents/{id}/mcp_servers',
    summary: "Set an agent's MCP servers",
    description: 'Names of servers whose tools the agent gets; `["*"]` for all, `[]` for none. Applies from the next tool call.',
    cost: 10,
    audit: 'agent_mcp_servers_changed',
    auditCategory: 'grants',
    params: Params,
    body: Type.Object({ mcp_servers: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: MAX_ASSIGNED }) }, { additionalProperties: false }),
    examples: { 'two servers': { mcp_servers: ['github', 'time'] }, 'all of them': { mcp_servers: ['*'] }, none: { mcp_servers: [] } },
    errors: [403, 409],
    responses: { 200: Type.Object({ status: Type.Literal('ok'), mcp_servers: Type.Array(Type.String()), warnings: Type.Optional(Type.Array(Type.String())) }) },
    handler: async ({ actor, params, body }) => {
      const { id } = await agents.get(actor, params.id);
      const names = [...new Set(body.mcp_servers.map((name) => servers.find(name)?.spec.name ?? name))];
      const unknown = names.filter((name) => name !== '*' && !servers.find(name));
      if (unknown.length > 0) throw mcpErrors.unknown_servers(unknown.map((name) => `"${name}"`).join(', '));
      const { warnings } = await agents.edit(actor, id, { manifest: { mcp_servers: names, mcp_disabled: null } });
      return reply(200, { status: 'ok' as const, mcp_servers: names, ...(warnings.length > 0 ? { warnings: [...warnings] } : {}) });
    },
  }),
];

const modeOf = ({ mcp_servers: assigned, mcp_disabled: isOff }: AgentManifest): 'none' | 'all' | 'allowlist' => {
  if (isOff || assigned?.length === 0) return 'none';
  return assigned === undefined || assigned.includes('*') ? 'all' : 'allowlist';
};
