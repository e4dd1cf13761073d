/** What an agent makes arrives in the chat that asked for it: a picture, a voice, and a video that comes after the answer. */
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
const OGG = Buffer.concat([Buffer.from('OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1'), Buffer.alloc(100)]);
const STILL_AT_IT = { body: { status: 'Processing', base_resp: { status_code: 0 } } };
const PRICES = 'prices = { "minimax/image-01" = 0.5, "elevenlabs/eleven_multilingual_v2" = 0.01, "minimax/MiniMax-Hailuo-2.3" = 0.1, "minimax/music-2.5" = 1 }';
const CALLS = {
  paint: { name: 'image_generate', args: { prompt: 'a kettle', provider: 'minimax' } },
  say: { name: 'text_to_speech', args: { text: 'good night', format: 'opus', provider: 'elevenlabs' } },
  film: { name: 'video_generate', args: { prompt: 'waves', provider: 'minimax' } },
  sing: { name: 'music_generate', args: { prompt: 'a lullaby', provider: 'minimax' } },
};
const wish = (content: unknown): keyof typeof CALLS => (['say', 'film', 'sing'] as const).find((word) => JSON.stringify(content).includes(`${word} `)) ?? 'paint';

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
      ({ body }) => (body.messages.slice(-2).some(({ role }: { role: string }) => role === 'tool') ? { text: 'Here it is.' } : { toolCalls: [CALLS[wish(body.messages.at(-1).content)]] }),
      {
        config: `api_key = "${KEY}"\n${OPEN_RATE}[media]\nvideo_poll_secs = 0.05\n${PRICES}\n`,
        key: KEY,
        env: { MINIMAX_API_KEY: MEDIA_KEYS.minimax ?? '', ELEVENLABS_API_KEY: MEDIA_KEYS.elevenlabs ?? '' },
      },
    );
    await world.http.expect(200, 'PUT', '/api/providers/minimax/url', { url: `${media.url}/minimax` });
    await world.http.expect(200, 'PUT', '/api/providers/elevenlabs/url', { url: `${media.url}/elevenlabs` });
    await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'painter', capabilities: { media_create: true }, resources: { max_cost_per_hour_usd: 3.6 } } });
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

  const sent = (status: string) => world.http.expect(200, 'GET', `/api/channels/deliveries?direction=outbound&channel=telegram&status=${status}`);
  /** Answers with the id of the video, once the agent has it. */
  const film = async (chat: number): Promise<string> => {
    const begun = (): string[] => world.model.requests.flatMap(({ body }) => /Began the video ([0-9a-f-]{36})/.exec(JSON.stringify(body.messages.at(-1)))?.[1] ?? []);
    const before = begun().length;
    telegram.write('film the sea', { chat });
    return until(() => begun()[before], 'the video is begun');
  };
  const ended = (task: string, status: string) =>
    until(async () => (await world.http.expect(200, 'GET', `/api/media/video/${task}?provider=minimax`)).body.status === status, `the video is ${status}`);

  it('O5 a voice arrives as one, and a video that comes after its run', async () => {
    media.answer('/21m00Tcm4TlvDq8ikWAM', { headers: { 'content-type': 'audio/ogg' }, body: OGG });
    telegram.write('say good night', { chat: 8 });
    const voice = await until(() => telegram.files.find(({ chat }) => chat === '8'), 'the voice');
    expect([voice.method, voice.bytes.equals(OGG)]).to.deep.equal(['sendVoice', true]);
    media.answer('/query/video_generation', STILL_AT_IT);
    const task = await film(9);
    await until(() => telegram.sent.some(({ chat_id: id }) => id === 9), 'the words before the video');
    expect(telegram.files.some(({ chat }) => chat === '9')).to.equal(false);
    media.answer('/query/video_generation', undefined);
    const video = await until(() => telegram.files.find(({ chat }) => chat === '9'), 'the video');
    expect([video.method, video.name]).to.deep.equal(['sendVideo', 'video-waves.mp4']);
    await ended(task, 'completed');
    await until(async () => (await sent('sent')).body.deliveries.some(({ message }: { message: string }) => message === 'video-waves.mp4'), 'its delivery is sent');
    expect(telegram.files.filter(({ chat }) => chat === '9').length).to.equal(1);
  });

  it('T5 a video that cannot be delivered is made all the same, one that failed is said, and all of it counts under the limit', async () => {
    telegram.fail('sendVideo', { code: 400, description: 'Bad Request: wrong file' });
    await ended(await film(10), 'completed');
    const failed = await until(async () => (await sent('failed')).body.deliveries[0], 'the delivery that failed');
    expect(failed).to.include({ chat: '10', message: 'video-waves.mp4' });
    media.answer('/query/video_generation', { body: { status: 'Fail', base_resp: { status_code: 0 } } });
    await ended(await film(11), 'failed');
    await until(() => telegram.sent.some(({ chat_id: id, text }) => id === 11 && text.includes('could not be made')), 'the sender is told');
    media.answer('/query/video_generation', undefined);
    const spent = async (): Promise<number> => {
      const { body } = await world.http.expect(200, 'GET', '/api/budget/agents');
      return body.find(({ name, agent_name: other }: Record<string, string>) => (name ?? other) === 'painter').today_cost_usd;
    };
    // Three pictures, a voice of ten characters, and two videos of six seconds; nothing for the one that failed.
    expect(await spent())
      .to.be.greaterThan(2.8)
      .and.lessThan(2.85);
    const { models } = (await world.http.expect(200, 'GET', '/api/usage/by-model')).body;
    const costs = Object.fromEntries(models.map(({ model, cost_usd: cost }: { model: string; cost_usd: number }) => [model, cost]));
    expect([costs['image-01'], costs.eleven_multilingual_v2, costs['MiniMax-Hailuo-2.3']]).to.deep.equal([1.5, 0.1, 1.2]);
    const before = media.requests.length;
    telegram.write('sing me to sleep', { chat: 12 });
    const refused = await until(() => world.model.requests.find(({ body }) => JSON.stringify(body.messages).includes('may spend 3.6 USD')), 'the limit refuses it');
    expect([refused !== undefined, media.requests.length]).to.deep.equal([true, before]);
  });
});
