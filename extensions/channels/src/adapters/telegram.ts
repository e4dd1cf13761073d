/**
 * Telegram: bots over long polling (core.telegram.org/bots/api).
 *
 * T1  An update is acknowledged, by the offset of the next poll, when it is stored.
 * T2  409 (another program polls with the token, or a webhook is set) is a state, and polling goes on.
 * T3  Nothing that a bot wrote is answered, this one's own messages among them.
 * T4  Text is sent as HTML; where Telegram cannot read that, as plain text.
 */
import { isSvcError } from '@svc/api';
import { listField, numberField, textField } from '../account.js';
import { TELEGRAM } from '../document/formats.js';
import { type Adapter, ChannelFault, type Connection, type Incoming } from './adapter.js';
import { type Form, formOf } from './form.js';
import { faultOfStatus, request, withoutSlash } from './http.js';

const SECOND_MS = 1_000;
const POLL_SECS = 25;
const FILE_MS = 120_000;
const API = 'https://api.telegram.org';

interface Chat {
  readonly id: number;
  readonly type: string;
}
interface Message {
  readonly message_id: number;
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
  readonly from?: { readonly id: number; readonly is_bot: boolean; readonly first_name: string; readonly last_name?: string; readonly username?: string };
  readonly chat: Chat;
  readonly text?: string;
  readonly caption?: string;
  readonly reply_to_message?: { readonly from?: { readonly id: number } };
}
interface Update {
  readonly update_id: number;
  readonly message?: Message;
  readonly edited_message?: Message;
}
interface Answer<T> {
  readonly ok: boolean;
  readonly result?: T;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}
interface Bot {
  readonly id: number;
  readonly username?: string;
}

const base = (connection: Pick<Connection, 'account'>): string => withoutSlash(textField(connection.account, 'api_url') || API);

const isForm = (body: object): body is Form => 'bytes' in body && body.bytes instanceof Uint8Array;

/** How Telegram shows a file: the method that sends it, and its field. */
const SHOWN: ReadonlyArray<readonly [type: RegExp, method: string, field: string]> = [
  [/^image\/(?:png|jpeg|webp)$/, 'sendPhoto', 'photo'],
  [/^audio\/ogg$/, 'sendVoice', 'voice'],
  [/^audio\/(?:mpeg|mp4|m4a)$/, 'sendAudio', 'audio'],
  [/^video\/mp4$/, 'sendVideo', 'video'],
  [/^/, 'sendDocument', 'document'],
];

