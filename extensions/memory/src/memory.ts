/** All of memory, put together. */
import type { Actor } from '@svc/api';
import { confidenceNow, createEntries, type Entries } from './entries/entries.js';
import type { EntryRow, MemoryChange } from './contract.js';
import { linkFacts } from './graph/fact-edges.js';
import { createGraph, type Graph, type Match } from './graph/graph.js';
import { createKv, type Kv } from './kv/kv.js';
import type { MemoryDeps } from './memory-deps.js';
import { packVector } from './search/vector-text.js';
import type { Embedding } from './search/embedding.js';
import { type Found, type Query, search } from './search/search.js';
import { createTotals } from './search/totals.js';
import { createVectorIndex } from './search/vector-index.js';
import { createVectorShare, type VectorShare } from './search/vector-share.js';
import { createDuplicates, type Duplicates } from './upkeep/duplicates.js';
import { createUpkeep, type Upkeep } from './upkeep/upkeep.js';
import { createWiki, type Wiki } from './wiki/wiki.js';

export interface Memories {
  readonly entries: Entries;
  readonly kv: Kv;
  readonly graph: Graph;
  readonly wiki: Wiki;
  readonly upkeep: Upkeep;
  readonly duplicates: Duplicates;
  /** Something changed, here or on another daemon. */
  changed(change: MemoryChange): void;
  /** Nothing of what is held in memory stays. */
  forget(): void;
  readonly share: VectorShare;
  /** `counts`: whoever asks uses what is found, so that it fades more slowly. */
  search(actor: Actor, query: Query, counts?: boolean): Promise<{ found: Found[]; edges: Match[] }>;
  confidence(row: EntryRow): number;
}

export interface AllDeps extends MemoryDeps {
  readonly embedding: Embedding;
  poke(ownerId: string): void;
  eraseRecalled: Parameters<typeof createEntries>[0]['eraseRecalled'];
}

export const createMemories = (deps: AllDeps): Memories => {
  const { embedding } = deps;
  const index = createVectorIndex({ vectors: deps.db.table('vectors'), entries: deps.db.table('entries') }, () => deps.clock.sleep(0));
  const totals = createTotals(deps);
  const share = createVectorShare();
  const vectorsOf: Parameters<typeof createEntries>[0]['vectorsOf'] = async (rows) => {
    // A provider is asked in the background: no request waits for it.
    if (embedding.kind() !== 'built-in' || rows.length === 0) return [];
    const [first] = rows;
    const made = await embedding
      .embed(
        deps.actors.of(first?.owner_id ?? ''),
        '',
        rows.map(({ content }) => content),
        'document',
      )
      .catch(() => undefined);
    if (!made) return [];
    const vectors = rows.flatMap(({ place, owner_id }, at) => {
      const vector = packVector(made.vectors[at] ?? []);
      return [{ place, owner_id, model: made.model, vector: vector ?? '' }];
    });
    return [deps.db.upsert('vectors', ['place'], vectors)];
  };
  const graph = createGraph(deps);
  const entries = createEntries({
    ...deps,
    vectorsOf,
    linkFacts: async (actor, rows) => {
      for (const row of rows) await linkFacts(deps, graph, actor, row.agent_id, [row], row.run_id);
    },
  });
  return {
    entries,
    graph,
    kv: createKv(deps),
    wiki: createWiki(deps, entries),
    upkeep: createUpkeep(deps, entries),
    duplicates: createDuplicates(deps, entries),
    changed: (change) => {
      index.changed(change);
      totals.changed(change.ownerId);
    },
    forget: () => {
      index.forget();
      totals.forget();
    },
    share,
    confidence: (row) => confidenceNow(deps, row),
    search: async (actor, query, counts = true) => {
      const { names, edges } = query.agentId === undefined ? { names: [], edges: [] } : await graph.namedIn(actor, query.agentId, query.q);
      const related = [...new Set(edges.flatMap(({ source, target }) => [source.name, target.name]).filter((name) => !names.includes(name)))];
      const found = await search({ ...deps, index, totalOf: totals.of, share }, actor, { ...query, related });
      if (counts && !query.archived)
        await entries.used(
          actor,
          found.map(({ row }) => row),
        );
      return { found, edges };
    },
  };
};
