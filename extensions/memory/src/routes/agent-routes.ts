/** Entries and relations of one agent over HTTP. */
import { Nullable, OneOf, reply, type RouteDecl, TaintLabel, Type, Uuid, UuidText } from '@svc/api';
import { memoryErrors } from '../errors.js';
import type { Triple } from '../graph/graph.js';
import { exportedRow, importRows, rowsIn } from '../upkeep/exchange.js';
import { limited, Limit, ListAnswer, listed, ListQuery, Question, route, YOURS } from './entry-routes.js';
import { Count, FoundMemory, LevelText, Memory, Relation, shown, shownFound, shownRelation, stillHeld, StillHeld } from './shapes.js';
import type { EntryRouteDeps } from './route-deps.js';
import { Stats, statsOf } from './stats.js';

const AgentPath = Type.Object({ id: UuidText('Agent id') });
const LevelPath = Type.Object({ id: UuidText('Agent id'), level: { ...LevelText, examples: ['user'] } });
const MAX_IMPORT = 50_000;
const MAX_RELATIONS = 1_000;
const MAX_NAME = 200;
const EXPORT_PAGE = 1_000;
const MAX_EXPORT = 1_000_000;

export const agentRoutes = (deps: EntryRouteDeps): RouteDecl[] => [
  list(deps),
  clear(deps),
  clearLevel(deps),
  searchAgent(deps),
  stats(deps),
  count(deps),
  duplicates(deps),
  consolidate(deps),
  relations(deps),
  addRelations(deps),
  exportAll(deps),
  importAll(deps),
];

const list = (deps: EntryRouteDeps): RouteDecl =>
  route({
    id: 'listAgentMemories',
    method: 'GET',
    path: '/api/memory/agents/{id}',
    summary: 'List memory entries of an agent, newest first',
    description: `Entries that are for all agents are not among them. ${YOURS}`,
    errors: [404],
    params: AgentPath,
    query: ListQuery,
    responses: { 200: ListAnswer },
    handler: async ({ actor, params: { id }, query: { category, level, ...page } }) => {
      const agent = await deps.agents.get(actor, id);
      return reply(200, await listed(deps, actor, { agentId: agent.id, ...(category === undefined ? {} : { category }), ...(level === undefined ? {} : { level }) }, page));
    },
  });

const clear = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'deleteAgentMemories',
    method: 'DELETE',
    path: '/api/memory/agents/{id}',
    summary: 'Erase all memory entries of an agent',
    description: `Archived ones too. Key-value pairs and entries for all agents stay. ${YOURS}`,
    audit: 'memory_access',
    cost: 10,
    errors: [404],
    params: AgentPath,
    responses: { 200: Type.Object({ deleted: Count, still_held_by: StillHeld }) },
    handler: async ({ actor, params: { id } }) => {
      const agent = await agents.get(actor, id);
      const deleted = await memories.entries.removeAll(actor, { agentId: agent.id });
      return reply(200, { deleted, still_held_by: deleted === 0 ? [] : stillHeld([]) });
    },
  });

const clearLevel = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'deleteAgentMemoriesOfLevel',
    method: 'DELETE',
    path: '/api/memory/agents/{id}/level/{level}',
    summary: 'Erase the memory entries of an agent at an importance level',
    description: YOURS,
    audit: 'memory_access',
    cost: 10,
    errors: [404],
    params: LevelPath,
    responses: { 200: Type.Object({ deleted: Count, still_held_by: StillHeld }) },
    handler: async ({ actor, params: { id, level } }) => {
      const agent = await agents.get(actor, id);
      const deleted = await memories.entries.removeAll(actor, { agentId: agent.id, level });
      return reply(200, { deleted, still_held_by: deleted === 0 ? [] : stillHeld([]) });
    },
  });

const searchAgent = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'searchAgentMemories',
    method: 'GET',
    path: '/api/memory/agents/{id}/search',
    summary: 'Search what an agent remembers',
    description: `Its own entries and those for all agents, with relations of entities that the question names. ${YOURS}`,
    cost: 3,
    errors: [404],
    params: AgentPath,
    query: Type.Object({ q: Question, level: Type.Optional(LevelText), limit: Limit, archive: Type.Optional(Type.Boolean({ default: false, description: 'true: looks among archived entries' })) }),
    responses: { 200: Type.Object({ memories: Type.Array(FoundMemory), relations: Type.Array(Relation) }) },
    handler: async ({ actor, params: { id }, query: { q, level, limit, archive } }) => {
      const agent = await agents.get(actor, id);
      const scope = { agentId: agent.id, shared: true, ...(level === undefined ? {} : { level }), ...(archive ? { archived: true } : {}) };
      const { found, edges } = await memories.search(actor, { q, limit: limited(limit), ...scope });
      return reply(200, { memories: found.map((one) => shownFound(one, memories.confidence(one.row))), relations: edges.map(shownRelation) });
    },
  });

