/**
 * Entries: what an agent, or all agents of a person, should know later.
 *
 * M1  The owner of a row alone decides who sees it: every read is of one owner's rows, in SQL. `user_id` is a label.
 * M2  What is there already is not added again: the same text, or, for an import, an identical row.
 * M3  A fact with another value replaces the old one, which stays and says what replaced it.
 * M4  Deleting erases: the entry, its words, vector, history and edges go in one commit. Only the cap and consolidation archive.
 */
import type { Actor, Write } from '@svc/api';
import type { EntryRow, HistoryRow, MemoryChange } from '../contract.js';
import { memoryErrors } from '../errors.js';
import { changed, type MemoryDeps, own, type Scope } from '../memory-deps.js';
import { decayed } from './decay.js';
import { checkedContent, digestOf, type Draft, isIdentical, removalOf, rowOf, termWrites } from './entry-rows.js';
import { edgeRemovals } from '../graph/fact-edges.js';
import { factOf } from './facts.js';

export interface EntriesDeps extends MemoryDeps {
  /** Vectors of new texts, where an embedder answers at once. */
  vectorsOf(rows: readonly EntryRow[]): Promise<readonly Write[]>;
  /** The facts of entries, as edges of the graph. */
  linkFacts(actor: Actor, rows: readonly EntryRow[]): Promise<void>;
  /** Others wait for work in the background. */
  poke(ownerId: string): void;
  /** Erases these from conversations that they were recalled into. Answers those conversations. */
  eraseRecalled(actor: Actor, rows: ReadonlyArray<Pick<EntryRow, 'place' | 'id'>>): Promise<string[]>;
}

export interface Added {
  readonly added: readonly EntryRow[];
  /** All that now stand for what was sent, in its order. */
  readonly rows: readonly EntryRow[];
}

/** What counts as there already: the same text in the same scope, or a row that has all that a draft says. */
export type Sameness = 'text' | 'identical';

export interface Entries {
  add(drafts: readonly Draft[], sameness?: Sameness): Promise<Added>;
  get(actor: Actor, id: string): Promise<EntryRow>;
  byIds(actor: Actor, ids: readonly string[]): Promise<EntryRow[]>;
  list(actor: Actor, scope: Scope, page: { readonly limit: number; readonly offset: number }): Promise<{ rows: EntryRow[]; total: number }>;
  count(actor: Actor, scope: Scope): Promise<number>;
  edit(actor: Actor, id: string, content: string): Promise<EntryRow>;
  history(actor: Actor, id: string): Promise<{ row: EntryRow; versions: HistoryRow[] }>;
  /** Answers the conversations that they were recalled into, where an answer may repeat them. */
  remove(actor: Actor, rows: readonly EntryRow[]): Promise<string[]>;
  removeAll(actor: Actor, scope: Scope): Promise<number>;
  /** Somebody looked for them: they fade more slowly. */
  used(actor: Actor, rows: readonly EntryRow[]): Promise<void>;
  archive(actor: Actor, rows: readonly EntryRow[], replacedBy?: ReadonlyMap<number, string>): Promise<void>;
}

const IN_SLICES = 500;

export const createEntries = (deps: EntriesDeps): Entries => ({
  add: (drafts, sameness = 'text') => add(deps, drafts, sameness),
  get: (actor, id) => get(deps, actor, id),
  byIds: async (actor, ids) => (ids.length === 0 ? [] : own(deps, actor).select<EntryRow>({ from: 'entries', where: { id: ids.map((id) => id.toLowerCase()) } })),
  list: async (actor, scope, { limit, offset }) => {
    const where = whereOf(scope);
    const order = [{ column: 'created_at', descending: true }, { column: 'place' }];
    const reader = own(deps, actor);
    const [rows, total] = await Promise.all([reader.select<EntryRow>({ from: 'entries', where, order, limit, offset }), reader.count('entries', where)]);
    return { rows, total };
  },
  count: (actor, scope) => own(deps, actor).count('entries', whereOf(scope)),
  edit: (actor, id, content) => edit(deps, actor, id, content),
  history: async (actor, id) => {
    const row = await get(deps, actor, id);
    const versions = await own(deps, actor).select<HistoryRow>({ from: 'history', where: { place: row.place }, order: [{ column: 'replaced_at', descending: true }, { column: 'id' }], limit: 1_000 });
    return { row, versions };
  },
  remove: async (actor, rows) => {
    const sessions = new Set<string>();
    for (const some of slices(rows)) for (const id of await erase(deps, actor, some)) sessions.add(id);
    return [...sessions];
  },
  removeAll: async (actor, scope) => {
    let removed = 0;
    for (;;) {
      const rows = await own(deps, actor).select<EntryRow>({ from: 'entries', where: whereOf({ ...scope }, true), limit: IN_SLICES });
      if (rows.length === 0) return removed;
      await erase(deps, actor, rows);
      removed += rows.length;
    }
  },
  used: async (actor, rows) => {
    const now = deps.clock.iso();
    if (rows.length > 0)
      await deps.db.commit([
        deps.db.update(
          'entries',
          ['place', 'owner_id'],
          rows.map(({ place, access_count: count }) => ({ place, owner_id: actor.ownerId, accessed_at: now, access_count: count + 1 })),
        ),
      ]);
  },
  archive: async (actor, rows, replacedBy) => {
    const now = deps.clock.iso();
    for (const some of slices(rows)) {
      const set = some.map((row) => ({ place: row.place, owner_id: actor.ownerId, archived: 1, archived_at: now, superseded_by: replacedBy?.get(row.place) ?? row.superseded_by }));
      await deps.db.commit([deps.db.update('entries', ['place', 'owner_id'], set), changed(deps, fact(actor.ownerId, some, 'deleted'))]);
    }
  },
});

