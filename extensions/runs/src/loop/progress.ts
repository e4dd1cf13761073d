/**
 * One run on its way: what it has spent, which number comes next, and the one
 * place that commits its progress together with what it adds to the session.
 *
 * R1  Outcomes may wait for the next commit only while nothing outside happens in between.
 * R2  A session that somebody else extended (a compaction, say) is read again; the entries are appended after theirs.
 */
import { type Actors, type Actor, type Advance, type Events, type FirstStep, type Journal, type JournalStep, type LeasedRun, type StepOutcome, type StepSpec, type Write, isSvcError } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { EntryDraft, SessionRef, SessionsService } from '@svc/ext-sessions/contract';
import { factOf, openingOf, conversationOf } from '../beside.js';
import { clientWaitOf, type Spent } from '../client-tools/client-wait.js';
import { type Shown, nothingShown } from './pictures.js';
import type { ClientTurn } from '../client-tools/shapes.js';
import { RunChanged, type RunResult } from '../contract.js';
import type { LeftOut } from '@svc/ext-llm/contract';
import { type KeptPrompt, type ModelOutcome, type RunInput, type ToolOutcome, inputOf, loadedIn, modelOutcomeOf, toMicrosUsd, toolIntentOf, wordsOf } from '../run-input.js';

/** Others that may append to the session while one commit is tried. */
const MAX_RACES = 8;

export interface Progress {
  readonly run: LeasedRun;
  readonly input: RunInput;
  readonly actor: Actor;
  readonly agent: Agent;
  /** Ends what the run is doing: somebody stopped it, or it goes on elsewhere. */
  effects: AbortSignal;
  session: SessionRef;
  nextSeq: number;
  iterations: number;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
  provider: string;
  model: string;
  /** Validated calls so far, oldest first. */
  readonly earlier: Array<{ digest: string; status: string; missed?: boolean }>;
  /** Entries that the next commit writes: the user's message, the last tool's result. */
  pendingEntries: EntryDraft[];
  /** The same, already numbered, so that a projection can read them before they are committed. */
  staged: { writes: readonly Write[]; next: SessionRef } | undefined;
  pendingOutcomes: StepOutcome[];
  /** What the audit trail hears with the next commit. */
  pendingFacts: Write[];
  /** What other areas made of the prompt, once they were asked. */
  prompt: KeptPrompt | undefined;
  /** True once nothing more is recalled for the message. */
  hasRecalled: boolean;
  /** What the run's row has of the request now. */
  storedInput: RunInput;
  /** The pictures that its messages name. */
  readonly shown: Shown;
  /** What the call that is under way has said so far. */
  received: { text: string; thoughts: string } | undefined;
  /** The step of that call. */
  calling: number | undefined;
  /** Names of tools that its model has loaded, beyond those that it is sent at first. */
  readonly loaded: Set<string>;
  /** What its models were asked without, each once. */
  leftOut: readonly LeftOut[];
  /** Where the run stood when its sender answered last. */
  readonly answered: Spent;
  /** What the model said beside its calls. */
  said: string;
}

/** A conversation can have another model than its agent; what the agent falls back to stays. */
export const withModelOf = (agent: Agent, { model }: Pick<SessionRef, 'model'>): Agent =>
  model === undefined ? agent : { ...agent, manifest: { ...agent.manifest, model: { ...agent.manifest.model, ...model } } };

