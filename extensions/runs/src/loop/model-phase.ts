/** One model call of a run: its intent is committed, then it is made, then everything it brought is committed at once. */
import { type Clock, type Ids, isSvcError, type JournalStep, type Logger, type StepSpec, type Streams, tokensOfChars, type Write } from '@svc/api';
import type { CallContext, LeftOut, LlmService, ModelAnswer, ModelRequest, Parameters, RetryWait, ToolSchema } from '@svc/ext-llm/contract';
import type { Aside, EntryDraft, SessionRef } from '@svc/ext-sessions/contract';
import type { ToolInfo } from '@svc/ext-tools/contract';
import { clientCallId } from '../client-tools/client-wait.js';
import { isClientTool, offered } from '../client-tools/offering.js';
import { RunFrames } from '../contract.js';
import { runErrors } from '../errors.js';
import { placeIn } from '../frames/frames.js';
import { sentTools } from './loaded-tools.js';
import { type Prompts, putRecalled } from './prompt.js';
import type { Sent } from './sent.js';
import { type PictureDeps, hasPictures, withPictures } from './pictures.js';
import { withModelOf, type CommitDeps, type Progress, commitProgress, countModel, stageEntries, stepSpec } from './progress.js';
import type { RootsConfig, ThinkingConfig } from '../config.js';
import { refuseTooLong } from '../roots.js';
import type { ModelOutcome, RunInput } from '../run-input.js';

export interface ModelDeps extends CommitDeps, PictureDeps {
  readonly llm: LlmService;
  readonly streams: Streams;
  readonly ids: Ids;
  readonly log: Logger;
  readonly maxIterations: number;
  /** Of agents whose manifest does not say. */
  readonly maxMessages: number | undefined;
  readonly thinking: ThinkingConfig;
  readonly prompts: Prompts;
  readonly sent: Pick<Sent, 'note'>;
  readonly clock: Pick<Clock, 'now'>;
  roots(): RootsConfig;
}

export interface ModelTurn {
  readonly answer: ModelAnswer;
  readonly seq: number;
  /** Entries and outcome that the next commit must carry. */
  readonly outcome: ModelOutcome;
  readonly entries: readonly EntryDraft[];
  readonly settle: readonly Write[];
}

const MIN_BUDGET_TOKENS = 1_000;
/** Of what one call sends. */
const MAX_SHORTENINGS = 6;
const TOO_LONG = 'llm_context_too_long';

/** A call that is about to be made: its intent stands. */
export interface ModelCall {
  readonly request: ModelRequest;
  readonly seq: number;
  /** What its intent reserved; nothing where an earlier life of the run had begun the call. */
  readonly reservation?: string;
}

/** `begun` is a call whose intent the run was accepted with. */
export async function callModel(deps: ModelDeps, progress: Progress, tools: readonly ToolInfo[], redo: JournalStep | undefined, begun: ModelCall | undefined): Promise<ModelTurn> {
  const call = begun ?? (await beginCall(deps, progress, tools, redo));
  const { request, seq } = call;
  progress.calling = seq;
  const answer = await answerThatFits(deps, progress, tools, call);
  progress.calling = undefined;
  return toTurn(deps, progress, withOwnIds(deps, progress, request, answer, seq), seq);
}

/** Only the provider knew that it was too long: the conversation is compacted, and the model is asked again with what fits. */
async function answerThatFits(deps: ModelDeps, progress: Progress, tools: readonly ToolInfo[], first: ModelCall): Promise<ModelAnswer> {
  let call = first;
  for (let tries = 1; ; tries++) {
    try {
      return await answerOf(deps, progress, call);
    } catch (cause) {
      const isTooLong = isSvcError(cause) && cause.code === TOO_LONG && progress.received?.text === '';
      if (!isTooLong || tries === MAX_SHORTENINGS || progress.effects.aborted || progress.input.beside?.kind === 'stateless') throw cause;
      deps.streams.publish(RunFrames, progress.run.id, 'phase', { phase: 'retrying', detail: 'the conversation is too long for the model; it is compacted and sent again' });
      if (tries === 1 && !progress.input.beside) await compact(deps, progress);
      const request = await buildRequest(deps, progress, tools);
      if (sizeOf(request) >= sizeOf(call.request)) throw cause;
      call = { request, seq: first.seq };
    }
  }
}

