/**
 * The rules of sessions.
 *
 * S4  The log is append-only: entries are numbered per session and two writers of one number conflict.
 * S5  A session belongs to one agent and one owner; who may not see it does not find it.
 * S7  A session that a caller names is there; only the agent's current one may be empty.
 * S10 An id that was taken away is not used again: whoever still writes to it conflicts, and is told that it is gone.
 */
import { type Actor, type AtOnceService, type Clock, type Ids, cacheRows, readOneCached, seesAll, isUuid, type Write } from '@svc/api';
import type { Compacted, Entry, EntryDraft, SessionChanged, SessionCount, SessionRef, SessionsService } from './contract.js';
import { sessionsErrors } from './errors.js';
import type { Fill } from './compaction/compaction.js';
import { createLogCache, type CachedLog, type LogCache } from './log-cache.js';
import { createProjection } from './projection.js';
import { markOf, type SessionRow, type SessionStore } from './store.js';

export interface SessionsDeps {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Hears of every projection; see compaction.ts. */
  projected(ref: SessionRef, entries: readonly Entry[], countMessages: number, fill: Fill): void;
  /** Something will be said that lists and searches show. */
  said(): void;
  compactNow(ref: SessionRef): Promise<Compacted>;
  changeEvents: ChangeEvents;
}

/** Writes that say what becomes of a session; they join the commit that does it. */
export type ChangeEvents = (session: { readonly id?: string; readonly agentId: string; readonly ownerId: string }, change: SessionChanged['change']) => readonly Write[];

/** Entries read for one projection; older ones are beyond any model's window. */
const MAX_PROJECTED_ENTRIES = 4_000;
const NO_SESSIONS: SessionCount = { all: 0, recent: 0 };

/** All but what lists and closing serve. */
export type ConversationService = Omit<SessionsService, 'context' | 'wipe' | 'remove' | 'erase' | 'describe' | 'recent' | 'counts'> & Pick<AtOnceService<SessionsService>, 'counts'>;

/** `forget` drops what is kept in memory of a session, `rest` what nobody used for a while; those that are `gone` are counted no more. */
export const createSessionsService = (deps: SessionsDeps): ConversationService & Pick<LogCache, 'forget' | 'rest'> & { gone(sessionIds: readonly string[]): void } => {
  const logs = createLogCache(deps.clock);
  const counted = cacheRows<SessionCount>(deps.clock);
  return {
    forget: logs.forget,
    rest: logs.rest,
    gone: (sessionIds) => {
      for (const id of sessionIds) logs.forget(id);
      counted.clear();
    },
    named: (actor, agent, sessionId) => named(deps, logs, actor, agent, sessionId),
    ensure: (actor, agentId, sessionId, options = {}) => ensure(deps, logs, actor, agentId, sessionId, options),
    create: async (actor, agentId, options = {}) => {
      counted.willChange(agentId);
      const ref: SessionRef = { id: options.id ?? deps.ids.uuid(), agentId, ownerId: actor.ownerId, seq: 0 };
      return { ref, writes: [deps.store.insertSession({ ...ref, label: options.label ?? null, at: deps.clock.iso() }), ...deps.changeEvents(ref, 'begun')] };
    },
    counts: (actor, agentIds, since) => readOneCached(counted, actor, agentIds, NO_SESSIONS, () => deps.store.counts(actor, agentIds, since)),
    total: (actor) => deps.store.total(actor),
    conversations: (_actor, agentId) => deps.store.conversations(agentId),
    get: async (actor, sessionId) => toRef(await find(deps, actor, sessionId)),
    labelled: async (actor, agentId, label) => (await deps.store.labelled(actor, agentId, label)).map(toRef),
    agentOf: (sessionId) => deps.store.agentOf(sessionId),
    setThinking: async (actor, ref, isOn) => {
      logs.touched(own(actor, ref).id);
      counted.willChange(ref.agentId);
      return [deps.store.insertSession({ ...own(actor, ref), label: null, at: deps.clock.iso() }), deps.store.setThinking(ref.id, isOn), ...deps.changeEvents(ref, 'changed')];
    },
    setModel: async (actor, ref, model) => {
      logs.touched(own(actor, ref).id);
      return [deps.store.setModel(ref.id, model)];
    },
    eraseRecalled: async (actor, sessionId, { by, ids }) => {
      await find(deps, actor, sessionId);
      const erased = await deps.store.eraseRecalled(sessionId, by, new Set(ids));
      logs.forget(sessionId);
      return erased;
    },
    discard: async (actor, sessionId) => {
      if (!seesAll(actor)) await find(deps, actor, sessionId);
      logs.forget(sessionId);
      counted.clear();
      return deps.store.discard(sessionId);
    },
    compact: async (actor, agent, sessionId) => deps.compactNow(await named(deps, logs, actor, agent, sessionId)),
    append: async (actor, ref, drafts) => {
      // Only a session's first entry changes how many there are.
      if (ref.seq === 0) counted.willChange(ref.agentId);
      if (!ref.aside) deps.said();
      return append(deps, logs, own(actor, ref), drafts);
    },
    restore: async (actor, restored) => {
      if (restored.length === 0) return [];
      deps.said();
      for (const { id } of restored) logs.forget(id);
      const byAgent = new Map<string, string[]>();
      for (const { id, agentId } of restored) byAgent.set(agentId, [...(byAgent.get(agentId) ?? []), id]);
      for (const agentId of byAgent.keys()) counted.willChange(agentId);
      const events = [...byAgent].flatMap(([agentId, [id, other]]) => deps.changeEvents({ agentId, ownerId: actor.ownerId, ...(id === undefined || other !== undefined ? {} : { id }) }, 'begun'));
      return [...deps.store.restore(actor.ownerId, restored), ...events];
    },
    newestOf: (actor, sessionIds) => deps.store.newestOf(actor, sessionIds),
    project: async (actor, ref, { budgetTokens, maxMessages, staged = [], aside }) => {
      const said = await loadStaged(deps, logs, own(actor, ref), staged, aside?.isWhole ?? false);
      const log = aside?.history ? unkept([...(await loadLog(deps, logs, own(actor, aside.history))).entries, ...said.entries]) : said;
      const { messages, repaired, total, tokens } = log.projection.within(budgetTokens, maxMessages);
      if (!aside) deps.projected(ref, log.entries, total, { tokens, budgetTokens });
      return { messages, throughSeq: ref.seq, repaired };
    },
    entries: async (actor, sessionId, range = {}) => {
      await find(deps, actor, sessionId);
      return deps.store.entries(sessionId, range.after ?? 0, range.limit ?? 1_000);
    },
    newest: async (actor, sessionId, { after, limit }) => {
      const kept = logs.newest(sessionId, after);
      if (kept && (seesAll(actor) || actor.ownerId === kept.ownerId)) return kept.entries.slice(0, limit);
      await find(deps, actor, sessionId);
      return deps.store.entries(sessionId, after, limit);
    },
  };
};

