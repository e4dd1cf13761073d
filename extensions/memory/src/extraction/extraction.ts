/**
 * Facts taken from conversations, after the answer.
 *
 * X5  It reads what the owner of the agent and the agent said in this run: no recalled text, system prompt, tool results or attachments, and no message of somebody else.
 * X6  What is not stored (incognito messages, side questions) is not read, and an agent or the operator can switch it off.
 * X7  It is work of its own in the journal: no message waits for it, and it goes on after a restart. A message without facts begins none.
 * X8  A model takes part only where one is named, within the budget of the agent; where its answer cannot be used, the rules hold.
 */
import type { Actors, Journal, LeasedRun, Logger, OptionalHandle, Plain, Write } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { RunEnded } from '@svc/ext-runs/contract';
import { type Entry, type SessionsService, textOfParts } from '@svc/ext-sessions/contract';
import { agentMemory } from '../agent-settings.js';
import type { ProactiveConfig } from '../config.js';
import { Extraction } from '../contract.js';
import { linkFacts } from '../graph/fact-edges.js';
import type { Memories } from '../memory.js';
import { askModel } from './model-facts.js';
import { type ExtractedFact, factsIn, type SaidMessage } from './rules.js';

type Input = Plain<(typeof Extraction)['input']>;

export interface ExtractionDeps {
  readonly journal: Journal;
  readonly actors: Pick<Actors, 'of'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly sessions: Pick<SessionsService, 'get' | 'entries' | 'newest'>;
  readonly llm: OptionalHandle<LlmService>;
  readonly memories: Pick<Memories, 'entries' | 'graph' | 'upkeep'>;
  readonly log: Logger;
  /** Aborted when this generation has no more time: its work goes on in the next. */
  readonly closing: AbortSignal;
  proactive(): ProactiveConfig;
}

const AT_ONCE = 2;
const MAX_ASKED = 2_000;
/** Entries of a run that are read, from the end of its conversation. */
const MAX_ENTRIES = 400;
/** What a message leaves of the conversation before it, to be found by. */
const NEIGHBOUR_CHARS = 300;

export interface Extractor {
  /** A message came: what it says decides whether its end is looked at. */
  asked(question: { readonly runId: string; readonly agent: Agent; readonly message: string }): void;
  ended(run: Plain<(typeof RunEnded)['data']>): Promise<void> | undefined;
}

export const createExtractor = (deps: ExtractionDeps): Extractor => {
  const worker = deps.journal.worker(Extraction, { concurrency: AT_ONCE, drive: (run) => extractOrEnd(deps, run) });
  // Of runs that are under way here. One that began elsewhere is read from its conversation.
  const silent = new Set<string>();
  const look = async ({ runId, agentId, sessionId, ownerId }: Plain<(typeof RunEnded)['data']>): Promise<void> => {
    const actor = deps.actors.of(ownerId);
    const agent = await deps.agents.get(actor, agentId).catch(() => undefined);
    if (!agent) return;
    const { memorizes, extractionModel } = agentMemory(agent, deps.proactive());
    if (!memorizes) return;
    const said = await saidIn(deps, ownerId, sessionId, runId);
    // Most messages say nothing to remember, and cost no row.
    if (said.length === 0 || (extractionModel === undefined && factsIn(said, deps.proactive().extraction_threshold).length === 0)) return;
    const input: Input = { agentId, sessionId, runId };
    const { leased } = await deps.journal.open({ kind: Extraction.name, actor, key: runId, fingerprint: runId, lane: `memory:${agentId}`, subject: agentId, session: sessionId, input });
    if (leased) await worker.take(leased);
  };
  return {
    asked: ({ runId, agent, message }) => {
      const { extractionModel } = agentMemory(agent, deps.proactive());
      if (extractionModel !== undefined || factsIn([{ role: 'user', content: message }], deps.proactive().extraction_threshold).length > 0) return;
      silent.add(runId);
      const [oldest] = silent;
      if (silent.size > MAX_ASKED && oldest !== undefined) silent.delete(oldest);
    },
    ended: (run) => (silent.delete(run.runId) || run.status !== 'done' ? undefined : look(run)),
  };
};

