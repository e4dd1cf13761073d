/** What other areas ask before and after they send: where a message would go, and what became of it. */
import { type Db, isUuid } from '@svc/api';
import type { Accounts } from './accounts.js';
import type { ChannelsService, Chat, DeliveryRow, DeliveryState, LastChatRow } from './contract.js';
import { assertConfigured } from './outbox.js';
import { recipientOf } from './tool.js';

export interface ReachDeps {
  readonly db: Pick<Db, 'as'>;
  readonly accounts: Accounts;
}

export const createReach = ({ db, accounts }: ReachDeps): Pick<ChannelsService, 'reach' | 'lastChat' | 'standing'> => ({
  reach: async ({ channel, chat }) => ({ channel, chat: recipientOf(await assertConfigured(accounts, channel), chat) }),
  lastChat: async (actor, { agentId, sessionId }) => {
    const reader = db.as(actor);
    const mine = { agent_id: agentId, owner_id: actor.ownerId };
    if (sessionId !== undefined) {
      const newest = [{ column: 'created_at', descending: true }] as const;
      return chatOf(await reader.first<DeliveryRow>({ from: 'deliveries', where: { ...mine, session_id: sessionId, direction: 'inbound' }, order: newest, limit: 1 }));
    }
    // A person before guests.
    return chatOf(await reader.first<LastChatRow>({ from: 'last_chats', where: mine, order: [{ column: 'is_person', descending: true }], limit: 1 }));
  },
  standing: async (actor, id) => {
    const row = isUuid(id) ? await db.as(actor).first<Pick<DeliveryRow, 'status' | 'reason'>>({ from: 'deliveries', columns: ['status', 'reason'], where: { id } }) : undefined;
    return row && { status: row.status as DeliveryState, reason: row.reason };
  },
});

const chatOf = (row: Pick<LastChatRow, 'channel' | 'chat' | 'thread'> | undefined): Chat | undefined =>
  row && { channel: row.channel, chat: row.chat, ...(row.thread === null ? {} : { thread: row.thread }) };
