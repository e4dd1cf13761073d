/**
 * What the events of the gateway mean: messages, edits, deletions, and how far everything was read.
 *
 * H1  After a pause that could not be resumed, each chat is read from the newest id that was stored before it; the id moves on when that is done.
 * H2  Nothing from before the channel was set up is answered, and nothing that is older than a week.
 */
import type {
  APIChannel,
  APIMessage,
  GatewayGuildCreateDispatchData,
  GatewayMessageCreateDispatchData,
  GatewayMessageDeleteBulkDispatchData,
  GatewayMessageUpdateDispatchData,
  GatewayReadyDispatchData,
} from 'discord-api-types/v10';
import { listField } from '../../account.js';
import { ChannelFault, type Connection } from '../adapter.js';
import type { Listener, Session } from './gateway.js';
import { incomingOf, type Spot, textOf } from './messages.js';
import type { DiscordRest } from './rest.js';
import { isAfter, isSnowflake, newestOf, snowflakeAt } from './snowflake.js';

const WEEK_MS = 7 * 86_400_000;
const PAGE = 100;
const MOST_PAGES = 20;
const MOST_DMS = 100;
const MOST_SPOTS = 10_000;
/** For servers that Discord names and does not send. */
const GUILDS_MS = 30_000;
const THREADS: ReadonlySet<number> = new Set([10, 11, 12]);

interface Place {
  readonly session?: Session;
  /** The newest message that was seen anywhere. */
  readonly seen: string;
  /** Private chats, newest first: no event lists them. */
  readonly dms: readonly string[];
}

export interface Reader extends Listener {
  forget(): void;
}

/** What `connections` holds. Text of an earlier form is nothing. */
export const placeOf = (text: string | undefined, now: number): Place => {
  const floor = snowflakeAt(now - WEEK_MS);
  const { session, seen, dms = [] } = (text?.startsWith('{') ? JSON.parse(text) : {}) as Partial<Place>; // written by `place`
  return { ...(session ? { session } : {}), seen: isSnowflake(seen) ? newestOf(seen, floor) : snowflakeAt(now), dms };
};

