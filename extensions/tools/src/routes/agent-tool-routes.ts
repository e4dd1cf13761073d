/** Which tools an agent may call, as its manifest says it. */
import { didYouMean, documented, matchesAny, OneOf, reply, type RouteDecl, routeGroup, Type, UuidText } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import { toolErrors } from '../errors.js';
import type { ToolRegistry } from '../tool-registry.js';

const route = routeGroup({ area: 'agents', errors: [404] });

const MAX_PATTERNS = 500;

const Patterns = (description: string) => Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: MAX_PATTERNS, description });

const Lists = {
  capabilities_tools: Patterns('Names of granted tools, or patterns with `*`; empty: all tools that need no separate grant'),
  tool_allowlist: Patterns('Of those, only these; empty: all of them'),
  tool_blocklist: Patterns('Blocked tools; overrides every other list'),
};

const Shown = {
  ...Lists,
  disabled: Type.Boolean({ description: 'True: the agent has no tools (`tools_disabled`)' }),
  mode: OneOf(['all', 'allowlist', 'none'], { description: 'Result of the lists: no restriction by name, only some tools, or none' }),
};
const AgentTools = Type.Object(Shown, { 'x-name': 'AgentTools' });
const ChangedTools = Type.Object(
  { ...Shown, warnings: Type.Optional(Type.Array(Type.String(), { description: 'Entries without effect, and grants that allow more than they seem to' })) },
  { 'x-name': 'ChangedAgentTools' },
);
const Change = Type.Object(
  {
    ...Type.Partial(Type.Object(Lists)).properties,
    tools: Type.Optional(Patterns('Another name of `capabilities_tools`')),
    disabled: Type.Optional(Type.Boolean({ description: 'True disables all tools and keeps the lists' })),
  },
  { ...documented({ minProperties: 1, not: { required: ['tools', 'capabilities_tools'] } }), description: 'Missing fields stay unchanged' },
);

const AgentParams = Type.Object({ id: UuidText('Agent id') });

export interface AgentToolDeps {
  readonly agents: Pick<AgentsService, 'get' | 'edit'>;
  readonly registry: Pick<ToolRegistry, 'all'>;
}

export const agentToolRoutes = (deps: AgentToolDeps): RouteDecl[] => [getAgentTools(deps), setAgentTools(deps)];

const getAgentTools = ({ agents }: AgentToolDeps): RouteDecl =>
  route({
    id: 'getAgentTools',
    method: 'GET',
    path: '/api/agents/{id}/tools',
    summary: "Get an agent's tools",
    description:
      'The tool lists of the manifest. A tool is available if `capabilities_tools` grants it, `tool_allowlist` is empty or contains it, and `tool_blocklist` does not contain it. A tool may also need another capability: `shell`, `network` or `file_system`.',
    params: AgentParams,
    responses: { 200: AgentTools },
    handler: async ({ actor, params }) => reply(200, toolsOf((await agents.get(actor, params.id)).manifest)),
  });

