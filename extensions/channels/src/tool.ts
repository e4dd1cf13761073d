/** What agents may do with channels: send a message. */
import { type AnyTool, defineTool, needOf, Type } from '@svc/api';
import type { Account } from './account.js';
import type { Accounts } from './accounts.js';
import { ChannelsSend } from './contract.js';
import { channelErrors } from './errors.js';
import { assertConfigured, type Outbox } from './outbox.js';

/** Where a message goes that names nobody: channels with one place to write to. */
const usualRecipient = ({ type, fields }: Account): string | undefined => (type === 'ntfy' ? String(fields.topic) : type === 'mqtt' || type === 'webhook' ? 'svc' : undefined);

/** Throws `channels_no_recipient`. */
export const recipientOf = (account: Account, named: string | undefined): string => {
  const chat = named ?? usualRecipient(account);
  if (chat === undefined) throw channelErrors.no_recipient(account.name);
  return chat;
};

export const channelSend = ({ accounts, outbox }: { readonly accounts: Accounts; readonly outbox: Outbox }): AnyTool =>
  defineTool({
    name: 'channel_send',
    description: 'Sends a message to a chat of a channel, such as telegram or ntfy. It is delivered in the background.',
    params: Type.Object({
      channel: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the channel' }),
      recipient: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The id of the chat on that platform' })),
      message: Type.String({ minLength: 1, maxLength: 100_000 }),
      thread_id: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    risk: 'network',
    openWorld: true,
    replay: 'keyed',
    parallel: true,
    capabilities: [ChannelsSend.name],
    needs: ({ channel }) => [needOf(ChannelsSend, channel)],
    run: async ({ channel, recipient, message, thread_id: thread }, { agentId, callId, runId, actor }) => {
      const account = await assertConfigured(accounts, channel);
      const chat = recipientOf(account, recipient);
      const id = await outbox.send(actor.ownerId, { channel, chat, message, key: `tool:${runId}:${callId}`, runId, agentId, ...(thread === undefined ? {} : { thread }) });
      return `The message is on its way to ${chat} on ${channel} (delivery ${id}).`;
    },
  });
