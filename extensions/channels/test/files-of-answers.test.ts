/** A picture that an agent makes arrives in the chat that asked for it: on Telegram, Discord and Slack. */
import { type DiscordServer, startDiscordServer } from '@svc/fixtures/channels/discord-server';
import { type SlackServer, startSlackServer } from '@svc/fixtures/channels/slack-server';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { MEDIA_KEYS, type MediaServer, startMediaServer } from '@svc/fixtures/providers/media-server';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { until } from './channel-kit.js';

const KEY = 'files-root-key';
const TOKENS = { app: 'xapp-1-of-files', bot: 'xoxb-1-of-files' };
const PNG_HEAD = '89504e47';

describe('channels: files of answers', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let media: MediaServer;
  let telegram: TelegramServer;
  let discord: DiscordServer;
  let slack: SlackServer;

  before(async () => {
    [media, telegram, discord, slack] = await Promise.all([startMediaServer(), startTelegramServer('7:files'), startDiscordServer('files'), startSlackServer(TOKENS)]);
    world = await bootWithModel(
      ({ body }) =>
        body.messages.slice(-2).some(({ role }: { role: string }) => role === 'tool')
          ? { text: 'Here it is.' }
          : { toolCalls: [{ name: 'image_generate', args: { prompt: 'a kettle', provider: 'minimax' } }] },
      { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY, env: { MINIMAX_API_KEY: MEDIA_KEYS.minimax ?? '' } },
    );
    await world.http.expect(200, 'PUT', '/api/providers/minimax/url', { url: `${media.url}/minimax` });
    await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'painter', capabilities: { media_create: true } } });
    const configure = (name: string, fields: object) => world.http.expect(200, 'POST', `/api/channels/${name}/configure`, { fields: { default_agent: 'painter', dm_policy: 'respond', ...fields } });
    await configure('telegram', { bot_token_env: '7:files', api_url: telegram.url });
    await configure('discord', { bot_token_env: 'files', api_url: discord.url });
    await configure('slack', { app_token_env: TOKENS.app, bot_token_env: TOKENS.bot, api_url: slack.url });
  });
  after(async () => {
    await stopModelKernels();
    await Promise.all([media.close(), telegram.close(), discord.close(), slack.close()]);
  });

  const connected = (name: string) => until(async () => (await world.http.expect(200, 'GET', `/api/channels/${name}`)).body.state === 'connected', `${name} is connected`);
  const headOf = (bytes: Buffer): string => bytes.subarray(0, 4).toString('hex');

  it('O5 a picture arrives behind the words, once, and its delivery is listed', async () => {
    await Promise.all(['telegram', 'discord', 'slack'].map(connected));
    telegram.write('paint a kettle');
    discord.write('paint a kettle');
    slack.write('paint a kettle');
    await until(() => telegram.files.length > 0 && discord.files.length > 0 && slack.files[0]?.channel === 'D1', 'three pictures');
    const [photo, attachment, file] = [telegram.files[0], discord.files[0], slack.files[0]];
    expect([photo?.chat, photo?.method, headOf(photo?.bytes ?? Buffer.alloc(0))]).to.deep.equal(['7', 'sendPhoto', PNG_HEAD]);
    expect([attachment?.channel, attachment?.field, headOf(attachment?.bytes ?? Buffer.alloc(0))]).to.deep.equal(['701', 'files[0]', PNG_HEAD]);
    expect([file?.channel, headOf(file?.bytes ?? Buffer.alloc(0))]).to.deep.equal(['D1', PNG_HEAD]);
    expect([telegram.sent.at(-1)?.text, discord.posted[0]?.content, slack.posted[0]?.text]).to.deep.equal(['Here it is.', 'Here it is.', 'Here it is.']);
    const sent = await until(async () => {
      const { deliveries } = (await world.http.expect(200, 'GET', '/api/channels/deliveries?direction=outbound&status=sent')).body;
      return deliveries.length === 6 && deliveries;
    }, 'six deliveries');
    expect(sent.filter(({ message }: { message: string }) => message === 'image-a-kettle.png').length).to.equal(3);
  });
});
