/**
 * The agent loop: model call, tool calls, model call … until there is an answer.
 *
 * A1  A run ends in exactly one of done, failed, cancelled; its topic ends with exactly one final frame.
 * A2  A run goes on from its last completed step, in whichever generation or process claims it.
 *     While the database cannot be written, it ends in none of them: who follows gets an error that says so, and the run goes on later.
 * A3  A generation that is being replaced hands each run on at its next step.
 */
import { type Actors, type Actor, type Clock, type Events, type HookHandle, type JournalStep, type LeasedRun, type Logger, type SvcError, isSvcError, matchesAny } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { ModelAnswer } from '@svc/ext-llm/contract';
import { type Entry, type EntryDraft, textOfParts } from '@svc/ext-sessions/contract';
import type { ToolInfo } from '@svc/ext-tools/contract';
import { factOf, keptResult, leftovers, withoutMessage } from '../beside.js';
import { CLIENT_REASON } from '../client-tools/client-wait.js';
import { handToClient } from '../client-tools/waiting.js';
import { RunChanged, RunEnded, RunFrames, type RunHalt, type RunResult } from '../contract.js';
import { cutCall } from './cut-call.js';
import { publishDone, toRunError } from './endings.js';
import { runErrors } from '../errors.js';
import { type ModelCall, type ModelDeps, type ModelTurn, callModel } from './model-phase.js';
import { type Progress, beginProgress, commitProgress, resultOf } from './progress.js';
import { inputOf, modelOutcomeOf } from '../run-input.js';
import { isForRecovery, isUnsaved, sayError } from './recovery.js';
import { type OpenCall, type Planned, type ToolPhaseDeps, askForSuspended, planCalls, runCalls } from './tool-phase.js';

export interface LoopDeps extends ModelDeps, ToolPhaseDeps {
  readonly agents: AgentsService;
  readonly actors: Actors;
  readonly events: Events;
  readonly clock: Clock;
  readonly log: Logger;
  readonly halt: HookHandle<typeof RunHalt>;
  /** Aborted when this generation has no more time: what is under way is given up, and its run handed on. */
  readonly closing: AbortSignal;
}

const UNWATCHED = runErrors.unwatched().code;
const END_RETRY_MS = 1_000;
const RECOVERY_WAIT_MS = 1_000;
const BEGIN_RETRY_MS = 500;
const MAX_BEGIN_RETRY_MS = 30_000;

/** A run that ends with an answer has no open calls, whatever the provider says. */
const FINISHES: Readonly<Record<ModelAnswer['stop'], RunResult['finish']>> = { end: 'stop', tool_calls: 'stop', length: 'length', content_filter: 'content_filter' };

/** A run whose first model call was intended by the commit that accepted it. */
export interface BegunRun {
  readonly progress: Progress;
  readonly tools: readonly ToolInfo[];
  readonly call: ModelCall;
}

export type LoopEnd = 'ended' | 'waiting' | 'handed-on' | 'lost';

/** Drives a leased run to its end, to a wait, or to the next generation. `begun` is the first step that it was accepted with. Never throws. */
export async function driveRun(deps: LoopDeps, run: LeasedRun, begun?: BegunRun): Promise<LoopEnd> {
  let progress: Progress | undefined;
  const effects = endOfEffects(run, deps.closing);
  try {
    progress = begun ? await goOn(deps, run, begun, effects.signal) : await begin(deps, run, effects.signal);
    return await loop(deps, progress, await openCalls(deps, progress), begun);
  } catch (error) {
    if (isSvcError(error) && error.code === 'journal_lease_lost') return 'lost';
    if (deps.isLeaving() && !interruptedByPerson(run)) return handOn(deps, run);
    if (isForRecovery(run, error)) return leaveForRecovery(deps, run, error);
    return end(deps, run, progress, error);
  } finally {
    effects.leave();
  }
}

/** A run goes on elsewhere when its generation closes, so two must not work on it at once. Listens for as long as the run is driven here. */
function endOfEffects(run: LeasedRun, closing: AbortSignal): { signal: AbortSignal; leave(): void } {
  const controller = new AbortController();
  const sources = [run.signal, closing];
  const onAbort = (): void => controller.abort(sources.find((source) => source.aborted)?.reason);
  for (const source of sources) source.addEventListener('abort', onAbort);
  if (sources.some((source) => source.aborted)) onAbort();
  return {
    signal: controller.signal,
    leave: () => {
      for (const source of sources) source.removeEventListener('abort', onAbort);
    },
  };
}

