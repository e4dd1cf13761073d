/**
 * Entries that say the same in other words.
 *
 * U3  All entries of an agent are looked at, in slices that let others run.
 * U4  Contradictions are never merged: two facts with the same subject and relation and another value are no duplicates, nor are texts of which one denies the other, or which name other numbers.
 * U5  The newest of a group stays; the others are archived and say what replaced them. A second consolidation, also at the same time, finds nothing more.
 */
import type { Actor } from '@svc/api';
import { foldedText, wordsOf } from '@svc/api';
import type { EntryRow } from '../contract.js';
import type { Entries } from '../entries/entries.js';
import { factOf } from '../entries/facts.js';
import { type MemoryDeps, own } from '../memory-deps.js';
import { termsOf } from '../search/terms.js';

const PAGE = 1_000;
/** Comparisons between two breaths. */
const SLICE = 20_000;
const MAX_WORDS = 500;
const NEGATIONS: ReadonlySet<string> = new Set('not no never none don doesn didn isn aren wasn weren can cannot won without hates dislikes stopped 不 没 没有 别'.split(' '));

export interface Duplicates {
  groups(actor: Actor, agentId: string): Promise<EntryRow[][]>;
  consolidate(actor: Actor, agentId: string): Promise<number>;
}

interface Said {
  readonly row: EntryRow;
  readonly terms: ReadonlySet<string>;
  readonly guard: string;
  readonly fact: { readonly key: string; readonly value: string } | undefined;
  readonly folded: string;
}

export const createDuplicates = (deps: MemoryDeps, entries: Entries): Duplicates => {
  const busy = new Map<string, Promise<number>>();
  const groups = (actor: Actor, agentId: string) => groupsOf(deps, actor, agentId);
  const consolidate = async (actor: Actor, agentId: string): Promise<number> => {
    let merged = 0;
    for (const [kept, ...others] of await groups(actor, agentId)) {
      if (!kept) continue;
      await entries.archive(actor, others, new Map(others.map(({ place }) => [place, kept.id])));
      merged += others.length;
    }
    return merged;
  };
  return {
    groups,
    consolidate: async (actor, agentId) => {
      const key = `${actor.ownerId} ${agentId}`;
      const turn = (busy.get(key) ?? Promise.resolve(0)).catch(() => 0).then(() => consolidate(actor, agentId));
      busy.set(key, turn);
      try {
        return await turn;
      } finally {
        if (busy.get(key) === turn) busy.delete(key);
      }
    },
  };
};

const groupsOf = async (deps: MemoryDeps, actor: Actor, agentId: string): Promise<EntryRow[][]> => {
  const said = await allOf(deps, actor, agentId);
  const threshold = deps.proactive().duplicate_threshold;
  const groups: Said[][] = [];
  const byTerm = new Map<string, number[]>();
  let compared = 0;
  for (const one of said) {
    const seen = new Set<number>();
    let place: number | undefined;
    for (const term of one.terms) {
      for (const number of byTerm.get(term) ?? []) {
        if (seen.has(number)) continue;
        seen.add(number);
        const [first] = groups[number] ?? [];
        if (first && isSame(first, one, threshold)) place = number;
        compared += 1;
        if (compared % SLICE === 0) await deps.clock.sleep(0);
        if (place !== undefined) break;
      }
      if (place !== undefined) break;
    }
    if (place !== undefined) groups[place]?.push(one);
    else {
      groups.push([one]);
      for (const term of one.terms) byTerm.set(term, [...(byTerm.get(term) ?? []), groups.length - 1]);
    }
  }
  return groups.filter((group) => group.length > 1).map((group) => group.map(({ row }) => row));
};

/** The newest first, so that the first of a group is the one that stays. */
const allOf = async (deps: MemoryDeps, actor: Actor, agentId: string): Promise<Said[]> => {
  const all: Said[] = [];
  const order = [{ column: 'created_at', descending: true }, { column: 'place' }];
  for (let after: string | null | undefined; after !== null; ) {
    const page: { rows: EntryRow[]; next: string | null } = await own(deps, actor).page<EntryRow>({
      from: 'entries',
      where: { agent_id: agentId, archived: 0, topic: '' },
      order,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page.rows.map(saidOf));
    after = page.next;
  }
  return all;
};

const saidOf = (row: EntryRow): Said => {
  const words = wordsOf(row.content, MAX_WORDS);
  // What may not differ between duplicates: numbers, and whether something is denied.
  const guard = [...words.filter((word) => /\d/.test(word)).toSorted(), words.some((word) => NEGATIONS.has(word)) ? 'not' : ''].join(' ');
  return { row, terms: new Set(termsOf(row.content)), guard, fact: factOf(row.content), folded: foldedText(row.content).replace(/\s+/g, ' ').trim() };
};

const isSame = (a: Said, b: Said, threshold: number): boolean => {
  if (a.row.level !== b.row.level || a.row.user_id !== b.row.user_id || a.guard !== b.guard) return false;
  if (a.fact && b.fact && (a.fact.key !== b.fact.key || a.fact.value !== b.fact.value)) return false;
  if (a.folded === b.folded) return true;
  let shared = 0;
  for (const term of a.terms) if (b.terms.has(term)) shared += 1;
  const union = a.terms.size + b.terms.size - shared;
  return union > 0 && shared / union >= threshold;
};