/** Without a summary the oldest messages are left out. */
async function compact({ sessions, log }: ModelDeps, progress: Progress): Promise<void> {
  const { actor, agent, run } = progress;
  try {
    await sessions.compact(actor, agent, progress.session.id);
  } catch (cause) {
    log.warn('a conversation that is too long could not be compacted; its oldest messages are left out', { run: run.id, cause });
  }
  progress.session = await sessions.ensure(actor, agent.id, progress.session.id, { again: true });
  progress.staged = undefined;
}

const sizeOf = ({ system, messages }: ModelRequest): number => system.length + JSON.stringify(messages).length;

async function beginCall(deps: ModelDeps, progress: Progress, tools: readonly ToolInfo[], redo: JournalStep | undefined): Promise<ModelCall> {
  const request = await buildRequest(deps, progress, tools);
  if (redo) return { request, seq: redo.seq };
  const { spec, writes, reservation } = await intentOf(deps, progress, request);
  await commitProgress(deps, progress, { intents: [spec], also: writes });
  return { request, seq: spec.seq, reservation };
}

/** Each piece of text goes out as it comes; joining later ones is the platform's business. */
async function answerOf(deps: ModelDeps, progress: Progress, { request, reservation }: ModelCall): Promise<ModelAnswer> {
  const { run, effects } = progress;
  const received = { text: '', thoughts: '' };
  progress.received = received;
  for await (const piece of deps.llm.stream(request, { ...contextOf(deps, progress), ...(reservation === undefined ? {} : { reservation }) }, { signal: effects })) {
    if ('answer' in piece) {
      progress.received = undefined;
      return piece.answer;
    }
    if ('leftOut' in piece) {
      sayLeftOut(deps, progress, piece.leftOut);
      continue;
    }
    if ('discarded' in piece) {
      received.text = '';
      received.thoughts = '';
      deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'restarted', detail: `the answer of ${piece.discarded.provider} broke off; the model is called again` });
      continue;
    }
    if ('wasThought' in piece) {
      if (showsThoughts(deps, progress)) received.thoughts += received.text;
      received.text = '';
      deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'restarted', detail: 'the text so far was thought' });
      continue;
    }
    if ('waits' in piece) {
      received.thoughts = '';
      deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'retrying', detail: retryText(piece.waits), attempt: piece.waits.retry });
      continue;
    }
    if ('thought' in piece) {
      if (!showsThoughts(deps, progress)) continue;
      received.thoughts += piece.thought;
      deps.streams.publish(RunFrames, run.id, 'thinking_delta', { content: piece.thought });
      continue;
    }
    received.text += piece.text;
    deps.streams.publish(RunFrames, run.id, 'chunk', { content: piece.text, done: false });
  }
  throw runErrors.internal();
}

/** Each parameter once, however many calls the run makes. */
function sayLeftOut({ streams, log }: ModelDeps, progress: Progress, leftOut: readonly LeftOut[]): void {
  const fresh = leftOut.filter(({ parameter }) => !progress.leftOut.some((one) => one.parameter === parameter));
  if (fresh.length === 0) return;
  progress.leftOut = [...progress.leftOut, ...fresh];
  for (const { parameter, why } of fresh) log.warn('the model is asked without a parameter of the request', { run: progress.run.id, agent: progress.agent.name, parameter, why });
  streams.publish(RunFrames, progress.run.id, 'phase', { phase: 'adjusted', left_out: progress.leftOut });
}

const retryText = ({ retry, of, ms, why, provider }: RetryWait): string =>
  `${retry === 0 ? 'calling the model' : `retrying ${retry} of ${of}`} in ${Math.ceil(ms / 1_000)} s: ${provider} ${WHY[why] ?? 'failed'}`;

/** By the class of the failure. */
const WHY: Readonly<Record<string, string>> = {
  rate_limit: 'limits how often it may be asked',
  overloaded: 'is overloaded',
  timeout: 'did not answer in time',
  network: 'cannot be reached',
  server: 'failed',
};

