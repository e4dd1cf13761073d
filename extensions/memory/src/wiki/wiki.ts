/** Pages of the wiki: entries with a topic, with their history, in the same search. A topic that begins with `shared.` is for all agents of a person. */
import type { Actor } from '@svc/api';
import { foldedText } from '@svc/api';
import type { EntryRow } from '../contract.js';
import type { Entries } from '../entries/entries.js';
import { checkedByModel } from '../entries/entry-rows.js';
import { memoryErrors } from '../errors.js';
import { placeOf } from '../kv/kv.js';
import { type MemoryDeps, own } from '../memory-deps.js';

export interface Wiki {
  get(actor: Actor, agentId: string, topic: string): Promise<EntryRow>;
  write(
    actor: Actor,
    agentId: string,
    page: { readonly topic: string; readonly body: string; readonly force: boolean; readonly runId: string; readonly sessionId: string },
  ): Promise<{ row: EntryRow; created: boolean }>;
}

export const WIKI = 'wiki';
const MAX_TOPIC = 120;

/** Throws `memory_bad_key`. */
export const topicKey = (topic: string): string => {
  const key = foldedText(topic).replace(/\s+/g, ' ').trim();
  if (key === '' || key.length > MAX_TOPIC || /\p{Cc}/u.test(key)) throw memoryErrors.bad_key(`a topic has 1 to ${MAX_TOPIC} characters`);
  return key;
};

export const createWiki = (deps: MemoryDeps, entries: Entries): Wiki => {
  // An import may bring another page of a topic: the one that was written last is read.
  const find = (actor: Actor, agentId: string, topic: string) =>
    own(deps, actor).first<EntryRow>({
      from: 'entries',
      where: { topic: topicKey(topic), agent_id: placeOf(agentId, topicKey(topic)), archived: 0 },
      order: [{ column: 'updated_at', descending: true }, { column: 'place' }],
    });
  return {
    get: async (actor, agentId, topic) => {
      const row = await find(actor, agentId, topic);
      if (!row) throw memoryErrors.topic_not_found(topic);
      return row;
    },
    write: async (actor, agentId, { topic, body, force, runId, sessionId }) => {
      const content = checkedByModel(body);
      const there = await find(actor, agentId, topic);
      if (there) {
        if (!force) throw memoryErrors.topic_exists(topic);
        return { row: await entries.edit(actor, there.id, content), created: false };
      }
      const { rows } = await entries.add([
        {
          ownerId: actor.ownerId,
          agentId: placeOf(agentId, topicKey(topic)),
          content,
          level: 'agent',
          category: WIKI,
          metadata: { topic: topic.trim() },
          topic: topicKey(topic),
          source: 'wiki',
          runId,
          sessionId,
        },
      ]);
      const [row] = rows;
      if (!row) throw memoryErrors.topic_not_found(topic);
      return { row, created: true };
    },
  };
};
