/**
 * Who and what an agent knows of, and how they belong together.
 *
 * R1  Same names are one entity, whatever their case, width and accents.
 * R2  Paths end at a depth, and visit nothing twice: a cycle is no problem.
 * R3  Each edge says where it is from and since when; that of a fact which was replaced or archived says so, and is not recalled.
 */
import type { Actor } from '@svc/api';
import { foldedText, isSvcError } from '@svc/api';
import type { EdgeRow, EntityRow, EntryRow } from '../contract.js';
import { memoryErrors } from '../errors.js';
import { changed, type MemoryDeps, own } from '../memory-deps.js';

export interface Triple {
  readonly subject: string;
  readonly subjectType: string;
  readonly relation: string;
  readonly object: string;
  readonly objectType: string;
  readonly confidence?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
  /** The entry that says it, where each has its own. */
  readonly source?: string;
}

export interface Match {
  readonly edge: EdgeRow;
  readonly source: EntityRow;
  readonly target: EntityRow;
  /** The entry that it is from was replaced or archived. */
  readonly isPast: boolean;
}

export interface Pattern {
  readonly source?: string;
  readonly relation?: string;
  readonly target?: string;
  readonly depth?: number;
  readonly limit: number;
}

/** `source`: api, tool, or the id of an entry. */
export interface From {
  readonly source: string;
  readonly runId?: string;
}

export interface Graph {
  store(actor: Actor, agentId: string, triples: readonly Triple[], from: From): Promise<number>;
  entity(actor: Actor, agentId: string, name: string, type: string, properties: Readonly<Record<string, unknown>>): Promise<EntityRow>;
  query(actor: Actor, agentId: string, pattern: Pattern): Promise<Match[]>;
  /** Entities that a text names, and those next to them: by their names. */
  namedIn(actor: Actor, agentId: string, text: string): Promise<{ names: string[]; edges: Match[] }>;
}

const MAX_ENTITIES = 20_000;
/** Entities of a question that are followed. */
const MAX_NAMED = 8;
const NAMES_AT_ONCE = 400;
/** Words of a question that are looked at, and of one name. */
const MAX_NAME_WORDS = 80;
const NAME_WORDS = 4;
const MAX_UNSPACED = 80;
const MAX_NAME_CHARS = 8;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;
const MAX_DEPTH = 5;
const TRIES = 4;

const folded = (name: string): string => foldedText(name).replace(/\s+/g, ' ').trim();

export const createGraph = (deps: MemoryDeps): Graph => ({
  store: (actor, agentId, triples, from) => again(() => store(deps, actor, agentId, triples, from)),
  entity: (actor, agentId, name, type, properties) =>
    again(async () => {
      const there = await own(deps, actor).first<EntityRow>({ from: 'entities', where: { agent_id: agentId, folded: folded(name) } });
      const row = there
        ? { ...there, entity_type: type, properties: JSON.stringify({ ...(JSON.parse(there.properties) as object), ...properties }) }
        : entityRow(deps, actor, agentId, name, type, properties);
      await deps.db.commit([there ? deps.db.update('entities', ['id'], [{ id: row.id, entity_type: row.entity_type, properties: row.properties }]) : deps.db.insert('entities', [{ ...row }])]);
      return row;
    }),
  query: (actor, agentId, pattern) => query(deps, actor, agentId, pattern),
  namedIn: (actor, agentId, text) => namedIn(deps, actor, agentId, text),
});

/** Another daemon may add the same name at the same time: the second finds it. */
const again = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left <= 1 || !isSvcError(error) || !error.code.startsWith('storage_')) throw error;
    }
  }
};

const entityRow = ({ ids, clock }: MemoryDeps, actor: Actor, agentId: string, name: string, type: string, properties: object): EntityRow => ({
  id: ids.uuid(),
  owner_id: actor.ownerId,
  agent_id: agentId,
  folded: folded(name),
  name: name.trim(),
  entity_type: type,
  properties: JSON.stringify(properties),
  created_at: clock.iso(),
});

