/**
 * Compaction: when a session has grown long, its older part is summarised by the agent's own model.
 *
 * C1  It appends a summary and rewrites nothing; what was said stays in the log.
 * C2  It begins at a user's message and never parts a tool call from its result. The newest messages are unchanged.
 * C3  It runs beside the conversation, as a run of its own in the journal, and no message waits for it.
 * C5  What is too long for one call of the model is summarised piece by piece; nothing of it is left out.
 * C7  Another area that answers says what stands in place of the older part, once for a compaction, also after a restart.
 * C6  A summary takes at most half of the room of what it covers.
 * C4  When no model can summarise, a note says how many messages were left out; a session never stops answering.
 */
import {
  type Actors,
  type Actor,
  CHARS_PER_TOKEN,
  type DurableWorker,
  type Hold,
  type HookHandle,
  type Journal,
  type LeasedRun,
  type Logger,
  type OptionalHandle,
  type Write,
  isSvcError,
  tokensOfChars,
} from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import { charsOf } from '../catalogue/facts.js';
import { type Compacted, Compaction, type CompactionAnswer, type Entry, type EntryDraft, type SessionCompacting, type SessionRef, type SessionsService } from '../contract.js';
import { sessionsErrors } from '../errors.js';
import { orEnd } from '../ended-work.js';
import { projectEntries } from '../projection.js';
import { cutOf, cutThatFits, FULL_SHARE, KEPT_MESSAGES, summaryThatFits } from './cut.js';
import { type Piece, piecesOf, requestOf } from './transcript.js';

/** Of a transcript that a model is given at once. */
const MAX_PIECE_CHARS = 80_000;
const MIN_PIECE_CHARS = 2_000;
const MAX_APPEND_TRIES = 5;
/** Of those that earlier lives left. */
const AT_ONCE = 4;
export interface CompactionDeps {
  readonly journal: Journal;
  readonly actors: Actors;
  readonly sessions: Pick<SessionsService, 'append' | 'ensure'>;
  readonly agents: AgentsService;
  readonly llm: OptionalHandle<LlmService>;
  readonly log: Logger;
  readonly asked: HookHandle<typeof SessionCompacting>;
  /** Null while this generation drains: the next one does it. */
  hold(label: string): Hold | null;
  /** Aborted when this generation has no more time: its compactions go on in the next. */
  readonly closing: AbortSignal;
  /** The newest summary and what it does not cover. */
  load(sessionId: string): Promise<readonly Entry[]>;
  /** The log is another one now: what was kept of it in memory is stale. */
  forget(sessionId: string): void;
}

interface CompactionInput {
  readonly agentId: string;
  readonly sessionId: string;
  /** The last entry the summary covers. */
  readonly through: number;
  /** A person asked for it: without a model it fails, where otherwise a note would take the place of what is left out. */
  readonly isAsked?: boolean;
}

/** What `begin` stored. */
const inputOf = ({ input }: LeasedRun): CompactionInput => input as CompactionInput;

interface Summary {
  readonly text: string;
  readonly used?: NonNullable<EntryDraft['used']>;
}

/** Estimated tokens of a session, and how many there is room for. */
export interface Fill {
  readonly tokens: number;
  readonly budgetTokens: number;
}

export interface Compactor {
  /** Looks whether the session has grown long, or fills the model's window; returns at once. */
  consider(ref: SessionRef, entries: readonly Entry[], countMessages: number, fill?: Fill): void;
  /** Compacts whatever is older than the messages that stay. Throws `compaction_busy`, `compaction_failed`. */
  now(ref: SessionRef): Promise<Compacted>;
}

const EMPTY: Fill = { tokens: 0, budgetTokens: 1 };

