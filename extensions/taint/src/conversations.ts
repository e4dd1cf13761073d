/**
 * What conversations have read, from their logs.
 *
 * L1  The log is the only truth: what is in memory is made of it, and made again after a restart.
 * L2  Text of the agent's owner is trusted, and so are results of tools that read the agent's own files, but for what the call itself said.
 * L3  Results of other tools, recalled text with a label, messages of others and attached files are from outside. What a model wrote is neither.
 * L4  A conversation with another agent counts with all that was read in it, both ways.
 * L5  What a run reads is read from its own log in memory, which may hold an entry that is never committed: where the last known entry is another one, all is read again.
 */
import type { Actor, AnyTool, CallFacts, ToolFacts } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { Entry, SessionsService } from '@svc/ext-sessions/contract';
import { scanText, warnedOf } from './injection/scan.js';
import { type Corpus, createCorpus, type GrowingCorpus, sourceOf } from './policy/corpus.js';

export interface ConversationDeps {
  readonly sessions: Pick<SessionsService, 'entries' | 'newest'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly toolNamed: (name: string) => Pick<AnyTool, 'openWorld' | 'risk'> | undefined;
}

export interface Conversations {
  corporaOf(call: Pick<CallFacts, 'actor' | 'agentId' | 'sessionId'>): Promise<readonly Corpus[]>;
}

interface Known {
  /** The newest entry that was read. */
  last: Entry | undefined;
  readonly corpus: GrowingCorpus;
  /** Conversations that this one has text of, each with the text that came from there. */
  readonly links: Map<string, string[]>;
  /** Arguments of calls whose result is not there yet. */
  readonly open: Map<string, string>;
}

const PAGE = 500;
const MAX_KNOWN = 200;
const MAX_CHARS = 32_000_000;
const MAX_LINKED = 50;
const MAX_OPEN = 200;
/** What svc says in place of a result. */
const NO_RESULT: ReadonlySet<string | undefined> = new Set(['denied', 'expired', 'skipped', 'outcome_unknown', 'waiting_approval']);

export const createConversations = (deps: ConversationDeps): Conversations => {
  const known = new Map<string, Known>();
  const prompts = new WeakMap<object, Corpus>();
  return {
    corporaOf: async ({ actor, agentId, sessionId }) => {
      const found: Corpus[] = await withLinked(deps, known, actor, sessionId);
      const { manifest, parentId } = await deps.agents.get(actor, agentId);
      // The instructions of an agent that another one made are that one's words.
      if (parentId !== null) return found;
      const prompt = prompts.get(manifest) ?? promptCorpus(manifest.model.system_prompt);
      prompts.set(manifest, prompt);
      return [...found, prompt];
    },
  };
};

const promptCorpus = (text: string): Corpus => {
  const corpus = createCorpus();
  corpus.addInstructions(text);
  return corpus;
};

const withLinked = async (deps: ConversationDeps, known: Map<string, Known>, actor: Actor, first: string): Promise<Corpus[]> => {
  const corpora: Corpus[] = [];
  const seen = new Set<string>();
  const open: Array<{ readonly id: string; readonly of?: Known }> = [{ id: first }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (seen.has(next.id)) continue;
    seen.add(next.id);
    const conversation = seen.size > MAX_LINKED ? undefined : await upToDate(deps, known, actor, next.id, next.of !== undefined);
    if (!conversation) {
      // It is gone, or too far away: what came from there may be anybody's.
      for (const text of next.of?.links.get(next.id) ?? []) next.of?.corpus.addOutside(text, { labels: ['UntrustedAgent'], name: 'another agent' });
      next.of?.links.delete(next.id);
      continue;
    }
    corpora.push(conversation.corpus);
    for (const id of conversation.links.keys()) open.push({ id, of: conversation });
  }
  return corpora;
};

const upToDate = async (deps: ConversationDeps, known: Map<string, Known>, actor: Actor, id: string, isLinked: boolean): Promise<Known | undefined> => {
  let conversation = known.get(id) ?? begun();
  for (let isMore = true; isMore; ) {
    // The last one that is known is read again, to compare it.
    const after = Math.max(0, (conversation.last?.seq ?? 0) - 1);
    let entries: readonly Entry[];
    try {
      entries = await (isLinked ? deps.sessions.entries(actor, id, { after, limit: PAGE }) : deps.sessions.newest(actor, id, { after, limit: PAGE }));
    } catch (error) {
      known.delete(id);
      if (isLinked) return undefined;
      throw error;
    }
    isMore = entries.length === PAGE;
    if (conversation.last && !isSame(conversation.last, entries[0])) {
      conversation = begun();
      isMore = true;
      continue;
    }
    for (const entry of entries) readNext(deps, conversation, entry);
  }
  remember(known, id, conversation);
  return conversation;
};

