/**
 * Compaction: when a session has grown long, its older part is summarised by the agent's own model.
 *
 * C1  It appends a summary and rewrites nothing; what was said stays in the log.
 * C2  It begins at a user's message and never parts a tool call from its result. The newest messages stay as they are.
 * C3  It runs beside the conversation, as a run of its own in the journal, and no message waits for it.
 * C4  When no model can summarise, a note says how many messages were left out; a session never stops answering.
 */
import { type Actor, type DurableWorker, type Hold, type Journal, type LeasedRun, type Logger, type OptionalHandle, type Write, actorOf, isSvcError } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import { type Compacted, Compaction, type Entry, type SessionRef, type SessionsService } from './contract.js';
import { sessionsErrors } from './errors.js';
import { projectEntries } from './projection.js';

/** interface.md, Limits: more messages than this begin a compaction. */
const MAX_MESSAGES = 80;
const KEPT_MESSAGES = 20;
/** Of each document that was put with a message: it must not crowd out what was said. */
const MAX_ATTACHED_CHARS = 4_000;
const MAX_TRANSCRIPT_CHARS = 80_000;
const MAX_SUMMARY_TOKENS = 1_024;
const MAX_APPEND_TRIES = 5;
/** Of those that earlier lives left. */
const AT_ONCE = 4;
const INSTRUCTION =
  'Summarise the conversation below for the assistant that will continue it. Keep facts, decisions, names, numbers, files and open tasks; leave out small talk. Write in the language of the user, in at most 600 words.';