/** The log of conversations first: should the commit fail, the entry is still there to be erased again. */
const erase = async (deps: EntriesDeps, actor: Actor, rows: readonly EntryRow[]): Promise<string[]> => {
  const sessions = await deps.eraseRecalled(actor, rows);
  const edges = await edgeRemovals(
    deps,
    actor,
    rows.map(({ id }) => id),
  );
  await deps.db.commit([...removalOf(deps, actor.ownerId, rows), ...edges, ...(await unlinked(deps, actor, rows)), changed(deps, fact(actor.ownerId, rows, 'deleted'))]);
  return sessions;
};

/** With `all`, archived ones too. */
export const whereOf = ({ agentId, shared = false, level, category, userId, archived = false }: Scope, all = false) => ({
  ...(all ? {} : { archived: archived ? 1 : 0 }),
  ...(agentId === undefined ? {} : { agent_id: shared ? [agentId, ''] : agentId }),
  ...(level === undefined ? {} : { level }),
  ...(category === undefined ? {} : { category }),
  ...(userId === undefined ? {} : { user_id: userId }),
});

export const fact = (ownerId: string, rows: ReadonlyArray<Pick<EntryRow, 'place' | 'id' | 'agent_id'>>, change: MemoryChange['change']): MemoryChange => {
  const [one, second] = rows;
  return { ownerId, change, places: rows.map(({ place }) => place), ...(one && !second ? { id: one.id, ...(one.agent_id === '' ? {} : { agentId: one.agent_id }) } : {}) };
};

const slices = <T>(rows: readonly T[]): T[][] => Array.from({ length: Math.ceil(rows.length / IN_SLICES) }, (_, index) => rows.slice(index * IN_SLICES, (index + 1) * IN_SLICES));

const get = async (deps: MemoryDeps, actor: Actor, id: string): Promise<EntryRow> => {
  const row = await own(deps, actor).first<EntryRow>({ from: 'entries', where: { id: id.toLowerCase() } });
  if (!row) throw memoryErrors.not_found(id);
  return row;
};

/** What said that one of these replaced it says so no more. */
const unlinked = async (deps: MemoryDeps, actor: Actor, rows: readonly EntryRow[]): Promise<Write[]> => {
  const replaced = await own(deps, actor).select<{ place: number }>({ from: 'entries', columns: ['place'], where: { superseded_by: rows.map(({ id }) => id) } });
  return replaced.length === 0
    ? []
    : [
        deps.db.update(
          'entries',
          ['place'],
          replaced.map(({ place }) => ({ place, superseded_by: null, superseded_at: null })),
        ),
      ];
};

const add = async (deps: EntriesDeps, drafts: readonly Draft[], sameness: Sameness): Promise<Added> => {
  const rows: EntryRow[] = [];
  const added: EntryRow[] = [];
  for (const some of slices(drafts)) {
    const [ownerId = ''] = some.map((draft) => draft.ownerId);
    const fresh = some.map((draft) => ({ draft, row: rowOf(deps, draft) }));
    const known = await sameAs(
      deps,
      ownerId,
      fresh.map(({ row }) => row),
      sameness,
    );
    const novel: typeof fresh = [];
    for (const one of fresh) {
      const alike = known.get(one.row.digest) ?? [];
      const there = alike.find((row) => sameness === 'text' || isIdentical(row, one.draft));
      rows.push(there ?? one.row);
      if (there) continue;
      known.set(one.row.digest, [...alike, one.row]);
      novel.push(one);
    }
    if (novel.length === 0) continue;
    const superseded = await superseding(
      deps,
      ownerId,
      novel.map(({ row }) => row),
    );
    const writes = [
      deps.db.insert(
        'entries',
        novel.map(({ row }) => ({ ...row, ...superseded.of(row.place) })),
      ),
      ...superseded.writes,
    ];
    for (const { row, draft } of novel) writes.push(...termWrites(deps, row, draft.neighbours));
    writes.push(...(await deps.vectorsOf(novel.map(({ row }) => row))));
    await deps.db.commit([
      ...writes,
      changed(
        deps,
        fact(
          ownerId,
          novel.map(({ row }) => row),
          'added',
        ),
      ),
    ]);
    added.push(...novel.map(({ row }) => row));
    deps.poke(ownerId);
  }
  return { added, rows };
};

