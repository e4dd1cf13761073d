/**
 * Matrix: a bot in rooms of any homeserver.
 *
 * X1  A sync is acknowledged, by the token of the next one, when all its messages are stored. What came while svc was down is fetched, also where the
 *     homeserver leaves a gap. What was written before the channel was set up is not answered.
 * X2  The bot joins rooms that it is invited to, as far as the settings let it; a room that `allowed_rooms` does not name is left alone.
 * X3  Notices and own messages are not answered. A message in a thread is answered in it. An edit by its sender counts until the agent is asked, and a
 *     message that is taken back ends what it began.
 * X4  A message is sent with a transaction id: the homeserver drops the second one.
 */
import { textField, listField } from '../../account.js';
import { MATRIX } from '../../document/formats.js';
import { type Adapter, ChannelFault, type Connection, type Incoming } from '../adapter.js';
import { withoutSlash } from '../http.js';
import { call, type MatrixEvent, type MessageContent, part, type SyncAnswer } from './wire.js';

const SECOND_MS = 1_000;
const SYNC_MS = 30 * SECOND_MS;
/** As long as homeservers are known to remember a transaction. */
const KEYED_MS = 30 * 60 * SECOND_MS;
const MAX_PAGES = 20;
const PAGE = 100;
const MAX_ROOMS = 1_000;
const FILTER = JSON.stringify({
  presence: { types: [] },
  account_data: { types: [] },
  room: {
    account_data: { types: [] },
    ephemeral: { types: [] },
    state: { types: [], lazy_load_members: true },
    timeline: { limit: PAGE, types: ['m.room.message', 'm.room.member', 'm.room.encrypted', 'm.room.redaction'] },
  },
});
const ENCRYPTED = 'I cannot read encrypted messages. Please write to me in a room without encryption.';

interface Bot {
  readonly connection: Connection;
  readonly userId: string;
  /** Whether a room has more than one other person. */
  readonly groups: Map<string, boolean>;
  /** Rooms that were answered that their messages cannot be read. */
  readonly unread: Set<string>;
}

const whoami = async (connection: Connection): Promise<string> => {
  const { user_id: userId } = await call<{ readonly user_id: string }>(connection, 'GET', '/account/whoami');
  const wanted = textField(connection.account, 'user_id');
  if (wanted !== '' && wanted !== userId)
    throw new ChannelFault(`the token belongs to ${userId}, and the channel is for ${wanted}`, 'Configure the channel with the token of that user, or without user_id.');
  return userId;
};

const isAllowedRoom = ({ account }: Connection, room: string): boolean => {
  const rooms = listField(account, 'allowed_rooms');
  return rooms.length === 0 || rooms.includes(room);
};

const answerInvite = async (bot: Bot, room: string, events: readonly MatrixEvent[]): Promise<void> => {
  const { connection, userId } = bot;
  const invitation = events.find(({ type, state_key: key }) => type === 'm.room.member' && key === userId);
  const isDirect = invitation?.content.is_direct === true;
  const policy = textField(connection.account, isDirect ? 'dm_policy' : 'group_policy');
  const doesJoin = isAllowedRoom(connection, room) && policy !== 'ignore';
  await call(connection, 'POST', `/rooms/${part(room)}/${doesJoin ? 'join' : 'leave'}`, {}).catch((error: unknown) => {
    if (!(error instanceof ChannelFault) || error.retry === 'later') throw error;
    // Whoever invited may have taken it back.
    connection.log.warn('An invitation could not be answered.', { channel: connection.account.name, room, problem: error.message });
  });
};

const isGroup = async ({ connection, groups }: Bot, room: string): Promise<boolean> => {
  const known = groups.get(room);
  if (known !== undefined) return known;
  const { joined } = await call<{ readonly joined: Readonly<Record<string, unknown>> }>(connection, 'GET', `/rooms/${part(room)}/joined_members`);
  const found = Object.keys(joined).length > 2;
  if (groups.size >= MAX_ROOMS) groups.clear();
  groups.set(room, found);
  return found;
};

/** What is repeated of the message that is replied to, by older clients. */
const withoutFallback = (body: string): string => {
  const lines = body.split('\n');
  const first = lines.findIndex((line) => !line.startsWith('> '));
  return first > 0 ? lines.slice(lines[first] === '' ? first + 1 : first).join('\n') : body;
};