export function beginProgress(actors: Actors, run: LeasedRun, agent: Agent, session: SessionRef, effects: AbortSignal): Progress {
  // The journal stores what `submit` gave it.
  const waited = clientWaitOf(run);
  const input: RunInput = waited?.turn ? withTurn(inputOf(run), waited.turn) : inputOf(run);
  const progress: Progress = {
    run,
    input,
    actor: actors.of(run.ownerId),
    agent,
    effects,
    session,
    nextSeq: 1 + Math.max(0, ...run.steps.map((step) => step.seq)),
    iterations: 0,
    inputTokens: 0,
    outputTokens: 0,
    costMicros: 0,
    provider: session.model?.provider ?? agent.manifest.model.provider,
    model: session.model?.model ?? agent.manifest.model.model,
    earlier: callsOf(run.steps),
    pendingEntries: openingOf(input, run.id),
    pendingOutcomes: [],
    pendingFacts: [],
    staged: undefined,
    prompt: input.prompt,
    hasRecalled: false,
    storedInput: inputOf(run),
    shown: nothingShown(),
    received: undefined,
    calling: undefined,
    loaded: new Set(loadedIn(run.steps)),
    leftOut: [],
    answered: waited?.turn ? waited.spent : { inputTokens: 0, outputTokens: 0, iterations: 0 },
    said: '',
  };
  for (const step of run.steps) {
    const outcome = modelOutcomeOf(step);
    if (outcome) countModel(progress, outcome);
  }
  return progress;
}

/** What the message said of them holds no more. */
const withTurn = ({ clientTools: _tools, systemExtra: _extra, maxTokens: _max, temperature: _temperature, parameters: _parameters, ...input }: RunInput, turn: ClientTurn): RunInput => ({
  ...input,
  ...turn,
});

/** The tool calls among these steps, oldest first, as whoever validates the next one sees them. */
export const callsOf = (steps: readonly JournalStep[]): Array<{ digest: string; status: string; missed?: boolean }> =>
  steps.flatMap((step) => {
    if (step.kind !== 'tool') return [];
    const { digest, missed } = toolIntentOf(step);
    return [{ digest, status: (step.outcome as ToolOutcome | null)?.status ?? 'completed', ...(missed ? { missed } : {}) }];
  });

export function countModel(progress: Progress, outcome: Pick<ModelOutcome, 'inputTokens' | 'outputTokens' | 'costMicros' | 'provider' | 'model'>): void {
  progress.iterations += 1;
  progress.inputTokens += outcome.inputTokens;
  progress.outputTokens += outcome.outputTokens;
  progress.costMicros += outcome.costMicros;
  progress.provider = outcome.provider;
  progress.model = outcome.model;
}

export const resultOf = (progress: Progress, response: string, finish: RunResult['finish']): RunResult => ({
  response,
  input_tokens: progress.inputTokens,
  output_tokens: progress.outputTokens,
  iterations: progress.iterations,
  cost_usd: toMicrosUsd(progress.costMicros),
  session_id: conversationOf(progress.input),
  finish,
  provider: progress.provider,
  model: progress.model,
  ...(progress.leftOut.length === 0 ? {} : { left_out: progress.leftOut }),
  ...(progress.answered.iterations === 0 ? {} : { answer_usage: usageSince(progress) }),
});

/** Since the sender answered last. */
export const usageSince = ({ answered, inputTokens, outputTokens }: Progress): { input_tokens: number; output_tokens: number } => ({
  input_tokens: inputTokens - answered.inputTokens,
  output_tokens: outputTokens - answered.outputTokens,
});

export interface CommitDeps {
  readonly journal: Journal;
  readonly events: Events;
  readonly sessions: SessionsService;
}

/** Numbers what waits, so that `project` can read it. A model never sees what the same commit does not keep. */
export async function stageEntries(deps: CommitDeps, progress: Progress): Promise<SessionRef> {
  if (progress.pendingEntries.length === 0) return progress.session;
  progress.staged ??= await deps.sessions.append(progress.actor, progress.session, progress.pendingEntries);
  return progress.staged.next;
}

/**
 * Commits what waits, `advance` and `entries` together. What other calls of the same message add
 * while the commit is on its way waits for the next one; what could not be committed waits again.
 */
