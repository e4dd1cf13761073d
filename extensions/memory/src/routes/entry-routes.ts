/** Entries of all agents of a person over HTTP. */
import { OneOf, reply, type RouteDecl, routeGroup, Type, Uuid, UuidText } from '@svc/api';
import { memoryErrors } from '../errors.js';
import { linkFacts } from '../graph/fact-edges.js';
import { checkedContent, type Draft } from '../entries/entry-rows.js';
import type { EntryRow } from '../contract.js';
import type { Scope } from '../memory-deps.js';
import type { Memories } from '../memory.js';
import { Count, FoundMemory, LevelText, Memory, shown, shownFound, stillHeld, StillHeld } from './shapes.js';
import type { EntryRouteDeps } from './route-deps.js';
import { statsOf, Stats } from './stats.js';

export const route = routeGroup({ area: 'memory' });
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 10;
const MAX_IDS = 1_000;
export const limited = (limit = DEFAULT_LIMIT): number => Math.min(limit, MAX_LIMIT);
export const Limit = Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_LIMIT, description: `How many at most; more than ${MAX_LIMIT} is ${MAX_LIMIT}` }));
const Offset = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }));
const ItemPath = Type.Object({ memory_id: Type.String({ format: 'uuid', description: 'Id of the entry' }) });
export const YOURS = 'Entries are seen by the person they belong to alone, whatever `user_id` says; owners of the daemon and admins see their own.';

export const ListQuery = Type.Object({ category: Type.Optional(Type.String({ maxLength: 100 })), level: Type.Optional(LevelText), offset: Offset, limit: Limit });
export const ListAnswer = Type.Object({
  memories: Type.Array(Memory),
  total: Count,
  offset: Count,
  limit: Count,
  proactive_enabled: Type.Boolean({ description: 'Whether facts are taken from conversations and recalled into them' }),
});
export const Question = Type.String({ minLength: 1, maxLength: 5_000, description: 'What to look for, in your own words' });

export const entryRoutes = (deps: EntryRouteDeps): RouteDecl[] => [
  listAll(deps),
  add(deps),
  searchAll(deps),
  stats(deps),
  cleanup(deps),
  decay(deps),
  bulkDelete(deps),
  edit(deps),
  remove(deps),
  history(deps),
  ofUser(deps),
];

export const listed = async ({ memories, proactive }: EntryRouteDeps, actor: Parameters<Memories['entries']['list']>[0], scope: Scope, query: { limit?: number; offset?: number }) => {
  const [limit, offset] = [limited(query.limit), query.offset ?? 0];
  const { rows, total } = await memories.entries.list(actor, scope, { limit, offset });
  return { memories: rows.map((row) => shown(row, memories.confidence(row))), total, offset, limit, proactive_enabled: proactive().enabled };
};

const listAll = (deps: EntryRouteDeps): RouteDecl =>
  route({
    id: 'listMemories',
    method: 'GET',
    path: '/api/memory',
    summary: 'List memory entries, newest first',
    description: YOURS,
    query: ListQuery,
    responses: { 200: ListAnswer },
    handler: async ({ actor, query: { category, level, ...page } }) =>
      reply(200, await listed(deps, actor, { ...(category === undefined ? {} : { category }), ...(level === undefined ? {} : { level }) }, page)),
  });

const add = (deps: EntryRouteDeps): RouteDecl =>
  route({
    id: 'addMemory',
    method: 'POST',
    path: '/api/memory',
    summary: 'Add a memory entry',
    description: `Without \`agent_id\` it is for all of your agents. The level is \`user\` with a \`user_id\`, else \`agent\`, where none is given. What is there already is not added again. With \`messages\` in place of \`content\`, facts are taken from them by rules. ${YOURS}`,
    examples: {
      'for all agents': { content: 'I am allergic to peanuts', tags: ['health'] },
      'about a person': { content: 'Prefers short answers', user_id: 'maria', level: 'user' },
      'from messages': { messages: [{ role: 'user', content: 'I moved to Porto last week. My favourite tea is Assam.' }] },
    },
    audit: 'memory_access',
    errors: [404],
    maxBodyBytes: 2 * 1024 * 1024,
    body: Type.Object({
      content: Type.Optional(Type.String({ description: 'What should be remembered, 20,000 characters at most' })),
      messages: Type.Optional(
        Type.Array(Type.Object({ role: Type.String({ maxLength: 50 }), content: Type.String({ maxLength: 100_000 }) }), {
          maxItems: 500,
          description: 'In place of content: facts are taken from these',
        }),
      ),
      agent_id: Type.Optional(UuidText('Id of the agent it is for')),
      user_id: Type.Optional(Type.String({ maxLength: 200, description: 'A label for the person spoken of' })),
      tags: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 })),
      level: Type.Optional(LevelText),
      category: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    responses: { 200: Type.Object({ added: Count, memories: Type.Array(Memory) }) },
    handler: async ({ actor, body: { content, messages, agent_id: agentId, user_id: userId, tags, level, category } }) => {
      const agent = agentId === undefined ? undefined : await deps.agents.get(actor, agentId);
      const common = {
        ownerId: actor.ownerId,
        agentId: agent?.id ?? '',
        userId: userId ?? '',
        tags: tags ?? [],
        source: 'api' as const,
        ...(level === undefined ? {} : { level }),
      };
      if (content === undefined && !messages) throw memoryErrors.empty();
      const drafts: Draft[] =
        content === undefined
          ? deps.extract(messages ?? []).map((one) => ({ ...common, ...one, ...(category === undefined ? {} : { category }) }))
          : [{ ...common, content: checkedContent(content), ...(category === undefined ? {} : { category }) }];
      const { added, rows } = await deps.memories.entries.add(drafts);
      if (content === undefined && agent) await linkFacts(deps, deps.memories.graph, actor, agent.id, rows);
      return reply(200, { added: added.length, memories: rows.map((row) => shown(row, deps.memories.confidence(row))) });
    },
  });

