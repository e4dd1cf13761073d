/**
 * Conversations that were deleted and can come back.
 *
 * B1  From the commit that deletes one, no list, search or count shows it, and nobody reads it. Its rows, and those of other areas, are
 *     moved into the bin of the kernel (`ctx.trash`) after that.
 * B2  What comes back is as it was: messages, versions, tags, links, and what other areas had of it. It comes back as one: a conversation with its versions.
 * B3  Each step can be repeated: a crash leaves it on its way, and the sweep goes on.
 * B4  Who may not see it does not find it in the bin either.
 */
import type { Actor, Db, Row, Trash, TrashItem } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { sessionsErrors } from '../errors.js';
import { type ListedSession, toListed } from '../listing.js';
import type { ChangeEvents } from '../service.js';
import type { ClosedSession, ClosingStore } from './closing-store.js';

export interface BinDeps {
  readonly store: ClosingStore;
  readonly trash: Trash;
  readonly agents: Pick<AgentsService, 'get' | 'briefs'>;
  readonly system: Actor;
  /** Reads what was said into the facts of sessions. */
  catchUp(): Promise<unknown>;
  commit: Db['commit'];
  /** What is kept of these sessions in memory is stale. */
  gone(sessionIds: readonly string[]): void;
  /** Something was said that lists and searches have to read. */
  said(): void;
  readonly changeEvents: ChangeEvents;
}

export interface BinnedSession extends ListedSession {
  readonly deletedAt: string;
  readonly keepUntil: string;
}

export interface Bin {
  /** Moves a session that was closed. One in which nothing was said is not worth it: false. */
  take(closed: ClosedSession): Promise<boolean>;
  /** The conversation of this session. Throws `no_such_session`, and what agents say where its agent is gone. */
  restore(actor: Actor, sessionId: string): Promise<ListedSession>;
  /** Undefined where the bin has none that the actor may see. */
  find(actor: Actor, sessionId: string): Promise<BinnedSession | undefined>;
  /** Ids of all versions of it that are in the bin, its own first. */
  versionsOf(actor: Actor, session: ListedSession): Promise<string[]>;
  /** One for each conversation, the newest first, without those whose agent is gone. */
  list(actor: Actor, query: { readonly limit: number; readonly offset: number; readonly agentId?: string }): Promise<{ readonly rows: readonly BinnedSession[]; readonly total: number }>;
  /** Goes on with one that was on its way out of the bin. */
  comeBack(sessionId: string): Promise<void>;
}

/** Of one conversation, and of those that are listed. */
const MOST = 1_000;

export const createBin = (deps: BinDeps): Bin => ({
  take: (closed) => take(deps, closed),
  restore: (actor, sessionId) => restore(deps, actor, sessionId),
  find: async (actor, sessionId) => {
    const item = await deps.trash.find(actor, 'session', sessionId);
    return item && toBinned(item);
  },
  versionsOf: (actor, session) => versionsOf(deps, actor, session),
  list: async (actor, { limit, offset, agentId }) => {
    const { items } = await deps.trash.list(actor, 'session', { limit: MOST, ...(agentId === undefined ? {} : { agentId }) });
    const there = await deps.agents.briefs(actor, [...new Set(items.flatMap((item) => item.agentId ?? []))]);
    const rows = oneOfEach(items.filter((item) => there[item.agentId ?? ''] !== undefined).map(toBinned));
    return { rows: rows.slice(offset, offset + limit), total: rows.length };
  },
  comeBack: (sessionId) => comeBack(deps, sessionId),
});

const toBinned = (item: TrashItem): BinnedSession => ({ ...toListed(item.about as Row), deletedAt: item.deletedAt, keepUntil: item.keepUntil }); // as `take` put it there

/** Of the versions of a conversation the one that was chosen. */
const oneOfEach = (sessions: readonly BinnedSession[]): BinnedSession[] => {
  const shown = new Map<string, BinnedSession>();
  for (const session of sessions) {
    const name = session.conversationId ?? session.id;
    if (!shown.has(name) || session.isChosen) shown.set(name, session);
  }
  return [...shown.values()];
};

const take = async (deps: BinDeps, { id, closedAt, keepUntil }: ClosedSession): Promise<boolean> => {
  const { store, trash } = deps;
  // What lists show of it is read from its entries, which are on their way out.
  await deps.catchUp();
  const row = await store.rowOf(id);
  // Of one whose row is moved already the rest is there.
  if (row && !(await store.hasEntries(id)) && !(await trash.find(deps.system, 'session', id))) return false;
  const about: Row = { ...row, aside: null };
  const item = { kind: 'session', id, ownerId: String(row?.owner_id), agentId: String(row?.agent_id), about, deletedAt: closedAt, keepUntil } as const;
  if (row) {
    await deps.commit([store.leaveConversation(id)]);
    await trash.put(item);
  }
  await deps.commit([store.setBin(id, 'in')]);
  deps.gone([id]);
  return true;
};

const versionsOf = async ({ trash }: BinDeps, actor: Actor, { id, agentId, conversationId }: ListedSession): Promise<string[]> => {
  if (conversationId === null) return [id];
  const { items } = await trash.list(actor, 'session', { limit: MOST, agentId });
  return [id, ...items.filter((item) => item.id !== id && item.about.conversation_id === conversationId).map((item) => item.id)];
};

const restore = async (deps: BinDeps, actor: Actor, sessionId: string): Promise<ListedSession> => {
  const item = await deps.trash.find(actor, 'session', sessionId);
  if (!item) throw sessionsErrors.no_such_session(sessionId);
  const session = toBinned(item);
  await deps.agents.get(actor, session.agentId);
  const ids = await versionsOf(deps, actor, session);
  // The one that was asked for is chosen in the end.
  for (const id of ids.toReversed()) {
    await deps.commit([deps.store.setBin(id, 'back')]);
    await comeBack(deps, id);
  }
  return session;
};

const comeBack = async (deps: BinDeps, id: string): Promise<void> => {
  const { store, trash } = deps;
  await trash.restore('session', id);
  const row = await store.rowOf(id);
  if (!row) {
    // Nothing of it is left to come back: it is erased with its time.
    await deps.commit([store.setBin(id, 'in')]);
    throw sessionsErrors.no_such_session(id);
  }
  const session = toListed(row);
  await deps.commit([
    ...store.reopen(id),
    ...(session.conversationId !== null && session.isChosen ? [store.chooseOnly(id, session.conversationId)] : []),
    ...deps.changeEvents({ id, agentId: session.agentId, ownerId: session.ownerId }, 'begun'),
  ]);
  deps.gone([id]);
  deps.said();
};