export const createCompactor = (deps: CompactionDeps): Compactor => {
  const busy = new Set<string>();
  const worker = deps.journal.worker(Compaction, { concurrency: AT_ONCE, drive: (run) => compactOrEnd(deps, run) });
  return {
    consider: (ref, entries, countMessages, { tokens, budgetTokens } = EMPTY) => {
      const isFull = tokens > budgetTokens * FULL_SHARE;
      if (busy.has(ref.id)) return;
      const through = isFull ? cutThatFits(entries, budgetTokens) : cutOf(entries, countMessages);
      if (through === undefined) return;
      // None while this generation drains: the next message asks the next one.
      const hold = deps.hold(`compaction of session ${ref.id}`);
      if (!hold) return;
      busy.add(ref.id);
      void begin(deps, worker, ref, { agentId: ref.agentId, sessionId: ref.id, through })
        .catch((cause: unknown) => deps.log.warn('a session could not be compacted; svc tries again after the next message', { session: ref.id, cause }))
        .finally(() => {
          busy.delete(ref.id);
          hold.release();
        });
    },
    now: (ref) => compactNow(deps, worker, ref),
  };
};

async function compactNow(deps: CompactionDeps, worker: DurableWorker, ref: SessionRef): Promise<Compacted> {
  const log = ref.seq === 0 ? [] : await deps.load(ref.id);
  const total = countOf(log);
  const window = (await windowOf(deps, deps.actors.of(ref.ownerId), ref.agentId)) ?? Number.MAX_SAFE_INTEGER;
  const cuts = [cutOf(log, total, KEPT_MESSAGES), cutThatFits(log, window)].filter((cut) => cut !== undefined);
  const through = cuts.length === 0 ? undefined : Math.max(...cuts);
  if (through === undefined)
    return {
      summarised: 0,
      kept: total,
      summaryChars: 0,
      message: `The session has ${total} messages; the newest ${KEPT_MESSAGES} are never summarised.`,
    };
  const input: CompactionInput = { agentId: ref.agentId, sessionId: ref.id, through, isAsked: true };
  const hold = deps.hold('compaction');
  if (!hold) throw sessionsErrors.compaction_busy();
  const leased = await begin(deps, worker, ref, input).finally(() => hold.release());
  if (!leased) throw sessionsErrors.compaction_busy();
  const ended = await deps.journal.get(deps.actors.of(ref.ownerId), leased.id);
  if (ended?.status !== 'done') throw sessionsErrors.compaction_failed(ended?.error?.message ?? 'The compaction has not come to its end.');
  const kept = countOf(log.filter((entry) => entry.kind !== 'summary' && entry.seq > through));
  const summary = (await deps.load(ref.id)).find((entry) => entry.kind === 'summary')?.content ?? '';
  return { summarised: total - kept, kept, summaryChars: summary.length, message: `${total - kept} messages were summarised, the newest ${kept} are unchanged.` };
}

/** Undefined when another compaction of the session is under way. */
async function begin(deps: CompactionDeps, worker: DurableWorker, ref: SessionRef, input: CompactionInput): Promise<LeasedRun | undefined> {
  const { leased } = await deps.journal.open({ kind: Compaction.name, actor: deps.actors.of(ref.ownerId), lane: `compaction:${ref.id}`, subject: ref.agentId, session: ref.id, input });
  if (leased) await worker.take(leased);
  return leased;
}

const countOf = (entries: readonly Entry[]): number => projectEntries(entries, Number.MAX_SAFE_INTEGER).total;

/** The next one begins with the next message. */
const compactOrEnd = (deps: CompactionDeps, run: LeasedRun): Promise<void> =>
  orEnd(deps, run, () => compact(deps, run), {
    code: 'sessions_compaction_failed',
    message: 'The session could not be compacted.',
    unstored: 'the end of a compaction could not be stored; it will be claimed again',
    note: (cause) => deps.log.warn('a session could not be compacted; svc tries again after the next message', { session: inputOf(run).sessionId, cause }),
  });

async function compact(deps: CompactionDeps, run: LeasedRun): Promise<void> {
  const input = inputOf(run);
  const actor = deps.actors.of(run.ownerId);
  const log = await deps.load(input.sessionId);
  // Another one, begun while this one waited or was cut off, has covered the same.
  if (log.some((entry) => entry.kind === 'summary' && (entry.coversThrough ?? 0) >= input.through)) return deps.journal.advance(run, { finish: { status: 'done' } });
  const entries = log.filter((entry) => entry.kind === 'summary' || entry.seq <= input.through);
  const summary = (await summaryOfOthers(deps, run, actor, input, log, entries)) ?? (await summariseAll(deps, run, actor, input, entries));
  await append(deps, run, actor, input, { ...summary, text: summaryThatFits(summary.text, entries) });
  deps.forget(input.sessionId);
  deps.log.debug('a session was compacted', { session: input.sessionId, through: input.through });
}

