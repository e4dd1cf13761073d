/** Validating a call before anything runs (T1). */
import { type AnyTool, type HookHandle, type Logger, type Schemas, SvcError, type ToolBefore, type ToolMissed, type ToolRequest, type Verdict, isSvcError, nearest, needsOf } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { callDigest } from './call-digest.js';
import type { CallRequest, CallDecision } from './contract.js';
import { toolErrors } from './errors.js';
import { whyNotOffered } from './mode-limits.js';
import type { ToolRegistry } from './tool-registry.js';

export interface CallPolicyDeps {
  readonly registry: ToolRegistry;
  readonly agents: AgentsService;
  readonly schemas: Pick<Schemas, 'check'>;
  readonly before: HookHandle<typeof ToolBefore>;
  readonly missed: HookHandle<typeof ToolMissed>;
  readonly log: Logger;
}

type Basis = Pick<CallDecision, 'digest' | 'replay' | 'parallel'>;

/** `agent` is that of the call; undefined for the area's own calls without one, whose adapter decides. */
export const decideCall = async (deps: CallPolicyDeps, request: CallRequest, agent: Agent | undefined): Promise<CallDecision> => {
  const tool = deps.registry.find(request.name);
  const basis: Basis = { digest: callDigest(request.name, request.args), replay: tool?.replay ?? 'never', parallel: tool?.parallel ?? false };
  if (!tool) return missed(deps, request, basis, toolErrors.unknown(request.name, await similarNames(deps.registry, request.name)));
  const lack = deps.registry.unavailable(request.name);
  if (lack !== undefined) return missed(deps, request, basis, toolErrors.unavailable(request.name, lack));
  const problem = offerProblem(tool, agent);
  if (problem) return missed(deps, request, basis, problem);
  const checked = await checkedArguments(deps, tool, request);
  if ('problem' in checked) return missed(deps, request, basis, checked.problem);
  if (deps.before.isEmpty()) return decisionOf(basis, undefined);
  // Validated is what would run: a default may decide what a call reaches.
  const asked = requestOrFault(deps, tool, { ...request, args: checked.args }, basis.digest);
  return asked instanceof SvcError ? denied(basis, asked) : decisionOf(basis, await deps.before.call(asked));
};

/** Refused in any case; who counts calls sees it, and may have the last word. */
const missed = async (deps: CallPolicyDeps, { name, earlier }: CallRequest, basis: Basis, error: SvcError): Promise<CallDecision> => {
  const refusal = { ...denied(basis, error), missed: true };
  if (deps.missed.isEmpty()) return refusal;
  const verdict = await deps.missed.call({ name, digest: basis.digest, reason: textOf(error), earlier });
  return verdict && 'deny' in verdict ? { ...refusal, reason: verdict.deny, ...(verdict.code === undefined ? {} : { code: verdict.code }) } : refusal;
};

/** What a tool cannot say that a call needs, nobody can validate: the call is refused. */
const requestOrFault = (deps: CallPolicyDeps, tool: AnyTool, request: CallRequest, digest: string): ToolRequest | SvcError => {
  try {
    return toolRequest(deps.registry, tool, request, digest);
  } catch (cause) {
    deps.log.error('a tool failed to declare the needs of a call', { tool: tool.name, cause });
    return toolErrors.failed(tool.name);
  }
};

/** What taps of the tool hooks see: what the tool is, and never what runs it. The arguments have been checked against the tool's schema, an object. */
export const toolRequest = (registry: Pick<ToolRegistry, 'facts'>, tool: AnyTool, request: CallRequest, digest: string): ToolRequest => {
  const args = request.args as Readonly<Record<string, unknown>>;
  return { tool: registry.facts(tool), args, needs: needsOf(tool, args), call: request.call, digest, earlier: request.earlier, ...(request.isProvisional ? { isProvisional: true } : {}) };
};

/** The arguments with the defaults of the tool's schema, or why they cannot be used. */
export const checkedArguments = async ({ schemas }: Pick<CallPolicyDeps, 'schemas'>, tool: AnyTool, request: CallRequest): Promise<{ args: unknown } | { problem: SvcError }> => {
  if (request.argsError !== undefined) return { problem: toolErrors.bad_arguments(tool.name, request.argsError.slice(0, 500)) };
  try {
    const checked = await schemas.check(tool.params, request.args, 'arguments');
    return checked.ok ? { args: checked.value } : { problem: toolErrors.bad_arguments(tool.name, checked.message.replace(/\.$/, '')) };
  } catch (error) {
    // A schema that another program sent and nobody can validate by: the tool cannot be called, and the run goes on.
    if (isSvcError(error)) return { problem: toolErrors.bad_schema(tool.name, error.message).with({ cause: error }) };
    throw error;
  }
};

/** A model may name a tool that it was not offered. */
const offerProblem = (tool: AnyTool, agent: Agent | undefined): SvcError | undefined => {
  const why = agent && whyNotOffered(tool, agent.manifest);
  return why === undefined ? undefined : toolErrors.not_offered(tool.name, why);
};

export const similarNames = async (registry: ToolRegistry, name: string): Promise<string[]> =>
  nearest(
    name,
    (await registry.all()).map((tool) => tool.name),
  );

export const denied = (basis: Basis, error: SvcError): CallDecision => ({ ...basis, verdict: 'deny', reason: textOf(error), code: error.code });

export const textOf = (error: SvcError): string => (error.hint === undefined ? error.message : `${error.message} ${error.hint}`);

const decisionOf = (basis: Basis, verdict: Verdict | undefined): CallDecision => {
  if (!verdict) return { ...basis, verdict: 'run' };
  if ('suspend' in verdict) return { ...basis, verdict: 'suspend', suspend: verdict.suspend };
  return { ...basis, verdict: 'deny', reason: verdict.deny, code: verdict.code ?? 'tool_denied', ...(verdict.missing ? { missing: verdict.missing } : {}) };
};
