/** Key-value pairs as tools: the key `k` is the target `self.k` of memory_read and memory_write, `shared.k` is what all agents of a person share. */
import { type AnyTool, defineTool, matchesAny, Type } from '@svc/api';
import { secretIn } from '../entries/secrets.js';
import { memoryErrors } from '../errors.js';
import type { Kv } from '../kv/kv.js';

export const targetOfKey = (key: string): string => (key.startsWith('shared.') || key.startsWith('self.') ? key : `self.${key}`);
/** `self.k` and `k` are one key. */
const keyOf = (key: string): string => key.replace(/^self\./, '');

const Key = Type.String({ minLength: 1, maxLength: 256, description: 'The key; one that begins with shared. is shared with the other agents of your owner' });
const DEFAULT_LIST = 50;
const MAX_LIST = 200;

export const kvTools = (kv: Kv): AnyTool[] => [
  defineTool({
    name: 'memory_store',
    description: 'Stores a value under a key, for later conversations. An earlier value of the key is replaced. Never store secrets.',
    params: Type.Object({ key: Key, value: Type.Unknown({ description: 'Any JSON value' }) }),
    risk: 'write',
    openWorld: false,
    replay: 'safe',
    parallel: false,
    capabilities: ['memory_write'],
    needs: ({ key }) => [{ capability: 'memory_write', target: targetOfKey(key) }],
    run: async ({ key, value }, { actor, agentId }) => {
      const rule = secretIn(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
      if (rule !== undefined) throw memoryErrors.secret(rule);
      await kv.put(actor, agentId, [[keyOf(key), value ?? null]]);
      return JSON.stringify({ status: 'stored', key: keyOf(key) });
    },
  }),
  defineTool({
    name: 'memory_recall',
    description: 'Reads the value that was stored under a key.',
    params: Type.Object({ key: Key }),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    capabilities: ['memory_read'],
    needs: ({ key }) => [{ capability: 'memory_read', target: targetOfKey(key) }],
    run: async ({ key }, { actor, agentId }) => JSON.stringify({ key: keyOf(key), value: await kv.get(actor, agentId, keyOf(key)) }),
  }),
  defineTool({
    name: 'memory_list',
    description: 'Lists the keys that values are stored under.',
    params: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIST, description: `How many at most, ${DEFAULT_LIST} by default` })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    risk: 'read',
    openWorld: false,
    replay: 'safe',
    parallel: true,
    capabilities: ['memory_read'],
    // The list holds no key beyond what is granted.
    needs: [{ capability: 'memory_read', target: 'self.' }],
    run: async ({ limit = DEFAULT_LIST, offset = 0 }, { actor, agentId, capabilities }) => {
      const keys = (await kv.list(actor, agentId)).map(({ key }) => key).filter((key) => matchesAny(capabilities.memory_read, targetOfKey(key)));
      return JSON.stringify({ keys: keys.slice(offset, offset + limit), total: keys.length });
    },
  }),
];