const begun = (): Known => ({ last: undefined, corpus: createCorpus(), links: new Map(), open: new Map() });

/** By what it says: an entry in memory is another object than the one of the database. */
const isSame = (one: Entry, other: Entry | undefined): boolean => one === other || (other !== undefined && said(one) === said(other));

const said = ({ seq, runId, at, kind, callId, content, parts, args }: Entry): string => JSON.stringify([seq, runId, at, kind, callId, content, parts, args]);

const readNext = (deps: ConversationDeps, conversation: Known, entry: Entry): void => {
  // Another call may have read the same entries meanwhile.
  if (entry.seq <= (conversation.last?.seq ?? 0)) return;
  conversation.last = entry;
  readEntry(deps, conversation, entry);
};

const remember = (known: Map<string, Known>, id: string, conversation: Known): void => {
  known.delete(id);
  known.set(id, conversation);
  let chars = 0;
  for (const { corpus } of known.values()) chars += corpus.chars;
  for (const [oldest, { corpus }] of known) {
    if (known.size <= MAX_KNOWN && chars <= MAX_CHARS) break;
    if (oldest === id) continue;
    chars -= corpus.chars;
    known.delete(oldest);
  }
};

const readEntry = (deps: ConversationDeps, conversation: Known, entry: Entry): void => {
  if (entry.kind === 'user') readMessage(conversation, entry);
  if (entry.kind === 'tool_call' && entry.callId !== undefined && conversation.open.size < MAX_OPEN) conversation.open.set(entry.callId, JSON.stringify(entry.args ?? null));
  if (entry.kind === 'tool_result') readResult(deps, conversation, entry);
  if (entry.kind === 'recall') readRecalled(conversation, entry);
};

const readMessage = ({ corpus, links }: Known, { parts = [], origin }: Entry): void => {
  for (const part of parts) {
    if (part.type !== 'text') continue;
    if (part.file) {
      const source = { labels: ['UserInput'], name: `the file ${part.file.name}` } as const;
      corpus.addOutside(part.text, source);
      const ids = scanText(part.text);
      if (ids.length > 0) corpus.addHit(ids, source);
    } else if (origin?.sessionId !== undefined) link(links, origin.sessionId, origin.labels.length > 0 ? part.text : undefined);
    else if (origin && origin.labels.length > 0) corpus.addOutside(part.text, sourceOf(origin));
    if (!part.file && (origin?.labels.length ?? 0) === 0) corpus.addTrusted(part.text);
  }
};

const link = (links: Known['links'], id: string, text: string | undefined): void => void links.set(id, [...(links.get(id) ?? []), ...(text === undefined ? [] : [text])]);

const readResult = ({ toolNamed }: ConversationDeps, { corpus, links, open }: Known, { tool: name = '', callId = '', content = '', status, origin }: Entry): void => {
  const echoed = open.get(callId) ?? content;
  open.delete(callId);
  if (NO_RESULT.has(status)) return;
  if (origin?.sessionId !== undefined) {
    link(links, origin.sessionId, content);
    return;
  }
  const tool = toolNamed(name);
  if (!origin && tool?.openWorld === false) {
    if (readsOnly(tool)) corpus.addOwn(content, echoed);
    return;
  }
  const source = sourceOf(origin ?? { labels: ['ExternalNetwork'], source: name });
  if (source.labels.length === 0) return;
  const ids = warnedOf(content);
  corpus.addOutside(content, source);
  if (ids.length > 0) corpus.addHit(ids, source);
};

/** It is what it was when it was remembered: its origin says so. */
const readRecalled = ({ corpus, links }: Known, { content = '', origin }: Entry): void => {
  if (origin?.sessionId !== undefined) {
    link(links, origin.sessionId, origin.labels.length > 0 ? content : undefined);
    return;
  }
  const source = sourceOf(origin ?? { labels: ['ExternalNetwork'], source: 'memory' });
  if (source.labels.length === 0) return;
  const ids = scanText(content);
  corpus.addOutside(content, source);
  if (ids.length > 0) corpus.addHit(ids, source);
};

const readsOnly = ({ risk }: Pick<ToolFacts, 'risk'>): boolean => risk === 'read';