async function begin(deps: LoopDeps, run: LeasedRun, effects: AbortSignal): Promise<Progress> {
  const input = inputOf(run);
  const agent = await agentOf(deps, run, effects);
  const session = await patiently(deps, run, effects, isLasting, () => deps.sessions.ensure(systemFor(deps, run), agent.id, input.sessionId, { again: true, aside: input.beside !== undefined }));
  deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'thinking' });
  deps.events.publish(RunChanged, { ...factOf(run), status: 'running' });
  return beginProgress(deps.actors, run, agent, { ...session, ownerId: run.ownerId }, effects);
}

/** What was found before the message was accepted stands, unless the agent went meanwhile. */
async function goOn(deps: LoopDeps, run: LeasedRun, { progress }: BegunRun, effects: AbortSignal): Promise<Progress> {
  await agentOf(deps, run, effects);
  deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'thinking' });
  progress.effects = effects;
  return progress;
}

const agentOf = (deps: LoopDeps, run: LeasedRun, effects: AbortSignal): Promise<Agent> =>
  patiently(deps, run, effects, isAgentGone, () => deps.agents.get(systemFor(deps, run), inputOf(run).agentId)).catch((cause: unknown) => {
    throw isAgentGone(cause) ? runErrors.agent_gone().with({ cause }) : cause;
  });

/** Sees all, and what it makes is the owner's. */
export const systemFor = ({ actors }: Pick<LoopDeps, 'actors'>, run: Pick<LeasedRun, 'ownerId'>): Actor => actors.system('runs', run.ownerId);

const isAgentGone = (cause: unknown): boolean => isSvcError(cause) && cause.code === 'agent_not_found';
const isSessionGone = (cause: unknown): boolean => isSvcError(cause) && cause.code === 'sessions_session_not_found';
const isLasting = (cause: unknown): boolean => !isSvcError(cause) || !cause.retry;

/** What an accepted message needs before it can begin is asked for again, ever more slowly, until it is there, is gone for good, or the run is stopped or handed on. */
async function patiently<T>(deps: LoopDeps, run: LeasedRun, effects: AbortSignal, isFinal: (cause: unknown) => boolean, ask: () => Promise<T>): Promise<T> {
  for (let waitMs = BEGIN_RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_BEGIN_RETRY_MS)) {
    try {
      return await ask();
    } catch (cause) {
      if (isFinal(cause) || effects.aborted || deps.isLeaving()) throw cause;
      deps.log.warn('a run cannot start yet; svc tries again', { run: run.id, waitMs, cause });
    }
    await deps.clock.sleep(waitMs, effects);
  }
}

async function loop(deps: LoopDeps, progress: Progress, left: OpenCall[] | undefined, begun: BegunRun | undefined): Promise<LoopEnd> {
  const tools = begun?.tools ?? (await toolsOf(deps, progress));
  let open = left;
  let redo = lastStep(progress.run, 'model');
  let first = begun?.call;
  for (;;) {
    if (progress.run.signal.aborted) throw runErrors.stopped();
    if (open && open.length > 0 && !deps.isLeaving()) {
      const end = await toolPhase(deps, progress, open);
      if (end !== 'done') return end;
      open = undefined;
    }
    if (deps.isLeaving()) {
      if (progress.pendingOutcomes.length > 0) await commitProgress(deps, progress, {});
      return handOn(deps, progress.run);
    }
    const turn = await callModel(deps, progress, tools, redo, first);
    redo = undefined;
    first = undefined;
    if (turn.answer.calls.length === 0) return finish(deps, progress, turn);
    open = await keepCalls(deps, progress, turn);
  }
}

export const toolsOf = async (deps: Pick<LoopDeps, 'tools'>, { agent, actor, input }: Progress): Promise<readonly ToolInfo[]> => {
  if (agent.manifest.tools_disabled || input.beside?.kind === 'ephemeral') return [];
  const { tools } = input;
  if (tools === undefined) return deps.tools.list(actor, agent.id, agent.manifest);
  // A short list is sent whole: none of it waits to be searched for.
  return (await deps.tools.list(actor, agent.id, { ...agent.manifest, lazy_tools: false })).filter(({ name }) => matchesAny(tools, name));
};

