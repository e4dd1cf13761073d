/**
 * The one way to a tool's effect.
 *
 * T1  A call is judged before it runs: the tool exists, the manifest's lists offer it, its arguments fit, nobody objects.
 * T2  A tool that fails gives the model a result that says so; `execute` throws for nothing a tool did.
 * T3  A call has an end: its own time limit, or the caller's signal, even when the tool heeds neither.
 * T4  A result has at most 64 KiB, and says what was left out.
 * T5  What went wrong inside is in the log; the model reads no stack and no path of the daemon.
 */
import type { Actor } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';
import type { ToolInfo, ToolsService } from './contract.js';
import { type ExecuteDeps, executeCall } from './execution.js';
import { type JudgeDeps, judgeCall } from './judgement.js';
import { exclusionOf } from './tool-registry.js';

export type ToolsDeps = JudgeDeps & ExecuteDeps;

const NEVER = new AbortController().signal;

/** Keeps nothing: safe to create twice, as a reload does. */
export const createToolsService = (deps: ToolsDeps): ToolsService => ({
  all: async () => (await deps.registry.all()).map(deps.registry.info).sort(byName),
  list: (actor, agentId, manifest) => listFor(deps, actor, agentId, manifest),
  judge: (request) => judgeCall(deps, request),
  execute: (request, options) => executeCall(deps, request, options?.signal ?? NEVER),
});

const listFor = async ({ registry }: ToolsDeps, { ownerId }: Actor, agentId: string, manifest: AgentManifest): Promise<ToolInfo[]> => {
  const tools = await registry.all({ agentId, ownerId, capabilities: manifest.capabilities });
  return tools
    .filter(({ name }) => exclusionOf(name, manifest) === undefined)
    .map(registry.info)
    .sort(byName);
};

/** In one order always: a provider's prompt cache depends on it. */
const byName = (a: ToolInfo, b: ToolInfo): number => (a.name < b.name ? -1 : 1);
