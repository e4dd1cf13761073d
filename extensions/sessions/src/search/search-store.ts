/** What a search reads: places on one owner's shelf, and what stands there. */
import type { Actor, Db, Where } from '@svc/api';

export interface SaidRow {
  readonly id: number;
  readonly session_id: string;
  readonly seq: number;
  readonly role: 'user' | 'assistant';
  readonly at: string;
  readonly text: string;
}

export interface FoundSession {
  readonly id: string;
  readonly agent_id: string;
  readonly label: string | null;
  readonly title: string | null;
  readonly first_words: string | null;
}

export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface SearchStore {
  number(ownerId: string): Promise<number | undefined>;
  /** Spans in which something was said within the period, the newest first. */
  spans(ownerId: string, period: Period): Promise<number[]>;
  /** Places of messages that hold every word of one of these groups, the newest first. */
  places(has: readonly (readonly string[])[], period: Period, limit: number): Promise<number[]>;
  said(places: readonly number[]): Promise<SaidRow[]>;
  /** Those of the owner that are there, conversations beside others left out. */
  sessions(ownerId: string, ids: readonly string[]): Promise<Map<string, FoundSession>>;
  /** The newest of this label. */
  labelled(ownerId: string, label: string, limit: number): Promise<string[]>;
}

/** Why these are read with no actor: a place is a number on one owner's shelf, and the index of words has no owner. */
const PLACES = 'places that lie on the shelf of the owner who searches';
const MAX_SPANS = 10_000;

/** `onlyOf` sees the rows of one owner, also where that person may see everybody's. */
export const createSearchStore = (db: Db, onlyOf: (ownerId: string) => Actor): SearchStore => ({
  number: async (ownerId) => (await db.as(onlyOf(ownerId)).first<{ number: number }>({ from: 'shelves', columns: ['number'] }))?.number,
  spans: async (ownerId, { from, to }) => {
    const where: Where = { ...(from === undefined ? {} : { last_at: { gte: from } }), ...(to === undefined ? {} : { first_at: { lte: to } }) };
    const rows = await db.as(onlyOf(ownerId)).select<{ span: number }>({ from: 'spans', columns: ['span'], where, order: [{ column: 'span', descending: true }], limit: MAX_SPANS });
    return rows.map(({ span }) => span);
  },
  places: async (has, { from, to }, limit) => {
    const at = { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lte: to }) };
    const where: Where = { words: { has }, ...(Object.keys(at).length === 0 ? {} : { at }) };
    return (await db.system(PLACES).select<{ id: number }>({ from: 'said', columns: ['id'], where, order: [{ column: 'id', descending: true }], limit })).map(({ id }) => id);
  },
  said: (places) => db.system(PLACES).select<SaidRow>({ from: 'said', columns: ['id', 'session_id', 'seq', 'role', 'at', 'text'], where: { id: places } }),
  sessions: async (ownerId, ids) => {
    const rows = await db.as(onlyOf(ownerId)).select<FoundSession>({ from: 'sessions', columns: ['id', 'agent_id', 'label', 'title', 'first_words'], where: { id: ids, aside: null } });
    return new Map(rows.map((row) => [row.id, row]));
  },
  labelled: async (ownerId, label, limit) =>
    (await db.as(onlyOf(ownerId)).select<{ id: string }>({ from: 'sessions', columns: ['id'], where: { label }, order: [{ column: 'created_at', descending: true }], limit })).map(({ id }) => id),
});