async function named(deps: SessionsDeps, logs: LogCache, actor: Actor, agent: { readonly id: string; readonly sessionId: string }, sessionId: string): Promise<SessionRef> {
  const { isNew, ...ref } = await look(deps, logs, actor, agent.id, sessionId, false);
  // An id that nobody gave out begins nothing: a slip in it would silently lose the conversation.
  if (isNew && ref.id !== agent.sessionId) throw sessionsErrors.session_not_found(sessionId);
  return ref;
}

async function ensure(deps: SessionsDeps, logs: LogCache, actor: Actor, agentId: string, sessionId: string, options: { again?: boolean; aside?: boolean }): Promise<SessionRef> {
  const { isNew, ...ref } = await look(deps, logs, actor, agentId, sessionId, options.again ?? false);
  return isNew && options.aside ? { ...ref, aside: true } : ref;
}

async function look(deps: SessionsDeps, logs: LogCache, actor: Actor, agentId: string, sessionId: string, isAgain: boolean): Promise<SessionRef & { readonly isNew: boolean }> {
  if (!isUuid(sessionId)) throw sessionsErrors.invalid_session_id(sessionId);
  const place = isAgain ? undefined : logs.place(sessionId);
  // One of somebody else is looked for like any other, and not found.
  if (place && place.agentId === agentId && (seesAll(actor) || actor.ownerId === place.ownerId)) return { ...toRef({ ...place, id: sessionId }), isNew: false };
  const row = await deps.store.find(actor, sessionId);
  if (!row && (await deps.store.isClosed(sessionId))) throw sessionsErrors.session_not_found(sessionId);
  if (!row) return { id: sessionId, agentId, ownerId: actor.ownerId, seq: 0, isNew: true };
  if (row.agentId !== agentId) throw sessionsErrors.session_not_found(sessionId);
  logs.compare(row);
  return { ...toRef(row), isNew: false };
}

