/** Which tools there are now: what extensions contribute, and what taps of `tool.list` add or take away for an agent. */
import { type AnyTool, type Capabilities, type HookHandle, type HookMap, matchesAny, type ToolsView } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import type { ToolInfo } from './contract.js';

export interface ToolRegistry {
  /** Every tool, or those listed for one agent. */
  all(forAgent?: { readonly agentId: string; readonly ownerId: string; readonly capabilities: Capabilities }): Promise<readonly AnyTool[]>;
  /** By name, whether or not it is offered to the agent. */
  find(name: string, agentId: string): Promise<AnyTool | undefined>;
  /** True when an extension contributed the tool itself. */
  isContributed(name: string): boolean;
  info(tool: AnyTool): ToolInfo;
}

export const createToolRegistry = (kernel: ToolsView, toolList: HookHandle<HookMap['tool.list']>): ToolRegistry => {
  const contributed = (): readonly AnyTool[] => kernel.tools().map(({ tool }) => tool);
  // A contributed tool keeps its owner for as long as the object lives, and every message lists them all.
  const known = new WeakMap<AnyTool, ToolInfo>();
  return {
    all: async (forAgent) => {
      const tools = contributed();
      if (toolList.isEmpty()) return tools;
      return toolList.call(tools, forAgent ?? { agentId: '' });
    },
    find: async (name, agentId) => {
      const own = contributed().find((tool) => tool.name === name);
      if (own || toolList.isEmpty()) return own;
      return (await toolList.call([], { agentId })).find((tool) => tool.name === name);
    },
    isContributed: (name) => kernel.tools().some(({ tool }) => tool.name === name),
    info: (tool) => {
      const before = known.get(tool);
      if (before) return before;
      const info = infoOf(tool, sourceOf(kernel, tool.name));
      // One that only a list names may be contributed later.
      if (info.source !== 'mcp') known.set(tool, info);
      return info;
    },
  };
};

const infoOf = (tool: AnyTool, source: string): ToolInfo => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.params,
  source,
  risk: tool.risk,
  replay: tool.replay,
  parallel: tool.parallel,
});

/** `builtin`, the extension of a third party, or `mcp` for what only a list names. */
const sourceOf = (kernel: ToolsView, name: string): string => {
  const found = kernel.tools().find(({ tool }) => tool.name === name);
  if (found === undefined) return 'mcp';
  return found.bundled ? 'builtin' : found.owner;
};

/** Why the manifest's own lists keep a tool from the agent; undefined when they do not. */
export const exclusionOf = (name: string, manifest: Pick<AgentManifest, 'tools_disabled' | 'tool_blocklist' | 'tool_allowlist' | 'capabilities'>): string | undefined => {
  if (manifest.tools_disabled) return 'its manifest switches all tools off';
  if (matchesAny(manifest.tool_blocklist, name)) return 'it is in the tool_blocklist of its manifest';
  if (manifest.tool_allowlist.length > 0 && !matchesAny(manifest.tool_allowlist, name)) return 'it is not in the tool_allowlist of its manifest';
  return undefined;
};
