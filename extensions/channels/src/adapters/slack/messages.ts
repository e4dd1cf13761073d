/** A message of Slack in the words of channels. */
import type { Changed, Incoming } from '../adapter.js';

/** What comes in `event` of an envelope, and in a history. */
export interface SlackMessage {
  readonly type?: string;
  readonly subtype?: string;
  readonly channel?: string;
  readonly channel_type?: string;
  readonly user?: string;
  readonly bot_id?: string;
  readonly text?: string;
  readonly ts?: string;
  readonly thread_ts?: string;
  readonly parent_user_id?: string;
  readonly deleted_ts?: string;
  readonly message?: SlackMessage;
  readonly files?: ReadonlyArray<{ readonly name?: string; readonly permalink?: string }>;
  readonly latest_reply?: string;
}

export interface SlackBot {
  readonly userId: string;
  readonly botId: string;
}

/** Written by people; others are notes, such as that somebody joined. */
const WRITTEN: ReadonlySet<string | undefined> = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

const plain = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

/** Slack's marks in plain words: mentions, channels, links; the bot's own name goes. */
export const textOf = ({ text = '', files = [] }: Pick<SlackMessage, 'text' | 'files'>, { userId }: Pick<SlackBot, 'userId'>): string => {
  const read = text.replaceAll(/<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>/g, (_whole, kind: string, target: string, label: string | undefined) => {
    if (kind === '@') return target === userId ? '' : `@${label || target}`;
    if (kind === '#') return `#${label || target}`;
    if (kind === '!') return label || `@${target.replace(/^subteam\^/, '')}`;
    return label === undefined || label === target ? target : `${label} (${target})`;
  });
  return [plain(read).trim(), ...files.map(({ name = 'file', permalink = '' }) => `Attachment: ${name} (${permalink})`)].filter((line) => line !== '').join('\n');
};

export const idOf = (channel: string, ts: string): string => `${channel}:${ts}`;

/** Undefined for what nobody wrote, and for what a program did. `isOurs`: a thread that the bot takes part in. */
export const incomingOf = (event: SlackMessage, bot: SlackBot, isOurs: (channel: string, thread: string) => boolean): Incoming | undefined => {
  const { channel, user, ts, thread_ts: thread, text = '' } = event;
  if (channel === undefined || user === undefined || ts === undefined || event.bot_id !== undefined || user === bot.userId || !WRITTEN.has(event.subtype)) return undefined;
  // Private chats begin with D, whatever the event says of them.
  const isGroup = event.channel_type === undefined ? !channel.startsWith('D') : event.channel_type !== 'im';
  const isMentioned = text.includes(`<@${bot.userId}>`) || text.includes(`<@${bot.userId}|`) || event.parent_user_id === bot.userId || (thread !== undefined && isOurs(channel, thread));
  return {
    id: idOf(channel, ts),
    chat: channel,
    // In a channel, a mention begins a thread: the answer stands there, and what follows.
    ...(thread !== undefined ? { thread } : isGroup ? { thread: ts } : {}),
    sender: user,
    text: textOf(event, bot),
    isGroup,
    isMentioned,
  };
};

/** What an edit or a deletion says; undefined for any other event. */
export const changeOf = ({ subtype, channel, deleted_ts: deleted, message }: SlackMessage, bot: SlackBot): Changed | undefined => {
  if (channel === undefined) return undefined;
  if (subtype === 'message_deleted' && deleted !== undefined) return { id: idOf(channel, deleted), text: undefined };
  // A tombstone stands for a deleted message that has replies.
  if (subtype === 'message_changed' && message?.ts !== undefined) return { id: idOf(channel, message.ts), text: message.subtype === 'tombstone' ? undefined : textOf(message, bot) };
  return undefined;
};