async function find(deps: SessionsDeps, actor: Actor, sessionId: string): Promise<SessionRow> {
  if (!isUuid(sessionId)) throw sessionsErrors.invalid_session_id(sessionId);
  const row = await deps.store.find(actor, sessionId);
  if (!row) throw sessionsErrors.session_not_found(sessionId);
  return row;
}

function append(deps: SessionsDeps, logs: LogCache, ref: SessionRef, drafts: readonly EntryDraft[]) {
  const at = deps.clock.iso();
  const writes = deps.store.insertEntries(ref, drafts, at);
  if (ref.seq === 0) writes.unshift(deps.store.insertSession({ ...ref, label: null, at }), ...(ref.aside ? [] : deps.changeEvents(ref, 'begun')));
  else if (drafts.some(({ kind }) => kind === 'summary')) writes.push(...deps.changeEvents(ref, 'changed'));
  const newest = drafts.at(-1);
  const next: SessionRef = newest ? { ...ref, seq: ref.seq + drafts.length, mark: markOf({ seq: ref.seq + drafts.length, runId: newest.runId, at }) } : ref;
  logs.extend(ref, drafts, at);
  return { writes, next };
}

/** The cache holds what `append` numbered, if it holds the log at all; what the database does not have yet is added otherwise. */
async function loadStaged(deps: SessionsDeps, logs: LogCache, ref: SessionRef, staged: readonly EntryDraft[], isWhole: boolean): Promise<CachedLog> {
  if (staged.length === 0 || logs.get(ref.id, ref.seq)) return loadLog(deps, logs, ref, isWhole);
  const { mark, ...place } = ref;
  const stored: SessionRef = { ...place, seq: ref.seq - staged.length };
  const at = deps.clock.iso();
  // A writer that came between is not in this log: the commit that follows will conflict, and the model is asked about the log that stands.
  const log = await loadLog(deps, logs, stored, isWhole);
  if (logs.get(ref.id, stored.seq)) {
    // From here on it is kept along with what is said, as one that was never read is.
    logs.extend(stored, staged, at, mark);
    // Whoever read it meanwhile may have put another in its place: that is the one that has grown.
    const grown = logs.get(ref.id, ref.seq);
    if (grown) return grown;
  }
  const known = log.entries.filter((entry) => entry.kind === 'summary' || entry.seq <= stored.seq);
  return unkept([...known, ...staged.map((draft, index) => ({ ...draft, seq: stored.seq + 1 + index, at }))]);
}

async function loadLog(deps: SessionsDeps, logs: LogCache, ref: SessionRef, isWhole = false): Promise<CachedLog> {
  const kept = logs.get(ref.id, ref.seq);
  if (kept) return kept;
  if (ref.seq === 0) return unkept([]);
  const summary = await deps.store.lastSummary(ref.id);
  const after = summary?.coversThrough ?? 0;
  const stored = isWhole ? await allEntries(deps, ref.id, after) : await deps.store.entries(ref.id, Math.max(after, ref.seq - MAX_PROJECTED_ENTRIES), MAX_PROJECTED_ENTRIES);
  const entries = stored.filter((entry) => entry.kind !== 'summary');
  // It stands where it was written, and is read before what it does not cover.
  if (summary) entries.unshift(summary);
  const newest = stored.at(-1);
  return newest ? logs.put(ref, entries, newest) : unkept(entries);
}

/** A page at a time: whoever asks for a whole log has bounded it. */
async function allEntries(deps: SessionsDeps, sessionId: string, from: number): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let after = from, size = MAX_PROJECTED_ENTRIES; size === MAX_PROJECTED_ENTRIES; ) {
    const page = await deps.store.entries(sessionId, after, MAX_PROJECTED_ENTRIES);
    all.push(...page);
    size = page.length;
    after = page.at(-1)?.seq ?? after;
  }
  return all;
}

const unkept = (entries: readonly Entry[]): CachedLog => {
  const projection = createProjection();
  projection.add(entries);
  return { entries, projection };
};

/** A ref names whose session it is: nobody reads or extends another's by naming it. */
const own = (actor: Actor, ref: SessionRef): SessionRef => {
  if (!seesAll(actor) && actor.ownerId !== ref.ownerId) throw sessionsErrors.session_not_found(ref.id);
  return ref;
};

const toRef = ({ id, agentId, ownerId, seq, mark, thinking, model, isAside }: Omit<SessionRow, 'label' | 'createdAt'>): SessionRef => ({
  id,
  agentId,
  ownerId,
  seq,
  mark,
  ...(isAside ? { aside: true } : {}),
  ...(thinking === null ? {} : { thinking }),
  ...(model === null ? {} : { model }),
});
