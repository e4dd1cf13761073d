/** What an agent may do with other agents, besides talking to them (agent_send lives in runs). */
import { type Actor, type AnyTool, type AuditNote, capabilityNameFault, defineTool, Type } from '@svc/api';
import { isBelow } from './below.js';
import type { Agent, AgentsService, SpawnRequest } from './contract.js';
import { agentErrors } from './errors.js';
import { writtenPolicy } from './manifest/manifest-written.js';
import type { Removing } from './removing.js';
import type { Spawned } from './spawning.js';

const MAX_SHOWN = 100;

export interface AgentToolDeps {
  readonly agents: AgentsService;
  readonly removing: Pick<Removing, 'remove'>;
  readonly spawn: (actor: Actor, request: SpawnRequest) => Promise<Spawned>;
  readonly note: (note: AuditNote) => Promise<void>;
}

export const agentTools = (deps: AgentToolDeps): AnyTool[] => [spawnTool(deps), killTool(deps), findTool(deps), listTool(deps)];

const Texts = (description: string) => Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: 200, description }));

const spawnTool = ({ agents, spawn }: AgentToolDeps): AnyTool =>
  defineTool({
    name: 'agent_spawn',
    description: 'Creates another agent, below you. It can have no more rights than you have. Answers with its id; talk to it with agent_send.',
    params: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 256 }),
      system_prompt: Type.String({ maxLength: 65_536, description: "The agent's role and task" }),
      tools: Texts('Tools it may use; yours by default'),
      network: Texts('Hosts it may reach; none by default'),
      shell: Texts('Patterns of shell commands it may run; none by default'),
      capabilities: Type.Optional(
        Type.Record(Type.String({ maxLength: 100 }), Type.Union([Type.Boolean(), Type.Array(Type.String({ maxLength: 500 }), { maxItems: 200 })]), {
          description: 'Other capabilities of yours to grant it: true, or a list of patterns; none by default',
        }),
      ),
    }),
    risk: 'agent',
    openWorld: false,
    capabilities: ['agent_spawn'],
    replay: 'keyed',
    parallel: false,
    run: async (args, call) => {
      const parent = await agents.get(call.actor, call.agentId);
      // The same after a restart: the call made again finds the agent it already made. Small servers number their calls anew in each run.
      const spawned = await spawn(call.actor, { manifest: childManifest(parent, args), parentId: parent.id, key: `call:${call.runId}:${call.callId}`, runId: call.runId });
      return JSON.stringify({ agent_id: spawned.agentId, name: spawned.name });
    },
  });

interface ChildArgs {
  readonly name: string;
  readonly system_prompt: string;
  readonly tools?: readonly string[];
  readonly network?: readonly string[];
  readonly shell?: readonly string[];
  readonly capabilities?: Readonly<Record<string, boolean | readonly string[]>>;
}

/** What narrows the parent narrows the child as well. */
const childManifest = (parent: Agent, args: ChildArgs): unknown => {
  const { model, thinking, max_history_messages, capabilities, resources, autonomous, tool_allowlist, tool_blocklist, tools_disabled } = parent.manifest;
  return {
    name: args.name,
    description: `Spawned by ${parent.name}`.slice(0, 4_096),
    author: parent.manifest.author,
    model: { ...model, system_prompt: args.system_prompt },
    thinking,
    max_history_messages,
    resources: { ...resources, ...(capabilities.max_tool_calls_per_minute ? { max_tool_calls_per_minute: capabilities.max_tool_calls_per_minute } : {}) },
    autonomous,
    capabilities: {
      ...ofAreas(args.capabilities),
      tools: args.tools ?? capabilities.tools,
      network: args.network ?? [],
      shell: args.shell ?? [],
      memory_read: capabilities.memory_read,
      memory_write: capabilities.memory_write,
      file_system: capabilities.file_system,
      // To have children of its own, or to write to others, a person must say so.
      agent_spawn: false,
      agent_message: [],
      ...(capabilities.max_llm_tokens_per_hour === null ? {} : { max_llm_tokens_per_hour: capabilities.max_llm_tokens_per_hour }),
    },
    ...(parent.manifest.approval ? { approval: parent.manifest.approval } : {}),
    ...(capabilities.exec ? { exec_policy: writtenPolicy(capabilities.exec) } : {}),
    tool_allowlist,
    tool_blocklist,
    tools_disabled,
  };
};

/** The interface's own have arguments of their own, or are given by a person alone. */
const ofAreas = (capabilities: ChildArgs['capabilities'] = {}): ChildArgs['capabilities'] => {
  const own = Object.keys(capabilities).find((name) => capabilityNameFault(name) !== undefined);
  if (own !== undefined) throw agentErrors.agents_spawn_denied(`"${own.slice(0, 100)}" cannot be set under capabilities, which accepts only capabilities that extensions declare`);
  return capabilities;
};

/** Only what it made itself, or what that made: those of others are theirs, and its own parent is above it. */
const killTool = ({ agents, removing, note }: AgentToolDeps): AnyTool =>
  defineTool({
    name: 'agent_kill',
    description: 'Deletes an agent that you made with agent_spawn, or that such an agent made: its runs end, and its conversations go with it. Only a person can restore it.',
    params: Type.Object({ agent_id: Type.String({ minLength: 1, maxLength: 256, description: 'Id or name' }) }),
    risk: 'agent',
    openWorld: false,
    capabilities: ['agent_spawn'],
    // What is gone is not killed again: the model is told that the outcome is unknown.
    replay: 'never',
    parallel: false,
    run: async ({ agent_id }, call) => {
      const found = await agents.find(call.actor, agent_id);
      if (!found || !(await isBelow((id) => agents.find(call.actor, id), found, call.agentId))) throw agentErrors.agents_kill_denied(agent_id);
      await removing.remove(call.actor, found.id);
      const { id, name } = await agents.get(call.actor, call.agentId);
      await note({ type: 'agent_killed', actor: call.actor, agentId: found.id, details: { by_agent: id, run_id: call.runId }, personal: { actor: `agent:${name}` } });
      return JSON.stringify({ status: 'killed', agent_id: found.id, name: found.name });
    },
  });

const findTool = (deps: AgentToolDeps): AnyTool =>
  defineTool({
    name: 'agent_find',
    description: 'Finds agents by a word in their name, description, tags or tools.',
    params: Type.Object({ query: Type.String({ minLength: 1, maxLength: 200 }) }),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    run: async ({ query }, call) => {
      const wanted = query.toLowerCase();
      const all = await deps.agents.list(call.actor);
      const found = all.filter(({ name, manifest }) => [name, manifest.description, ...manifest.tags, ...manifest.capabilities.tools].some((text) => text.toLowerCase().includes(wanted)));
      return shown(deps, found);
    },
  });

const listTool = (deps: AgentToolDeps): AnyTool =>
  defineTool({
    name: 'agent_list',
    description: 'Lists the agents you can see, with ids, states and models.',
    params: Type.Object({}),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    run: async (_args, call) => shown(deps, await deps.agents.list(call.actor)),
  });

const shown = async (deps: AgentToolDeps, found: readonly Agent[]): Promise<string> => {
  const listed = found.slice(0, MAX_SHOWN);
  const models = await deps.agents.modelsOf(listed);
  const rows = listed.map(({ id, name, state, manifest }, index) => ({
    id,
    name,
    description: manifest.description,
    state,
    model_provider: models[index]?.provider,
    model_name: models[index]?.model,
    tags: manifest.tags,
  }));
  return JSON.stringify({ agents: rows, total: found.length });
};
