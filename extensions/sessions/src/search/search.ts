/**
 * Finding what was said.
 *
 * F1  A search is of one owner's messages: other people's make it neither slower nor other (H1 of catalogue/shelves.ts).
 * F2  Every word that is asked for stands in a message that is found. Whatever is typed is words: there are no operators.
 * F3  The newest hundred messages that fit are ordered by how well; those before them by their time.
 */
import { foldedText, wordsAsked } from '@svc/api';
import type { Catalogue } from '../catalogue/catalogue.js';
import { agentTag, sessionTag, wordTag } from '../catalogue/shelves.js';
import { sessionsErrors } from '../errors.js';
import type { FoundSession, Period, SaidRow, SearchStore } from './search-store.js';
import { type Asked, scoreOf, snippetOf } from './snippet.js';

export interface SearchQuery extends Period {
  readonly ownerId: string;
  readonly q: string;
  readonly agentId?: string | undefined;
  readonly label?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface Hit {
  readonly session: FoundSession;
  readonly seq: number;
  readonly role: SaidRow['role'];
  readonly at: string;
  readonly snippet: string;
  /** Lower is better. */
  readonly rank: number;
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** How many were found; how many at least, where there are more than the page reaches. */
  readonly total: number;
  readonly isTotal: boolean;
  /** Set where messages wait to be read: what was said from then on may be missing. */
  readonly indexedUntil: string | undefined;
}

const MAX_ASKED_WORDS = 32;
const RANKED = 100;
/** Batches of entries that a search reads before it begins, 600. */
const BATCHES_FIRST = 3;
/** Spans that are looked through at once: the newest alone, then ever more. */
const MAX_SPANS_AT_ONCE = 64;
const MAX_SESSIONS_OF_LABEL = 20;
/** A query of an index holds so many groups of words at most. */
const MAX_GROUPS = 320;

export const searchSaid = async (store: SearchStore, catalogue: Pick<Catalogue, 'catchUp'>, query: SearchQuery): Promise<SearchResult> => {
  const words = wordsAsked(query.q);
  if (words.length === 0) throw sessionsErrors.nothing_to_search();
  if (words.length > MAX_ASKED_WORDS) throw sessionsErrors.too_many_words(words.length, MAX_ASKED_WORDS);
  const indexedUntil = await catalogue.catchUp(BATCHES_FIRST);
  const wanted = Math.max(query.offset + query.limit + 1, RANKED);
  const places = await placesOf(store, query, words, wanted);
  const hits = await pageOf(store, query, { words, phrase: foldedText(query.q).trim() }, places);
  return { hits, total: places.length, isTotal: places.length < wanted, indexedUntil };
};

async function placesOf(store: SearchStore, query: SearchQuery, words: readonly string[], wanted: number): Promise<number[]> {
  const number = await store.number(query.ownerId);
  if (number === undefined) return [];
  const sessionIds = query.label === undefined ? undefined : await store.labelled(query.ownerId, query.label, MAX_SESSIONS_OF_LABEL);
  if (sessionIds?.length === 0) return [];
  const spans = await store.spans(query.ownerId, query);
  const most = Math.min(MAX_SPANS_AT_ONCE, Math.floor(MAX_GROUPS / (sessionIds?.length ?? 1)));
  const found: number[] = [];
  for (let looked = 0; looked < spans.length && found.length < wanted; ) {
    const some = spans.slice(looked, looked + spansNext(looked, found.length, wanted, most));
    found.push(...(await store.places(groupsOf(number, some, words, query.agentId, sessionIds), query, wanted - found.length)));
    looked += some.length;
  }
  return found;
}

/** As many spans as should hold what is still wanted, going by those before them: of a common word no more than that is read. */
const spansNext = (looked: number, found: number, wanted: number, most: number): number =>
  looked === 0 ? 1 : Math.min(most, looked * 4, found === 0 ? most : Math.ceil(((wanted - found) * looked) / found));

const groupsOf = (number: number, spans: readonly number[], words: readonly string[], agentId: string | undefined, sessionIds: readonly string[] | undefined): string[][] =>
  spans.flatMap((span) => {
    const tags = [...words.map((word) => wordTag(number, span, word)), ...(agentId === undefined ? [] : [agentTag(number, span, agentId)])];
    return sessionIds ? sessionIds.map((id) => [...tags, sessionTag(number, span, id)]) : [tags];
  });

async function pageOf(store: SearchStore, { ownerId, agentId, label, limit, offset }: SearchQuery, asked: Asked, places: readonly number[]): Promise<Hit[]> {
  const end = Math.min(offset + limit, places.length);
  const [ranked, plain] = [places.slice(0, offset < RANKED ? RANKED : 0), places.slice(Math.max(offset, RANKED), end)];
  if (end <= offset) return [];
  const rows = new Map((await store.said([...ranked, ...plain])).map((row) => [row.id, row]));
  const inOrder = ranked
    .flatMap((place) => rows.get(place) ?? [])
    .map((row) => ({ row, rank: -Math.round(scoreOf(row.text, asked) * 10_000) / 10_000 }))
    .toSorted((a, b) => a.rank - b.rank || b.row.id - a.row.id);
  const shown = [...inOrder.slice(offset, end), ...plain.flatMap((place) => rows.get(place) ?? []).map((row) => ({ row, rank: 0 }))];
  const sessions = await store.sessions(ownerId, [...new Set(shown.map(({ row }) => row.session_id))]);
  return shown.flatMap(({ row, rank }) => hitOf(row, rank, asked, sessions.get(row.session_id), agentId, label));
}

/** None of a session that went meanwhile. */
const hitOf = (row: SaidRow, rank: number, asked: Asked, session: FoundSession | undefined, agentId: string | undefined, label: string | undefined): Hit[] => {
  if (!session || (agentId !== undefined && session.agent_id !== agentId) || (label !== undefined && session.label !== label)) return [];
  return [{ session, seq: row.seq, role: row.role, at: row.at, snippet: snippetOf(row.text, asked), rank }];
};
