/**
 * The tool calls of one assistant message.
 *
 * T1  All calls are validated before any runs. Those without objection run: parallel ones together, the rest one after another.
 * T2  A call's intent is committed before its effect. After a crash a call without outcome runs again only
 *     when its tool declared that harmless; otherwise the model reads `outcome_unknown`.
 * T3  A suspended call lets the others run first; then the run waits in the journal, holding nothing.
 */
import { CLIENT_REASON, isExpired } from '../client-tools/client-wait.js';
import { decideClientCall, isAlone, isClientTool } from '../client-tools/offering.js';
import { RunFrames } from '../contract.js';
import { AuditRecorded, auditFact, type Clock, type ExtensionContext, type Ids, type JournalStep, type StepSpec, matchesAny, type Streams, type ToolStatus, toolCallNote } from '@svc/api';
import type { EntryDraft } from '@svc/ext-sessions/contract';
import type { CallRequest, CallDecision, ToolResult, ToolsService } from '@svc/ext-tools/contract';
import { runErrors } from '../errors.js';
import { placeIn, shownFiles } from '../frames/frames.js';
import type { CheckCircuit } from './check-circuit.js';
import { type CommitDeps, type Progress, callsOf, commitProgress, stepSpec } from './progress.js';
import type { RollingCount } from '../observed/rolling-count.js';
import { type RunInput, type ToolIntent, type ToolOutcome, toolIntentOf } from '../run-input.js';

export interface ToolPhaseDeps extends CommitDeps {
  readonly tools: ToolsService;
  readonly streams: Streams;
  readonly endSurvivors: ExtensionContext['endSurvivors'];
  readonly checks: Pick<CheckCircuit, 'decide'>;
  readonly toolCalls: Pick<RollingCount, 'add'>;
  readonly ids: Ids;
  readonly clock: Clock;
  clientToolsSecs(): number;
  /** This generation is going: what is not begun yet is the next one's. */
  isLeaving(): boolean;
}

export interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly argsError?: string;
  /** The step of an earlier life of this run, without outcome. */
  readonly begun?: JournalStep;
}

export interface Planned {
  readonly call: OpenCall;
  /** As it was validated: the calls before it, and not those after it. */
  readonly request: CallRequest;
  readonly decision: CallDecision;
  readonly spec: StepSpec | undefined;
  /** True for a call that an earlier life of the run had begun. */
  readonly begun: boolean;
}

export type Suspension = NonNullable<CallDecision['suspend']>;

/** Refusals that say more than no. */
const STATUS_OF_REFUSAL: Readonly<Record<string, ToolStatus>> = { approval_expired: 'expired', approval_skipped: 'skipped' };

const UNKNOWN_OUTCOME = 'The daemon stopped during this call, so it is unknown whether it took effect. It was not repeated. Check before you repeat it.';

/** Validates every call; numbers a step for each that may run or is refused. `isProvisional` where the calls are not stored yet. */
export async function planCalls(deps: ToolPhaseDeps, progress: Progress, calls: readonly OpenCall[], isProvisional = false): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const call of calls) {
    if (call.begun) {
      planned.push(planBegun(progress, call, call.begun));
      continue;
    }
    const request = requestOf(progress, call, progress.earlier.slice());
    const decision = isClientTool(progress.input, call.name) ? clientDecision(deps, progress, calls, call) : await decide(deps, progress, isProvisional ? { ...request, isProvisional } : request);
    if (decision.code === 'loop_guard_break') throw runErrors.loop_guard_break(decision.reason ?? 'the loop guard ended it');
    if (decision.verdict !== 'suspend') progress.earlier.push({ digest: decision.digest, status: decision.verdict === 'deny' ? 'denied' : 'completed', ...(decision.missed ? { missed: true } : {}) });
    const intent: ToolIntent = {
      tool: call.name,
      digest: decision.digest,
      ...(decision.verdict === 'deny' ? { denied: decision.reason ?? 'refused', ...(decision.code === undefined ? {} : { code: decision.code }) } : {}),
      ...(decision.missed ? { missed: true } : {}),
    };
    const spec = decision.verdict === 'suspend' ? undefined : stepSpec(progress, 'tool', call.id, decision.replay, intent);
    planned.push({ call, request, decision, spec, begun: false });
  }
  return planned;
}

/** Calls that were suspended before they were stored are decided again now that they are: whoever asks a person about one does so before the others run. */
export const askForSuspended = async (deps: ToolPhaseDeps, progress: Progress, planned: readonly Planned[]): Promise<void> => {
  for (const { call, request, decision } of planned) if (decision.suspend && !isClientTool(progress.input, call.name)) await decide(deps, progress, request);
};

/** Throws when the sender let the time pass. */
function clientDecision({ clock, clientToolsSecs }: ToolPhaseDeps, { run, input }: Progress, calls: readonly OpenCall[], call: OpenCall): CallDecision {
  if (isExpired(run, call.id, clock.iso())) throw runErrors.calls_expired(clientToolsSecs());
  const before = calls.slice(0, calls.indexOf(call)).filter(({ name }) => isClientTool(input, name));
  return decideClientCall(input, call, before.length);
}

/** A model may name a tool that it was not told of. */
async function decide(deps: ToolPhaseDeps, progress: Progress, request: CallRequest): Promise<CallDecision> {
  const decision = await deps.checks.decide(request.name, () => deps.tools.decide(request), deps.isLeaving, progress.effects);
  const reason =
    progress.input.beside?.kind === 'ephemeral'
      ? 'A side question uses no tools.'
      : isAlone(progress.input) || isLeftOut(progress.input, request.name)
        ? `There is no tool ${request.name}.`
        : undefined;
  return reason === undefined || decision.code === 'loop_guard_break' ? decision : { verdict: 'deny', digest: decision.digest, replay: decision.replay, parallel: false, reason, missed: true };
}