const stats = (deps: EntryRouteDeps): RouteDecl =>
  route({
    id: 'getAgentMemoryStats',
    method: 'GET',
    path: '/api/memory/agents/{id}/stats',
    summary: 'Count memory entries of an agent by level and category',
    description: YOURS,
    cost: 3,
    errors: [404],
    params: AgentPath,
    responses: { 200: Stats },
    handler: async ({ actor, params: { id } }) => {
      const agent = await deps.agents.get(actor, id);
      const { by_agent: _all, ...rest } = await statsOf(deps, actor, agent.id);
      return reply(200, rest);
    },
  });

const count = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'countAgentMemories',
    method: 'GET',
    path: '/api/memory/agents/{id}/count',
    summary: 'Count memory entries of an agent',
    description: YOURS,
    errors: [404],
    params: AgentPath,
    query: Type.Object({ level: Type.Optional(LevelText) }),
    responses: { 200: Type.Object({ agent_id: Uuid, count: Count, level: Type.Union([LevelText, Type.Null()]) }) },
    handler: async ({ actor, params: { id }, query: { level } }) => {
      const agent = await agents.get(actor, id);
      return reply(200, { agent_id: agent.id, count: await memories.entries.count(actor, { agentId: agent.id, ...(level === undefined ? {} : { level }) }), level: level ?? null });
    },
  });

const duplicates = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'listDuplicateMemories',
    method: 'GET',
    path: '/api/memory/agents/{id}/duplicates',
    summary: 'Find memory entries that say the same',
    description: `All entries of the agent are compared. Contradictions are no duplicates. ${YOURS}`,
    cost: 10,
    errors: [404],
    params: AgentPath,
    responses: { 200: Type.Object({ duplicate_groups: Count, groups: Type.Array(Type.Array(Memory)) }) },
    handler: async ({ actor, params: { id } }) => {
      const agent = await agents.get(actor, id);
      const groups = await memories.duplicates.groups(actor, agent.id);
      return reply(200, { duplicate_groups: groups.length, groups: groups.map((group) => group.map((row) => shown(row, memories.confidence(row)))) });
    },
  });

const consolidate = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'mergeDuplicateMemories',
    method: 'POST',
    path: '/api/memory/agents/{id}/consolidate',
    summary: 'Archive memory entries that say the same as a newer one',
    description: `The newest of each group stays. Archived entries are found with \`archive=true\` until [memory] soft_delete_retention_days have passed. ${YOURS}`,
    audit: 'memory_access',
    cost: 20,
    errors: [404],
    params: AgentPath,
    responses: { 200: Type.Object({ consolidated: Type.Literal(true), merged_count: Count }) },
    handler: async ({ actor, params: { id } }) => {
      const agent = await agents.get(actor, id);
      return reply(200, { consolidated: true as const, merged_count: await memories.duplicates.consolidate(actor, agent.id) });
    },
  });

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME });

const relations = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'queryMemoryRelations',
    method: 'GET',
    path: '/api/memory/agents/{id}/relations',
    summary: 'Query the relation graph of an agent',
    description: `Names are compared without regard to case and accents. With \`max_depth\` above 1, ways from \`source\` are followed. ${YOURS}`,
    cost: 2,
    errors: [404],
    params: AgentPath,
    query: Type.Object({
      source: Type.Optional(Name),
      relation: Type.Optional(Name),
      target: Type.Optional(Name),
      max_depth: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'How many steps at most; more than 5 is 5' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, default: 100, description: 'How many at most; more than 100 is 100' })),
    }),
    responses: { 200: Type.Object({ matches: Type.Array(Relation), count: Count }) },
    handler: async ({ actor, params: { id }, query: { max_depth: depth = 1, limit = 100, ...pattern } }) => {
      const agent = await agents.get(actor, id);
      const matches = await memories.graph.query(actor, agent.id, { ...pattern, depth, limit: limited(limit) });
      return reply(200, { matches: matches.map(shownRelation), count: matches.length });
    },
  });

const TripleBody = Type.Object({ subject: Name, subject_type: Name, relation: Name, object: Name, object_type: Name, confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })) });

