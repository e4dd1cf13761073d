/**
 * The rules of sessions.
 *
 * S4  The log is append-only: entries are numbered per session and two writers of one number conflict.
 * S5  A session belongs to one agent and one owner; who may not see it does not find it.
 * S6  The cache only ever answers for the log it was filled from: the newest entry's mark is compared first.
 * S7  A session that a caller names is there; only the agent's current one may be empty.
 */
import { type Actor, type Clock, type Ids, seesAll } from '@svc/api';
import type { Compacted, Entry, EntryDraft, SessionRef, SessionsService } from './contract.js';
import { sessionsErrors } from './errors.js';
import { projectEntries } from './projection.js';
import type { SessionRow, SessionStore } from './store.js';

export interface SessionsDeps {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Hears of every projection; see compaction.ts. */
  projected(ref: SessionRef, entries: readonly Entry[], countMessages: number): void;
  compactNow(ref: SessionRef): Promise<Compacted>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MAX_CACHED_SESSIONS = 200;
const MAX_CACHED_ENTRIES = 1_000;
/** Entries read for one projection; older ones are beyond any model's window. */
const MAX_PROJECTED_ENTRIES = 4_000;

interface CachedLog {
  seq: number;
  mark: string;
  entries: Entry[];
}

/** `forget` drops what is kept in memory of a session. */
export const createSessionsService = (deps: SessionsDeps): SessionsService & { forget(sessionId: string): void } => {
  const logs = new Map<string, CachedLog>();
  return {
    forget: (sessionId) => void logs.delete(sessionId),
    named: (actor, agent, sessionId) => named(deps, logs, actor, agent, sessionId),
    ensure: (actor, agentId, sessionId) => ensure(deps, logs, actor, agentId, sessionId),
    create: async (actor, agentId, options = {}) => {
      const ref: SessionRef = { id: options.id ?? deps.ids.uuid(), agentId, ownerId: actor.ownerId, seq: 0 };
      return { ref, writes: [deps.store.insertSession({ ...ref, label: options.label ?? null, at: deps.clock.iso() })] };
    },
    counts: (actor, agentIds, since) => deps.store.counts(actor, agentIds, since),
    total: (actor) => deps.store.total(actor),
    get: async (actor, sessionId) => toRef(await find(deps, actor, sessionId)),
    agentOf: (sessionId) => deps.store.agentOf(sessionId),
    setThinking: async (actor, ref, isOn) => [deps.store.insertSession({ ...own(actor, ref), label: null, at: deps.clock.iso() }), deps.store.setThinking(ref.id, isOn)],
    discard: async (actor, sessionId) => {
      if (!seesAll(actor)) await find(deps, actor, sessionId);
      logs.delete(sessionId);
      return deps.store.discard(sessionId);
    },
    compact: async (actor, agent, sessionId) => deps.compactNow(await named(deps, logs, actor, agent, sessionId)),
    append: async (actor, ref, drafts) => append(deps, logs, own(actor, ref), drafts),
    project: async (actor, ref, { budgetTokens, maxMessages, staged = [], aside }) => {
      const said = await loadStaged(deps, logs, own(actor, ref), staged);
      const entries = aside?.history ? [...(await loadLog(deps, logs, own(actor, aside.history))), ...said] : said;
      const { messages, repaired, total } = projectEntries(entries, budgetTokens, maxMessages);
      if (!aside) deps.projected(ref, entries, total);
      return { messages, throughSeq: ref.seq, repaired };
    },
    entries: async (actor, sessionId, range = {}) => {
      await find(deps, actor, sessionId);
      return deps.store.entries(sessionId, range.after ?? 0, range.limit ?? 1_000);
    },
  };
};

async function named(deps: SessionsDeps, logs: Map<string, CachedLog>, actor: Actor, agent: { readonly id: string; readonly sessionId: string }, sessionId: string): Promise<SessionRef> {
  const { isNew, ...ref } = await look(deps, logs, actor, agent.id, sessionId);
  // An id that nobody gave out begins nothing: a slip in it would silently lose the conversation.
  if (isNew && ref.id !== agent.sessionId) throw sessionsErrors.session_not_found(sessionId);
  return ref;
}

async function ensure(deps: SessionsDeps, logs: Map<string, CachedLog>, actor: Actor, agentId: string, sessionId: string): Promise<SessionRef> {
  const { isNew: _isNew, ...ref } = await look(deps, logs, actor, agentId, sessionId);
  return ref;
}

async function look(deps: SessionsDeps, logs: Map<string, CachedLog>, actor: Actor, agentId: string, sessionId: string): Promise<SessionRef & { readonly isNew: boolean }> {
  if (!UUID.test(sessionId)) throw sessionsErrors.invalid_session_id(sessionId);
  const row = await deps.store.find(actor, sessionId);
  if (!row) return { id: sessionId, agentId, ownerId: actor.ownerId, seq: 0, isNew: true };
  if (row.agentId !== agentId) throw sessionsErrors.session_not_found(sessionId);
  if (logs.get(sessionId)?.mark !== row.mark) logs.delete(sessionId);
  return { ...toRef(row), isNew: false };
}

async function find(deps: SessionsDeps, actor: Actor, sessionId: string): Promise<SessionRow> {
  if (!UUID.test(sessionId)) throw sessionsErrors.invalid_session_id(sessionId);
  const row = await deps.store.find(actor, sessionId);
  if (!row) throw sessionsErrors.session_not_found(sessionId);
  return row;
}

function append(deps: SessionsDeps, logs: Map<string, CachedLog>, ref: SessionRef, drafts: readonly EntryDraft[]) {
  const at = deps.clock.iso();
  const writes = drafts.length > 0 ? [deps.store.insertEntries(ref, drafts, at)] : [];
  if (ref.seq === 0) writes.unshift(deps.store.insertSession({ ...ref, label: null, at }));
  const next: SessionRef = { ...ref, seq: ref.seq + drafts.length };
  remember(logs, ref, next, drafts, at);
  return { writes, next };
}

/** What was appended is kept beside the log it extends. Should its commit fail, the mark no longer matches the database and it is dropped. */
function remember(logs: Map<string, CachedLog>, ref: SessionRef, next: SessionRef, drafts: readonly EntryDraft[], at: string): void {
  const known = logs.get(ref.id) ?? (ref.seq === 0 ? { seq: 0, mark: '', entries: [] } : undefined);
  const last = drafts.at(-1);
  if (!known || known.seq !== ref.seq || !last) {
    logs.delete(ref.id);
    return;
  }
  known.entries.push(...drafts.map((draft, index) => ({ ...draft, seq: ref.seq + 1 + index, at })));
  known.seq = next.seq;
  known.mark = `${next.seq}/${last.runId ?? ''}/${at}`;
  keep(logs, ref.id, known);
}

/** The cache holds what `append` numbered, if it holds the log at all; what the database does not have yet is added otherwise. */
async function loadStaged(deps: SessionsDeps, logs: Map<string, CachedLog>, ref: SessionRef, staged: readonly EntryDraft[]): Promise<readonly Entry[]> {
  if (staged.length === 0 || logs.get(ref.id)?.seq === ref.seq) return loadLog(deps, logs, ref);
  const stored: SessionRef = { ...ref, seq: ref.seq - staged.length };
  const at = deps.clock.iso();
  // A writer that came between is not in this log: the commit that follows will conflict, and the model is asked about the log that stands.
  const known = (await loadLog(deps, logs, stored)).filter((entry) => entry.kind === 'summary' || entry.seq <= stored.seq);
  return [...known, ...staged.map((draft, index) => ({ ...draft, seq: stored.seq + 1 + index, at }))];
}

async function loadLog(deps: SessionsDeps, logs: Map<string, CachedLog>, ref: SessionRef): Promise<readonly Entry[]> {
  const cached = logs.get(ref.id);
  if (cached?.seq === ref.seq) return cached.entries;
  if (ref.seq === 0) return [];
  const summary = await deps.store.lastSummary(ref.id);
  const after = Math.max(summary?.coversThrough ?? 0, ref.seq - MAX_PROJECTED_ENTRIES);
  const stored = await deps.store.entries(ref.id, after, MAX_PROJECTED_ENTRIES);
  const entries = stored.filter((entry) => entry.kind !== 'summary');
  // It stands where it was written, and is read before what it does not cover.
  if (summary) entries.unshift(summary);
  const last = stored.at(-1);
  if (last) keep(logs, ref.id, { seq: last.seq, mark: `${last.seq}/${last.runId ?? ''}/${last.at}`, entries });
  return entries;
}

function keep(logs: Map<string, CachedLog>, id: string, log: CachedLog): void {
  logs.delete(id);
  if (log.entries.length > MAX_CACHED_ENTRIES) return;
  logs.set(id, log);
  for (const oldest of logs.keys()) {
    if (logs.size <= MAX_CACHED_SESSIONS) break;
    logs.delete(oldest);
  }
}

/** A ref names whose session it is: nobody reads or extends another's by naming it. */
const own = (actor: Actor, ref: SessionRef): SessionRef => {
  if (!seesAll(actor) && actor.ownerId !== ref.ownerId) throw sessionsErrors.session_not_found(ref.id);
  return ref;
};

const toRef = (row: SessionRow): SessionRef => ({ id: row.id, agentId: row.agentId, ownerId: row.ownerId, seq: row.seq, ...(row.thinking === null ? {} : { thinking: row.thinking }) });
