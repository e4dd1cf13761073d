/**
 * Discord: a bot in servers, threads and private chats.
 *
 * D1  What svc sends bears a nonce that Discord enforces: within a few minutes, the same piece is not posted twice.
 * D2  Agents mention nobody: not even `@everyone` in their text notifies.
 */
import { createHash } from 'node:crypto';
import type { APIApplication, APIDMChannel, APIGatewayBotInfo, APIMessage, APIUser } from 'discord-api-types/v10';
import { parsedUrl } from '@svc/api';
import { type Account, numberField, textField } from '../../account.js';
import { DISCORD } from '../../document/formats.js';
import { type Adapter, ChannelFault, type Connection, type Outgoing } from '../adapter.js';
import { formOf } from '../form.js';
import { playGateway } from './gateway.js';
import { createReader } from './reader.js';
import { createDiscordRest, type DiscordRest, discordApi } from './rest.js';

/** Messages in servers and private chats, with their text. */
const USUAL_INTENTS = 37_376;
/** Servers with their channels: without them nothing is known of what was missed. */
const GUILDS = 1;
const NONCE_MS = 120_000;
const NONCE_CHARS = 25;
const SECOND_MS = 1_000;
/** Of an application: it may read the text of messages, in general or in a few servers. */
const READS_TEXT = (1 << 18) | (1 << 19);

const intentsOf = (account: Account): number => numberField(account, 'intents', USUAL_INTENTS) | GUILDS;

/** With an address of one's own, the gateway is there too. */
const originsOf = (account: Account): string[] => {
  const own = parsedUrl(textField(account, 'api_url'));
  return [discordApi({ account }), ...(own ? [`ws://${own.host}`, `wss://${own.host}`] : [])];
};

const gatewayUrl = async (connection: Connection, rest: DiscordRest): Promise<string> => {
  const { url, session_start_limit: limit } = await rest.call<APIGatewayBotInfo>(connection, 'GET', '/gateway/bot');
  if (limit.remaining > 0) return url;
  throw new ChannelFault('the bot has begun too many sessions today', 'Another program may use the same token. svc waits until Discord allows it again.', 'later', limit.reset_after);
};

const listen = async (connection: Connection, rest: DiscordRest): Promise<void> => {
  const { account, clock, ids, signal } = connection;
  const { id } = await rest.call<APIUser>(connection, 'GET', '/users/@me');
  connection.alive();
  const reader = createReader(connection, rest, id);
  let isFailing = false;
  while (!signal.aborted) {
    const url = reader.session()?.url ?? (await gatewayUrl(connection, rest));
    const end = await playGateway(connection, url, intentsOf(account), reader);
    if (signal.aborted) return;
    if (end.session === 'over') reader.forget();
    // Once is how gateways are; twice without a session in between is a fault.
    if (isFailing && !end.wasReady)
      throw new ChannelFault(`Discord closed the connection (${end.code}${end.reason === '' ? '' : `: ${end.reason}`})`, 'svc connects again. Check discordstatus.com and the network.');
    isFailing = !end.wasReady;
    await clock.sleep(SECOND_MS * (end.session === 'over' ? 1 + 4 * ids.random() : ids.random()), signal);
  }
};

/** A chat, or `user:ID` for the private chat with a person. */
const channelOf = async (connection: Connection, rest: DiscordRest, { chat, thread }: Pick<Outgoing, 'chat' | 'thread'>): Promise<string> => {
  const [, user] = /^user:(\d+)$/.exec(chat) ?? [];
  if (user !== undefined) return (await rest.call<APIDMChannel>(connection, 'POST', '/users/@me/channels', { recipient_id: user })).id;
  const id = thread ?? chat;
  if (/^\d{1,20}$/.test(id)) return id;
  throw new ChannelFault(`"${id}" is no id of Discord`, 'Name a channel by its number, or a person as user:NUMBER. Developer mode in Discord shows them.', 'never');
};

const nonceOf = (key: string): string => createHash('sha256').update(key).digest('base64url').slice(0, NONCE_CHARS);

export const createDiscord = (): Adapter => {
  const rest = createDiscordRest();
  return {
    id: 'discord',
    maxLength: 2_000,
    format: DISCORD,
    isKeyed: true,
    keyedForMs: NONCE_MS,
    namesSenders: true,
    dmPolicy: 'allowed_only',
    description: 'A bot of Discord, in servers, threads and private chats.',
    difficulty: 'Medium',
    setupTime: '~5 min',
    steps: [
      'Create an application at discord.com/developers, and open its page Bot.',
      'Switch on "Message Content Intent" there, and copy the token.',
      'On the page OAuth2, make an address with the scope bot and the rights to view channels, send messages and read their history; open it to invite the bot.',
      'Paste the token here, write to the bot, and allow yourself with the code that it answers.',
    ],
    origins: originsOf,
    fault: ({ api_url: url }) => (url === undefined || /^https?:\/\/[^\s/]+/.test(String(url)) ? undefined : 'api_url is not an address'),
    connect: (connection) => listen(connection, rest),
    send: async (connection, message) => {
      const channel = await channelOf(connection, rest, message);
      const { reply } = message.facts;
      const { id } = await rest.call<APIMessage>(connection, 'POST', `/channels/${channel}/messages`, {
        content: message.formatted ?? message.text,
        nonce: nonceOf(message.key),
        enforce_nonce: true,
        allowed_mentions: { parse: [], replied_user: true },
        ...(reply === undefined || !message.key.endsWith(':0') ? {} : { message_reference: { message_id: reply, fail_if_not_exists: false } }),
      });
      return id;
    },
    sendFile: async (connection, message, file) => {
      const channel = await channelOf(connection, rest, message);
      const payload = JSON.stringify({ nonce: nonceOf(message.key), enforce_nonce: true, allowed_mentions: { parse: [] }, attachments: [{ id: 0, filename: file.name }] });
      const { id } = await rest.call<APIMessage>(connection, 'POST', `/channels/${channel}/messages`, formOf({ payload_json: payload }, 'files[0]', file));
      return id;
    },
    typing: async (connection, to) => void (await rest.call(connection, 'POST', `/channels/${await channelOf(connection, rest, to)}/typing`)),
    check: async (connection) => {
      const { username } = await rest.call<APIUser>(connection, 'GET', '/users/@me');
      const { flags } = await rest.call<APIApplication>(connection, 'GET', '/applications/@me');
      if ((flags & READS_TEXT) === 0)
        throw new ChannelFault('the bot may not read the text of messages', 'Switch on "Message Content Intent" on the page Bot of your application at discord.com/developers.');
      return `Discord knows the bot ${username}.`;
    },
  };
};