const store = async (deps: MemoryDeps, actor: Actor, agentId: string, triples: readonly Triple[], { source, runId = '' }: From): Promise<number> => {
  if (triples.length === 0) return 0;
  const reader = own(deps, actor);
  const names = [...new Set(triples.flatMap(({ subject, object }) => [folded(subject), folded(object)]))];
  const known = new Map<string, EntityRow>();
  for (let at = 0; at < names.length; at += 500)
    for (const row of await reader.select<EntityRow>({ from: 'entities', where: { agent_id: agentId, folded: names.slice(at, at + 500) } })) known.set(row.folded, row);
  if ((await reader.count('entities', { agent_id: agentId })) + names.length - known.size > MAX_ENTITIES) throw memoryErrors.full(MAX_ENTITIES);
  const fresh: EntityRow[] = [];
  const idOf = (name: string, type: string): string => {
    const there = known.get(folded(name));
    if (there) return there.id;
    const row = entityRow(deps, actor, agentId, name, type, {});
    known.set(row.folded, row);
    fresh.push(row);
    return row.id;
  };
  const edges = new Map<string, EdgeRow>();
  const now = deps.clock.iso();
  for (const { subject, subjectType, relation, object, objectType, confidence = 1, properties = {}, source: entry } of triples) {
    const [from, to] = [idOf(subject, subjectType), idOf(object, objectType)];
    const row = {
      id: deps.ids.uuid(),
      owner_id: actor.ownerId,
      agent_id: agentId,
      source_id: from,
      relation: relation.trim(),
      target_id: to,
      confidence,
      properties: JSON.stringify(properties),
      source: entry ?? source,
      run_id: runId,
      created_at: now,
      updated_at: now,
    };
    edges.set(`${from} ${row.relation} ${to}`, row);
  }
  const there = await edgesOf(deps, actor, agentId, [...new Set([...edges.values()].map((edge) => edge.source_id))]);
  const same = new Map(there.map((edge) => [`${edge.source_id} ${edge.relation} ${edge.target_id}`, edge]));
  const [known2, novel] = [[...edges].filter(([key]) => same.has(key)), [...edges].filter(([key]) => !same.has(key)).map(([, edge]) => edge)];
  await deps.db.commit([
    ...(fresh.length === 0
      ? []
      : [
          deps.db.insert(
            'entities',
            fresh.map((row) => ({ ...row })),
          ),
        ]),
    ...(novel.length === 0
      ? []
      : [
          deps.db.insert(
            'edges',
            novel.map((row) => ({ ...row })),
          ),
        ]),
    ...(known2.length === 0
      ? []
      : [
          deps.db.update(
            'edges',
            ['id'],
            known2.map(([key, edge]) => ({
              id: same.get(key)?.id ?? '',
              confidence: edge.confidence,
              properties: edge.properties,
              source: sourceNow(same.get(key)?.source, edge.source),
              updated_at: now,
            })),
          ),
        ]),
    changed(deps, { ownerId: actor.ownerId, agentId, places: [], change: 'changed' }),
  ]);
  return triples.length;
};

/** What a person or an agent stored stays theirs; of entries, the last one that says it. */
const sourceNow = (before: string | undefined, now: string): string => (before === undefined || (isEntryId(before) && isEntryId(now)) ? now : before);

const edgesOf = async (deps: MemoryDeps, actor: Actor, agentId: string, ids: readonly string[], column: 'source_id' | 'target_id' = 'source_id'): Promise<EdgeRow[]> => {
  const found: EdgeRow[] = [];
  for (let at = 0; at < ids.length; at += 200)
    found.push(...(await own(deps, actor).select<EdgeRow>({ from: 'edges', where: { agent_id: agentId, [column]: ids.slice(at, at + 200) }, limit: 5_000 })));
  return found;
};

const entitiesNamed = (deps: MemoryDeps, actor: Actor, agentId: string, names: readonly string[]): Promise<EntityRow[]> =>
  own(deps, actor).select<EntityRow>({ from: 'entities', where: { agent_id: agentId, folded: names.map(folded) } });

const query = async (deps: MemoryDeps, actor: Actor, agentId: string, { source, relation, target, depth = 1, limit }: Pattern): Promise<Match[]> => {
  const reader = own(deps, actor);
  const where: Record<string, string | readonly string[]> = { agent_id: agentId };
  if (source !== undefined) {
    const from = await entitiesNamed(deps, actor, agentId, [source]);
    if (from.length === 0) return [];
    if (depth > 1) return pathsFrom(deps, actor, agentId, from, relation, target, Math.min(depth, MAX_DEPTH), limit);
    where.source_id = from.map(({ id }) => id);
  }
  if (target !== undefined) {
    const to = await entitiesNamed(deps, actor, agentId, [target]);
    if (to.length === 0) return [];
    where.target_id = to.map(({ id }) => id);
  }
  if (relation !== undefined) where.relation = relation;
  const edges = await reader.select<EdgeRow>({ from: 'edges', where, order: [{ column: 'updated_at', descending: true }, { column: 'id' }], limit });
  return withEnds(deps, actor, edges);
};

const withEnds = async (deps: MemoryDeps, actor: Actor, edges: readonly EdgeRow[]): Promise<Match[]> => {
  const ids = [...new Set(edges.flatMap((edge) => [edge.source_id, edge.target_id]))];
  const ends = new Map<string, EntityRow>();
  for (let at = 0; at < ids.length; at += 500) for (const row of await own(deps, actor).select<EntityRow>({ from: 'entities', where: { id: ids.slice(at, at + 500) } })) ends.set(row.id, row);
  const past = await pastSources(deps, actor, edges);
  return edges.flatMap((edge) => {
    const [source, target] = [ends.get(edge.source_id), ends.get(edge.target_id)];
    return source && target ? [{ edge, source, target, isPast: past.has(edge.source) }] : [];
  });
};

