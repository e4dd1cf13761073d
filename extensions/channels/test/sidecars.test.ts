/** Programs of others: a gateway for WhatsApp, and three that do harm. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { createBackoff } from '../src/backoff.js';
import { bootChannels, type ChannelKit, until } from './channel-kit.js';

const folder = mkdtempSync(path.join(tmpdir(), 'sidecars-'));
const entry = (name: string, program: string, env: Record<string, string>, more = ''): string =>
  `[[sidecar_channels]]\nname = "${name}"\ncommand = "python3"\nargs = [${JSON.stringify(path.resolve('fixtures/channels', program))}]\nenv = { ${Object.entries(env)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ')} }\n${more}`;
const hostile = (how: string, more = 'ready_timeout_secs = 1\n'): string => entry(how, 'hostile-sidecar.py', { HOSTILE: how, STARTS: path.join(folder, how) }, more);
const starts = (name: string): number => readFileSync(path.join(folder, name), 'utf8').split('\n').length - 1;

describe('channels: sidecars', function () {
  this.timeout(60_000);
  let kit: ChannelKit;

  before(async () => {
    const gateway = entry('my_gateway', 'sidecar.py', { SIDECAR_FOLDER: folder }, 'channel_type = "whatsapp"\n');
    kit = await bootChannels('sidecars-root-key', {
      config: [gateway, ...['silent', 'garbage', 'dying'].map((how) => hostile(how)), hostile('flood', ''), hostile('hopeless', 'restart_initial_backoff_ms = 50\nrestart_max_retries = 2\n')].join(''),
    });
  });
  after(async () => {
    await stopModelKernels();
    rmSync(folder, { recursive: true, force: true });
  });

  it('D4 WhatsApp is signed in to by the code of its gateway', async () => {
    await kit.inState('my_gateway', 'connected');
    writeFileSync(path.join(folder, 'in-1'), 'qr 2@a-code-of-whatsapp,of,a,device');
    const start = async () => (await kit.owner.expect(200, 'POST', '/api/channels/whatsapp/qr/start')).body;
    const shown = await start();
    expect(shown).to.include({ available: true, connected: false });
    expect(Buffer.from(shown.qr_data_url.replace('data:image/svg+xml;base64,', ''), 'base64').toString()).to.contain('<svg');
    const at = `/api/channels/whatsapp/qr/status?session_id=${shown.session_id}`;
    expect((await kit.owner.expect(200, 'GET', at)).body).to.deep.equal({ status: 'pending', connected: false, expired: false, message: '' });
    expect((await kit.owner.expect(404, 'GET', '/api/channels/whatsapp/qr/status?session_id=00000000-0000-4000-8000-000000000000')).body.code).to.equal('channels_no_qr_session');
    for (const [said, status, connected, expired] of [
      ['scanning', 'scanned', false, false],
      ['expired', 'pending', false, true],
      ['confirmed', 'authenticated', true, false],
    ] as const) {
      writeFileSync(path.join(folder, `in-${said}`), `qr-status ${said}`);
      const found = await until(async () => {
        const { body } = await kit.owner.expect(200, 'GET', at);
        return body.status === status && body.expired === expired ? body : undefined;
      }, said);
      expect(found).to.include({ connected });
    }
    expect(await start()).to.include({ available: true, connected: true, qr_data_url: null });
  });

  it('D2 D3 a line without an end, silence and early deaths are states with their reason, and none of them is started without a pause', async () => {
    const failing = async (name: string, part: string): Promise<Record<string, unknown>> =>
      until(async () => {
        const shown = await kit.channel(name);
        return String(shown.last_error).includes(part) ? shown : undefined;
      }, `${name}: ${part}`);
    await failing('dying', 'I never wanted to live');
    await failing('silent', 'did not say that it is ready');
    await failing('garbage', 'did not say that it is ready');
    expect((await failing('flood', 'a line has more than 67108864 characters')).connected).to.equal(false);
    await kit.owner.expect(200, 'GET', '/api/health');
    // It waits for half a second at first, then twice as long each time.
    expect(starts('dying'), 'starts').to.be.within(1, 6);
    expect(existsSync(path.join(folder, 'flood'))).to.equal(true);
  });

  it('F2 a program that keeps dying is left alone, with the reason, until its circuit is tried or the channels are reloaded', async () => {
    const opened = () => until(async () => String((await kit.channel('hopeless')).last_error).includes('circuit'), 'its circuit is open');
    await opened();
    const shown = await kit.channel('hopeless');
    expect(shown.last_error).to.contain('3 times in a row').and.contain('I never wanted to live');
    expect(shown).to.include({ state: 'failing', connected: false });
    const before = starts('hopeless');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([before % 3, starts('hopeless')]).to.deep.equal([0, before]);
    await kit.owner.expect(200, 'POST', '/api/channels/reload');
    await until(() => starts('hopeless') > before, 'it is started again');
  });

  it('F1 F2 waits double up to a most, an open circuit is tried again after longer each time, and a steady life closes it', () => {
    const [platform, program] = [createBackoff(undefined, () => 1), createBackoff({ name: 'x', command: 'x', restart_max_retries: 2 }, () => 0)];
    expect(Array.from({ length: 8 }, () => platform.failed(0).waitMs)).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60].map((secs) => secs * 1_000));
    expect(platform.failed(61_000)).to.deep.equal({ waitMs: 1_000, isOpen: false, failures: 1 });
    expect(Array.from({ length: 7 }, () => program.failed(0)).map(({ waitMs, isOpen }) => [waitMs / 1_000, isOpen])).to.deep.equal([
      ...[0.5, 1].map((secs) => [secs, false]),
      ...[300, 600, 1_200, 2_400, 3_600].map((secs) => [secs, true]),
    ]);
    expect(program.failed(61_000)).to.deep.equal({ waitMs: 500, isOpen: false, failures: 1 });
    expect(createBackoff({ name: 'x', command: 'x' }, () => 1).failed(0).waitMs).to.equal(600);
  });
});
