/** Sessions as lists show them. What a list says of one stands in its row (catalogue/facts.ts): a page is one read. */
import { type Actor, type Db, type Found, type ListDecl, type ListQuery, type HookHandle, readList, type Row, type Where } from '@svc/api';
import type { GoingOn, SessionActive, SessionInfo } from './contract.js';
import type { Facts } from './catalogue/facts.js';
import { toFacts } from './catalogue/catalogue-store.js';
import { tagsIn, wantedTag } from './tagging/tags.js';

export interface ListedSession extends Facts {
  readonly id: string;
  readonly agentId: string;
  readonly ownerId: string;
  /** As somebody gave it. */
  readonly label: string | null;
  /** As a model named it. */
  readonly title: string | null;
  readonly createdAt: string;
  /** The session that it goes on from. */
  readonly branchedFrom: string | null;
  /** Null where it has no other version. */
  readonly conversationId: string | null;
  /** Of the versions of its conversation. */
  readonly isChosen: boolean;
  readonly isArchived: boolean;
  readonly tags: readonly string[];
}

/** What narrows a list of sessions. */
export interface SessionsQuery extends ListQuery {
  readonly versions?: 'all' | 'chosen';
  readonly archived?: 'all' | 'no' | 'only';
  readonly tag?: string;
}

const narrowed = ({ versions, archived = 'all' }: SessionsQuery): Where => ({
  ...(versions === 'chosen' ? { unchosen: null } : {}),
  ...(archived === 'all' ? {} : { archived: archived === 'only' ? 1 : null }),
});

export interface Listing {
  /** The newest first, of all agents that the actor may see or of one. */
  page(actor: Actor, list: ListDecl, query: SessionsQuery, agentId?: string): Promise<Found<ListedSession>>;
  /** Undefined when there is none that the actor may see. */
  one(actor: Actor, sessionId: string): Promise<ListedSession | undefined>;
  /** The newest that was given this label. */
  byLabel(agentId: string, label: string): Promise<ListedSession | undefined>;
  /** The tags of conversations that have some, as they are stored, one row for each conversation. */
  tagged(actor: Actor): Promise<readonly string[]>;
  /** In which sessions a run is going on, waits or is queued, as far as the actor sees. */
  active(actor: Actor, agentId?: string): Promise<ReadonlySet<string>>;
}

const MAX_TAGGED = 5_000;

export interface ListingDeps {
  readonly db: Db;
  readonly goingOn: HookHandle<typeof SessionActive>;
}

export const createListing = ({ db, goingOn }: ListingDeps): Listing => {
  return {
    page: async (actor, list, query, agentId) => {
      const reader = agentId === undefined ? db.as(actor) : db.system('sessions of an agent that the actor may see');
      const found = await readList(
        reader,
        list,
        { ...query, ...(query.tag === undefined ? {} : { q: wantedTag(query.tag) }) },
        {
          from: 'sessions',
          search: ['tags'],
          columns: { last_message_at: { column: 'last_at' } },
          where: { aside: null, ...narrowed(query), ...(agentId === undefined ? {} : { agent_id: agentId }) },
        },
      );
      return { ...found, rows: found.rows.map(toListed) };
    },
    one: async (actor, sessionId) => {
      const row = await db.as(actor).first<Row>({ from: 'sessions', where: { id: sessionId, aside: null } });
      return row && toListed(row);
    },
    byLabel: async (agentId, label) => {
      const row = await db.system('sessions of an agent that the actor may see').first<Row>({
        from: 'sessions',
        where: { agent_id: agentId, label, aside: null },
        order: [
          { column: 'created_at', descending: true },
          { column: 'id', descending: true },
        ],
      });
      return row && toListed(row);
    },
    tagged: async (actor) =>
      (
        await db
          .as(actor)
          .read<{ tags: string }>(
            `SELECT s.tags FROM ${db.table('sessions')} s WHERE s.tags IS NOT NULL AND s.aside IS NULL AND s.unchosen IS NULL ORDER BY s.created_at DESC, s.id LIMIT ${MAX_TAGGED}`,
          )
      ).map(({ tags }) => tags),
    active: async (actor, agentId) => new Set((await runsGoingOn(goingOn, actor, agentId)).map(({ sessionId }) => sessionId)),
  };
};

/** Of all areas that work in sessions. */
export const runsGoingOn = async (goingOn: HookHandle<typeof SessionActive>, actor: Actor, agentId?: string): Promise<GoingOn> =>
  goingOn.isEmpty() ? [] : (await goingOn.call({ actor, ...(agentId === undefined ? {} : { agentId }) })).flatMap(({ value }) => value ?? []);

export const toListed = (row: Row): ListedSession => ({
  ...toFacts(row),
  id: String(row.id),
  agentId: String(row.agent_id),
  ownerId: String(row.owner_id),
  label: row.label === null ? null : String(row.label),
  title: row.title === null ? null : String(row.title),
  createdAt: String(row.created_at),
  branchedFrom: row.branched_from === null ? null : String(row.branched_from),
  conversationId: row.conversation_id === null ? null : String(row.conversation_id),
  isChosen: row.unchosen === null,
  isArchived: row.archived === 1,
  tags: tagsIn(row.tags === null ? null : String(row.tags)),
});

/** The same for other areas. */
export const infoOf = (session: ListedSession, currentId: string, active: ReadonlySet<string>): SessionInfo => ({
  id: session.id,
  agentId: session.agentId,
  label: shownLabel(session),
  createdAt: session.createdAt,
  messages: session.messages,
  inputTokens: session.inputTokens,
  outputTokens: session.outputTokens,
  costMicros: session.costMicros,
  isActive: active.has(session.id),
  isCurrent: session.id === currentId,
});

/** What people call it: the label that somebody gave, else the title, else how it began. */
export const shownLabel = ({ label, title, firstWords }: Pick<ListedSession, 'label' | 'title' | 'firstWords'>): string | null => label ?? title ?? firstWords;

export const durationOf = ({ firstAt, lastAt }: Facts): number | null => (firstAt === null || lastAt === null ? null : Math.max(0, Date.parse(lastAt) - Date.parse(firstAt)));
