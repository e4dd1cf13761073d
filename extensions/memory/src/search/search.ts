/**
 * Finding entries.
 *
 * S1  Words are always searched; vectors add to them, within a bounded time, and never stand in their way.
 * S2  Ranks are fused, not scores: a vector counts half of a word. Vectors that find nothing more do not vote.
 * S3  There is a floor: where nothing fits, nothing is found by meaning.
 * S4  A fact that was replaced stands behind what replaced it.
 */
import type { Actor, Reader } from '@svc/api';
import type { EntryRow } from '../contract.js';
import { type MemoryDeps, own, type Scope } from '../memory-deps.js';
import { type Embedding, VECTOR_WAIT_MS, type Vectors } from './embedding.js';
import { termsAsked } from './terms.js';
import type { VectorIndex } from './vector-index.js';
import type { VectorShare } from './vector-share.js';
import { type Placed, searchWords } from './word-search.js';

export interface SearchDeps extends MemoryDeps {
  readonly embedding: Embedding;
  readonly index: VectorIndex;
  /** How many entries this owner has, known without a read as a rule. */
  totalOf(ownerId: string): Promise<number>;
  /** Notes what vectors found among what is shown, for the health page. */
  readonly share: VectorShare;
}

export type Why = 'words' | 'vector' | 'relation' | 'time';

export interface Found {
  readonly row: EntryRow;
  /** From 0 to 1, higher is better. */
  readonly score: number;
  readonly why: readonly Why[];
  /** The share of the words asked for that it has, in rarity; 0 where words did not find it. */
  readonly covered: number;
  /** Its nearness by meaning, from 0 to 1; 0 where vectors did not find it. */
  readonly near: number;
  /** How far its nearness stands above that of all, in standard deviations; undefined among a few entries. */
  readonly above?: number;
}

export interface Query extends Scope {
  readonly q: string;
  readonly limit: number;
  /** Names of entities that the question mentions: entries about them are found, too. */
  readonly related?: readonly string[];
}

const CANDIDATES = 100;
const RANK_OFFSET = 20;
const VECTOR_WEIGHT = 0.5;
const RELATION_WEIGHT = 0.3;
/** Cosines of texts that have nothing in common lie below it. */
const VECTOR_FLOOR = 0.22;
const REPLACED_SHARE = 0.6;

export const search = async (deps: SearchDeps, actor: Actor, query: Query): Promise<Found[]> => {
  const reader = own(deps, actor);
  const totalOf = () => deps.totalOf(actor.ownerId);
  const [byWords, byVectors, byRelation] = await Promise.all([
    searchWords(deps.db, reader, termsAsked(query.q), query, CANDIDATES, totalOf),
    query.archived ? [] : nearest(deps, actor, query),
    query.related && query.related.length > 0 ? searchWords(deps.db, reader, query.related.flatMap((name) => termsAsked(name)).slice(0, 16), query, 20, totalOf) : [],
  ]);
  const fused = fuse([
    { why: 'words', weight: 1, places: byWords },
    { why: 'vector', weight: VECTOR_WEIGHT, places: byVectors },
    { why: 'relation', weight: RELATION_WEIGHT, places: byRelation },
  ]);
  const first = fused.slice(0, Math.min(CANDIDATES, query.limit * 3 + 20));
  if (first.length === 0) return [];
  const rows = await reader.select<EntryRow>({ from: 'entries', where: { place: first.map(({ place }) => place), archived: query.archived ? 1 : 0 } });
  const byPlace = new Map(rows.map((row) => [Number(row.place), row]));
  const covered = new Map(byWords.map((one) => [one.place, one.covered ?? 0]));
  const near = new Map(byVectors.map((one) => [one.place, { near: one.score, ...(one.above === undefined ? {} : { above: one.above }) }]));
  const found = first.flatMap(({ place, score, why }) => {
    const row = byPlace.get(place);
    return row && fits(row, query) ? [{ row, score, why, covered: covered.get(place) ?? 0, ...(near.get(place) ?? { near: 0 }) }] : [];
  });
  const answer = withSuccessors(query.archived ? new Map() : await successorsOf(reader, found), found, query)
    .map((one) => ({ ...one, score: Math.round(one.score * 1_000) / 1_000 }))
    .toSorted((a, b) => b.score - a.score || (a.row.created_at < b.row.created_at ? 1 : -1))
    .slice(0, query.limit);
  if (byVectors.length > 0) deps.share.note(answer.some(({ why }) => why.length === 1 && why[0] === 'vector'));
  return answer;
};

