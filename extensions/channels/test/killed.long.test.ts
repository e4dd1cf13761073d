/** The daemon is killed while people write to it over Matrix: what it does at its next start is seen from outside. */
import { type MatrixServer, startMatrixServer } from '@svc/fixtures/channels/matrix-server';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { endDaemons, newHome, type RealDaemon, startDaemon } from '@svc/test/burglar/real-daemon';
import { modelConfig, MODEL_KEY } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { until } from './channel-kit.js';

const TOKEN = 'syt_killed_token';
const MESSAGES = 40;
const KILLS_AT = [11, 27];
const ROOMS = 4;

const roomOf = (number: number): string => `!room${number % ROOMS}:example.org`;

describe('channels: killed', function () {
  this.timeout(300_000);
  let server: MatrixServer;
  let model: ProviderServer;
  before(async () => {
    server = await startMatrixServer(TOKEN);
    model = await startOpenAiServer();
  });
  after(async () => {
    await endDaemons();
    await Promise.all([server.close(), model.close()]);
  });

  it('I1 I2 I3 O1 X1 X4 SIGKILL amid messages: each is answered once, none is lost, and no outcome is unknown', async () => {
    const settings = `[channels.matrix]\nhomeserver_url = "${server.url}"\naccess_token_env = "MATRIX_ACCESS_TOKEN"\ndm_policy = "respond"\n${modelConfig(model.url)}`;
    const home = await newHome(settings);
    const begin = (): Promise<RealDaemon> => startDaemon(home, { env: { MATRIX_ACCESS_TOKEN: TOKEN, OPENAI_API_KEY: MODEL_KEY } });
    let daemon = await begin();
    for (let room = 0; room < ROOMS; room += 1) server.invite(roomOf(room));
    const longer = async <T>(look: () => T | undefined, what: string): Promise<T> => {
      for (let tries = 0; tries < 8; tries += 1) {
        const found = await until(look, what).catch(() => undefined);
        if (found !== undefined) return found;
      }
      throw new Error(`it never came: ${what}; the daemon said ${daemon.said().slice(-2_000)}`);
    };
    await longer(() => (server.joined.size === ROOMS ? true : undefined), 'the bot joined all rooms');
    for (let number = 1; number <= MESSAGES; number += 1) {
      server.write(roomOf(number), `message number ${number}.`);
      // Some are received, some asked, some on their way back: whatever the moment is.
      await new Promise((resolve) => setTimeout(resolve, 15));
      if (!KILLS_AT.includes(number)) continue;
      daemon.process.kill('SIGKILL');
      await daemon.gone;
      daemon = await begin();
    }
    await longer(() => (server.sent.length >= MESSAGES ? true : undefined), 'all answers');
    const { deliveries } = (await daemon.http().expect(200, 'GET', '/api/channels/deliveries?limit=500')).body as { deliveries: ReadonlyArray<{ direction: string; status: string; message: string }> };
    const incoming = deliveries.filter(({ direction }) => direction === 'inbound');
    expect([incoming.length, new Set(incoming.map(({ message }) => message)).size, deliveries.filter(({ status }) => status === 'unknown').length]).to.deep.equal([MESSAGES, MESSAGES, 0]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const perRoom = Array.from({ length: ROOMS }, (_one, room) => server.sent.filter((one) => one.room === roomOf(room)).length);
    expect(perRoom, 'each once, in its own room').to.deep.equal(Array.from({ length: ROOMS }, () => MESSAGES / ROOMS));
  });
});
