/**
 * Facts of entries as edges of the graph.
 *
 * R4  What extraction finds is in the graph, too, with its entry as the source. An edge goes with its entry, and so does an entity that nothing else knows of.
 */
import type { Actor, Write } from '@svc/api';
import type { EdgeRow, EntityRow, EntryRow } from '../contract.js';
import { tripleOf } from '../entries/facts.js';
import { type MemoryDeps, own } from '../memory-deps.js';
import type { Graph } from './graph.js';

const AT_ONCE = 200;

/** Nobody's answer depends on it: a graph that is full takes no more. */
export const linkFacts = async (deps: Pick<MemoryDeps, 'log'>, graph: Pick<Graph, 'store'>, actor: Actor, agentId: string, rows: readonly EntryRow[], runId = ''): Promise<void> => {
  const triples = rows.flatMap((row) => {
    // Of somebody else, `I` is another person.
    const triple = row.topic === '' && row.user_id === '' && row.role !== 'assistant' ? tripleOf(row.content) : undefined;
    return triple ? [{ ...triple, confidence: row.confidence, source: row.id }] : [];
  });
  if (triples.length === 0) return;
  try {
    await graph.store(actor, agentId, triples, { source: 'api', runId });
  } catch (cause) {
    deps.log.warn('facts of a message are not in the graph', { agent: agentId, cause });
  }
};

/** Takes the edges of these entries, with entities that have no other edge and no properties. */
export const edgeRemovals = async (deps: MemoryDeps, actor: Pick<Actor, 'ownerId'>, entryIds: readonly string[]): Promise<Write[]> => {
  const reader = own(deps, actor);
  const edges = await reader.select<EdgeRow>({ from: 'edges', where: { source: [...entryIds] } });
  if (edges.length === 0) return [];
  const going = new Set(edges.map(({ id }) => id));
  const ends = [...new Set(edges.flatMap((edge) => [edge.source_id, edge.target_id]))];
  const orphans: string[] = [];
  for (let at = 0; at < ends.length; at += AT_ONCE) {
    const some = ends.slice(at, at + AT_ONCE);
    const [from, to, entities] = await Promise.all([
      reader.select<EdgeRow>({ from: 'edges', where: { source_id: some } }),
      reader.select<EdgeRow>({ from: 'edges', where: { target_id: some } }),
      reader.select<EntityRow>({ from: 'entities', where: { id: some } }),
    ]);
    const others = new Set([...from, ...to].filter(({ id }) => !going.has(id)).flatMap((edge) => [edge.source_id, edge.target_id]));
    for (const { id, properties } of entities) if (!others.has(id) && Object.keys(JSON.parse(properties) as object).length === 0) orphans.push(id);
  }
  const { ownerId } = actor;
  return [deps.db.remove('edges', { source: [...entryIds], owner_id: ownerId }), ...(orphans.length === 0 ? [] : [deps.db.remove('entities', { id: orphans, owner_id: ownerId })])];
};
