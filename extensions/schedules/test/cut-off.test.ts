/** A daemon that is stopped while the answer of a job is sent, and what it makes of that when it starts again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const TOKEN = '66:cut-off';

describe('answers of jobs whose sending is cut off', function () {
  this.timeout(60_000);
  const home = mkdtempSync(path.join(tmpdir(), 'cut-off-'));
  const keys: string[] = [];
  const open: ServerResponse[] = [];
  let isHeld = true;
  const receiver = createServer((req, res) => {
    keys.push(String(req.headers['idempotency-key']));
    req.resume();
    if (isHeld) open.push(res);
    else res.end();
  });
  let telegram: TelegramServer;
  const begin = (): Promise<ModelKernel> => bootWithModel(() => ({ text: 'news' }), { home, stopDrainMs: 100, config: `${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n` });

  before(async () => {
    telegram = await startTelegramServer(TOKEN);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await stopModelKernels();
    await telegram.close();
    receiver.closeAllConnections();
    receiver.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('E3 O3 are unknown and listed, and not sent twice, unless the platform drops what comes twice', async () => {
    const before = await begin();
    const callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await before.http.expect(200, 'POST', '/api/channels/telegram/configure', { fields: { bot_token_env: TOKEN, api_url: telegram.url } });
    await before.http.expect(200, 'POST', '/api/channels/webhook/configure', { fields: { secret_env: 'a secret', callback_url: callback } });
    telegram.holdAnswers(true);
    const job = { name: 'News', agent_id: before.agent.id, schedule: 'every 1h', prompt: 'what is new?', delivery: 'telegram:7', delivery_targets: ['webhook'] };
    const { job_id: id } = (await before.http.expect(200, 'POST', '/api/cron/jobs', job)).body;
    await before.http.expect(200, 'POST', `/api/schedules/${id}/run`);
    await until(() => telegram.sent.length === 1 && keys.length === 1);
    await before.kernel.stop();

    telegram.holdAnswers(false);
    isHeld = false;
    const after = await begin();
    const fire = async () => (await after.http.expect(200, 'GET', `/api/cron/jobs/${id}/fires`)).body.fires[0];
    await until(async () => (await fire()).deliveries.every(({ status }: { status: string }) => status !== 'waiting'));
    const { deliveries, delivered } = await fire();
    const why = 'the daemon ended while it was sent; it may have arrived';
    expect([delivered, ...deliveries]).to.deep.equal(['1/2', { to: 'telegram:7', status: 'unknown', reason: why }, { to: 'webhook', status: 'sent', reason: null }]);
    expect((await after.http.expect(200, 'GET', `/api/cron/jobs/${id}/status`)).body.why).to.contain(`To telegram:7 it may not have arrived: ${why}.`);
    const listed = (await after.http.expect(200, 'GET', '/api/channels/deliveries?direction=outbound')).body.deliveries;
    expect(listed.map(({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`).sort()).to.deep.equal(['telegram unknown', 'webhook sent']);
    expect(telegram.sent.map(({ text }) => text)).to.deep.equal(['news']);
    expect([keys.length, new Set(keys).size]).to.deep.equal([2, 1]);
  });
});
