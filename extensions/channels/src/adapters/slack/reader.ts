/**
 * What Slack's events mean, and how far everything was read.
 *
 * Y1  A message is known by its channel and its time: `message` and `app_mention` of one are one, and so is what Slack sends again.
 * Y2  After a pause, channels, private chats and threads of the bot are read from the newest message that was stored before it; nothing older than a week.
 */
import { isSvcError } from '@svc/api';
import { listField } from '../../account.js';
import { ChannelFault, type Connection } from '../adapter.js';
import { changeOf, incomingOf, type SlackBot, type SlackMessage } from './messages.js';
import { slackCall } from './web-api.js';

const WEEK_SECS = 7 * 86_400;
const SECOND_MS = 1_000;
const NAME_MS = 2_000;
const MOST_NAMES = 5_000;
const MOST_THREADS = 50;
const MOST_CHATS = 500;
const MOST_PAGES = 10;

interface Place {
  /** The newest message that was seen anywhere, as Slack writes times. */
  readonly seen: string;
  /** Threads that the bot answers in, newest first: `channel:time`. */
  readonly threads: readonly string[];
}

export interface SlackReader {
  event(event: unknown): Promise<void>;
  /** Begins to read what was missed, beside what comes. */
  catchUp(): void;
}

const newer = (a: string, b: string): string => (Number(a) >= Number(b) ? a : b);

const placeOf = (text: string | undefined, nowSecs: number): Place => {
  const { seen, threads = [] } = (text?.startsWith('{') ? JSON.parse(text) : {}) as Partial<Place>; // written by `place`
  return { seen: seen === undefined ? nowSecs.toFixed(6) : newer(seen, (nowSecs - WEEK_SECS).toFixed(6)), threads };
};

interface Page {
  readonly messages?: readonly SlackMessage[];
  readonly channels?: ReadonlyArray<{ readonly id: string; readonly is_im?: boolean }>;
  readonly response_metadata?: { readonly next_cursor?: string };
}

export const createSlackReader = (connection: Connection, bot: SlackBot): SlackReader => {
  const { clock, log, signal } = connection;
  const allowed = listField(connection.account, 'allowed_channels');
  const names = new Map<string, string>();
  const first = placeOf(connection.place, clock.now() / SECOND_MS);
  let { threads } = first;
  let newest = first.seen;
  let base = first.seen;
  let behind = 0;

  const place = (): string => JSON.stringify({ seen: behind > 0 ? base : newest, threads } satisfies Place);
  const isOurs = (channel: string, thread: string): boolean => threads.includes(`${channel}:${thread}`);
  const nameOf = async (user: string): Promise<string | undefined> => {
    const known = names.get(user);
    if (known !== undefined) return known === '' ? undefined : known;
    // A name is good to have, and no reason to wait or to fail: the scope for it may be missing.
    const { user: found } = await slackCall<{ readonly user?: SlackUser }>(connection, 'users.info', { user }, 'bot_token_env', NAME_MS).catch(() => ({ user: undefined }));
    if (names.size >= MOST_NAMES) names.clear();
    names.set(user, found?.profile?.display_name || found?.real_name || found?.name || '');
    return names.get(user) || undefined;
  };
  const receive = async (event: SlackMessage, isLive: boolean): Promise<void> => {
    if (allowed.length > 0 && !allowed.includes(event.channel ?? '') && !(event.channel ?? '').startsWith('D')) return;
    const incoming = incomingOf(event, bot, isOurs);
    if (isLive && event.ts !== undefined) newest = newer(newest, event.ts);
    if (!incoming) return;
    const { thread } = incoming;
    if (thread !== undefined && incoming.isMentioned) threads = [`${incoming.chat}:${thread}`, ...threads.filter((one) => one !== `${incoming.chat}:${thread}`)].slice(0, MOST_THREADS);
    const senderName = await nameOf(incoming.sender);
    await connection.receive({ ...incoming, ...(senderName === undefined ? {} : { senderName }), ...(isLive ? { place: place() } : {}) });
  };
  const pages = async (method: string, fields: Readonly<Record<string, string>>, take: (page: Page) => Promise<void>): Promise<void> => {
    let cursor = '';
    for (let page = 0; page < MOST_PAGES && !signal.aborted; page += 1) {
      const found = await patiently(connection, () => slackCall<Page>(connection, method, { ...fields, limit: '200', ...(cursor === '' ? {} : { cursor }) }));
      await take(found);
      cursor = found.response_metadata?.next_cursor ?? '';
      if (cursor === '') return;
    }
  };
  /** Newest first over all pages, as Slack gives them; received in the order in which they were written. */
  const readChat = async (method: 'conversations.history' | 'conversations.replies', fields: { readonly channel: string; readonly ts?: string }, since: string): Promise<void> => {
    const found: SlackMessage[] = [];
    await pages(method, { ...fields, oldest: since }, async ({ messages = [] }) => void found.push(...messages));
    const missed = found.filter(({ ts = '0' }) => Number(ts) > Number(since)).sort((a, b) => Number(a.ts) - Number(b.ts));
    for (const message of missed) await receive({ ...message, channel: fields.channel }, false);
  };
  const readAll = async (since: string): Promise<void> => {
    const chats: string[] = [];
    await pages('users.conversations', { types: 'public_channel,private_channel,mpim,im', exclude_archived: 'true' }, async ({ channels = [] }) => void chats.push(...channels.map(({ id }) => id)));
    const ofThreads = [...threads];
    for (const channel of chats.slice(0, MOST_CHATS)) await readable(() => readChat('conversations.history', { channel }, since), channel);
    for (const thread of ofThreads) {
      const [channel = '', ts = ''] = thread.split(':');
      await readable(() => readChat('conversations.replies', { channel, ts }, since), thread);
    }
  };
  /** A scope may be missing for one kind of chat; the others are read. */
  const readable = async (work: () => Promise<void>, where: string): Promise<void> => {
    try {
      await work();
    } catch (cause) {
      if (signal.aborted || !(cause instanceof ChannelFault || isSvcError(cause))) throw cause;
      log.warn('What was written on Slack while svc was away could not be read.', { channel: connection.account.name, where, cause });
    }
  };
  return {
    event: async (given) => {
      const event = (given ?? {}) as SlackMessage; // the platform's own form
      if (event.type !== 'message' && event.type !== 'app_mention') return;
      const change = changeOf(event, bot);
      if (change) await connection.change(change);
      else await receive(event, true);
    },
    catchUp: () => {
      const since = newest;
      if (behind === 0) base = since;
      behind += 1;
      readable(() => readAll(since), 'all chats')
        .then(async () => {
          behind -= 1;
          await connection.remember(place());
        })
        .catch((cause: unknown) => {
          // `behind` stays: the place from before is what the next connection begins with.
          if (!signal.aborted) log.warn('How far Slack was read is not stored.', { channel: connection.account.name, cause });
        });
    },
  };
};

interface SlackUser {
  readonly name?: string;
  readonly real_name?: string;
  readonly profile?: { readonly display_name?: string };
}

/** Waits as long as Slack asks. */
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
