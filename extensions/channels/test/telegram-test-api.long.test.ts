/** Telegram as others play it: heard again after a conflict, a limit and a restart, and deafness is shown meanwhile. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DoctorCheck } from '@svc/api';
import { noTelegramTestApi, startTelegramTestApi, type TelegramTestApi } from '@svc/fixtures/channels/telegram-test-api';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { modelConfig, MODEL_KEY } from '@svc/test/clients/model-kernel';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { until } from './channel-kit.js';

const TOKEN = '1:telegram-test-api';
const CONNECTED_AGAIN_MS = 60_000;

describe('channels: telegram-test-api', function () {
  this.timeout(180_000);
  let telegram: TelegramTestApi;
  let model: ProviderServer;
  let kernel: TestKernel;
  let home = '';

  before(async function () {
    const missing = noTelegramTestApi();
    if (missing !== undefined) {
      Object.assign(this.test ?? {}, { skipReason: missing });
      this.skip();
    }
    home = await mkdtemp(path.join(tmpdir(), 'svc-telegram-'));
    telegram = await startTelegramTestApi(TOKEN, 44_000 + (process.pid % 900));
    model = await startOpenAiServer(({ body }) => ({ text: `heard ${/(first|second|third|fourth) message/.exec(JSON.stringify(body.messages.at(-1)))?.[1]}` }));
    kernel = await boot(`${OPEN_RATE}\n${modelConfig(model.url)}`);
    await kernel.http.expect(200, 'POST', '/api/channels/telegram/configure', { fields: { bot_token_env: TOKEN, api_url: telegram.url, dm_policy: 'respond' } });
  });
  after(async () => {
    await stopTestKernels();
    await Promise.all([telegram?.close(), model?.close()]);
    if (home !== '') await rm(home, { recursive: true, force: true });
  });

  const boot = (config?: string): Promise<TestKernel> => bootTestKernel({ home, ...(config === undefined ? {} : { config }), env: { OPENAI_API_KEY: MODEL_KEY } });
  const channel = async () => (await kernel.http.expect(200, 'GET', '/api/channels/telegram')).body;
  const answered = (text: string) => until(() => telegram.sent().includes(text), text);
  /** The limit of 20 s of `until`, three times. */
  const inTime = async (text: string): Promise<number> => {
    const begun = Date.now();
    await answered(text)
      .catch(() => answered(text))
      .catch(() => answered(text));
    return Date.now() - begun;
  };

  it('T1 T2 C2 409, 429 and a restart in between: deaf is a state with cause and fix, and it is heard again within a minute', async () => {
    await telegram.write('the first message');
    await answered('heard first');
    telegram.fail('getUpdates', { code: 409, description: 'Conflict: terminated by other getUpdates request' });
    await until(async () => (await channel()).state === 'failing', 'the conflict is a state');
    const deaf = await channel();
    expect([deaf.connected, deaf.last_error.includes('409'), deaf.fix.includes('another') || deaf.fix.includes('Another')]).to.deep.equal([false, true, true]);
    const findings = (await kernel.daemon.parts.hooks.handle(DoctorCheck).call(undefined)).flatMap(({ value }) => value ?? []);
    expect(findings.find(({ message }) => message.includes('telegram') && message.includes('409'))?.result).to.be.oneOf(['warn', 'fail']);
    await telegram.write('the second message');
    await kernel.stop();
    telegram.fail('getUpdates', { code: 429, description: 'Too Many Requests: retry after 2', retryAfter: 2 });
    kernel = await boot();
    await until(async () => (await channel()).state === 'failing', 'the limit is a state');
    const polls = telegram.calls('getUpdates');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(telegram.calls('getUpdates') - polls, 'it waits as long as Telegram says').to.be.at.most(1);
    telegram.fail('getUpdates', undefined);
    expect(await inTime('heard second')).to.be.lessThan(CONNECTED_AGAIN_MS);
    const well = await until(async () => ((await channel()).connected ? channel() : undefined), 'it is connected again');
    expect(well).to.include({ state: 'connected', last_error: null });
    await telegram.write('the third message');
    telegram.fail('sendMessage', { code: 429, description: 'Too Many Requests: retry after 1', retryAfter: 1 });
    await until(() => telegram.calls('sendMessage') >= 3, 'the answer is tried');
    telegram.fail('sendMessage', undefined);
    expect(await inTime('heard third')).to.be.lessThan(CONNECTED_AGAIN_MS);
    expect(telegram.sent()).to.deep.equal(['heard first', 'heard second', 'heard third']);
  });
});
