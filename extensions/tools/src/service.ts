/**
 * The one way to a tool's effect.
 *
 * T0  What a call may do stands in the manifest of its agent, read from the store for the actor of the call. What the caller says of it
 *     counts for nothing, but for the area's own calls without an agent.
 * T1  A call is validated before it runs: the tool exists, the manifest's lists offer it, its arguments fit, nobody objects.
 * T2  A tool that fails gives the model a result that says so; `execute` throws for nothing a tool did.
 * T3  A call has an end: its own time limit, or the caller's signal, even when the tool heeds neither.
 * T4  A result has at most 64 KiB, and says what was left out. In a run, one that is longer than the threshold is stored, and what is left out can be read.
 * T5  What went wrong inside is in the log; the model reads no stack and no path of the daemon.
 */
import { type Actor, type AnyTool, isSvcError, type SvcError } from '@svc/api';
import type { Agent, AgentManifest } from '@svc/ext-agents/contract';
import { callDigest } from './call-digest.js';
import type { CallRequest, ToolInfo, ToolsService } from './contract.js';
import { toolErrors } from './errors.js';
import { type ExecuteDeps, executeCall, failure, resultOf } from './execution.js';
import { denied, type CallPolicyDeps, decideCall } from './call-policy.js';
import { asOffered } from './lazy/lazy-list.js';
import { whyNotOffered } from './mode-limits.js';
import { argumentsPreview, previewCall } from './call-preview.js';

export type ToolsDeps = CallPolicyDeps &
  ExecuteDeps & {
    /** `lazy_tools_above`. */
    readonly lazyAbove: () => number;
  };

/** Without the calls of people, which direct-call.ts makes of these. */
export type CoreTools = Omit<ToolsService, 'invoke' | 'invokable'>;

const NEVER = new AbortController().signal;

/** Keeps nothing that counts: safe to create twice, as a reload does. */
export const createToolsService = (deps: ToolsDeps): CoreTools => {
  const lists: Lists = new WeakMap();
  return {
    all: async () => (await deps.registry.all()).map(deps.registry.info).sort(byName),
    list: (actor, agentId, manifest) => listFor(deps, lists, actor, agentId, manifest),
    decide: async (request) => {
      const derived = await withAgent(deps, request);
      return 'problem' in derived ? denied({ digest: callDigest(request.name, request.args), replay: 'never', parallel: false }, derived.problem) : decideCall(deps, derived.request, derived.agent);
    },
    preview: async (request) => {
      const derived = await withAgent(deps, request);
      return 'problem' in derived ? argumentsPreview(request.args, derived.problem.message) : previewCall(deps, derived.request);
    },
    execute: async (request, options) => {
      const derived = await withAgent(deps, request);
      return 'problem' in derived ? resultOf(failure(derived.problem)) : executeCall(deps, derived.request, derived.agent, options?.signal ?? NEVER);
    },
    forget: async (_actor, sessionId) => deps.spilling.artifacts.forget(sessionId),
  };
};

/** For the area itself: the call of a person without an agent, with what their role may grant. */
export const createDirectTools = (deps: ToolsDeps): CoreTools => {
  const service = createToolsService(deps);
  return {
    ...service,
    decide: (request) => (request.call.agentId === '' ? decideCall(deps, request, undefined) : service.decide(request)),
    execute: (request, options) => (request.call.agentId === '' ? executeCall(deps, request, undefined, options?.signal ?? NEVER) : service.execute(request, options)),
  };
};

type Derived = { readonly request: CallRequest; readonly agent: Agent } | { readonly problem: SvcError };

/** The request with the capabilities of its agent in place of those that the caller named (T0). */
const withAgent = async ({ agents }: ToolsDeps, request: CallRequest): Promise<Derived> => {
  const { call } = request;
  try {
    const agent = await agents.get(call.actor, call.agentId);
    const { capabilities } = agent.manifest;
    return { agent, request: call.capabilities === capabilities ? request : { ...request, call: { ...call, capabilities } } };
  } catch (error) {
    // The agent went while its run was still on, or was never this actor's: a refusal of the call, not a fault of the run.
    if (isSvcError(error) && (error.code === 'agent_not_found' || error.code === 'invalid_agent_id'))
      return { problem: toolErrors.not_offered(request.name, 'the agent does not exist, or not any more') };
    throw error;
  }
};

/** The last list of each manifest, with the tools it was made of: as long as nothing changes a list is the same object, and what was made of it holds. */
type Lists = WeakMap<AgentManifest, { readonly of: readonly AnyTool[]; readonly above: number; readonly list: readonly ToolInfo[] }>;

const listFor = async ({ registry, lazyAbove }: ToolsDeps, lists: Lists, { ownerId }: Actor, agentId: string, manifest: AgentManifest): Promise<readonly ToolInfo[]> => {
  const tools = await registry.all({ agentId, ownerId, capabilities: manifest.capabilities });
  const above = lazyAbove();
  const known = lists.get(manifest);
  if (known && known.above === above && known.of.length === tools.length && tools.every((tool, index) => tool === known.of[index])) return known.list;
  const offered = tools.filter((tool) => whyNotOffered(tool, manifest) === undefined).map(registry.info);
  const list = Object.freeze(asOffered(offered.sort(byName), manifest, above));
  lists.set(manifest, { of: tools, above, list });
  return list;
};

/** In one order always: a provider's prompt cache depends on it. */
const byName = (a: ToolInfo, b: ToolInfo): number => (a.name < b.name ? -1 : 1);
