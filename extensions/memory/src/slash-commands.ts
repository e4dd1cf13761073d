/** What a person types about memory in a conversation. */
import { defineSlashCommand, type SlashCommand } from '@svc/api';
import { checkedContent } from './entries/entry-rows.js';
import type { Memories } from './memory.js';

const SHOWN = 10;

export const memorySlashCommands = (memories: Memories): SlashCommand[] => [
  defineSlashCommand({
    name: 'memory',
    usage: '/memory [QUESTION]',
    summary: 'Show what this agent remembers, or search it',
    permission: 'memory.read',
    takes: 'text',
    run: async ({ actor, agentId, args }) => {
      const rows =
        args === ''
          ? (await memories.entries.list(actor, { agentId, shared: true }, { limit: SHOWN, offset: 0 })).rows
          : (await memories.search(actor, { q: args, agentId, shared: true, limit: SHOWN })).found.map(({ row }) => row);
      const lines = rows.map((row) => `- ${row.content} (${row.id}${row.superseded_by === null ? '' : ', replaced'})`);
      return { message: lines.join('\n') || 'Nothing is remembered.', data: { ids: rows.map(({ id }) => id) } };
    },
  }),
  defineSlashCommand({
    name: 'remember',
    usage: '/remember TEXT',
    summary: 'Remember something for this agent',
    permission: 'memory.write',
    takes: 'text',
    run: async ({ actor, agentId, sessionId, args }) => {
      const { added, rows } = await memories.entries.add([{ ownerId: actor.ownerId, agentId, content: checkedContent(args), source: 'conversation', role: 'user', sessionId }]);
      return { message: added.length === 0 ? 'I already remember that.' : 'I will remember that.', data: { id: rows[0]?.id ?? null } };
    },
  }),
  defineSlashCommand({
    name: 'forget',
    usage: '/forget ID or TEXT',
    summary: 'Erase a memory: by its id, or the one that fits best',
    permission: 'memory.write',
    takes: 'text',
    run: async ({ actor, agentId, args }) => {
      const [row] = await candidates(memories, actor, agentId, args);
      if (!row) return { message: 'Nothing that is remembered fits this.', data: { id: null } };
      await memories.entries.remove(actor, [row]);
      return { message: `Forgotten: ${row.content}`, data: { id: row.id } };
    },
  }),
];

/** By the first eight digits of an id or more; else one that has words of the text. */
const candidates = async (memories: Memories, actor: Parameters<Memories['search']>[0], agentId: string, args: string) => {
  if (/^[0-9a-f]{8}[0-9a-f-]*$/i.test(args)) {
    const { rows } = await memories.entries.list(actor, { agentId, shared: true }, { limit: 10_000, offset: 0 });
    const fitting = rows.filter(({ id }) => id.startsWith(args.toLowerCase()));
    if (fitting.length > 0) return fitting.length === 1 ? fitting : [];
  }
  const { found } = await memories.search(actor, { q: args, agentId, shared: true, limit: 1 }, false);
  return found.filter(({ why }) => why.includes('words')).map(({ row }) => row);
};