const setAgentTools = ({ agents, registry }: AgentToolDeps): RouteDecl =>
  route({
    id: 'setAgentTools',
    method: 'PUT',
    path: '/api/agents/{id}/tools',
    summary: "Update an agent's tools",
    description:
      "Each list in the request replaces the current one; missing lists stay unchanged. Applies from the next tool call, including active runs. You cannot grant an agent more than its owner's role allows, or a child more than its parent has: 403, and nothing changes. Unknown tool names are stored with a warning, since their extension may be installed later.",
    cost: 10,
    audit: 'agent_tools_changed',
    auditCategory: 'grants',
    params: AgentParams,
    body: Change,
    bodyRule: 'optional',
    examples: {
      'grant three tools': { capabilities_tools: ['file_read', 'file_list', 'web_fetch'] },
      'take some away': { tool_blocklist: ['shell_exec', 'process_*'] },
      'lift every list': { capabilities_tools: [], tool_allowlist: [], tool_blocklist: [] },
    },
    errors: [403, 409],
    responses: { 200: ChangedTools },
    handler: async ({ actor, params, body }) => {
      const { id } = await agents.get(actor, params.id);
      const { tools, capabilities_tools = tools, tool_allowlist, tool_blocklist, disabled } = body;
      if (tools !== undefined && body.capabilities_tools !== undefined) throw toolErrors.two_lists();
      if ([capabilities_tools, tool_allowlist, tool_blocklist, disabled].every((one) => one === undefined)) throw toolErrors.nothing_to_change();
      const patch = {
        ...(capabilities_tools === undefined ? {} : { capabilities: { tools: capabilities_tools } }),
        ...(tool_allowlist === undefined ? {} : { tool_allowlist }),
        ...(tool_blocklist === undefined ? {} : { tool_blocklist }),
        ...(disabled === undefined ? {} : { tools_disabled: disabled }),
      };
      const { agent, warnings } = await agents.edit(actor, id, { manifest: patch });
      const names = (await registry.all()).map(({ name }) => name);
      const all = [...warnings, ...idleEntries(agent.manifest, names)];
      return reply(200, { ...toolsOf(agent.manifest), ...(all.length > 0 ? { warnings: all } : {}) });
    },
  });

type ToolLists = Pick<AgentManifest, 'capabilities' | 'tool_allowlist' | 'tool_blocklist' | 'tools_disabled'>;

const toolsOf = ({ capabilities, tool_allowlist, tool_blocklist, tools_disabled }: ToolLists) => {
  const isNarrowed = (capabilities.tools.length > 0 && !capabilities.tools.includes('*')) || tool_allowlist.length > 0 || tool_blocklist.length > 0;
  const mode = tools_disabled ? 'none' : isNarrowed ? 'allowlist' : 'all';
  return { capabilities_tools: capabilities.tools, tool_allowlist, tool_blocklist, disabled: tools_disabled, mode } as const;
};

const MAX_WARNINGS = 20;

/** A sentence for each entry that admits or refuses nothing. Of tools that are granted by name and missing, the review of the manifest says so. */
export const idleEntries = ({ capabilities: { tools: granted }, tool_allowlist, tool_blocklist }: ToolLists, names: readonly string[]): string[] => {
  const unmet = tool_allowlist
    .filter((entry) => granted.length > 0 && !granted.some((grant) => mayMeet(grant, entry)))
    .map((entry) => `tool_allowlist names "${entry}", which capabilities.tools does not grant: it admits nothing.`);
  const lists = { 'capabilities.tools': granted, tool_allowlist, tool_blocklist };
  const unknown = Object.entries(lists).flatMap(([list, entries]) =>
    entries
      .filter((entry) => entry !== '*' && !(list === 'capabilities.tools' && !entry.includes('*')) && !names.some((name) => matchesAny([entry], name)))
      .map((entry) => `${list} names "${entry}", but there is no such tool now.${entry.includes('*') ? '' : didYouMean(entry, names)}`),
  );
  const all = [...unmet, ...unknown];
  return all.length > MAX_WARNINGS ? [...all.slice(0, MAX_WARNINGS), `${all.length - MAX_WARNINGS} more entries do nothing.`] : all;
};

/** Whether some name could fit both patterns. Of two with `*` only their beginnings and ends are compared: false is certain. */
const mayMeet = (a: string, b: string): boolean => {
  if (!b.includes('*')) return matchesAny([a], b);
  if (!a.includes('*')) return matchesAny([b], a);
  const [startA, startB] = [a.slice(0, a.indexOf('*')), b.slice(0, b.indexOf('*'))];
  const [endA, endB] = [a.slice(a.lastIndexOf('*') + 1), b.slice(b.lastIndexOf('*') + 1)];
  return (startA.startsWith(startB) || startB.startsWith(startA)) && (endA.endsWith(endB) || endB.endsWith(endA));
};