/** What replaced entries that were found, where it was not found itself. */
const successorsOf = async (reader: Reader, found: readonly Found[]): Promise<Map<string, EntryRow>> => {
  const ids = [...new Set(found.flatMap(({ row }) => row.superseded_by ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await reader.select<EntryRow>({ from: 'entries', where: { id: ids, archived: 0 } });
  return new Map(rows.map((row) => [row.id, row]));
};

/** What holds now takes the place of what it replaced, which follows it. */
const withSuccessors = (successors: ReadonlyMap<string, EntryRow>, found: readonly Found[], query: Query): Found[] => {
  const all = new Map(found.map((one) => [one.row.id, one]));
  for (const one of found) {
    const next = one.row.superseded_by === null ? undefined : successors.get(one.row.superseded_by);
    if (!next || !fits(next, query)) continue;
    const there = all.get(next.id);
    all.set(next.id, there ? fittingAs(there, one) : { ...one, row: next, why: ['time'] });
    all.set(one.row.id, { ...one, score: one.score * REPLACED_SHARE });
  }
  return [...all.values()];
};

/** What holds now fits a question as well as what it replaced. */
const fittingAs = (now: Found, before: Found): Found => ({
  ...now,
  score: Math.max(now.score, before.score),
  covered: Math.max(now.covered, before.covered),
  ...(before.near > now.near ? { near: before.near, ...(before.above === undefined ? {} : { above: before.above }) } : {}),
});

const fits = (row: EntryRow, { agentId, shared, level, category, userId }: Scope): boolean =>
  (agentId === undefined || row.agent_id === agentId || (shared === true && row.agent_id === '')) &&
  (level === undefined || row.level === level) &&
  (category === undefined || row.category === category) &&
  (userId === undefined || row.user_id === userId);

const fuse = (lists: ReadonlyArray<{ readonly why: Why; readonly weight: number; readonly places: readonly Placed[] }>): Array<{ place: number; score: number; why: Why[] }> => {
  const found = new Map<number, { score: number; why: Why[] }>();
  const best = lists.reduce((sum, { weight, places }) => sum + (places.length > 0 ? weight : 0), 0) / (RANK_OFFSET + 1);
  for (const { why, weight, places } of lists)
    for (const [rank, { place }] of places.entries()) {
      const one = found.get(place) ?? { score: 0, why: [] };
      one.score += weight / (RANK_OFFSET + rank + 1);
      one.why.push(why);
      found.set(place, one);
    }
  return [...found].map(([place, { score, why }]) => ({ place, score: best === 0 ? 0 : score / best, why })).toSorted((a, b) => b.score - a.score);
};

/** Nothing where nobody makes vectors, or they are late. */
const nearest = async (deps: SearchDeps, actor: Actor, query: Query): Promise<Placed[]> => {
  if (deps.embedding.kind() === 'none' || deps.embedding.isResting() || query.q.trim() === '') return [];
  const stop = new AbortController();
  try {
    const late = deps.clock.sleep(VECTOR_WAIT_MS, stop.signal).then(
      () => {
        deps.embedding.late(VECTOR_WAIT_MS);
        return undefined;
      },
      () => undefined,
    );
    const asked = deps.embedding.embed(actor, query.agentId ?? '', [query.q.slice(0, 2_000)], 'query', stop.signal);
    // A late one has nobody who waits for its failure.
    asked.catch(() => undefined);
    const made: Vectors | undefined = await Promise.race([asked, late]);
    const [vector] = made?.vectors ?? [];
    if (!made || !vector) return [];
    if (made.settle.length > 0) await deps.db.commit(made.settle);
    const agents = query.agentId === undefined ? undefined : [query.agentId, ...(query.shared ? [''] : [])];
    const found = await deps.index.nearest(actor.ownerId, own(deps, actor), made.model, vector, CANDIDATES, agents);
    return found.filter(({ score }) => score >= VECTOR_FLOOR);
  } catch (error) {
    deps.log.debug('vectors were not searched', { cause: error });
    return [];
  } finally {
    stop.abort();
  }
};