export async function commitProgress(deps: CommitDeps, progress: Progress, advance: Advance, entries: readonly EntryDraft[] = []): Promise<void> {
  const input = advance.finish ? inputOnceEnded(progress) : inputOnceKept(progress);
  const sent = takePending(progress);
  const outcomes = [...sent.outcomes, ...(advance.outcomes ?? [])];
  const reported = advance.finish ? [] : [deps.events.event(RunChanged, { ...factOf(progress.run), status: 'running' })];
  const write = async (session: SessionRef, staged: Progress['staged']): Promise<SessionRef> => {
    const first = staged ?? (await numbered(deps, progress.actor, session, sent.entries));
    const rest = await numbered(deps, progress.actor, first.next, entries);
    await deps.journal.advance(progress.run, { ...advance, ...input, outcomes, also: [...first.writes, ...rest.writes, ...(advance.also ?? []), ...sent.facts, ...reported] });
    return rest.next;
  };
  try {
    progress.session = await untilAppended(deps, progress, (session, races) => write(session, races === 0 ? sent.staged : undefined));
  } catch (error) {
    progress.pendingEntries = [...sent.entries, ...progress.pendingEntries];
    progress.pendingOutcomes = [...sent.outcomes, ...progress.pendingOutcomes];
    progress.pendingFacts = [...sent.facts, ...progress.pendingFacts];
    throw error;
  }
}

/** What the commit that accepts the message carries of this progress, which then stands as if that were done. */
export function asFirstStep(progress: Progress, spec: StepSpec, also: readonly Write[]): FirstStep {
  const input = inputOnceKept(progress);
  const { staged } = takePending(progress);
  if (staged) progress.session = staged.next;
  return { intents: [spec], ...input, also: [...(staged?.writes ?? []), ...also] };
}

/** Tries again after whoever came first, as long as somebody did. */
async function untilAppended(deps: CommitDeps, progress: Progress, write: (session: SessionRef, races: number) => Promise<SessionRef>): Promise<SessionRef> {
  for (let races = 0; ; races++) {
    try {
      return await write(progress.session, races);
    } catch (error) {
      if (!isSvcError(error) || error.code !== 'storage_conflict' || races === MAX_RACES) throw error;
      const fresh = await deps.sessions.ensure(progress.actor, progress.agent.id, progress.session.id, { again: true });
      if (fresh.mark === progress.session.mark) throw error;
      progress.session = fresh;
    }
  }
}

function takePending(progress: Progress): { entries: EntryDraft[]; outcomes: StepOutcome[]; facts: Write[]; staged: Progress['staged'] } {
  const taken = { entries: progress.pendingEntries, outcomes: progress.pendingOutcomes, facts: progress.pendingFacts, staged: progress.staged };
  progress.pendingEntries = [];
  progress.pendingOutcomes = [];
  progress.pendingFacts = [];
  progress.staged = undefined;
  return taken;
}

const numbered = async (deps: CommitDeps, actor: Actor, ref: SessionRef, drafts: readonly EntryDraft[]): Promise<{ writes: readonly Write[]; next: SessionRef }> =>
  drafts.length === 0 ? { writes: [], next: ref } : deps.sessions.append(actor, ref, drafts);

/** Once the message stands in the session, the run's row need not keep it. */
function inputOnceKept(progress: Progress): { input?: RunInput } {
  if (progress.pendingEntries.length === 0 || !progress.input.parts || progress.iterations > 0) return {};
  const { parts: _parts, history: _history, ...rest } = progress.input;
  // What was made of an incognito message may repeat it.
  const prompt = progress.prompt === undefined || rest.beside?.kind === 'incognito' ? {} : { prompt: progress.prompt };
  progress.storedInput = { ...rest, ...prompt, ...(rest.beside ? {} : { said: { from: progress.session.seq + 1, words: wordsOf(progress.input) } }) };
  return { input: progress.storedInput };
}

/** A prompt is kept only as long as the run may need it; what it is known by stays. */
function inputOnceEnded(progress: Progress): { input?: RunInput } {
  const first = inputOnceKept(progress);
  const { prompt, ...rest } = progress.storedInput;
  if (prompt?.base === undefined && prompt?.added === undefined && prompt?.whole === undefined) return first;
  return { input: { ...rest, ...(prompt.source === undefined ? {} : { prompt: { source: prompt.source } }) } };
}

export const stepSpec = (progress: Progress, kind: 'model' | 'tool', key: string, replay: StepSpec['replay'], intent: unknown): StepSpec => ({ seq: progress.nextSeq++, kind, key, replay, intent });