const call = async <T>(connection: Connection, method: string, body: object | Form, timeoutMs = 30 * SECOND_MS): Promise<T> => {
  const response = await request(connection, `${base(connection)}/bot{token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': isForm(body) ? body.type : 'application/json' },
    body: isForm(body) ? body.bytes : JSON.stringify(body),
    timeoutMs,
    secretPath: { token: connection.secret('bot_token_env') },
  });
  const answer = (await response.json().catch((error: unknown) => {
    if (isSvcError(error) && error.code === 'fetch_bad_body') return { ok: false, error_code: response.status, description: '' };
    throw error;
  })) as Answer<T>; // the platform's own form
  if (answer.ok && answer.result !== undefined) return answer.result;
  const status = answer.error_code ?? response.status;
  const waitMs = answer.parameters?.retry_after === undefined ? undefined : answer.parameters.retry_after * SECOND_MS;
  if (status === 409)
    throw new ChannelFault(
      `Telegram answered 409: ${answer.description ?? 'conflict'}`,
      'Another program polls with the same token, or a webhook is set for it. Stop the other program, or give this channel a bot of its own. svc goes on trying.',
    );
  if (status === 401 || status === 404) throw new ChannelFault(`Telegram does not know the token (${status})`, 'Get a valid token from @BotFather and configure the channel again.');
  throw faultOfStatus('Telegram', status, answer.description ?? '', waitMs);
};

const nameOf = ({ first_name: first, last_name: last, username }: NonNullable<Message['from']>): string => [first, last].filter(Boolean).join(' ') || username || '';

const incomingOf = (bot: Bot, update: Update): Incoming | undefined => {
  const message = update.message;
  const text = message?.text ?? message?.caption;
  if (!message?.from || message.from.is_bot || text === undefined) return undefined;
  const isGroup = message.chat.type !== 'private';
  const mention = bot.username === undefined ? undefined : `@${bot.username}`;
  const isMentioned = (mention !== undefined && text.toLowerCase().includes(mention.toLowerCase())) || message.reply_to_message?.from?.id === bot.id || text.startsWith('/');
  return {
    id: `${message.chat.id}:${message.message_id}`,
    chat: String(message.chat.id),
    ...(message.is_topic_message && message.message_thread_id !== undefined ? { thread: String(message.message_thread_id) } : {}),
    sender: String(message.from.id),
    senderName: nameOf(message.from),
    text: mention === undefined ? text : text.replaceAll(new RegExp(`${mention}\\b`, 'gi'), '').trim(),
    isGroup,
    isMentioned,
    facts: isGroup ? { reply: String(message.message_id) } : {},
    place: String(update.update_id + 1),
  };
};

export const telegram: Adapter = {
  id: 'telegram',
  maxLength: 4_096,
  format: TELEGRAM,
  isKeyed: false,
  namesSenders: true,
  dmPolicy: 'allowed_only',
  description: 'A bot of Telegram, in private chats and in groups.',
  difficulty: 'Easy',
  setupTime: '~2 min',
  steps: ['Open @BotFather in Telegram and send /newbot.', 'Copy the token that it gives you.', 'Paste the token here.', 'Write to your bot, and allow yourself with the code that it answers.'],
  origins: (account) => [withoutSlash(textField(account, 'api_url') || API)],
  fault: ({ api_url: url }) => (url === undefined || /^https?:\/\/[^\s/]+/.test(String(url)) ? undefined : 'api_url is not an address'),
  connect: async (connection) => {
    const { account, signal } = connection;
    const bot = await call<Bot>(connection, 'getMe', {});
    connection.alive();
    let offset = Number(connection.place ?? 0);
    const pauseMs = numberField(account, 'poll_interval_secs', 0) * SECOND_MS;
    while (!signal.aborted) {
      const begun = connection.clock.now();
      const updates = await call<Update[]>(connection, 'getUpdates', { offset, timeout: POLL_SECS, allowed_updates: ['message'] }, (POLL_SECS + 10) * SECOND_MS);
      connection.alive();
      for (const update of updates) {
        const message = incomingOf(bot, update);
        if (message) await connection.receive(message);
        offset = update.update_id + 1;
      }
      // A server that never waits would be asked without end.
      const leastMs = updates.length === 0 ? Math.max(pauseMs, SECOND_MS - (connection.clock.now() - begun)) : pauseMs;
      if (leastMs > 0) await connection.clock.sleep(leastMs, signal);
    }
  },
  send: async (connection, { chat, thread, text, formatted, facts }) => {
    const address = {
      chat_id: /^-?\d+$/.test(chat) ? Number(chat) : chat,
      ...(thread === undefined ? {} : { message_thread_id: Number(thread) }),
      ...(facts.reply === undefined ? {} : { reply_parameters: { message_id: Number(facts.reply), allow_sending_without_reply: true } }),
    };
    const post = (body: object) => call<{ readonly message_id: number }>(connection, 'sendMessage', { ...address, ...body });
    const { message_id: id } = await post(formatted === undefined ? { text } : { text: formatted, parse_mode: 'HTML' }).catch((error: unknown) => {
      // What its parser does not read is still an answer: nothing was sent yet.
      if (error instanceof ChannelFault && error.message.includes("can't parse entities")) return post({ text });
      throw error;
    });
    return `${chat}:${id}`;
  },
  sendFile: async (connection, { chat, thread }, file) => {
    const [, method, field] = SHOWN.find(([type]) => type.test(file.mediaType)) ?? [/^/, 'sendDocument', 'document'];
    const { message_id: id } = await call<{ readonly message_id: number }>(connection, method, formOf({ chat_id: chat, message_thread_id: thread }, field, file), FILE_MS);
    return `${chat}:${id}`;
  },
  check: async (connection) => {
    const { username } = await call<Bot>(connection, 'getMe', {});
    const allowed = listField(connection.account, 'allowed_users').length;
    return `Telegram knows the bot${username === undefined ? '' : ` @${username}`}.${allowed > 0 ? ` ${allowed} people are allowed by the settings.` : ''}`;
  },
};
