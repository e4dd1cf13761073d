/** The wiki as tools. The page `t` is the target `self.wiki.t`; `shared.t` is `shared.wiki.t`, for all agents of a person. */
import { type AnyTool, defineTool, Type } from '@svc/api';
import type { Memories } from '../memory.js';
import { topicKey, WIKI } from '../wiki/wiki.js';

const Topic = Type.String({ minLength: 1, maxLength: 120, pattern: '\\S', description: 'Name of the page; one that begins with shared. is for all agents of your owner' });
const DEFAULT_FOUND = 10;
const EXCERPT = 300;

const targetOf = (topic: string): string => {
  const key = topicKey(topic);
  return key.startsWith('shared.') ? `shared.wiki.${key.slice('shared.'.length)}` : `self.wiki.${key}`;
};

export const wikiTools = ({ wiki, search }: Pick<Memories, 'wiki' | 'search'>): AnyTool[] => [
  defineTool({
    name: 'wiki_get',
    description: 'Reads a page of your wiki.',
    params: Type.Object({ topic: Topic }),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    capabilities: ['memory_read'],
    needs: ({ topic }) => [{ capability: 'memory_read', target: targetOf(topic) }],
    run: async ({ topic }, { actor, agentId }) => {
      const row = await wiki.get(actor, agentId, topic);
      return JSON.stringify({ topic, body: row.content, updated_at: row.updated_at });
    },
  }),
  defineTool({
    name: 'wiki_search',
    description: 'Finds pages of your wiki by words and meaning.',
    params: Type.Object({ query: Type.String({ minLength: 1, maxLength: 1_000 }), limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })) }),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    capabilities: ['memory_read'],
    needs: [{ capability: 'memory_read', target: 'self.wiki.' }],
    run: async ({ query, limit = DEFAULT_FOUND }, { actor, agentId }) => {
      const { found } = await search(actor, { q: query, agentId, shared: true, category: WIKI, limit });
      const pages = found.map(({ row }) => ({ topic: (JSON.parse(row.metadata) as { topic?: string }).topic ?? row.topic, excerpt: row.content.slice(0, EXCERPT), updated_at: row.updated_at }));
      return JSON.stringify({ pages });
    },
  }),
  defineTool({
    name: 'wiki_write',
    description: 'Writes a page of your wiki, in Markdown. A page that is there is replaced only with force; its earlier text stays in its history. Never store secrets.',
    params: Type.Object({ topic: Topic, body: Type.String({ minLength: 1, maxLength: 20_000, description: 'The page, in Markdown' }), force: Type.Optional(Type.Boolean()) }),
    risk: 'write',
    openWorld: false,
    replay: 'safe',
    parallel: false,
    capabilities: ['memory_write'],
    needs: ({ topic }) => [{ capability: 'memory_write', target: targetOf(topic) }],
    run: async ({ topic, body, force = false }, { actor, agentId, runId, sessionId }) => {
      const { created } = await wiki.write(actor, agentId, { topic, body, force, runId, sessionId });
      return JSON.stringify({ status: created ? 'created' : 'updated', topic });
    },
  }),
];
