/** Running a validated call (T2 to T5). */
import {
  type AnyTool,
  type Capabilities,
  type Clock,
  type HookHandle,
  type Logger,
  type Origin,
  type SvcError,
  type ToolAfter,
  type ToolCall,
  type ToolGrants,
  type ToolOutput,
  type ToolRequest,
  type ToolStart,
  isSvcError,
} from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { callDigest } from './call-digest.js';
import { type CheckpointDeps, withCheckpoint } from './checkpoint.js';
import { type CallRequest, READ_ARTIFACT, type ToolResult, type ToolTransform } from './contract.js';
import { toolErrors } from './errors.js';
import { checkedArguments, type CallPolicyDeps, textOf, toolRequest } from './call-policy.js';
import { capText, RESULT_BYTES, TOOL_TEXT_BYTES } from './result-size.js';
import { headOf, isSpilled, noteOf, type Spilling } from './artifacts/spilling.js';
import { whyNotOffered } from './mode-limits.js';
import { timeLimitOf, type TimeSettings } from './time-limits.js';
import type { ToolRegistry } from './tool-registry.js';

export interface ExecuteDeps extends CheckpointDeps {
  readonly registry: ToolRegistry;
  readonly grants: HookHandle<typeof ToolGrants>;
  readonly start: HookHandle<typeof ToolStart>;
  readonly after: HookHandle<typeof ToolAfter>;
  readonly transform: HookHandle<typeof ToolTransform>;
  readonly schemas: CallPolicyDeps['schemas'];
  readonly clock: Pick<Clock, 'sleep'>;
  /** Asked with each call: settings may change. */
  readonly timeSettings: () => TimeSettings;
  /** Where long results are stored. */
  readonly spilling: Spilling;
  readonly log: Logger;
}

export const executeCall = async (deps: ExecuteDeps, asked: CallRequest, agent: Agent | undefined, signal: AbortSignal): Promise<ToolResult> => {
  const tool = deps.registry.find(asked.name);
  if (!tool) return resultOf(failure(toolErrors.unknown(asked.name, [])));
  // A call that a restart repeats was validated by an earlier build: its arguments are checked again.
  const checked = await checkedArguments(deps, tool, asked);
  if ('problem' in checked) return resultOf(failure(checked.problem));
  const request = { ...asked, args: checked.args };
  let known: ToolRequest | undefined;
  const facts = (): ToolRequest => (known ??= toolRequest(deps.registry, tool, request, callDigest(asked.name, asked.args)));
  const given = await withCheckpoint(deps, tool, request, async () => (await refusedAtStart(deps, facts)) ?? runWithEnd(deps, tool, request, signal));
  const output = deps.transform.isEmpty() ? given : await transformed(deps, asked, facts, given);
  return resultOf(agent && isSpilled(deps.spilling, asked, output) && canReadOn(deps, agent) ? await spilled(deps, tool, asked, facts, output) : await whole(deps, asked, facts, output));
};

/** Before the guards of `tool.after` look at it. A failure keeps the result. What others wrote into it is from outside, whatever they say of it. */
const transformed = async ({ transform, log }: ExecuteDeps, { name, call }: CallRequest, facts: () => ToolRequest, output: ToolOutput): Promise<ToolOutput> => {
  try {
    const { content, origin } = await transform.call(output, facts());
    if (content === output.content) return output;
    const labels = new Set([...(output.origin?.labels ?? []), ...(origin?.labels ?? []), 'ExternalNetwork' as const]);
    return { ...output, content, origin: { ...output.origin, labels: [...labels], source: origin?.source ?? output.origin?.source ?? name } };
  } catch (cause) {
    log.warn('the result of a tool stays as it was', { tool: name, run: call.runId, cause });
    return output;
  }
};

const canReadOn = ({ registry }: ExecuteDeps, { manifest }: Agent): boolean => {
  const reader = registry.find(READ_ARTIFACT);
  return reader !== undefined && whyNotOffered(reader, manifest) === undefined;
};

const whole = async (deps: ExecuteDeps, asked: CallRequest, facts: () => ToolRequest, output: ToolOutput): Promise<ToolOutput> =>
  (await throughTaps(deps, asked, facts, { ...output, content: capText(output.content, TOOL_TEXT_BYTES) })) ?? withheld(asked);

