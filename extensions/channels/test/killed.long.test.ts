/** The daemon is killed while people write to it over Matrix and Telegram: what it does at its next start is seen from outside. */
import { type MatrixServer, startMatrixServer } from '@svc/fixtures/channels/matrix-server';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { endDaemons, newHome, type RealDaemon, startDaemon } from '@svc/test/burglar/real-daemon';
import { modelConfig, MODEL_KEY } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { until } from './channel-kit.js';

const TOKEN = 'syt_killed_token';
const BOT = '9:killed';
/** On each of the two platforms. */
const MESSAGES = 100;
const KILLS_AT = [23, 47, 71, 95];
const ROOMS = 4;
const CHATS = 5;

const roomOf = (number: number): string => `!room${number % ROOMS}:example.org`;
const chatOf = (number: number): number => 100 + (number % CHATS);

interface Seen {
  readonly direction: string;
  readonly channel: string;
  readonly status: string;
  readonly message: string;
}

describe('channels: killed', function () {
  this.timeout(300_000);
  let matrix: MatrixServer;
  let telegram: TelegramServer;
  let model: ProviderServer;
  before(async () => {
    [matrix, telegram] = await Promise.all([startMatrixServer(TOKEN), startTelegramServer(BOT)]);
    // The answer names its message.
    model = await startOpenAiServer(({ body }) => ({ text: `to ${/message number (\w+)\./.exec(JSON.stringify(body.messages.at(-1)))?.[1]};` }));
  });
  after(async () => {
    await endDaemons();
    await Promise.all([matrix.close(), telegram.close(), model.close()]);
  });

  it('I1 I2 I3 O1 O3 X1 X4 T1 SIGKILL amid 200 messages: each is answered once, none is lost, and an outcome that nobody knows is listed', async () => {
    const channels = `[channels.matrix]\nhomeserver_url = "${matrix.url}"\naccess_token_env = "MATRIX_ACCESS_TOKEN"\ndm_policy = "respond"\n[channels.telegram]\nbot_token_env = "TELEGRAM_BOT_TOKEN"\napi_url = "${telegram.url}"\ndm_policy = "respond"\n`;
    const home = await newHome(`${channels}${modelConfig(model.url)}`);
    const begin = (): Promise<RealDaemon> => startDaemon(home, { env: { MATRIX_ACCESS_TOKEN: TOKEN, TELEGRAM_BOT_TOKEN: BOT, OPENAI_API_KEY: MODEL_KEY } });
    let daemon = await begin();
    const longer = async <T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> => {
      for (let tries = 0; tries < 8; tries += 1) {
        const found = await until(look, what).catch(() => undefined);
        if (found !== undefined) return found;
      }
      throw new Error(`it never came: ${what}; the daemon said ${daemon.said().slice(-2_000)}`);
    };
    const deliveries = async (query: string): Promise<Seen[]> => ((await daemon.http().expect(200, 'GET', `/api/channels/deliveries?limit=500&${query}`)).body as { deliveries: Seen[] }).deliveries;
    for (let room = 0; room < ROOMS; room += 1) matrix.invite(roomOf(room));
    await longer(() => (matrix.joined.size === ROOMS ? true : undefined), 'the bot joined all rooms');
    for (let number = 1; number <= MESSAGES; number += 1) {
      matrix.write(roomOf(number), `message number m${number}.`);
      telegram.write(`message number t${number}.`, { chat: chatOf(number) });
      // Some are received, some asked, some on their way back: whatever the moment is.
      await new Promise((resolve) => setTimeout(resolve, 15));
      if (!KILLS_AT.includes(number)) continue;
      daemon.process.kill('SIGKILL');
      await daemon.gone;
      daemon = await begin();
    }
    const OPEN = ['queued', 'sending'];
    await longer(async () => {
      const [came, goes] = [await deliveries('direction=inbound'), await deliveries('direction=outbound')];
      return came.length === 2 * MESSAGES && came.every(({ status }) => status === 'answered') && goes.length === 2 * MESSAGES && !goes.some(({ status }) => OPEN.includes(status)) ? true : undefined;
    }, 'all messages are answered, and all answers have an end');
    const [came, goes] = [await deliveries('direction=inbound'), await deliveries('direction=outbound')];
    expect(new Set(came.map(({ message }) => message)).size, 'none is lost, and none came twice').to.equal(2 * MESSAGES);
    const unknown = new Set(goes.filter(({ status }) => status === 'unknown').map(({ channel, message }) => `${channel} ${message}`));
    expect(
      [...unknown].filter((one) => one.startsWith('matrix')),
      'Matrix drops what comes twice',
    ).to.deep.equal([]);
    expect(goes.filter(({ status }) => status === 'failed')).to.deep.equal([]);
    const times = new Map<string, number>();
    for (const { room, content } of matrix.sent) times.set(`${room} ${content.body}`, (times.get(`${room} ${content.body}`) ?? 0) + 1);
    for (const { chat_id: chat, text } of telegram.sent) times.set(`${chat} ${text}`, (times.get(`${chat} ${text}`) ?? 0) + 1);
    for (let number = 1; number <= MESSAGES; number += 1) {
      expect(times.get(`${roomOf(number)} to m${number};`), `m${number} is answered once, in its own room`).to.equal(1);
      const count = times.get(`${chatOf(number)} to t${number};`) ?? 0;
      // One that is listed as unknown arrived, or did not: never twice.
      expect(unknown.has(`telegram to t${number};`) ? count <= 1 : count === 1, `t${number} arrived ${count} times`).to.equal(true);
    }
    expect(times.size, 'nothing else was said').to.be.at.most(2 * MESSAGES);
  });
});
