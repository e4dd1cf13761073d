/** How many entries there are, of which kind. */
import { type Actor, Nullable, Type } from '@svc/api';
import { own } from '../memory-deps.js';
import type { EntryRouteDeps } from './route-deps.js';

const Count = Type.Integer({ minimum: 0 });

export const Stats = Type.Object({
  total: Count,
  user_count: Count,
  session_count: Count,
  agent_count: Count,
  archived_count: Count,
  categories: Type.Record(Type.String(), Count),
  enabled: Type.Boolean(),
  auto_memorize_enabled: Type.Boolean(),
  auto_retrieve_enabled: Type.Boolean(),
  llm_extraction: Type.Boolean({ description: 'Whether a model takes facts from conversations, instead of rules' }),
  proactive_enabled: Type.Boolean(),
  vectors: Type.Object({
    indexed: Type.Integer({ minimum: 0, description: 'Of the total, how many have a vector of the present embedder' }),
    embedder: Nullable(Type.String(), { description: 'What makes vectors; null where nobody does, or it has not answered yet' }),
    failing: Type.Boolean({ description: 'true: the last vectors could not be made; `svc doctor` says why' }),
  }),
});

interface Group {
  readonly level: string;
  readonly category: string;
  readonly agent_id: string;
  readonly archived: number;
  readonly n: number;
}

/** Of all agents without an agent. */
export const statsOf = async (deps: EntryRouteDeps, actor: Actor, agentId: string | undefined) => {
  const entries = deps.db.table('entries');
  const grouped = `SELECT level AS level, COALESCE(category, '') AS category, agent_id AS agent_id, archived AS archived, COUNT(*) AS n FROM ${entries}`;
  const groups =
    agentId === undefined
      ? await own(deps, actor).read<Group>(`${grouped} GROUP BY level, category, agent_id, archived`)
      : await own(deps, actor).read<Group>(`${grouped} WHERE agent_id = ? GROUP BY level, category, agent_id, archived`, [agentId]);
  const live = groups.filter(({ archived }) => Number(archived) === 0);
  const sum = (some: readonly Group[]): number => some.reduce((total, { n }) => total + Number(n), 0);
  const by = (key: 'category' | 'agent_id'): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const group of live) counts[group[key]] = (counts[group[key]] ?? 0) + Number(group.n);
    return counts;
  };
  const { '': _none, ...categories } = by('category');
  const embedder = (await deps.embedding.model().catch(() => undefined)) ?? null;
  const { enabled, auto_memorize, auto_retrieve } = deps.proactive();
  return {
    total: sum(live),
    user_count: sum(live.filter(({ level }) => level === 'user')),
    session_count: sum(live.filter(({ level }) => level === 'session')),
    agent_count: sum(live.filter(({ level }) => level === 'agent')),
    archived_count: sum(groups) - sum(live),
    categories,
    enabled,
    auto_memorize_enabled: enabled && auto_memorize,
    auto_retrieve_enabled: enabled && auto_retrieve,
    llm_extraction: deps.llmExtraction(),
    proactive_enabled: enabled,
    vectors: { embedder, indexed: embedder === null ? 0 : await indexedOf(deps, actor, agentId, embedder), failing: deps.embedding.state.error !== undefined },
    by_agent: by('agent_id'),
  };
};

const indexedOf = async (deps: EntryRouteDeps, actor: Actor, agentId: string | undefined, model: string): Promise<number> => {
  const counted = `SELECT COUNT(*) AS n FROM ${deps.db.table('vectors')} v JOIN ${deps.db.table('entries')} e ON e.place = v.place WHERE v.model = ? AND e.archived = 0`;
  const [row] = await (agentId === undefined ? own(deps, actor).read<{ n: number }>(counted, [model]) : own(deps, actor).read<{ n: number }>(`${counted} AND e.agent_id = ?`, [model, agentId]));
  return Number(row?.n ?? 0);
};
