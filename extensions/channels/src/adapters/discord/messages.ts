/** A message of Discord in the words of channels. */
import type { APIMessage, APIUser, GatewayMessageCreateDispatchData } from 'discord-api-types/v10';
import type { Incoming } from '../adapter.js';

/** Who the bot is: itself, and the roles that Discord made for it. */
export interface Bot {
  readonly id: string;
  readonly roles: ReadonlySet<string>;
}

/** Where a message stands: a thread has the chat that it hangs below. */
export interface Spot {
  readonly chat: string;
  readonly thread?: string;
}

type Message = Pick<APIMessage, 'id' | 'type' | 'content' | 'author' | 'mentions' | 'mention_roles' | 'attachments' | 'webhook_id' | 'referenced_message'> &
  Partial<Pick<GatewayMessageCreateDispatchData, 'member'>>;

/** Text of a person, on its own or as a reply; the others are notes of Discord, such as that somebody joined. */
const WRITTEN: ReadonlySet<number> = new Set([0, 19]);

const nameOf = ({ global_name: name, username }: Pick<APIUser, 'global_name' | 'username'>, nick?: string | null): string => nick ?? name ?? username;

export const textOf = ({ content, mentions, attachments }: Pick<Message, 'content' | 'mentions' | 'attachments'>, { id, roles }: Bot): string => {
  const named = content.replaceAll(/<@([!&]?)(\d+)>/g, (whole, kind: string, mentioned: string) => {
    if (mentioned === id || (kind === '&' && roles.has(mentioned))) return '';
    const user = mentions.find((one) => one.id === mentioned);
    return user ? `@${nameOf(user)}` : whole;
  });
  return [named.trim(), ...attachments.map(({ filename, url }) => `Attachment: ${filename} (${url})`)].filter((line) => line !== '').join('\n');
};

/** Undefined for what nobody wrote, and for what a program did. */
export const incomingOf = (message: Message, guild: string | undefined, { chat, thread }: Spot, bot: Bot): Incoming | undefined => {
  const { author, member } = message;
  if (author.bot === true || message.webhook_id !== undefined || !WRITTEN.has(message.type)) return undefined;
  const isGroup = guild !== undefined;
  const isMentioned = message.mentions.some(({ id }) => id === bot.id) || message.mention_roles.some((role) => bot.roles.has(role)) || message.referenced_message?.author.id === bot.id;
  return {
    id: message.id,
    chat,
    ...(thread === undefined ? {} : { thread }),
    sender: author.id,
    senderName: nameOf(author, member?.nick),
    text: textOf(message, bot),
    isGroup,
    isMentioned,
    ...(guild === undefined ? {} : { guild }),
    ...(member === undefined ? {} : { roles: member.roles }),
    facts: isGroup ? { reply: message.id } : {},
  };
};