const searchAll = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'searchMemories',
    method: 'GET',
    path: '/api/memory/search',
    summary: 'Search memory entries by words and meaning',
    description: `Ordered by how well they fit; \`why\` says what found each. With \`agent_id\`, those of the agent and those of all agents. ${YOURS}`,
    cost: 3,
    errors: [404],
    query: Type.Object({
      q: Question,
      agent_id: Type.Optional(UuidText('Agent id')),
      level: Type.Optional(LevelText),
      limit: Limit,
      archive: Type.Optional(Type.Boolean({ default: false, description: 'true: looks among archived entries' })),
    }),
    responses: { 200: Type.Object({ memories: Type.Array(FoundMemory) }) },
    handler: async ({ actor, query: { q, agent_id: agentId, level, limit, archive } }) => {
      const agent = agentId === undefined ? undefined : await agents.get(actor, agentId);
      const scope = { ...(agent ? { agentId: agent.id, shared: true } : {}), ...(level === undefined ? {} : { level }), ...(archive ? { archived: true } : {}) };
      const { found } = await memories.search(actor, { q, limit: limited(limit), ...scope });
      return reply(200, { memories: found.map((one) => shownFound(one, memories.confidence(one.row))) });
    },
  });

const stats = (deps: EntryRouteDeps): RouteDecl =>
  route({
    id: 'getMemoryStats',
    method: 'GET',
    path: '/api/memory/stats',
    summary: 'Count memory entries by level, category and agent',
    description: YOURS,
    cost: 3,
    responses: { 200: Type.Object({ ...Stats.properties, by_agent: Type.Record(Type.String(), Count, { description: 'By agent id; under an empty text, those for all agents' }) }) },
    handler: async ({ actor }) => reply(200, await statsOf(deps, actor, undefined)),
  });

const cleanup = ({ memories, proactive }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'pruneMemories',
    method: 'POST',
    path: '/api/memory/cleanup',
    summary: 'Erase expired memory entries',
    description: `Erases your entries of the level session that are older than [proactive_memory] session_ttl_hours, archived ones older than [memory] soft_delete_retention_days, and, with [memory.decay] enabled, those that nobody used for long.`,
    audit: 'memory_access',
    cost: 10,
    responses: { 200: Type.Object({ cleaned_up: Type.Literal(true), deleted_count: Count, session_ttl_hours: Count }) },
    handler: async ({ actor }) => reply(200, { cleaned_up: true as const, deleted_count: await memories.upkeep.cleanup(actor.ownerId), session_ttl_hours: proactive().session_ttl_hours }),
  });

const decay = ({ memories, proactive }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'updateMemoryScores',
    method: 'POST',
    path: '/api/memory/decay',
    summary: 'Compute decayed scores now',
    description:
      'Confidence falls with the time since an entry was last used. It is computed from the confidence at the beginning, so a second call changes nothing. It also happens by itself, hourly.',
    cost: 10,
    responses: { 200: Type.Object({ decayed: Type.Literal(true), decay_rate: Type.Number({ description: 'Per day without use' }), updated: Count }) },
    handler: async ({ actor }) => reply(200, { decayed: true as const, decay_rate: proactive().confidence_decay_rate, updated: await memories.upkeep.decay(actor.ownerId) }),
  });