const threadOf = ({ 'm.relates_to': relation }: MessageContent): string | undefined => (relation?.rel_type === 'm.thread' && typeof relation.event_id === 'string' ? relation.event_id : undefined);

const meant = (userId: string, body: string, { 'm.mentions': mentions }: MessageContent): boolean => {
  if (Array.isArray(mentions?.user_ids) && mentions.user_ids.includes(userId)) return true;
  const lower = body.toLowerCase();
  const name = userId.slice(1, userId.indexOf(':')).toLowerCase();
  return lower.includes(userId.toLowerCase()) || lower.startsWith(`${name}:`) || lower.startsWith(`@${name}`) || body.startsWith('/');
};

const incomingOf = async (bot: Bot, room: string, { event_id: id, sender, content }: MatrixEvent): Promise<Incoming | undefined> => {
  const { msgtype, body, 'm.relates_to': relation } = content;
  if (sender === bot.userId || (msgtype !== 'm.text' && msgtype !== 'm.emote') || typeof body !== 'string') return undefined;
  if (relation?.rel_type === 'm.replace') return undefined;
  const text = relation?.['m.in_reply_to'] && relation.rel_type !== 'm.thread' ? withoutFallback(body) : body;
  const group = await isGroup(bot, room);
  const thread = threadOf(content);
  return {
    id,
    chat: room,
    sender,
    senderName: sender,
    text: text.replaceAll(bot.userId, '').trim(),
    ...(thread === undefined ? {} : { thread }),
    isGroup: group,
    isMentioned: meant(bot.userId, text, content),
    facts: group || thread !== undefined ? { reply: id } : {},
  };
};

const sayUnreadable = async ({ connection, unread }: Bot, room: string): Promise<void> => {
  if (unread.has(room)) return;
  unread.add(room);
  // The same transaction each time: a room is answered once.
  await call(connection, 'PUT', `/rooms/${part(room)}/send/m.room.message/svc-unreadable`, { msgtype: 'm.notice', body: ENCRYPTED }).catch((error: unknown) => {
    connection.log.warn('A room could not be answered that its messages are encrypted.', { channel: connection.account.name, room, cause: error });
  });
};

/** Only who wrote a message may edit it; homeservers do not check that. */
const edit = async ({ connection }: Bot, room: string, { sender, content }: MatrixEvent): Promise<void> => {
  const id = content['m.relates_to']?.event_id;
  const text = content['m.new_content']?.body;
  if (typeof id !== 'string' || typeof text !== 'string') return;
  const original = await call<MatrixEvent>(connection, 'GET', `/rooms/${part(room)}/event/${part(id)}`).catch((error: unknown) => {
    if (error instanceof ChannelFault && error.retry === 'never') return undefined;
    throw error;
  });
  if (original?.sender === sender) await connection.change({ id, text });
};

const take = async (bot: Bot, room: string, event: MatrixEvent): Promise<void> => {
  if (event.type === 'm.room.member') return void bot.groups.delete(room);
  if (event.type === 'm.room.encrypted' && event.sender !== bot.userId) return sayUnreadable(bot, room);
  if (event.type === 'm.room.redaction') {
    const redacted = event.redacts ?? event.content.redacts;
    return typeof redacted === 'string' ? bot.connection.change({ id: redacted, text: undefined }) : undefined;
  }
  if (event.type !== 'm.room.message') return;
  if (event.content['m.relates_to']?.rel_type === 'm.replace') return edit(bot, room, event);
  const message = await incomingOf(bot, room, event);
  if (message) await bot.connection.receive(message);
};

/** What lies between the last sync and this one, oldest first; at most two thousand events. */
const missed = async (connection: Connection, room: string, from: string, since: string): Promise<MatrixEvent[]> => {
  const found: MatrixEvent[] = [];
  let at: string | undefined = from;
  for (let pages = 0; at !== undefined && pages < MAX_PAGES; pages += 1) {
    const query: string = new URLSearchParams({ dir: 'b', from: at, to: since, limit: String(PAGE) }).toString();
    const page: { readonly chunk?: readonly MatrixEvent[]; readonly end?: string } = await call(connection, 'GET', `/rooms/${part(room)}/messages?${query}`);
    found.push(...(page.chunk ?? []));
    at = page.chunk?.length === 0 ? undefined : page.end;
  }
  return found.reverse();
};