/** What the model is asked next. Throws when it was asked often enough. */
export async function buildRequest(deps: ModelDeps, progress: Progress, tools: readonly ToolInfo[]): Promise<ModelRequest> {
  const limit = Math.min(deps.maxIterations, progress.agent.manifest.autonomous.max_iterations);
  if (progress.iterations >= limit) throw runErrors.iteration_limit(limit);
  refuseTooLong(deps, progress.input.rootSince);
  const aside = await asideOf(deps, progress);
  const { manifest } = withModelOf(progress.agent, aside?.history ?? progress.session);
  const recalling = deps.prompts.recalls(progress) ? deps.prompts.recall(progress) : undefined;
  progress.prompt ??= await deps.prompts.ask(progress);
  if (recalling) putRecalled(progress, await recalling);
  const system = deps.prompts.text(progress, progress.prompt);
  const target = await deps.llm.resolve(manifest.model);
  const maxTokens = Math.min(progress.input.maxTokens ?? manifest.model.max_tokens, manifest.model.max_output_tokens ?? Number.MAX_SAFE_INTEGER);
  const contextWindow = Math.min(target.contextWindow, manifest.model.context_window ?? Number.MAX_SAFE_INTEGER);
  const budgetTokens = Math.max(MIN_BUDGET_TOKENS, contextWindow - maxTokens - tokensOfChars(system.length));
  const { messages: said } = await deps.sessions.project(progress.actor, await stageEntries(deps, progress), {
    budgetTokens: aside?.isWhole ? Number.MAX_SAFE_INTEGER : budgetTokens,
    staged: progress.pendingEntries,
    ...maxMessagesOf(deps, manifest.max_history_messages, aside),
    ...(aside ? { aside } : {}),
  });
  const shaping = deps.prompts.shape(progress, { system, messages: said, contextWindow });
  const messages = shaping ? await shaping : said;
  const { tools: schemas, parameters } = offered(progress.input, schemasOf(sentTools(tools, messages, progress.loaded)), progress.iterations === progress.answered.iterations);
  if (!progress.input.beside) deps.sent.note(progress.agent.id, system, schemas);
  return {
    provider: manifest.model.provider,
    model: manifest.model.model,
    fallbacks: manifest.fallback_models,
    system,
    messages: hasPictures(messages) ? await withPictures(deps, progress.shown, messages, target.canSee) : messages,
    tools: schemas,
    // Chunks of a chat completion cannot be taken back.
    mayDiscard: progress.input.door !== 'openai',
    maxTokens,
    temperature: progress.input.temperature ?? manifest.model.temperature,
    ...parametersOf(progress.input, parameters),
    ...thinkingOf(deps, progress, aside?.history ?? progress.session),
    ...(manifest.model.request_timeout_secs ? { timeoutMs: manifest.model.request_timeout_secs * 1_000 } : {}),
  };
}

/** One list for each that the registry gave: what is made of it is kept beside it. */
const schemas = new WeakMap<readonly ToolInfo[], readonly ToolSchema[]>();

export const schemasOf = (tools: readonly ToolInfo[]): readonly ToolSchema[] => {
  const known = schemas.get(tools) ?? Object.freeze(tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema })));
  if (Object.isFrozen(tools)) schemas.set(tools, known);
  return known;
};

/** A temperature that came with the message is the caller's word, unlike the agent's own. */
const parametersOf = ({ temperature, parameters }: RunInput, ofTools: Parameters): { parameters?: Parameters } => {
  const all: Parameters = { ...parameters, ...ofTools, ...(temperature === undefined ? {} : { temperature }) };
  return Object.keys(all).length === 0 ? {} : { parameters: all };
};

/** An incognito message reads the conversation it stands beside; a stateless request is sent whole, or not at all. */
async function asideOf(deps: ModelDeps, { input, actor, agent }: Progress): Promise<Aside | undefined> {
  if (!input.beside) return undefined;
  if (input.beside.kind === 'stateless') return { isWhole: true };
  return input.beside.kind === 'incognito' ? { history: await deps.sessions.ensure(actor, agent.id, input.beside.sessionId) } : {};
}

/** The message says, else the manifest, else config.toml. */
const showsThoughts = ({ thinking }: ModelDeps, { input, agent }: Progress): boolean => input.showThinking ?? agent.manifest.thinking?.stream_thinking ?? thinking.stream_thinking;

const maxMessagesOf = ({ maxMessages }: ModelDeps, ofAgent: number | null, aside: Aside | undefined): { maxMessages?: number } => {
  const most = ofAgent ?? maxMessages;
  return most === undefined || aside?.isWhole ? {} : { maxMessages: most };
};