/** Commits the model's outcome and its calls together with the intents of those that may run; then runs them. */
async function keepCalls(deps: LoopDeps, progress: Progress, turn: ModelTurn): Promise<OpenCall[] | undefined> {
  progress.said = turn.answer.text;
  const calls = turn.answer.calls.map((call): OpenCall => ({ id: call.id, name: call.name, args: call.args, ...(call.argsError === undefined ? {} : { argsError: call.argsError }) }));
  let planned: Planned[] = [];
  const alone = () => commitProgress(deps, progress, { outcomes: [{ seq: turn.seq, status: 'done', outcome: turn.outcome }], also: turn.settle }, turn.entries);
  try {
    if (!deps.isLeaving()) planned = await planCalls(deps, progress, calls, true);
  } catch (error) {
    await alone();
    throw error;
  }
  // Areas that check calls stop as well, and what they say meanwhile may be only that: whoever takes the run over asks.
  if (deps.isLeaving()) {
    await alone();
    return calls;
  }
  const intents = planned.flatMap((one) => (one.spec ? [one.spec] : []));
  await commitProgress(deps, progress, { outcomes: [{ seq: turn.seq, status: 'done', outcome: turn.outcome }], intents, also: turn.settle }, turn.entries);
  await askForSuspended(deps, progress, planned);
  const suspension = await runCalls(deps, progress, planned);
  if (!suspension) return undefined;
  // The suspended ones go round through the wait.
  return planned.filter((one) => one.decision.suspend).map((one) => one.call);
}

/** Calls of an earlier life, or ones that were suspended. */
async function toolPhase(deps: LoopDeps, progress: Progress, open: readonly OpenCall[]): Promise<'done' | LoopEnd> {
  const planned = await planCalls(deps, progress, open);
  if (deps.isLeaving()) return 'done';
  const intents = planned.flatMap((one) => (one.spec && !one.begun ? [one.spec] : []));
  if (intents.length > 0) await commitProgress(deps, progress, { intents });
  const suspension = await runCalls(deps, progress, planned);
  if (!suspension) return 'done';
  if (progress.pendingOutcomes.length > 0) await commitProgress(deps, progress, {});
  const { wakeKey, reason, until, data } = suspension;
  if (reason === CLIENT_REASON)
    return handToClient(
      deps,
      progress,
      planned.flatMap(({ call, decision }) => (decision.suspend ? [call] : [])),
    );
  await deps.journal.wait(
    progress.run,
    { reason, wakeKey, data: data ?? null, ...(until === undefined ? {} : { until }) },
    { also: [deps.events.event(RunChanged, { ...factOf(progress.run), status: 'waiting' })] },
  );
  deps.streams.publish(RunFrames, progress.run.id, 'phase', { phase: 'waiting', detail: reason, approval_id: wakeKey });
  deps.streams.flush(progress.run.id);
  return 'waiting';
}

async function finish(deps: LoopDeps, progress: Progress, turn: ModelTurn): Promise<LoopEnd> {
  const result = resultOf(progress, turn.answer.text, FINISHES[turn.answer.stop]);
  const ended = deps.events.event(RunEnded, { ...factOf(progress.run), status: 'done' });
  const also = [...turn.settle, ended, ...(await leftovers(deps, progress.input))];
  await commitProgress(
    deps,
    progress,
    { outcomes: [{ seq: turn.seq, status: 'done', outcome: turn.outcome }], finish: { status: 'done', result: keptResult(progress.input, result) }, also },
    turn.entries,
  );
  publishDone(deps, progress.run.id, result);
  return 'ended';
}

async function end(deps: LoopDeps, run: LeasedRun, progress: Progress | undefined, cause: unknown): Promise<LoopEnd> {
  const stopped = run.signal.aborted;
  const error = stopped ? reasonOf(run.signal) : publicError(deps, run, cause);
  const status = stopped ? 'cancelled' : 'failed';
  const also = [deps.events.event(RunEnded, { ...factOf(run), status }), ...(await leftovers(deps, inputOf(run)))];
  const cut = cutCall(progress, cause, error);
  const outcomes = cut ? [cut] : [];
  // Who stopped a run is told what it has used; one that nobody watched has nobody to tell, and ends as an error for whoever asks later.
  const result = progress && stopped && error.code !== UNWATCHED ? resultOf(progress, progress.received?.text ?? '', 'cancelled') : undefined;
  const finish = { status, ...(result ? { result: keptResult(inputOf(run), result) } : {}), error: toRunError(error) } as const;
  const store = async (): Promise<void> => {
    const note = { kind: 'note' as const, runId: run.id, content: stopped ? error.message : `The run failed: ${error.message}` };
    const alone = () => deps.journal.advance(run, { outcomes, finish, also, ...withoutMessage(inputOf(run)) });
    if (!progress) return alone();
    // Of a session that was taken away meanwhile nothing is left to write to: the run ends by itself.
    await commitProgress(deps, progress, { outcomes, finish, also }, [...receivedSoFar(progress, run.id), note]).catch((failure: unknown) =>
      isSessionGone(failure) ? alone() : Promise.reject(failure),
    );
  };
  const notify = (): void => {
    if (result) publishDone(deps, run.id, result);
    else sayError(deps.streams, run.id, error);
  };
  return storeEnd(deps, run, store, notify);
}

