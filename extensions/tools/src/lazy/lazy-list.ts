/**
 * Agents with many tools: their model is sent a few of them, and finds and loads the others.
 *
 * Z1  `lazy_tools` of the manifest decides; without it, agents that may use more tools than `lazy_tools_above`.
 * Z2  What is sent at first, found and loaded is always a part of what the agent is offered. A call is checked like any other.
 */
import { matchesAny } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import { TOOL_LOAD, TOOL_SEARCH, type ToolInfo } from '../contract.js';

/** Sent at first, where the agent may use them. */
const CORE = [
  ...[TOOL_SEARCH, TOOL_LOAD, 'memory_*', 'web_search', 'web_fetch', 'file_read', 'file_write', 'file_list', 'code_search', 'agent_send', 'agent_list'],
  ...['channel_send', 'notify_owner', 'system_time', 'read_artifact', 'skill_read_file', 'skill_evolve_*'],
];

const isFinder = ({ name }: Pick<ToolInfo, 'name'>): boolean => name === TOOL_SEARCH || name === TOOL_LOAD;

/** The two tools are of use only together, and where something is left to find. */
export const asOffered = (all: readonly ToolInfo[], { lazy_tools: lazy }: Pick<AgentManifest, 'lazy_tools'>, above: number): readonly ToolInfo[] => {
  const others = all.filter((tool) => !isFinder(tool));
  const isLazy = (lazy ?? others.length > above) && all.length - others.length === 2 && others.some(({ name }) => !matchesAny(CORE, name));
  return isLazy ? all.map((tool) => (matchesAny(CORE, tool.name) ? tool : { ...tool, deferred: true })) : others;
};
