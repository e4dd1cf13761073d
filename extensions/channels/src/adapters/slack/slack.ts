/**
 * Slack: an app in socket mode, in channels, threads and private chats. No public address is needed; with one, Slack can call svc instead.
 *
 * L1  In a channel, the answer to a mention stands in a thread below it, and what is written there goes on without a mention.
 */
import { parsedUrl } from '@svc/api';
import { type Account, textField } from '../../account.js';
import { SLACK } from '../../document/formats.js';
import { type Adapter, ChannelFault, type Connection } from '../adapter.js';
import { faultOfStatus, request } from '../http.js';
import { acceptSlack, beCalled, isCalled } from './events.js';
import type { SlackBot } from './messages.js';
import { createSlackReader } from './reader.js';
import { playSocketMode } from './socket.js';
import { slackApi, slackCall } from './web-api.js';

const SECOND_MS = 1_000;
/** Where Slack wants the bytes of files. */
const FILES = 'https://files.slack.com';
/** A connection that lasted so long was a good one. */
const STEADY_MS = 10_000;
const FILE_MS = 120_000;

/** With an address of one's own, the socket is there too. */
const originsOf = (account: Account): string[] => {
  const own = parsedUrl(textField(account, 'api_url'));
  return [slackApi({ account }), ...(own ? [own.origin, `ws://${own.host}`, `wss://${own.host}`] : [FILES])];
};

interface Self {
  readonly user_id: string;
  readonly bot_id?: string;
  readonly user?: string;
  readonly team?: string;
}

const listen = async (connection: Connection): Promise<void> => {
  const { clock, ids, signal } = connection;
  const self = await slackCall<Self>(connection, 'auth.test', {});
  connection.alive();
  const bot: SlackBot = { userId: self.user_id, botId: self.bot_id ?? '' };
  const reader = createSlackReader(connection, bot);
  if (await isCalled(connection)) {
    reader.catchUp();
    return beCalled(connection);
  }
  let lostAt = 0;
  while (!signal.aborted) {
    const begun = clock.now();
    await playSocketMode(connection, reader.event, reader.catchUp);
    if (signal.aborted) return;
    // Connections of Slack end now and then; two that end at once are a fault.
    if (clock.now() - lostAt < STEADY_MS && clock.now() - begun < STEADY_MS) throw new ChannelFault('Slack closed the connection', 'svc connects again. Check slack-status.com and the network.');
    lostAt = clock.now();
    await clock.sleep(SECOND_MS * ids.random(), signal);
  }
};

export const slack: Adapter = {
  id: 'slack',
  maxLength: 3_000,
  format: SLACK,
  isKeyed: false,
  namesSenders: true,
  dmPolicy: 'allowed_only',
  description: 'An app of Slack, in channels, threads and private chats.',
  difficulty: 'Medium',
  setupTime: '~5 min',
  steps: [
    'Create an app at api.slack.com/apps and switch on Socket Mode; copy the app-level token (xapp-…) with the scope connections:write.',
    'On the page OAuth & Permissions add the bot scopes app_mentions:read, channels:history, groups:history, im:history, mpim:history, channels:read, groups:read, im:read, mpim:read, chat:write, files:write and users:read.',
    'On the page Event Subscriptions add the bot events app_mention, message.channels, message.groups, message.im and message.mpim; on App Home allow messages to the app.',
    'Install the app, copy the bot token (xoxb-…), and paste both tokens here.',
    'Where svc has a public https address, Slack can call it in place of Socket Mode: store the signing secret of the page Basic Information here, and enter the address with /api/channels/slack/webhook as the Request URL of Event Subscriptions.',
    'Invite the bot to a channel, or write to it, and allow yourself with the code that it answers.',
  ],
  accept: acceptSlack,
  origins: originsOf,
  fault: ({ api_url: url }) => (url === undefined || /^https?:\/\/[^\s/]+/.test(String(url)) ? undefined : 'api_url is not an address'),
  connect: listen,
  send: async (connection, { chat, thread, text, formatted = text }) => {
    const channel = chat.replace(/^user:/, '');
    const { ts, channel: where } = await slackCall<{ readonly ts: string; readonly channel: string }>(connection, 'chat.postMessage', {
      channel,
      text: formatted,
      unfurl_links: 'false',
      unfurl_media: 'false',
      ...(thread === undefined ? {} : { thread_ts: thread }),
    });
    return `${where}:${ts}`;
  },
  sendFile: async (connection, { chat, thread }, { name, data }) => {
    const { upload_url: url, file_id: id } = await slackCall<{ readonly upload_url: string; readonly file_id: string }>(connection, 'files.getUploadURLExternal', {
      filename: name,
      length: String(data.length),
    });
    const response = await request(connection, url, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: data, timeoutMs: FILE_MS });
    response.cancel();
    if (response.status >= 300) throw faultOfStatus('Slack', response.status, 'the file was not taken');
    await slackCall(connection, 'files.completeUploadExternal', { files: JSON.stringify([{ id, title: name }]), channel_id: chat, ...(thread === undefined ? {} : { thread_ts: thread }) });
    return `${chat}:${id}`;
  },
  check: async (connection) => {
    const { user, team } = await slackCall<Self>(connection, 'auth.test', {});
    if (await isCalled(connection)) return `Slack knows the bot ${user ?? ''} of ${team ?? 'the workspace'}. It calls /api/channels/slack/webhook.`;
    await slackCall(connection, 'apps.connections.open', {}, 'app_token_env');
    return `Slack knows the bot ${user ?? ''} of ${team ?? 'the workspace'}, and lets it use socket mode.`;
  },
};