const addRelations = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'addMemoryRelations',
    method: 'POST',
    path: '/api/memory/agents/{id}/relations',
    summary: 'Store relations in the graph of an agent',
    description: `Takes an array, or an object with the array as \`relations\`, of ${MAX_RELATIONS} at most. Entities with the same name are one. ${YOURS}`,
    examples: {
      'one relation': [{ subject: 'Ana', subject_type: 'person', relation: 'works_at', object: 'Acme', object_type: 'company' }],
      'in an object': { relations: [{ subject: 'Acme', subject_type: 'company', relation: 'is_in', object: 'Porto', object_type: 'city' }] },
      'one that is not sure': [{ subject: 'Ana', subject_type: 'person', relation: 'knows', object: 'Rui', object_type: 'person', confidence: 0.6 }],
    },
    audit: 'memory_access',
    errors: [404],
    params: AgentPath,
    body: Type.Union([Type.Array(TripleBody, { minItems: 1, maxItems: MAX_RELATIONS }), Type.Object({ relations: Type.Array(TripleBody, { maxItems: MAX_RELATIONS }) })]),
    responses: { 200: Type.Object({ agent_id: Uuid, triples_processed: Count }) },
    handler: async ({ actor, params: { id }, body }) => {
      const agent = await agents.get(actor, id);
      const rows = Array.isArray(body) ? body : body.relations;
      const triples: Triple[] = rows.map((one, index) => {
        if (one.subject.trim() === '' || one.object.trim() === '' || one.relation.trim() === '') throw memoryErrors.bad_relation(index, 'a name is blank');
        return {
          subject: one.subject,
          subjectType: one.subject_type,
          relation: one.relation,
          object: one.object,
          objectType: one.object_type,
          ...(one.confidence === undefined ? {} : { confidence: one.confidence }),
        };
      });
      return reply(200, { agent_id: agent.id, triples_processed: await memories.graph.store(actor, agent.id, triples, { source: 'api' }) });
    },
  });

const Exported = Type.Object(
  {
    content: Type.String(),
    level: LevelText,
    category: Type.Union([Type.String(), Type.Null()]),
    confidence: Type.Number(),
    tags: Type.Array(Type.String()),
    user_id: Type.Union([Type.String(), Type.Null()]),
    source: Type.String(),
    role: Nullable(Type.String()),
    origin: Nullable(Type.Object({ labels: Type.Array(TaintLabel), source: Type.String() })),
    created_at: Type.String(),
    updated_at: Type.String(),
    metadata: Type.Record(Type.String(), Type.Unknown()),
  },
  { 'x-name': 'ExportedMemory' },
);

const exportAll = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'exportMemories',
    method: 'GET',
    path: '/api/memory/agents/{id}/export',
    summary: 'Export the memory entries of an agent',
    description: `Newest first, without archived ones. ${YOURS}`,
    cost: 10,
    errors: [404],
    params: AgentPath,
    responses: { 200: Type.Object({ agent_id: Uuid, count: Count, memories: Type.Array(Exported) }) },
    handler: async ({ actor, params: { id } }) => {
      const agent = await agents.get(actor, id);
      const rows = [];
      for (let offset = 0; offset < MAX_EXPORT; offset += EXPORT_PAGE) {
        const page = await memories.entries.list(actor, { agentId: agent.id }, { limit: EXPORT_PAGE, offset });
        rows.push(...page.rows);
        if (page.rows.length < EXPORT_PAGE) break;
      }
      return reply(200, { agent_id: agent.id, count: rows.length, memories: rows.map(exportedRow) as never });
    },
  });

const Row = Type.Unknown({ description: 'An exported entry: `content`, and perhaps level, category, confidence, tags, user_id, source, role, origin, created_at, updated_at and metadata' });

const importAll = ({ agents, memories }: EntryRouteDeps): RouteDecl =>
  route({
    id: 'importMemories',
    method: 'POST',
    path: '/api/memory/agents/{id}/import',
    summary: 'Import memory entries into an agent',
    description: `Takes an array of exported entries, or what the export answers. Rows identical to an entry that is there are skipped; the same text of another day is another entry. One bad row refuses the whole import, with its index. ${YOURS}`,
    examples: {
      'one entry': [{ content: 'The office is closed on Fridays', level: 'agent' }],
      'an export': { memories: [{ content: 'Ana likes jazz', level: 'user', user_id: 'ana' }] },
      'with its dates': [{ content: 'The lease ends in May', created_at: '2026-01-15T09:00:00Z', confidence: 0.9 }],
    },
    audit: 'memory_access',
    cost: 20,
    errors: [404],
    maxBodyBytes: 32 * 1024 * 1024,
    params: AgentPath,
    body: Type.Union([Type.Array(Row, { minItems: 1, maxItems: MAX_IMPORT }), Type.Object({ memories: Type.Array(Row, { maxItems: MAX_IMPORT }) })]),
    responses: { 200: Type.Object({ imported: Count, skipped: Count, agent_id: Uuid, status: OneOf(['imported']) }) },
    handler: async ({ actor, params: { id }, body }) => {
      const agent = await agents.get(actor, id);
      const rows = rowsIn(body);
      const imported = await importRows(memories.entries, actor, agent.id, rows);
      await memories.upkeep.cap(actor.ownerId, agent.id);
      return reply(200, { imported, skipped: rows.length - imported, agent_id: agent.id, status: 'imported' as const });
    },
  });