/** Entries among the sources of edges that hold no more. */
const pastSources = async (deps: MemoryDeps, actor: Actor, edges: readonly EdgeRow[]): Promise<ReadonlySet<string>> => {
  const ids = [...new Set(edges.map((edge) => edge.source))].filter(isEntryId);
  const past = new Set<string>();
  for (let at = 0; at < ids.length; at += 500)
    for (const row of await own(deps, actor).select<Pick<EntryRow, 'id' | 'archived' | 'superseded_by'>>({
      from: 'entries',
      columns: ['id', 'archived', 'superseded_by'],
      where: { id: ids.slice(at, at + 500) },
    }))
      if (row.archived === 1 || row.superseded_by !== null) past.add(row.id);
  return past;
};

export const isEntryId = (source: string): boolean => source !== 'api' && source !== 'tool';

/** Edges that lead on from these, in their order; with a target, those that end there as well. */
const pathsFrom = async (
  deps: MemoryDeps,
  actor: Actor,
  agentId: string,
  from: readonly EntityRow[],
  relation: string | undefined,
  target: string | undefined,
  depth: number,
  limit: number,
): Promise<Match[]> => {
  const seen = new Set(from.map(({ id }) => id));
  const found: EdgeRow[] = [];
  for (let at = from.map(({ id }) => id), step = 0; at.length > 0 && step < depth && found.length < limit; step += 1) {
    const edges = (await edgesOf(deps, actor, agentId, at)).filter((edge) => relation === undefined || edge.relation === relation);
    found.push(...edges);
    at = [...new Set(edges.map((edge) => edge.target_id))].filter((id) => !seen.has(id));
    for (const id of at) seen.add(id);
  }
  const matches = await withEnds(deps, actor, found.slice(0, limit));
  if (target === undefined) return matches;
  return onPathsTo(matches, folded(target));
};

/** Those that a way to the target goes over, back from it. */
const onPathsTo = (matches: readonly Match[], target: string): Match[] => {
  const wanted = new Set(matches.filter((one) => one.target.folded === target).map((one) => one.target.id));
  for (let size = -1; size !== wanted.size; ) {
    size = wanted.size;
    for (const one of matches) if (wanted.has(one.target.id)) wanted.add(one.source.id);
  }
  return matches.filter((one) => wanted.has(one.target.id));
};

const namedIn = async (deps: MemoryDeps, actor: Actor, agentId: string, text: string): Promise<{ names: string[]; edges: Match[] }> => {
  const asked = namesIn(text);
  const named: EntityRow[] = [];
  for (let at = 0; at < asked.length && named.length < MAX_NAMED; at += NAMES_AT_ONCE) {
    const some = asked.slice(at, at + NAMES_AT_ONCE);
    named.push(...(await own(deps, actor).select<EntityRow>({ from: 'entities', where: { agent_id: agentId, folded: some }, limit: MAX_NAMED })));
  }
  if (named.length === 0) return { names: [], edges: [] };
  const ids = named.slice(0, MAX_NAMED).map(({ id }) => id);
  const edges = [...(await edgesOf(deps, actor, agentId, ids)), ...(await edgesOf(deps, actor, agentId, ids, 'target_id'))];
  const unique = [...new Map(edges.map((edge) => [edge.id, edge])).values()].slice(0, 20);
  const matches = await withEnds(deps, actor, unique);
  return { names: named.map(({ name }) => name), edges: matches };
};

/** What may be a name in a text: its words, and what a few of them make together; where a script has no spaces, its characters. */
const namesIn = (text: string): string[] => {
  const names = new Set<string>();
  for (const word of folded(text).split(/[\s,;:!?"“”()[\]{}，。；：！？、]+/u)) {
    const chars = [...word].slice(0, MAX_UNSPACED);
    if (UNSPACED.test(word))
      for (let from = 0; from < chars.length; from += 1) for (let size = 2; size <= MAX_NAME_CHARS && from + size <= chars.length; size += 1) names.add(chars.slice(from, from + size).join(''));
  }
  const words = folded(text)
    .split(/[^\p{L}\p{N}'’.&-]+/u)
    .map((word) => word.replace(/^[.'’-]+|[.'’-]+$|['’]s$/gu, ''))
    .filter((word) => word !== '')
    .slice(0, MAX_NAME_WORDS);
  for (let from = 0; from < words.length; from += 1) for (let size = 1; size <= NAME_WORDS && from + size <= words.length; size += 1) names.add(words.slice(from, from + size).join(' '));
  names.delete('me');
  return [...names].filter((name) => name.length > 1);
};