const takeAll = async (bot: Bot, { rooms = {} }: SyncAnswer, since: string | undefined): Promise<boolean> => {
  for (const [room, { invite_state: state }] of Object.entries(rooms.invite ?? {})) await answerInvite(bot, room, state?.events ?? []);
  // At the very first there is only what was said before.
  if (since === undefined) return true;
  let hasEvents = false;
  for (const [room, { timeline = {} }] of Object.entries(rooms.join ?? {})) {
    if (!isAllowedRoom(bot.connection, room)) continue;
    const { events = [], limited = false, prev_batch: from } = timeline;
    const older = limited && from !== undefined ? await missed(bot.connection, room, from, since) : [];
    const known = new Set(events.map(({ event_id: id }) => id));
    for (const event of [...older.filter(({ event_id: id }) => !known.has(id)), ...events]) await take(bot, room, event);
    hasEvents ||= events.length > 0;
  }
  return hasEvents;
};

const sync = (connection: Connection, since: string | undefined, waitMs: number): Promise<SyncAnswer> => {
  const query = new URLSearchParams({ filter: FILTER, timeout: String(waitMs), set_presence: 'online', ...(since === undefined ? {} : { since }) });
  return call(connection, 'GET', `/sync?${query}`, undefined, { timeoutMs: waitMs + SYNC_MS });
};

export const matrix: Adapter = {
  id: 'matrix',
  maxLength: 4_096,
  format: MATRIX,
  isKeyed: true,
  keyedForMs: KEYED_MS,
  namesSenders: true,
  dmPolicy: 'allowed_only',
  description: 'A bot in rooms of Matrix, on any homeserver. It reads rooms without encryption.',
  difficulty: 'Easy',
  setupTime: '~3 min',
  steps: [
    'Register a user for the bot on your homeserver.',
    'Copy its access token: in Element under All settings, Help & About.',
    'Enter the address of the homeserver and the token.',
    'Invite the bot to a room without encryption, and write to it.',
  ],
  origins: (account) => [withoutSlash(textField(account, 'homeserver_url'))],
  fault: ({ homeserver_url: url }) => (/^https?:\/\/[^\s/]+/.test(String(url)) ? undefined : 'homeserver_url is no address such as https://matrix.example.org'),
  connect: async (connection) => {
    const { clock, signal } = connection;
    const bot: Bot = { connection, userId: await whoami(connection), groups: new Map(), unread: new Set() };
    connection.alive();
    let since = connection.place;
    while (!signal.aborted) {
      const begun = clock.now();
      const answer = await sync(connection, since, since === undefined ? 0 : SYNC_MS);
      connection.alive();
      const isWorthStoring = await takeAll(bot, answer, since);
      if (isWorthStoring) await connection.remember(answer.next_batch);
      const hasMoved = answer.next_batch !== since;
      since = answer.next_batch;
      // A server that never waits would be asked without end.
      if (!hasMoved && clock.now() - begun < SECOND_MS) await clock.sleep(SECOND_MS, signal);
    }
  },
  send: async (connection, { key, chat, thread, text, formatted, facts }) => {
    if (!chat.startsWith('!')) throw new ChannelFault(`${chat} is not the id of a room`, 'Name a room by its id, such as !abc:example.org. Room settings of Element show it.', 'never');
    const reply = facts.reply === undefined ? {} : { 'm.in_reply_to': { event_id: facts.reply } };
    const relation = thread === undefined ? reply : { rel_type: 'm.thread', event_id: thread, is_falling_back: true, ...reply };
    const { event_id: id } = await call<{ readonly event_id: string }>(connection, 'PUT', `/rooms/${part(chat)}/send/m.room.message/${part(key)}`, {
      msgtype: 'm.text',
      body: text,
      ...(formatted === undefined ? {} : { format: 'org.matrix.custom.html', formatted_body: formatted }),
      'm.mentions': {},
      ...(Object.keys(relation).length === 0 ? {} : { 'm.relates_to': relation }),
    });
    return id;
  },
  check: async (connection) => {
    const userId = await whoami(connection);
    const { joined_rooms: rooms } = await call<{ readonly joined_rooms: readonly string[] }>(connection, 'GET', '/joined_rooms');
    return `The homeserver knows the bot as ${userId}, in ${rooms.length} ${rooms.length === 1 ? 'room' : 'rooms'}.`;
  },
};
