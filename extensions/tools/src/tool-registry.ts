/** Which tools there are now: what extensions contribute, less what taps of `tool.list` keep from an agent. */
import { type AnyTool, type Capabilities, factsOf, type HookHandle, matchesAny, type ToolFacts, type ToolList, type ToolsView } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import { type ToolInfo, TOOLS_OF_OTHERS } from './contract.js';

export interface ToolRegistry {
  /** Every tool, or those listed for one agent. */
  all(forAgent?: { readonly agentId: string; readonly ownerId: string; readonly capabilities: Capabilities }): Promise<readonly AnyTool[]>;
  /** By name, whether or not it is offered to an agent. */
  /** Of all that there are. */
  names(): string[];
  find(name: string): AnyTool | undefined;
  /** Why nobody can call it now, in a sentence; undefined when that is not so. */
  unavailable(name: string): string | undefined;
  info(tool: AnyTool): ToolInfo;
  facts(tool: AnyTool): ToolFacts;
}

export interface RegistryRules {
  /** What the tool lacks of its surroundings; such a tool is not listed. */
  unavailable(name: string): string | undefined;
  /** The tool without which this one is of no use: an agent that is not shown that one is not shown this one. */
  companionOf(name: string): string | undefined;
}

const NO_RULES: RegistryRules = { unavailable: () => undefined, companionOf: () => undefined };

export const createToolRegistry = (kernel: ToolsView, toolList: HookHandle<typeof ToolList>, { unavailable, companionOf }: RegistryRules = NO_RULES): ToolRegistry => {
  const contributed = (): readonly AnyTool[] => kernel.tools().map(({ tool }) => tool);
  const available = (): readonly AnyTool[] => contributed().filter(({ name }) => unavailable(name) === undefined);
  // A contributed tool keeps its owner for as long as the object lives, and every message lists them all.
  const infos = new WeakMap<AnyTool, ToolInfo>();
  const facts = new WeakMap<AnyTool, ToolFacts>();
  const of = <T>(known: WeakMap<AnyTool, T>, tool: AnyTool, make: () => T): T => {
    const made = known.get(tool) ?? make();
    known.set(tool, made);
    return made;
  };
  const factsFor = (tool: AnyTool): ToolFacts => of(facts, tool, () => factsOf(tool));
  return {
    all: async (forAgent) => {
      const tools = available();
      if (toolList.isEmpty()) return tools;
      const listed = await toolList.call(tools.map(factsFor), forAgent ?? { agentId: '' });
      // Taps leave out; what they would add runs nowhere.
      const names = new Set(listed.map(({ name }) => name));
      return tools.filter(({ name }) => names.has(name) && names.has(companionOf(name) ?? name));
    },
    names: () => contributed().map(({ name }) => name),
    find: (name) => contributed().find((tool) => tool.name === name),
    unavailable,
    info: (tool) => of(infos, tool, () => infoOf(tool, sourceOf(kernel, tool.name))),
    facts: factsFor,
  };
};

const infoOf = (tool: AnyTool, source: string): ToolInfo => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.params,
  source,
  ...(tool.source === undefined ? {} : { from: tool.source }),
  risk: tool.risk,
  replay: tool.replay,
  parallel: tool.parallel,
});

/** `builtin`, the kind of what brought it, or the extension of a third party. */
const sourceOf = (kernel: ToolsView, name: string): string => {
  const found = kernel.tools().find(({ tool }) => tool.name === name);
  if (!found) return 'builtin';
  return found.bundled ? (found.tool.source?.kind ?? 'builtin') : found.owner;
};

/** Why the manifest's own lists keep a tool from the agent; undefined when they do not. */
export const exclusionOf = (name: string, manifest: Pick<AgentManifest, 'tools_disabled' | 'tool_blocklist' | 'tool_allowlist' | 'capabilities'>): string | undefined => {
  if (manifest.tools_disabled) return 'its manifest switches all tools off';
  if (matchesAny(manifest.tool_blocklist, name)) return 'it is in the tool_blocklist of its manifest';
  if (manifest.tool_allowlist.length > 0 && !matchesAny(manifest.tool_allowlist, name) && !TOOLS_OF_OTHERS.has(name)) return 'it is not in the tool_allowlist of its manifest';
  return undefined;
};
