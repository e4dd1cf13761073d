/**
 * The one way to a tool's effect.
 *
 * T1  A call is judged before it runs: the tool exists, the manifest's lists offer it, its arguments fit, nobody objects.
 * T2  A tool that fails gives the model a result that says so; `execute` throws for nothing a tool did.
 * T3  A call has an end: its own time limit, or the caller's signal, even when the tool heeds neither.
 * T4  A result has at most 64 KiB, and says what was left out.
 * T5  What went wrong inside is in the log; the model reads no stack and no path of the daemon.
 */
import type { Actor, AnyTool } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import type { ToolInfo, ToolsService } from './contract.js';
import { type ExecuteDeps, executeCall } from './execution.js';
import { type JudgeDeps, judgeCall } from './judgement.js';
import { whyNotOffered } from './mode-limits.js';

export type ToolsDeps = JudgeDeps & ExecuteDeps;

const NEVER = new AbortController().signal;

/** Keeps nothing that counts: safe to create twice, as a reload does. */
export const createToolsService = (deps: ToolsDeps): ToolsService => {
  const lists: Lists = new WeakMap();
  return {
    all: async () => (await deps.registry.all()).map(deps.registry.info).sort(byName),
    list: (actor, agentId, manifest) => listFor(deps, lists, actor, agentId, manifest),
    judge: (request) => judgeCall(deps, request),
    execute: (request, options) => executeCall(deps, request, options?.signal ?? NEVER),
  };
};

/** The last list of each manifest, with the tools it was made of: as long as nothing changes a list is the same object, and what was made of it holds. */
type Lists = WeakMap<AgentManifest, { readonly of: readonly AnyTool[]; readonly list: readonly ToolInfo[] }>;

const listFor = async ({ registry }: ToolsDeps, lists: Lists, { ownerId }: Actor, agentId: string, manifest: AgentManifest): Promise<readonly ToolInfo[]> => {
  const tools = await registry.all({ agentId, ownerId, capabilities: manifest.capabilities });
  const known = lists.get(manifest);
  if (known && known.of.length === tools.length && tools.every((tool, index) => tool === known.of[index])) return known.list;
  const offered = tools.filter((tool) => whyNotOffered(tool, manifest) === undefined).map(registry.info);
  const list = Object.freeze(offered.sort(byName));
  lists.set(manifest, { of: tools, list });
  return list;
};

/** In one order always: a provider's prompt cache depends on it. */
const byName = (a: ToolInfo, b: ToolInfo): number => (a.name < b.name ? -1 : 1);