/** What was said until somebody stopped it, or it broke off, stays: people have read it, and may speak of it. */
const receivedSoFar = ({ received }: Progress, runId: string): EntryDraft[] =>
  received && received.text !== '' ? [{ kind: 'assistant', runId, parts: [{ type: 'text', text: received.text }], ...(received.thoughts === '' ? {} : { thoughts: received.thoughts }) }] : [];

/** A disk that is full must hang nobody: who waits is told at once, and the end is stored as soon as it can be. */
async function storeEnd(deps: LoopDeps, run: LeasedRun, store: () => Promise<void>, notify: () => void): Promise<LoopEnd> {
  for (let tries = 1; ; tries++) {
    try {
      await store();
      if (tries === 1) notify();
      return 'ended';
    } catch (failure) {
      if (isSvcError(failure) && failure.code === 'journal_lease_lost') return 'lost';
      // A commit before this one took effect and did not say so: whoever takes the run up reads what is stored, and goes on from there.
      if (isSvcError(failure) && failure.code === 'journal_step_conflict') return handOn(deps, run);
      if (tries === 1) {
        deps.log.error('the end of a run could not be stored; svc tries again every second', { run: run.id, cause: failure });
        notify();
      }
      if (deps.isLeaving()) {
        await deps.journal.release(run);
        return 'lost';
      }
      await deps.clock.sleep(END_RETRY_MS);
    }
  }
}

/** Whoever waits is told, and may ask again. The lease goes back as soon as the database takes it, and whoever claims the run continues it. */
async function leaveForRecovery(deps: LoopDeps, run: LeasedRun, error: SvcError): Promise<LoopEnd> {
  deps.log.warn('a run waits until the database can be used again', { run: run.id, code: error.code, cause: error.cause ?? error });
  if (isUnsaved(error)) sayError(deps.streams, run.id, error);
  else await deps.clock.sleep(RECOVERY_WAIT_MS, deps.closing).catch(() => undefined); // who closes hands it on at once
  return handOn(deps, run);
}

async function handOn(deps: LoopDeps, run: LeasedRun): Promise<LoopEnd> {
  await deps.journal.release(run);
  return 'handed-on';
}

function publicError(deps: LoopDeps, run: LeasedRun, cause: unknown): SvcError {
  if (isSvcError(cause)) {
    deps.log.warn('run failed', { run: run.id, code: cause.code, error: cause.message, ...(cause.cause === undefined ? {} : { cause: cause.cause }) });
    return cause;
  }
  deps.log.error('run failed', { run: run.id, cause });
  return runErrors.internal();
}

/** Calls that an earlier life of the run left without a result: begun ones with their step, suspended ones without. */
async function openCalls(deps: LoopDeps, progress: Progress): Promise<OpenCall[] | undefined> {
  const { run } = progress;
  if (run.steps.length === 0) return undefined;
  const model = run.steps.map(modelOutcomeOf).findLast((outcome) => outcome !== undefined);
  if (!model) return undefined;
  const entries = await deps.sessions.entries(progress.actor, progress.session.id, { after: model.from });
  const mine = entries.filter((entry) => entry.runId === run.id);
  progress.said = mine
    .filter((entry) => entry.kind === 'assistant')
    .map(({ parts }) => textOfParts(parts))
    .join('');
  const answered = new Set(mine.filter((entry) => entry.kind === 'tool_result').map((entry) => entry.callId));
  return mine.filter((entry) => entry.kind === 'tool_call' && !answered.has(entry.callId)).map((entry) => toOpenCall(run, entry));
}

function toOpenCall(run: LeasedRun, entry: Entry): OpenCall {
  const begun = run.steps.find((step) => step.kind === 'tool' && step.key === entry.callId && step.status === 'intent');
  return { id: entry.callId ?? '', name: entry.tool ?? '', args: entry.args, ...(begun ? { begun } : {}) };
}

/** The step of this kind that was begun last and has no outcome. */
const lastStep = (run: LeasedRun, kind: string): JournalStep | undefined => run.steps.findLast((step) => step.kind === kind && step.status === 'intent');

/** Whoever interrupts says why; a lease that was lost is no reason to tell, and nothing is stored then. */
const reasonOf = (signal: AbortSignal): SvcError => (isSvcError(signal.reason) && signal.reason.code === UNWATCHED ? signal.reason : runErrors.stopped());

const interruptedByPerson = (run: LeasedRun): boolean => run.signal.aborted;
