/**
 * A tool that a person calls without a run.
 *
 * I1  Nothing is said of a tool, not even that there is none, before the settings allow its name.
 * I2  The call goes the way of every call: it is validated, runs within its limits, and passes the taps.
 * I3  With an agent it has that agent's capabilities, owner and folder. Without one it has what the caller's role may grant, and the folder of all agents.
 * I4  It waits for nobody: what a person would have to approve first is refused.
 */
import { type Actors, type Actor, type Capabilities, type Ids, type Logger, matchesAny, SvcError, toolCallNote, type AuditNote } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { CallRequest, CallDecision, ToolResult, ToolsService } from './contract.js';
import { toolErrors } from './errors.js';
import { similarNames } from './call-policy.js';
import type { ToolInvoke } from './settings/config.js';
import type { ToolRegistry } from './tool-registry.js';

export interface DirectDeps {
  readonly registry: ToolRegistry;
  readonly actors: Pick<Actors, 'of'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly tools: Pick<ToolsService, 'decide' | 'execute'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly settings: () => ToolInvoke;
  /** Enters it in the audit trail. */
  readonly note: (note: AuditNote) => Promise<void>;
}

export interface DirectCall {
  readonly actor: Actor;
  readonly name: string;
  readonly args: unknown;
  readonly agentId: string | undefined;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** In place of `[tool_invoke]`: patterns of another setting. */
  readonly allow?: readonly string[] | undefined;
}

/** Of whoever may grant everything; the validates leave what the caller's role may. */
const EVERYTHING: Capabilities = {
  tools: ['*'],
  network: ['*'],
  memory_read: ['*'],
  memory_write: ['*'],
  shell: ['*'],
  agent_spawn: true,
  agent_message: ['*'],
  file_system: true,
  max_llm_tokens_per_hour: null,
};

export const callDirectly = async (deps: DirectDeps, { actor, name, args, agentId, signal, log, allow }: DirectCall): Promise<ToolResult> => {
  const { enabled, allowlist } = allow ? { enabled: true, allowlist: allow } : deps.settings();
  if (!enabled) throw toolErrors.invoke_disabled();
  if (!matchesAny(allowlist, name)) throw toolErrors.invoke_not_allowed(name);
  if (!deps.registry.find(name)) throw toolErrors.unknown(name, await similarNames(deps.registry, name));
  const agent = agentId === undefined ? undefined : await deps.agents.get(actor, agentId);
  const request = requestOf(deps, actor, agent, name, args);
  const decision = await deps.tools.decide(request);
  const note = (status: string, code?: string): Promise<void> =>
    deps.note(toolCallNote({ actor, agentId: agentId ?? '', runId: '', callId: request.call.callId, tool: name, digest: decision.digest, args, status, code }));
  if (decision.verdict !== 'run') {
    await note('denied', decision.code);
    log.warn('a direct call of a tool was refused', { tool: name, agent: agentId, by: actor.id, code: decision.code });
    throw refusalOf(name, decision);
  }
  const result = await deps.tools.execute(request, { signal });
  await note(result.status);
  log.info('a tool was called directly', { tool: name, agent: agentId, by: actor.id, call: request.call.callId, outcome: result.isError ? 'error' : 'ok' });
  return result;
};

const requestOf = ({ actors, ids }: Pick<DirectDeps, 'actors' | 'ids'>, actor: Actor, agent: Agent | undefined, name: string, args: unknown): CallRequest => ({
  name,
  args,
  earlier: [],
  call: {
    callId: ids.uuid(),
    runId: '',
    agentId: agent?.id ?? '',
    sessionId: agent?.sessionId ?? '',
    // An agent acts for its owner, whoever asks it to.
    actor: agent && agent.ownerId !== actor.ownerId ? actors.of(agent.ownerId) : actor,
    depth: 0,
    capabilities: agent?.manifest.capabilities ?? EVERYTHING,
  },
});

/** Of the reasons that validators give, those that are not about rights. */
const STATUS: Readonly<Record<string, number>> = { tools_bad_arguments: 400, tools_unknown: 404, tools_unavailable: 404, tools_bad_schema: 502, capability_rate_limited: 429 };

const refusalOf = (name: string, { verdict, suspend, reason = 'it was refused', code = 'tool_denied' }: CallDecision): SvcError => {
  if (verdict === 'suspend') return toolErrors.needs_approval(name, suspend?.reason ?? 'it gives no reason');
  return new SvcError(code, reason, { status: STATUS[code] ?? 403 });
};