/** Live entries that say the same in the same scope, by digest. */
const sameAs = async (deps: MemoryDeps, ownerId: string, rows: readonly EntryRow[], sameness: Sameness): Promise<Map<string, EntryRow[]>> => {
  const there = await own(deps, { ownerId }).select<EntryRow>({ from: 'entries', where: { digest: [...new Set(rows.map(({ digest }) => digest))], archived: 0 } });
  const known = new Map<string, EntryRow[]>();
  // What said it and was replaced since is news again; an import brings both.
  for (const row of there) if (sameness === 'identical' || row.superseded_by === null) known.set(row.digest, [...(known.get(row.digest) ?? []), row]);
  return known;
};

interface Superseded {
  readonly superseded_by: string;
  readonly superseded_at: string;
}

/** Marks older entries with the same fact and another value as replaced: stored ones, and those that come with what replaces them. */
const superseding = async (deps: MemoryDeps, ownerId: string, rows: readonly EntryRow[]): Promise<{ writes: Write[]; of(place: number): Superseded | undefined }> => {
  const facts = rows.filter((row) => row.fact !== '').toSorted((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
  if (facts.length === 0) return { writes: [], of: () => undefined };
  const stored = await own(deps, { ownerId }).select<EntryRow>({ from: 'entries', where: { fact: [...new Set(facts.map((row) => row.fact))], archived: 0, superseded_by: null } });
  const at = deps.clock.iso();
  const replaced = new Map<number, Superseded>();
  for (const [index, old] of [...facts, ...stored].entries()) {
    const next = facts.findLast(
      (row, place) =>
        row.fact === old.fact &&
        row.agent_id === old.agent_id &&
        row.user_id === old.user_id &&
        // Of the same moment, what comes later holds.
        (row.created_at > old.created_at || (row.created_at === old.created_at && (index >= facts.length || place > index))) &&
        factValue(row) !== factValue(old),
    );
    if (next) replaced.set(Number(old.place), { superseded_by: next.id, superseded_at: at });
  }
  const set = stored.flatMap(({ place }) => {
    const by = replaced.get(Number(place));
    return by ? [{ place, ...by }] : [];
  });
  return { writes: set.length === 0 ? [] : [deps.db.update('entries', ['place'], set)], of: (place) => replaced.get(place) };
};

const factValue = ({ content }: EntryRow): string | undefined => factOf(content)?.value;

const edit = async (deps: EntriesDeps, actor: Actor, id: string, content: string): Promise<EntryRow> => {
  const before = await get(deps, actor, id);
  const text = checkedContent(content);
  if (text === before.content) return before;
  const now = deps.clock.iso();
  const changedRow = { ...before, content: text, updated_at: now, accessed_at: now, fact: before.topic === '' ? (factOf(text)?.key ?? '') : '' };
  const after: EntryRow = { ...changedRow, digest: digestOf(changedRow) };
  const edges = await edgeRemovals(deps, actor, [before.id]);
  await deps.db.commit([
    ...edges,
    deps.db.update('entries', ['place'], [{ place: after.place, content: text, updated_at: now, accessed_at: now, fact: after.fact, digest: after.digest }], { expect: 'each' }),
    deps.db.insert('history', [{ id: deps.ids.uuid(), place: after.place, owner_id: after.owner_id, content: before.content, replaced_at: now }]),
    deps.db.remove('terms', { place: after.place, owner_id: after.owner_id }),
    deps.db.remove('vectors', { place: after.place, owner_id: after.owner_id }),
    ...termWrites(deps, after),
    ...(await deps.vectorsOf([after])),
    changed(deps, fact(actor.ownerId, [after], 'changed')),
  ]);
  if (edges.length > 0) await deps.linkFacts(actor, [after]);
  deps.poke(actor.ownerId);
  return after;
};

/** The confidence that answers show. */
export const confidenceNow = (deps: Pick<MemoryDeps, 'clock' | 'proactive'>, row: EntryRow): number => decayed(row, deps.proactive().confidence_decay_rate, deps.clock.now());
