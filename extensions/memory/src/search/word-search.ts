/**
 * Ranked words: BM25 over rows of one owner, the same on every database.
 *
 * W1  The weight of a term stands in its row; how rare it is, is counted among the rows of the owner who asks. Nobody else's rows change a rank.
 * W2  The rarest terms look for entries, as long as they stand in few thousand of them together: common terms beside them cost much and tell little.
 */
import type { Reader } from '@svc/api';
import type { Db } from '@svc/api';
import type { Scope } from '../memory-deps.js';
import { isPair } from './terms.js';

export interface Placed {
  readonly place: number;
  readonly score: number;
  /** Of words: the share of what was asked for that stands there, in rarity. */
  readonly covered?: number;
  /** Of vectors: how far its nearness stands above the mean of all, in standard deviations. Undefined among a few. */
  readonly above?: number;
}

/** Numbers of terms that statements are prepared for. */
const SLOTS = [4, 8, 16, 32] as const;
/** Of a term in an entry of usual length. */
const USUAL_WEIGHT = 1.6;
const UNKNOWN_PAIR = 0.25;
/** Rows of terms that one search reads: some fifteen milliseconds. */
const MAX_READ = 5_000;

export const searchWords = async (db: Pick<Db, 'table'>, reader: Reader, terms: readonly string[], scope: Scope, limit: number, totalOf: () => Promise<number>): Promise<Placed[]> => {
  if (terms.length === 0) return [];
  const slots = SLOTS.find((count) => count >= terms.length) ?? 32;
  const asked = filledTo(slots, terms.slice(0, slots));
  const [counts, total] = await Promise.all([
    reader.read<{ term: string; n: number }>(`SELECT term AS term, COUNT(*) AS n FROM ${db.table('terms')} WHERE term IN (${marks(slots)}) GROUP BY term`, asked),
    totalOf(),
  ]);
  const known = counts.map(({ term, n }) => ({ term, n: Number(n) })).toSorted((a, b) => a.n - b.n);
  const kept = rarest(known);
  if (kept.length === 0) return [];
  const idf = (n: number): number => Math.round(Math.log(1 + (total - n + 0.5) / (n + 0.5)) * 10_000);
  const weighed = filledTo(
    slots,
    kept.map(({ term }) => term),
  ).map((term) => [term, idf(kept.find((one) => one.term === term)?.n ?? total)] as const);
  const { sql, args } = scopeSql(scope);
  const rows = await reader.read<{ place: number; score: number }>(
    // The inner group stands alone, so that no plan goes over all entries to look for their terms.
    `SELECT g.place AS place, g.score AS score FROM (SELECT t.place AS place, SUM(t.weight * CASE t.term ${'WHEN ? THEN CAST(? AS INTEGER) '.repeat(slots)}ELSE 0 END) AS score FROM ${db.table('terms')} t WHERE t.term IN (${marks(slots)}) GROUP BY t.place) g JOIN ${db.table('entries')} e ON e.place = g.place WHERE ${sql} ORDER BY score DESC, place DESC LIMIT ?`,
    [...weighed.flat(), ...weighed.map(([term]) => term), ...args, limit],
  );
  // Words that nobody has count as the rarest; of pairs of characters, which mostly lie across two words, a quarter as much.
  const counted = (term: string): number => {
    const n = known.find((one) => one.term === term)?.n;
    return idf(n ?? 0) * (n === undefined && isPair(term) ? UNKNOWN_PAIR : 1);
  };
  const whole = asked.length === 0 ? 1 : terms.slice(0, slots).reduce((sum, term) => sum + counted(term), 0) / 10_000;
  return rows.map(({ place, score }) => ({ place: Number(place), score: Number(score) / 10_000, covered: Math.min(1, Number(score) / 10_000 / USUAL_WEIGHT / Math.max(whole, 0.0001)) }));
};

/** Of terms, the rarest first: as many as may be read, and always the first. */
const rarest = <T extends { readonly n: number }>(known: readonly T[]): T[] => {
  let read = 0;
  return known.filter(({ n }, index) => {
    read += n;
    return index === 0 || read <= MAX_READ;
  });
};

const marks = (count: number): string => new Array<string>(count).fill('?').join();

/** By repeating the last: few texts of statements, each prepared once. */
const filledTo = (slots: number, terms: readonly string[]): string[] => [...terms, ...new Array<string>(slots - terms.length).fill(terms.at(-1) ?? '')];

/** Always the same text for the same kind of scope. */
const scopeSql = ({ agentId, shared, level, category, userId, archived }: Scope): { sql: string; args: Array<string | number> } => {
  const parts: Array<readonly [string, ...Array<string | number>]> = [['e.archived = CAST(? AS INTEGER)', archived ? 1 : 0]];
  if (agentId !== undefined) parts.push(['e.agent_id IN (?, ?)', agentId, shared ? '' : agentId]);
  if (level !== undefined) parts.push(['e.level = ?', level]);
  if (category !== undefined) parts.push(['e.category = ?', category]);
  if (userId !== undefined) parts.push(['e.user_id = ?', userId]);
  return { sql: parts.map(([text]) => text).join(' AND '), args: parts.flatMap(([, ...args]) => args) };
};