/** The message says, else the session (/think), else the manifest. A model that cannot think is not asked to. */
const thinkingOf = ({ thinking }: ModelDeps, { input, agent }: Progress, session: SessionRef): { thinking?: { budgetTokens: number } } =>
  (input.thinking ?? session.thinking ?? agent.manifest.thinking !== null) ? { thinking: { budgetTokens: agent.manifest.thinking?.budget_tokens ?? thinking.budget_tokens } } : {};

/** The intent of this call with what it may cost. */
export async function intentOf(deps: Pick<ModelDeps, 'llm' | 'roots'>, progress: Progress, request: ModelRequest): Promise<{ spec: StepSpec; writes: readonly Write[]; reservation: string }> {
  const reserved = await deps.llm.reserve(request, contextOf(deps, progress));
  // By its name, where the agent leaves the choice to the daemon: the default may be another one tomorrow.
  const { provider, model } = await deps.llm.resolve(request);
  const spec = stepSpec(progress, 'model', `${progress.run.id}:${progress.nextSeq}`, 'safe', {
    provider,
    model,
    ceiling_micros: reserved.ceilingMicros,
    reservation: reserved.reservation,
    through: progress.session.seq,
    ...(progress.loaded.size === 0 ? {} : { loaded: [...progress.loaded] }),
  });
  return { spec, writes: reserved.writes, reservation: reserved.reservation };
}

const contextOf = ({ roots }: Pick<ModelDeps, 'roots'>, { actor, agent, run, input }: Progress): CallContext => ({
  actor,
  agentId: agent.id,
  runId: run.id,
  purpose: 'run',
  begunBy: input.door === 'agent' || input.rootSince !== undefined ? 'agent' : 'person',
  channel: input.via?.channel ?? input.door,
  ...(input.rootSince === undefined ? {} : { root: { id: run.rootId, limitMicros: Math.floor(roots().max_cost_usd * 1_000_000) } }),
});

/** Results are paired by id, so one that the conversation already has (some servers begin at 0 in each answer) gets a tail. */
function withOwnIds({ ids }: ModelDeps, { input, run }: Progress, { messages }: ModelRequest, answer: ModelAnswer, seq: number): ModelAnswer {
  if (answer.calls.length === 0) return answer;
  const taken = new Set(messages.flatMap((message) => message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))));
  const calls = answer.calls.map((call, index) => {
    // By its id alone the sender's answer finds the run.
    if (!input.beside && isClientTool(input, call.name)) return { ...call, id: clientCallId(run.id, seq, index) };
    const id = taken.has(call.id) ? `${call.id}_${ids.hex(6)}` : call.id;
    taken.add(id);
    return { ...call, id };
  });
  return { ...answer, calls };
}

/** What the provider wants back with the answer stands with its first entry, beside what belongs to that call. */
const stateOf = ({ state }: ModelAnswer, first: EntryDraft): Pick<EntryDraft, 'state'> => (state === undefined ? {} : { state: { ...first.state, ...state } });

function toTurn(deps: ModelDeps, progress: Progress, answer: ModelAnswer, seq: number): ModelTurn {
  deps.streams.flush(progress.run.id);
  const runId = progress.run.id;
  const entries: EntryDraft[] = [];
  if (answer.text !== '' || answer.calls.length === 0) entries.push({ kind: 'assistant', runId, parts: [{ type: 'text', text: answer.text }] });
  for (const call of answer.calls)
    entries.push({
      kind: 'tool_call',
      runId,
      callId: call.id,
      tool: call.name,
      args: call.args,
      ...(call.signature === undefined ? {} : { signature: call.signature }),
      ...(call.state === undefined ? {} : { state: call.state }),
    });
  const used = { inputTokens: answer.usage.inputTokens, outputTokens: answer.usage.outputTokens, costMicros: answer.usage.costMicros };
  const thought = answer.thoughts !== undefined && showsThoughts(deps, progress) ? { thoughts: answer.thoughts } : {};
  if (entries[0]) entries[0] = { ...entries[0], ...thought, ...stateOf(answer, entries[0]), used };
  const outcome: ModelOutcome = {
    ...used,
    provider: answer.provider,
    model: answer.model,
    attempts: answer.attempts,
    calls: answer.calls.length,
    from: progress.session.seq,
    through: progress.session.seq + entries.length,
    ...placeIn(deps.streams, runId),
  };
  countModel(progress, outcome);
  return { answer, seq, outcome, entries, settle: answer.settle };
}