const bulkDelete = ({ memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'deleteMemories',
    method: 'POST',
    path: '/api/memory/bulk-delete',
    summary: 'Erase memory entries by their ids',
    description: 'Ids that are not yours, or not there, count as failed; the others are erased.',
    examples: {
      one: { ids: ['6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e'] },
      two: { ids: ['6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e', '0b9d7c6a-1e2f-4a3b-8c4d-5e6f7a8b9c0d'] },
      'ids in capitals': { ids: ['6F1C2D3E-8A90-4B1C-9D2E-3F4A5B6C7D8E'] },
    },
    audit: 'memory_access',
    cost: 10,
    body: Type.Object({ ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: MAX_IDS }) }),
    responses: { 200: Type.Object({ deleted: Count, failed: Count, total: Count, still_held_by: StillHeld }) },
    handler: async ({ actor, body: { ids } }) => {
      const unique = [...new Set(ids.map((id) => id.toLowerCase()))];
      const rows = await memories.entries.byIds(actor, unique);
      const recalledInto = await memories.entries.remove(actor, rows);
      return reply(200, { deleted: rows.length, failed: unique.length - rows.length, total: unique.length, still_held_by: rows.length === 0 ? [] : stillHeld(rows, recalledInto) });
    },
  });

const edit = ({ memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'updateMemory',
    method: 'PUT',
    path: '/api/memory/items/{memory_id}',
    summary: 'Correct a memory entry',
    description: `The text before goes into its history. ${YOURS}`,
    examples: { 'another text': { content: 'I moved to Lisbon in 2024' }, 'more of it': { content: 'Ana prefers tea, without milk' }, 'in another language': { content: '我住在里斯本' } },
    audit: 'memory_access',
    errors: [404],
    params: ItemPath,
    body: Type.Object({ content: Type.String() }),
    maxBodyBytes: 2 * 1024 * 1024,
    responses: { 200: Type.Object({ updated: Type.Literal(true), memory_id: Uuid, memory: Memory }) },
    handler: async ({ actor, params: { memory_id: id }, body: { content } }) => {
      const row = await memories.entries.edit(actor, id, content);
      return reply(200, { updated: true as const, memory_id: row.id, memory: shown(row, memories.confidence(row)) });
    },
  });

const remove = ({ memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'deleteMemory',
    method: 'DELETE',
    path: '/api/memory/items/{memory_id}',
    summary: 'Erase a memory entry',
    description: `Erases it with its words, vector, history and relations. \`still_held_by\` says what holds the text elsewhere. ${YOURS}`,
    audit: 'memory_access',
    errors: [404],
    params: ItemPath,
    responses: { 200: Type.Object({ status: OneOf(['deleted']), memory_id: Uuid, still_held_by: StillHeld }) },
    handler: async ({ actor, params: { memory_id: id } }) => {
      const row: EntryRow = await memories.entries.get(actor, id);
      const recalledInto = await memories.entries.remove(actor, [row]);
      return reply(200, { status: 'deleted' as const, memory_id: row.id, still_held_by: stillHeld([row], recalledInto) });
    },
  });

const history = ({ memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'getMemoryHistory',
    method: 'GET',
    path: '/api/memory/items/{memory_id}/history',
    summary: 'Show earlier texts of a memory entry',
    description: `Newest first. ${YOURS}`,
    errors: [404],
    params: ItemPath,
    responses: {
      200: Type.Object({
        memory_id: Uuid,
        memory: Memory,
        versions: Type.Array(Type.Object({ content: Type.String(), replaced_at: Type.String({ format: 'date-time' }) })),
        version_count: Count,
      }),
    },
    handler: async ({ actor, params: { memory_id: id } }) => {
      const { row, versions } = await memories.entries.history(actor, id);
      return reply(200, {
        memory_id: row.id,
        memory: shown(row, memories.confidence(row)),
        versions: versions.map(({ content, replaced_at }) => ({ content, replaced_at })),
        version_count: versions.length,
      });
    },
  });

const ofUser = (deps: EntryRouteDeps): RouteDecl =>
  route({
    id: 'listMemoriesOfUser',
    method: 'GET',
    path: '/api/memory/user/{user_id}',
    summary: 'List memory entries about a person',
    description: `Those with this \`user_id\`, of all levels, newest first. ${YOURS}`,
    params: Type.Object({ user_id: Type.String({ minLength: 1, maxLength: 200, description: 'The label', examples: ['ana'] }) }),
    query: Type.Object({ limit: Limit, offset: Offset }),
    responses: { 200: Type.Object({ memories: Type.Array(Memory), total: Count }) },
    handler: async ({ actor, params: { user_id: userId }, query }) => {
      const { memories, total } = await listed(deps, actor, { userId }, query);
      return reply(200, { memories, total });
    },
  });