const isLeftOut = ({ tools }: RunInput, name: string): boolean => tools !== undefined && !matchesAny(tools, name);

/** Runs what may run. The last outcome is left for the next commit, which follows at once (R1). */
export async function runCalls(deps: ToolPhaseDeps, progress: Progress, planned: readonly Planned[]): Promise<Suspension | undefined> {
  const runnable = planned.filter((one) => one.spec !== undefined);
  let left = runnable.length;
  const settle = async (one: Planned, result: ToolResult) => {
    left -= 1;
    noteResult(deps, progress, one, result);
    if (left > 0) await queueCommit();
  };
  let commits: Promise<void> = Promise.resolve();
  const queueCommit = () => {
    // Of calls that end together, the first commit takes all results along.
    commits = commits.then(async () => (progress.pendingOutcomes.length > 0 ? commitProgress(deps, progress, {}) : undefined));
    return commits;
  };
  const together = runnable.filter((one) => one.decision.parallel);
  await Promise.all(
    Array.from({ length: Math.min(together.length, progress.agent.manifest.resources.max_concurrent_tools || together.length) }, async () => {
      for (let one = together.shift(); one; one = together.shift()) await settle(one, await runOne(deps, progress, one));
    }),
  );
  for (const one of runnable) {
    if (one.decision.parallel) continue;
    if (progress.run.signal.aborted) break;
    await settle(one, await runOne(deps, progress, one));
  }
  await commits;
  const suspended = planned.flatMap(({ decision }) => decision.suspend ?? []);
  // A person who must agree to a call is asked before the sender is told of its own: one answer has all of those.
  return suspended.find(({ reason }) => reason !== CLIENT_REASON) ?? suspended[0];
}

async function runOne(deps: ToolPhaseDeps, progress: Progress, one: Planned): Promise<ToolResult> {
  const { call, decision } = one;
  deps.streams.publish(RunFrames, progress.run.id, 'tool_use', { tool: call.name, id: call.id });
  deps.streams.publish(RunFrames, progress.run.id, 'tool_input', { tool: call.name, id: call.id, input: call.args });
  if (decision.verdict === 'deny') return { content: decision.reason ?? 'refused', isError: true, status: STATUS_OF_REFUSAL[decision.code ?? ''] ?? 'denied' };
  if (one.begun) {
    await deps.endSurvivors(call.id);
    if (decision.replay === 'never') return { content: UNKNOWN_OUTCOME, isError: true, status: 'outcome_unknown' };
  }
  const result = await deps.tools.execute(one.request, { signal: progress.effects });
  // Cut off because the run goes on elsewhere: what came of it is validated there (T2).
  if (result.isError && progress.effects.aborted && !progress.run.signal.aborted) throw progress.effects.reason;
  return result;
}

function noteResult(deps: ToolPhaseDeps, progress: Progress, one: Planned, result: ToolResult): void {
  const { call, spec, decision } = one;
  if (!spec) return;
  deps.toolCalls.add();
  deps.streams.publish(RunFrames, progress.run.id, 'tool_result', {
    tool: call.name,
    id: call.id,
    input: call.args,
    is_error: result.isError,
    result: result.content,
    ...(result.files ? { files: shownFiles(result.files) } : {}),
    ...(decision.missing ? { missing: decision.missing } : {}),
  });
  deps.streams.flush(progress.run.id);
  const outcome: ToolOutcome = { status: result.status, ...placeIn(deps.streams, progress.run.id) };
  const entry: EntryDraft = {
    kind: 'tool_result',
    runId: progress.run.id,
    callId: call.id,
    tool: call.name,
    content: result.content,
    isError: result.isError,
    status: result.status,
    ...(result.origin ? { origin: result.origin } : {}),
    ...(result.files ? { files: result.files } : {}),
  };
  const { actor, callId, runId, agentId } = one.request.call;
  const fact = toolCallNote({ actor, agentId, runId, callId, tool: call.name, digest: decision.digest, args: call.args, status: result.status, code: decision.code });
  progress.pendingFacts = [...progress.pendingFacts, deps.events.event(AuditRecorded, auditFact(deps, fact))];
  progress.staged = undefined;
  progress.pendingEntries = [...progress.pendingEntries, entry];
  progress.pendingOutcomes = [...progress.pendingOutcomes, { seq: spec.seq, status: result.isError ? 'failed' : 'done', outcome }];
}

/** A call whose intent an earlier life committed: its decision stands, its outcome is what is not known. */
function planBegun(progress: Progress, call: OpenCall, begun: JournalStep): Planned {
  const intent = toolIntentOf(begun);
  return {
    call,
    request: requestOf(progress, call, callsOf(progress.run.steps.filter(({ seq }) => seq < begun.seq))),
    begun: true,
    spec: begun,
    decision: {
      verdict: intent.denied === undefined ? 'run' : 'deny',
      digest: intent.digest,
      replay: begun.replay,
      parallel: false,
      ...(intent.denied === undefined ? {} : { reason: intent.denied }),
      ...(intent.code === undefined ? {} : { code: intent.code }),
    },
  };
}

const requestOf = (progress: Progress, call: OpenCall, earlier: CallRequest['earlier']): CallRequest => ({
  name: call.name,
  args: call.args,
  ...(call.argsError === undefined ? {} : { argsError: call.argsError }),
  call: {
    callId: call.id,
    runId: progress.run.id,
    agentId: progress.agent.id,
    sessionId: progress.session.id,
    actor: progress.actor,
    depth: progress.input.depth,
    ...(progress.run.parentId === null ? {} : { parentRunId: progress.run.parentId }),
    capabilities: progress.agent.manifest.capabilities,
  },
  earlier,
});