const spilled = async (deps: ExecuteDeps, tool: AnyTool, asked: CallRequest, facts: () => ToolRequest, output: ToolOutput): Promise<ToolOutput> => {
  const { spilling } = deps;
  const head = headOf(spilling, output.content);
  const shown = await throughTaps(deps, asked, facts, { ...output, content: head });
  // What a tap could not look at is not stored either.
  if (!shown) return withheld(asked);
  try {
    const origin = shown.origin ?? declaredOrigin(tool);
    const stored = await spilling.artifacts.store(asked.call, { tool: asked.name, text: output.content, ...(origin ? { origin } : {}) });
    return { ...shown, content: `${shown.content}${noteOf(head, stored)}` };
  } catch (error) {
    // The effect has happened, and what fits is better than nothing.
    deps.log.error('a long result could not be stored', { tool: asked.name, run: asked.call.runId, call: asked.call.callId, error: String(error) });
    return whole(deps, asked, facts, output);
  }
};

/** Nobody looked where it came from, and what reads it later must know: what its tool declares. */
const declaredOrigin = ({ name, openWorld }: AnyTool): Origin | undefined => (openWorld === false ? undefined : { labels: ['ExternalNetwork'], source: name });

const refusedAtStart = async ({ start }: ExecuteDeps, facts: () => ToolRequest): Promise<ToolOutput | undefined> => {
  const verdict = start.isEmpty() ? undefined : await start.call(facts());
  return verdict && { content: 'deny' in verdict ? verdict.deny : verdict.suspend.reason, isError: true, status: 'denied' };
};

const runWithEnd = async (deps: ExecuteDeps, tool: AnyTool, request: CallRequest, signal: AbortSignal): Promise<ToolOutput> => {
  const limitMs = timeLimitOf(tool, deps.timeSettings());
  const late = new AbortController();
  const over = new AbortController();
  void deps.clock.sleep(limitMs, over.signal).then(
    () => late.abort(toolErrors.timed_out(tool.name, limitMs)),
    () => undefined, // it ended in time
  );
  const either = AbortSignal.any([signal, late.signal]);
  const ended = new Promise<never>((_, reject) => {
    const end = (): void => reject(late.signal.aborted ? late.signal.reason : toolErrors.cancelled(tool.name));
    if (either.aborted) end();
    else either.addEventListener('abort', end, { once: true });
  });
  try {
    if (signal.aborted) return await ended;
    return await Promise.race([ended, runTool(tool, request.args, { ...request.call, capabilities: await grantsOf(deps, request), signal: either, log: deps.log })]);
  } catch (error) {
    // A tool that heeds the signal fails with an error of its own: the reason is the better answer.
    return failure(shownError(deps, tool, request, either.aborted ? await ended.catch((reason: unknown) => reason) : error));
  } finally {
    over.abort();
  }
};

/** What the manifest says, less what its owner may not grant (any more). */
const grantsOf = async ({ grants }: ExecuteDeps, { call }: CallRequest): Promise<Capabilities> =>
  grants.isEmpty() ? call.capabilities : grants.call(call.capabilities, { ownerId: call.actor.ownerId });

const runTool = async (tool: AnyTool, args: unknown, call: ToolCall): Promise<ToolOutput> => {
  // The arguments were checked against `params`, which is what `run` is typed by.
  const output = await tool.run(args as Parameters<AnyTool['run']>[0], call);
  return typeof output === 'string' ? { content: output } : output;
};

/** Errors made to be shown are shown; anything else stays in the log. */
const shownError = (deps: ExecuteDeps, tool: AnyTool, request: CallRequest, error: unknown): SvcError => {
  if (isSvcError(error) && error.status !== 500) return error;
  deps.log.error('a tool failed', { tool: tool.name, run: request.call.runId, call: request.call.callId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  return toolErrors.failed(tool.name);
};

/** Undefined where a tap failed. */
const throughTaps = async (deps: ExecuteDeps, { name, call }: CallRequest, facts: () => ToolRequest, output: ToolOutput): Promise<ToolOutput | undefined> => {
  if (deps.after.isEmpty()) return output;
  try {
    return await deps.after.call(output, facts());
  } catch (error) {
    deps.log.error('a tap of tool.after failed', { tool: name, run: call.runId, error: String(error) });
    return undefined;
  }
};

/** The hook fails closed: what a guard could not look at is not shown. The effect has happened, and the model must know. */
const withheld = ({ name }: CallRequest): ToolOutput => ({ content: `${name} ran, but its result could not be checked and is withheld.`, isError: true });

export const failure = (error: SvcError): ToolOutput => ({ content: textOf(error), isError: true });

export const resultOf = (output: ToolOutput): ToolResult => {
  const isError = output.isError ?? false;
  return {
    content: capText(output.content, RESULT_BYTES),
    isError,
    status: output.status ?? (isError ? 'error' : 'completed'),
    ...(output.origin ? { origin: output.origin } : {}),
    ...(output.files && output.files.length > 0 ? { files: output.files } : {}),
  };
};