const BY_OTHERS = 'session.compacting';
const MAX_ASKED_TOKENS = 4_096;

const isByOthers = (intent: unknown): boolean => typeof intent === 'object' && intent !== null && 'by' in intent && intent.by === BY_OTHERS;

/** Undefined where nobody answers. A compaction that a model began stays the model's. */
async function summaryOfOthers(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, log: readonly Entry[], entries: readonly Entry[]): Promise<Summary | undefined> {
  const [begun] = run.steps;
  if (begun ? !isByOthers(begun.intent) : deps.asked.isEmpty()) return undefined;
  if (begun?.status === 'done' && typeof begun.outcome === 'string') return { text: begun.outcome };
  const agent = await deps.agents.get(actor, input.agentId);
  const answer = await deps.asked.call({
    actor,
    agentId: input.agentId,
    sessionId: input.sessionId,
    messages: projectEntries(entries, Number.MAX_SAFE_INTEGER).messages,
    model: agent.manifest.model.model,
    contextWindowTokens: (await windowOf(deps, actor, input.agentId)) ?? 0,
    usedTokens: tokensOfChars(log.reduce((sum, entry) => sum + charsOf(entry), 0)),
  });
  if (!answer || answer.text.trim() === '') return undefined;
  let used: EntryDraft['used'];
  const text = await deps.journal.step(run, { seq: 1, kind: 'model', key: run.id, replay: 'safe', intent: { through: input.through, by: BY_OTHERS } }, async () => {
    const written = await writtenFor(deps, run, actor, input, agent, answer);
    used = written.used;
    return { value: written.text, outcome: written.text, also: written.settle };
  });
  return { text, ...(used ? { used } : {}) };
}

async function writtenFor(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, agent: Agent, { text, model }: CompactionAnswer): Promise<Answer> {
  if (!model) return { text, settle: [] };
  const llm = deps.llm.value;
  if (!llm) return { text, settle: [] };
  const request = requestOf(agent, text, { instruction: model.instruction, maxTokens: Math.min(MAX_ASKED_TOKENS, Math.max(1, model.maxTokens)) });
  const answer = await llm.complete(request, { actor, agentId: input.agentId, runId: run.id, purpose: 'compaction' }, { signal: run.signal }).catch((cause: unknown) => {
    if (deps.closing.aborted || (isSvcError(cause) && (cause.code === 'service_gone' || cause.status === 429))) throw cause;
    deps.log.warn('no model could write the summary that another area asked for; what it gave stands itself', { session: input.sessionId, cause });
    return undefined;
  });
  if (!answer || answer.text.trim() === '') return { text: `${text}\n${model.keep}`.trim(), settle: answer?.settle ?? [] };
  const { inputTokens, outputTokens, costMicros } = answer.usage;
  return { text: model.keep === '' ? answer.text : `${answer.text}\n${model.keep}`, settle: answer.settle, used: { inputTokens, outputTokens, costMicros } };
}

/** Piece by piece, each with the summary of those before it; one that a crash cut off goes on behind the last that is there. */
async function summariseAll(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, entries: readonly Entry[]): Promise<Summary> {
  const chars = pieceCharsOf(run) ?? (await fittingChars(deps, actor, input.agentId));
  let text = '';
  let used: EntryDraft['used'];
  for (const [index, piece] of piecesOf(entries, chars).entries()) {
    const key = index === 0 ? run.id : `${run.id}:${index + 1}`;
    const before = text;
    text = await deps.journal.step(run, { seq: index + 1, kind: 'model', key, replay: 'safe', intent: { through: input.through, piece_chars: chars } }, async () => {
      const answer = await summarise(deps, run, actor, input, piece, before);
      if (answer.used) used = usedInAll(used, answer.used);
      return { value: answer.text, outcome: answer.text, also: answer.settle };
    });
  }
  return { text, ...(used ? { used } : {}) };
}