const extractOrEnd = async (deps: ExtractionDeps, run: LeasedRun): Promise<void> => {
  try {
    await extract(deps, run);
  } catch (cause) {
    if (deps.closing.aborted) throw cause;
    deps.log.warn('nothing was remembered of a message', { run: run.id, cause });
    await deps.journal.advance(run, { finish: { status: 'failed', error: { code: 'memory_not_extracted', message: 'Nothing was remembered of this message.' } } });
  }
};

const extract = async (deps: ExtractionDeps, run: LeasedRun): Promise<void> => {
  const { agentId, sessionId, runId } = run.input as Input;
  const actor = deps.actors.of(run.ownerId);
  const agent = await deps.agents.get(actor, agentId);
  const { extractionModel } = agentMemory(agent, deps.proactive());
  const threshold = deps.proactive().extraction_threshold;
  const said = await saidIn(deps, run.ownerId, sessionId, runId);
  const byRules = factsIn(said, threshold);
  const { facts, settle } = extractionModel === undefined ? { facts: byRules, settle: [] as readonly Write[] } : await byModel(deps, run, extractionModel, said, byRules);
  const neighbours = said
    .map(({ content }) => content)
    .join(' ')
    .slice(0, NEIGHBOUR_CHARS);
  const { added, rows } = await deps.memories.entries.add(
    facts.map((fact) => ({
      ownerId: run.ownerId,
      agentId,
      content: fact.content,
      category: fact.category,
      confidence: fact.confidence,
      level: 'agent' as const,
      source: 'conversation' as const,
      sessionId,
      runId,
      role: fact.role,
      neighbours,
    })),
  );
  // Also what a first try before a restart has added.
  await linkFacts(deps, deps.memories.graph, actor, agentId, rows, runId);
  if (added.length > 0) await deps.memories.upkeep.cap(run.ownerId, agentId);
  await deps.journal.advance(run, { finish: { status: 'done', result: { added: added.length } }, also: settle });
};

const byModel = async (
  deps: ExtractionDeps,
  run: LeasedRun,
  model: string,
  said: readonly SaidMessage[],
  byRules: readonly ExtractedFact[],
): Promise<{ facts: readonly ExtractedFact[]; settle: readonly Write[] }> => {
  const llm = deps.llm.value;
  if (!llm) return { facts: byRules, settle: [] };
  const { agentId } = run.input as Input;
  try {
    const asked = await askModel(llm, model, said, { actor: deps.actors.of(run.ownerId), agentId, runId: run.id, purpose: 'extraction' }, run.signal);
    return { facts: asked.facts ?? byRules, settle: asked.settle };
  } catch (cause) {
    deps.log.warn('the extraction model gave no answer, and rules were used', { run: run.id, cause });
    return { facts: byRules, settle: [] };
  }
};

/** What was said in the run itself. Nothing where somebody else wrote the message. */
const saidIn = async (deps: ExtractionDeps, ownerId: string, sessionId: string, runId: string): Promise<SaidMessage[]> => {
  const actor = deps.actors.of(ownerId);
  const session = await deps.sessions.get(actor, sessionId).catch(() => undefined);
  if (!session || session.aside || session.ownerId !== ownerId) return [];
  const entries: readonly Entry[] = await deps.sessions.newest(actor, sessionId, { after: Math.max(0, session.seq - MAX_ENTRIES), limit: MAX_ENTRIES });
  const own = entries.filter((entry) => entry.runId === runId);
  const question = own.find(({ kind }) => kind === 'user');
  if (!question || question.origin !== undefined) return [];
  const read = own.some(({ kind, origin }) => kind === 'tool_result' && (origin === undefined || origin.labels.length > 0));
  const messages: SaidMessage[] = [];
  for (const { kind, parts } of own) {
    // An answer that tools took part in may repeat what a page said.
    if (kind !== 'user' && (kind !== 'assistant' || read)) continue;
    const content = textOfParts(parts).trim();
    if (content !== '') messages.push({ role: kind, content });
  }
  return messages;
};
