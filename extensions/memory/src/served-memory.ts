/** Memory for other areas. */
import type { MemoryService } from './contract.js';
import type { Memories } from './memory.js';
import { addRows } from './upkeep/exchange.js';

const MAX_KEYS_SHOWN = 200;

export const servedMemory = ({ kv, entries, duplicates }: Memories): MemoryService => ({
  pairs: async (actor, agentId, keys) => {
    const wanted = new Set(keys);
    const rows = wanted.size === 0 ? [] : (await kv.list(actor, agentId)).filter(({ key }) => wanted.has(key));
    return Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown]));
  },
  overview: async (actor, agentId, most) => {
    const [{ rows, total }, pairs] = await Promise.all([entries.list(actor, { agentId }, { limit: most, offset: 0 }), kv.list(actor, agentId)]);
    return { entries: total, keys: pairs.slice(0, MAX_KEYS_SHOWN).map(({ key }) => key), newest: rows.map(({ content }) => content) };
  },
  // Without a date, a text that is there says nothing new.
  add: (actor, agentId, rows) => addRows(entries, actor, agentId, rows, rows.some((row) => row.created_at !== undefined) ? 'identical' : 'text'),
  setPairs: (actor, agentId, pairs) => kv.put(actor, agentId, Object.entries(pairs)),
  consolidate: (actor, agentId) => duplicates.consolidate(actor, agentId),
});