const usedInAll = (before: EntryDraft['used'], now: NonNullable<EntryDraft['used']>): NonNullable<EntryDraft['used']> => ({
  inputTokens: now.inputTokens + (before?.inputTokens ?? 0),
  outputTokens: now.outputTokens + (before?.outputTokens ?? 0),
  costMicros: now.costMicros + (before?.costMicros ?? 0),
});

/** As it was cut in an earlier life: pieces that are summarised stay the same. */
const pieceCharsOf = ({ steps }: LeasedRun): number | undefined => {
  const intent = steps[0]?.intent;
  return typeof intent === 'object' && intent !== null && 'piece_chars' in intent && typeof intent.piece_chars === 'number' ? intent.piece_chars : undefined;
};

/** Half of what the model reads at most, for what it writes stands beside it. */
async function fittingChars(deps: CompactionDeps, actor: Actor, agentId: string): Promise<number> {
  const window = await windowOf(deps, actor, agentId);
  return window === undefined ? MAX_PIECE_CHARS : Math.max(MIN_PIECE_CHARS, Math.min(MAX_PIECE_CHARS, (window * CHARS_PER_TOKEN) / 2));
}

async function windowOf({ llm, agents, log }: CompactionDeps, actor: Actor, agentId: string): Promise<number | undefined> {
  try {
    const { manifest } = await agents.get(actor, agentId);
    const found = await llm.value?.resolve(manifest.model);
    return found && Math.min(found.contextWindow, manifest.model.context_window ?? found.contextWindow);
  } catch (cause) {
    // Who asks it next is told, or leaves a note.
    log.debug('how much the model reads is not known', { agent: agentId, cause });
    return undefined;
  }
}

async function append(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, { text, used }: Summary): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const ref = await deps.sessions.ensure(actor, input.agentId, input.sessionId, { again: true });
      const { writes } = await deps.sessions.append(actor, ref, [{ kind: 'summary', runId: run.id, content: text, coversThrough: input.through, ...(used ? { used } : {}) }]);
      await deps.journal.advance(run, { finish: { status: 'done' }, also: writes });
      return;
    } catch (error) {
      // A message was appended at the same moment; the summary goes behind it.
      if (tries === MAX_APPEND_TRIES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
    }
  }
}

interface Answer {
  readonly text: string;
  readonly settle: readonly Write[];
  readonly used?: NonNullable<EntryDraft['used']>;
}

async function summarise(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, piece: Piece, before: string): Promise<Answer> {
  const llm = deps.llm.value;
  const left = `${piece.messages} earlier messages were omitted; no model could summarise them.`;
  const dropped = { text: before === '' ? left : `${before}\n${left}`, settle: [] };
  if (!llm && input.isAsked) throw noModel('No model can be asked.');
  if (!llm) return dropped;
  try {
    const agent = await deps.agents.get(actor, input.agentId);
    const { provider } = await llm.resolve(agent.manifest.model);
    if (provider === 'builtin' && input.isAsked) throw noModel('The built-in mock provider cannot summarise.');
    if (provider === 'builtin') return dropped;
    const request = requestOf(agent, before === '' ? piece.text : `Earlier: ${before}\n${piece.text}`);
    const { text, usage, settle } = await llm.complete(request, { actor, agentId: agent.id, runId: run.id, purpose: 'compaction' }, { signal: run.signal });
    if (text.trim() === '' && input.isAsked) throw noModel('The model returned no text.');
    return text.trim() === '' ? dropped : { text, settle, used: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costMicros: usage.costMicros } };
  } catch (cause) {
    // Cut off, not refused: a model may yet summarise it.
    if (deps.closing.aborted || (isSvcError(cause) && cause.code === 'service_gone')) throw cause;
    // The agent may call no model now, and may again later: a summary is worth the wait.
    if (input.isAsked || (isSvcError(cause) && cause.status === 429)) throw cause;
    deps.log.warn('no model could summarise a session; a note replaces the summary', { session: input.sessionId, cause });
    return dropped;
  }
}

const noModel = (why: string): Error => sessionsErrors.no_summary(why);