export interface CompactionDeps {
  readonly journal: Journal;
  readonly sessions: Pick<SessionsService, 'append' | 'ensure'>;
  readonly agents: AgentsService;
  readonly llm: OptionalHandle<LlmService>;
  readonly log: Logger;
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

/** Where the older part ends: the entry before the user message with which the kept part begins; undefined while the session is short. */
export function cutOf(entries: readonly Entry[], countMessages: number, limit = MAX_MESSAGES): number | undefined {
  if (countMessages <= limit) return undefined;
  let kept = 0;
  const first = entries.findLast(({ kind }, index) => {
    if (kind === 'user' || kind === 'assistant') kept += 1;
    return index > 0 && kind === 'user' && kept >= KEPT_MESSAGES;
  });
  return first && first.seq - 1;
}

export interface Compactor {
  /** Looks whether the session has grown long; returns at once. */
  consider(ref: SessionRef, entries: readonly Entry[], countMessages: number): void;
  /** Compacts whatever is older than the messages that stay. Throws `compaction_busy`, `compaction_failed`. */
  now(ref: SessionRef): Promise<Compacted>;
}

export const createCompactor = (deps: CompactionDeps): Compactor => {
  const busy = new Set<string>();
  const worker = deps.journal.worker(Compaction, { concurrency: AT_ONCE, drive: (run) => compactOrEnd(deps, run) });
  return {
    consider: (ref, entries, countMessages) => {
      const through = busy.has(ref.id) ? undefined : cutOf(entries, countMessages);
      if (through === undefined) return;
      // None while this generation drains: the next message asks the next one.
      const hold = deps.hold(`compaction of session ${ref.id}`);
      if (!hold) return;
      busy.add(ref.id);
      void begin(deps, worker, ref, { agentId: ref.agentId, sessionId: ref.id, through })
        .catch((cause: unknown) => deps.log.warn('a session could not be compacted; it is tried again after the next message', { session: ref.id, cause }))
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
  const through = cutOf(log, total, KEPT_MESSAGES);
  if (through === undefined) return { summarised: 0, message: `The session has ${total} messages; the newest ${KEPT_MESSAGES} always stay as they are.` };
  const input: CompactionInput = { agentId: ref.agentId, sessionId: ref.id, through, isAsked: true };
  const hold = deps.hold('compaction');
  if (!hold) throw sessionsErrors.compaction_busy();
  const leased = await begin(deps, worker, ref, input).finally(() => hold.release());
  if (!leased) throw sessionsErrors.compaction_busy();
  const ended = await deps.journal.get(actorOf(ref.ownerId), leased.id);
  if (ended?.status !== 'done') throw sessionsErrors.compaction_failed(ended?.error?.message ?? 'The compaction has not come to its end.');
  const kept = countOf(log.filter((entry) => entry.kind !== 'summary' && entry.seq > through));
  return { summarised: total - kept, message: `${total - kept} messages were summarised, the newest ${kept} stay as they are.` };
}

/** Undefined when another compaction of the session is under way. */
async function begin(deps: CompactionDeps, worker: DurableWorker, ref: SessionRef, input: CompactionInput): Promise<LeasedRun | undefined> {
  const { leased } = await deps.journal.open({ kind: Compaction.name, actor: actorOf(ref.ownerId), lane: `compaction:${ref.id}`, input });
  if (leased) await worker.take(leased);
  return leased;
}

const countOf = (entries: readonly Entry[]): number => projectEntries(entries, Number.MAX_SAFE_INTEGER).total;

/** A compaction that fails ends: the next one begins with the next message. */
async function compactOrEnd(deps: CompactionDeps, run: LeasedRun): Promise<void> {
  try {
    await compact(deps, run);
  } catch (cause) {
    // The next generation does it.
    if (deps.closing.aborted) throw cause;
    deps.log.warn('a session could not be compacted; it is tried again after the next message', { session: inputOf(run).sessionId, cause });
    await deps.journal
      .advance(run, { finish: { status: 'failed', error: { code: 'sessions_compaction_failed', message: isSvcError(cause) ? cause.message : 'The session could not be compacted.' } } })
      .catch((again: unknown) => deps.log.warn('the end of a compaction could not be stored; it is claimed again', { run: run.id, cause: again }));
  }
}

async function compact(deps: CompactionDeps, run: LeasedRun): Promise<void> {
  const input = inputOf(run);
  const actor = actorOf(run.ownerId);
  const log = await deps.load(input.sessionId);
  // Another one, begun while this one waited or was cut off, has covered the same.
  if (log.some((entry) => entry.kind === 'summary' && (entry.coversThrough ?? 0) >= input.through)) return deps.journal.advance(run, { finish: { status: 'done' } });
  const entries = log.filter((entry) => entry.kind === 'summary' || entry.seq <= input.through);
  const summary = await deps.journal.step(run, { seq: 1, kind: 'model', key: run.id, replay: 'safe', intent: { through: input.through } }, async () => {
    const { text, settle } = await summarise(deps, run, actor, input, entries);
    return { value: text, outcome: text, also: settle };
  });
  await append(deps, run, actor, input, summary);
  deps.forget(input.sessionId);
  deps.log.debug('a session was compacted', { session: input.sessionId, through: input.through });
}

async function append(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, summary: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const ref = await deps.sessions.ensure(actor, input.agentId, input.sessionId, { again: true });
      const { writes } = await deps.sessions.append(actor, ref, [{ kind: 'summary', runId: run.id, content: summary, coversThrough: input.through }]);
      await deps.journal.advance(run, { finish: { status: 'done' }, also: writes });
      return;
    } catch (error) {
      // A message was appended at the same moment; the summary goes behind it.
      if (tries === MAX_APPEND_TRIES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
    }
  }
}

async function summarise(deps: CompactionDeps, run: LeasedRun, actor: Actor, input: CompactionInput, entries: readonly Entry[]): Promise<{ text: string; settle: readonly Write[] }> {
  const llm = deps.llm.value;
  const dropped = { text: `${projectEntries(entries, Number.MAX_SAFE_INTEGER).messages.length} earlier messages were left out; no model could summarise them.`, settle: [] };
  if (!llm && input.isAsked) throw noModel('No model can be asked.');
  if (!llm) return dropped;
  try {
    const agent = await deps.agents.get(actor, input.agentId);
    const { provider } = await llm.resolve(agent.manifest.model);
    if (provider === 'builtin' && input.isAsked) throw noModel('The built-in stand-in cannot summarise.');
    if (provider === 'builtin') return dropped;
    const answer = await llm.complete(requestOf(agent, transcriptOf(entries)), { actor, agentId: agent.id, runId: run.id, purpose: 'compaction' }, { signal: run.signal });
    if (answer.text.trim() === '' && input.isAsked) throw noModel('The model said nothing.');
    return answer.text.trim() === '' ? dropped : { text: answer.text, settle: answer.settle };
  } catch (cause) {
    // Cut off, not refused: a model may yet summarise it.
    if (deps.closing.aborted || (isSvcError(cause) && cause.code === 'service_gone')) throw cause;
    // The agent may call no model now, and may again later: a summary is worth the wait.
    if (input.isAsked || (isSvcError(cause) && cause.status === 429)) throw cause;
    deps.log.warn('no model could summarise a session; a note stands in its place', { session: input.sessionId, cause });
    return dropped;
  }
}

const noModel = (why: string): Error => sessionsErrors.no_summary(why);

const requestOf = (agent: Agent, transcript: string) => ({
  provider: agent.manifest.model.provider,
  model: agent.manifest.model.model,
  fallbacks: agent.manifest.fallback_models,
  system: INSTRUCTION,
  messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: transcript }] }],
  tools: [],
  maxTokens: MAX_SUMMARY_TOKENS,
  temperature: 0.3,
});

/** The newest part when it is too long: the summary before it covers the rest. */
function transcriptOf(entries: readonly Entry[]): string {
  const lines = entries.map((entry) => {
    const text = (entry.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.file ? part.text.slice(0, MAX_ATTACHED_CHARS) : part.text] : ['[image]'])).join(' ');
    if (entry.kind === 'user') return `User: ${text}`;
    if (entry.kind === 'assistant') return `Assistant: ${text}`;
    if (entry.kind === 'summary') return `Earlier: ${entry.content ?? ''}`;
    if (entry.kind === 'tool_call') return `Assistant called ${entry.tool ?? ''} ${JSON.stringify(entry.args ?? {}).slice(0, 500)}`;
    return `Result of ${entry.tool ?? ''}: ${(entry.content ?? '').slice(0, 500)}`;
  });
  return lines.join('\n').slice(-MAX_TRANSCRIPT_CHARS);
}
