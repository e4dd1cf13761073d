/**
 * A sidecar that hosts an adapter of the Chat SDK, which others keep: the real adapter for Telegram, over a server that plays Telegram. `CHAT_SDK` names a
 * folder in which `npm install chat@4.41 @chat-adapter/state-memory@4.41 @chat-adapter/telegram@4.41` ran. It proves that the protocol of sidecars carries
 * such an adapter both ways, with its secret and over its death. It says nothing of platforms that nothing plays here.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { bootChannels, type ChannelKit, numberedAnswers, until } from './channel-kit.js';

const FOLDER = process.env.CHAT_SDK ?? '';
const TOKEN = '99:chat-sdk';
const missing = (): string | undefined =>
  FOLDER === '' ? 'CHAT_SDK does not name a folder with the Chat SDK' : existsSync(path.join(FOLDER, 'node_modules/@chat-adapter/telegram')) ? undefined : `there is no Chat SDK in ${FOLDER}`;

describe('channels: a sidecar with the Chat SDK', function () {
  this.timeout(60_000);
  let kit: ChannelKit;
  let telegram: TelegramServer;

  before(async function () {
    const why = missing();
    if (why !== undefined) {
      Object.assign(this.test ?? {}, { skipReason: why });
      this.skip();
    }
    telegram = await startTelegramServer(TOKEN);
    const options = JSON.stringify({ mode: 'polling', apiUrl: telegram.url, longPolling: { timeout: 1, deleteWebhook: false } });
    const env = { CHAT_SDK: FOLDER, CHAT_ADAPTER: 'telegram', CHAT_OPTIONS: options };
    const lines = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    const program = path.resolve('fixtures/channels/chat-sdk-sidecar.mjs');
    const entry = `[[sidecar_channels]]\nname = "kept"\nchannel_type = "telegram"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(program)}]\nenv = { ${lines.join(', ')} }\ndm_policy = "respond"\n`;
    kit = await bootChannels('chat-sdk-root-key', { config: entry, script: numberedAnswers });
  });
  after(async () => {
    await stopModelKernels();
    await telegram?.close();
  });
  const said = (count: number) => until(() => telegram.sent[count - 1], `message ${count} of the bot`);

  it('D1 D3 a message to an adapter that others keep is answered there, in form, and again after its program died', async () => {
    await kit.owner.expect(200, 'POST', '/api/channels/sidecar/kept/configure', { values: { TELEGRAM_BOT_TOKEN: TOKEN } });
    await kit.inState('kept', 'connected');
    telegram.write('hello from a chat', { chat: 7 });
    expect(String((await said(1)).chat_id)).to.equal('7');
    const row = await kit.incoming('hello from a chat', 'answered');
    expect(row).to.include({ channel: 'kept' });
    expect((await kit.deliveries('?direction=outbound')).map(({ status }) => status)).to.deep.equal(['sent']);
    await kit.owner.expect(200, 'POST', '/api/channels/reload');
    await kit.inState('kept', 'connected');
    telegram.write('and again', { chat: 7 });
    await said(2);
    expect(kit.asked('and again')).to.equal(1);
    expect(JSON.stringify(await kit.channel('kept'))).not.to.contain(TOKEN);
  });
});