export const createReader = (connection: Connection, rest: DiscordRest, botId: string): Reader => {
  const { clock, log, signal } = connection;
  const guildsAllowed = listField(connection.account, 'allowed_guilds');
  const roles = new Set<string>();
  const bot = { id: botId, roles };
  const spots = new Map<string, Spot>();
  const first = placeOf(connection.place, clock.now());
  let { session, dms } = first;
  let newest = first.seen;
  /** From where chats are read after a new session. */
  let base = first.seen;
  const unsent = new Set<string>();
  let behind = 0;
  let chain: Promise<void> = Promise.resolve();

  // As long as chats are read, a crash begins with them again: no session, and the id from before.
  const place = (): string => JSON.stringify(behind > 0 || unsent.size > 0 ? { seen: base, dms } : { ...(session ? { session } : {}), seen: newest, dms });
  const inTurn = (what: string, work: () => Promise<void>): void => {
    behind += 1;
    chain = chain
      .then(() => (signal.aborted ? undefined : work()))
      .catch((cause: unknown) => {
        if (!signal.aborted) log.warn('What was written while svc was away could not be read.', { channel: connection.account.name, where: what, cause });
      })
      .then(() => {
        behind -= 1;
      })
      .then(() => (signal.aborted ? undefined : connection.remember(place())))
      .catch((cause: unknown) => log.warn('How far a channel was read is not stored; svc stores it with the next message.', { cause }));
  };
  const spotOf = async (id: string, guild: string | undefined): Promise<Spot> => {
    const known = spots.get(id);
    if (known || guild === undefined) return known ?? { chat: id };
    const channel = await rest.call<APIChannel>(connection, 'GET', `/channels/${id}`).catch((error: unknown) => {
      // It may be written in and not be looked at.
      if (error instanceof ChannelFault && error.retry === 'never') return undefined;
      throw error;
    });
    return keep(channel ?? { id, type: 0 });
  };
  const keep = (channel: { readonly id: string; readonly type: number; readonly parent_id?: string | null }): Spot => {
    const spot = THREADS.has(channel.type) && channel.parent_id ? { chat: channel.parent_id, thread: channel.id } : { chat: channel.id };
    if (spots.size >= MOST_SPOTS) spots.clear();
    spots.set(channel.id, spot);
    return spot;
  };
  const receive = async (message: APIMessage, guild: string | undefined, isLive: boolean): Promise<void> => {
    if (guild !== undefined && guildsAllowed.length > 0 && !guildsAllowed.includes(guild)) return;
    if (guild === undefined) dms = [message.channel_id, ...dms.filter((one) => one !== message.channel_id)].slice(0, MOST_DMS);
    const incoming = incomingOf(message, guild, await spotOf(message.channel_id, guild), bot);
    if (isLive) newest = newestOf(newest, message.id);
    if (incoming) await connection.receive(isLive ? { ...incoming, place: place() } : incoming);
  };
  const readChat = async (id: string, guild: string | undefined, since: string): Promise<void> => {
    let after = since;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const found = await patiently(connection, () => rest.call<APIMessage[]>(connection, 'GET', `/channels/${id}/messages?after=${after}&limit=${PAGE}`));
      for (const message of [...found].sort((a, b) => (isAfter(a.id, b.id) ? 1 : -1))) {
        await receive(message, guild, false);
        after = newestOf(after, message.id);
      }
      if (found.length < PAGE) return;
    }
  };
  const guildCame = ({ id, channels, threads, roles: known }: GatewayGuildCreateDispatchData, since: string): void => {
    unsent.delete(id);
    for (const role of known) if (role.tags?.bot_id === botId) roles.add(role.id);
    if (guildsAllowed.length > 0 && !guildsAllowed.includes(id)) return;
    for (const channel of [...channels, ...threads]) {
      keep(channel as APIChannel);
      const last = 'last_message_id' in channel ? channel.last_message_id : undefined;
      if (isSnowflake(last) && isAfter(last, since)) inTurn(channel.id, () => readChat(channel.id, id, since));
    }
  };
  const readyCame = ({ session_id: id, resume_gateway_url: url, guilds }: GatewayReadyDispatchData, seq: number): void => {
    const since = newest;
    base = since;
    session = { id, url, seq };
    for (const guild of guilds) unsent.add(guild.id);
    for (const dm of dms) inTurn(dm, () => readChat(dm, undefined, since));
    // Stores the place in any case, once nothing is behind.
    inTurn('servers', async () => undefined);
    clock.sleep(GUILDS_MS, signal).then(
      () => unsent.clear(),
      () => undefined,
    );
  };
  const handle = async (name: string, data: unknown, seq: number): Promise<void> => {
    if (name === 'READY') return readyCame(data as GatewayReadyDispatchData, seq);
    if (name === 'GUILD_CREATE') return guildCame(data as GatewayGuildCreateDispatchData, base);
    if (name === 'THREAD_CREATE' || name === 'CHANNEL_CREATE') return void keep(data as APIChannel);
    if (name === 'MESSAGE_CREATE') return receive(data as APIMessage, (data as GatewayMessageCreateDispatchData).guild_id, true);
    if (name === 'MESSAGE_DELETE') return connection.change({ id: (data as { id: string }).id, text: undefined });
    if (name === 'MESSAGE_DELETE_BULK') {
      for (const id of (data as GatewayMessageDeleteBulkDispatchData).ids) await connection.change({ id, text: undefined });
    } else if (name === 'MESSAGE_UPDATE') {
      const update = data as GatewayMessageUpdateDispatchData;
      // Without a time it is Discord that added a preview of a link.
      if (update.edited_timestamp && typeof update.content === 'string') await connection.change({ id: update.id, text: textOf(update, bot) });
    }
  };
  return {
    session: () => session,
    event: async (name, data, seq) => {
      if (session) session = { ...session, seq };
      await handle(name, data, seq);
    },
    forget: () => {
      session = undefined;
    },
  };
};

/** Waits as long as Discord asks. */
const patiently = async <T>({ clock, signal }: Connection, work: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChannelFault) || error.retry !== 'later' || error.retryAfterMs === undefined) throw error;
      await clock.sleep(error.retryAfterMs, signal);
    }
  }
};
