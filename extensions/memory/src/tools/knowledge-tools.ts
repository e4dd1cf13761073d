/** The relation graph of an agent as tools: `self.knowledge` of memory_read and memory_write. */
import { type AnyTool, defineTool, Type } from '@svc/api';
import { secretIn } from '../entries/secrets.js';
import { memoryErrors } from '../errors.js';
import type { Graph, Match } from '../graph/graph.js';

const TARGET = 'self.knowledge';
const Name = (description: string) => Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description });
const Properties = Type.Optional(Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 1_000 }), Type.Number(), Type.Boolean(), Type.Null()]), { maxProperties: 30 }));
const MAX_ANSWERS = 100;

/** Throws `memory_secret`. */
const withoutSecrets = (value: unknown): void => {
  const rule = secretIn(JSON.stringify(value) ?? '');
  if (rule !== undefined) throw memoryErrors.secret(rule);
};

const lineOf = ({ source, edge, target }: Match) => ({
  source: source.name,
  source_type: source.entity_type,
  relation: edge.relation,
  target: target.name,
  target_type: target.entity_type,
  confidence: edge.confidence,
  since: edge.created_at,
});

export const knowledgeTools = (graph: Graph): AnyTool[] => [
  defineTool({
    name: 'knowledge_add_entity',
    description: 'Adds a person, thing or idea to what you know. One with the same name is changed.',
    params: Type.Object({ name: Name('Its name'), entity_type: Name('What it is, such as person, company or project'), properties: Properties }),
    risk: 'write',
    openWorld: false,
    replay: 'safe',
    parallel: false,
    capabilities: ['memory_write'],
    needs: [{ capability: 'memory_write', target: TARGET }],
    run: async ({ name, entity_type: type, properties = {} }, { actor, agentId }) => {
      withoutSecrets(properties);
      const row = await graph.entity(actor, agentId, name, type, properties);
      return JSON.stringify({ id: row.id, name: row.name, entity_type: row.entity_type });
    },
  }),
  defineTool({
    name: 'knowledge_add_relation',
    description: 'Adds how two things belong together, such as Ana works_at Acme. Entities that are not there yet are added.',
    params: Type.Object({
      source: Name('Name of the first'),
      relation: Name('How they belong together, such as works_at'),
      target: Name('Name of the second'),
      confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      properties: Properties,
    }),
    risk: 'write',
    openWorld: false,
    replay: 'safe',
    parallel: false,
    capabilities: ['memory_write'],
    needs: [{ capability: 'memory_write', target: TARGET }],
    run: async ({ source, relation, target, confidence, properties = {} }, { actor, agentId, runId }) => {
      withoutSecrets(properties);
      const triple = { subject: source, subjectType: 'thing', relation, object: target, objectType: 'thing', properties, ...(confidence === undefined ? {} : { confidence }) };
      await graph.store(actor, agentId, [triple], { source: 'tool', runId });
      return JSON.stringify({ status: 'stored', source, relation, target });
    },
  }),
  defineTool({
    name: 'knowledge_query',
    description: 'Looks up how things belong together: give any of source, relation and target. With max_depth, ways of several steps from the source are followed.',
    params: Type.Object({
      source: Type.Optional(Name('Name')),
      relation: Type.Optional(Name('Relation')),
      target: Type.Optional(Name('Name')),
      max_depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    }),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    capabilities: ['memory_read'],
    needs: [{ capability: 'memory_read', target: TARGET }],
    run: async ({ max_depth: depth = 1, ...pattern }, { actor, agentId }) => JSON.stringify({ matches: (await graph.query(actor, agentId, { ...pattern, depth, limit: MAX_ANSWERS })).map(lineOf) }),
  }),
];
