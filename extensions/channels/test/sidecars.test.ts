/** Programs of others: a gateway for WhatsApp, and three that do harm. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { bootChannels, type ChannelKit, until } from './channel-kit.js';

const folder = mkdtempSync(path.join(tmpdir(), 'sidecars-'));
const entry = (name: string, program: string, env: Record<string, string>, more = ''): string =>
  `[[sidecar_channels]]\nname = "${name}"\ncommand = "python3"\nargs = [${JSON.stringify(path.resolve('fixtures/channels', program))}]\nenv = { ${Object.entries(env)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(', ')} }\n${more}`;
const hostile = (how: string): string => entry(how, 'hostile-sidecar.py', { HOSTILE: how, STARTS: path.join(folder, how) }, 'ready_timeout_secs = 1\n');

describe('channels: sidecars', function () {
  this.timeout(60_000);
  let kit: ChannelKit;

  before(async () => {
    const gateway = entry('my_gateway', 'sidecar.py', { SIDECAR_FOLDER: folder }, 'channel_type = "whatsapp"\n');
    kit = await bootChannels('sidecars-root-key', { config: [gateway, ...['flood', 'silent', 'dying'].map(hostile)].join('') });
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
    await until(async () => (await kit.channel('flood')).last_error !== null, 'the flood is a fault');
    expect((await kit.channel('flood')).connected).to.equal(false);
    await kit.owner.expect(200, 'GET', '/api/health');
    // It waits for a second at first, then twice as long each time.
    const starts = readFileSync(path.join(folder, 'dying'), 'utf8').split('\n').length - 1;
    expect(starts, 'starts').to.be.within(1, 6);
    expect(existsSync(path.join(folder, 'flood'))).to.equal(true);
  });
});
