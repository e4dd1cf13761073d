/** Installing over HTTP: nothing before consent, and the package that was shown or none. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, type SigningKey } from '@svc/installer/signing';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { packedAt, type RigPackage } from '../../kernel/installer/test/package-rig.js';

const ASKS = { manifest: { grants: [{ grant: 'env:WEATHER_KEY', why: 'a key for more calls' }] } };

describe('installing over HTTP', function () {
  this.timeout(60_000);
  let root: string;
  let kernel: TestKernel;
  let key: SigningKey;
  let count = 0;
  before(async () => {
    key = await generateKey();
  });
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'svc-install-http-'));
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nisolation = "isolated"\n` });
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(root, { recursive: true, force: true });
  });

  /** The path of a signed .tgz. */
  const packed = (made: RigPackage = {}, by: SigningKey | null = key): Promise<string> => packedAt(join(root, `p${++count}`), made, by);
  const install = (body: object) => kernel.http.post('/api/extensions/install', body);
  const agreed = (name: string, more: object = {}) => kernel.http.expect(200, 'POST', '/api/extensions/install', { name, grants: 'all', trust_key: true, ...more });
  const one = async () => (await kernel.http.get('/api/extensions/acme-weather')).body;

  it('tells what it asks for, who signed it and what isolation does not keep, and installs what was agreed to', async () => {
    const name = await packed(ASKS);
    const first = await install({ name });
    expect([first.status, first.body.code]).to.deep.equal([409, 'install_unknown_key']);
    const { details } = first.body;
    expect(details).to.deep.include({ id: 'acme-weather', version: '1.0.0', trust: 'signed', isolation: 'isolated', replaces: null });
    expect(details.key).to.deep.equal({ id: key.keyId, public: key.publicKey, name: '', standing: 'unknown' });
    expect(details.grants).to.deep.equal([{ grant: 'env:WEATHER_KEY', what: 'reads this environment variable', why: 'a key for more calls', optional: false, new: true }]);
    expect(details.not_kept[0]).to.match(/^the network/);
    expect((await install({ name, trust_key: true })).body.code).to.equal('install_needs_consent');
    expect((await one()).code).to.equal('extension_not_found');

    const done = await kernel.http.expect(200, 'POST', '/api/extensions/install', { name, grants: ['env:WEATHER_KEY'], digest: details.digest, trust_key: true, enable: true });
    expect(done.body).to.deep.equal({ status: 'installed', name: 'acme-weather', connected: true });
    expect(await one()).to.deep.include({ state: 'active', category: 'third-party', bundled: false });
    expect((await one()).origin).to.deep.include({ trust: 'signed', isolation: 'isolated', publisher: { keyId: key.keyId, name: null } });
  });

  it('asks also for what asks for nothing', async () => {
    const name = await packed();
    await agreed(name);
    await kernel.http.expect(200, 'POST', '/api/extensions/uninstall', { name: 'acme-weather' });
    const { body, status } = await install({ name });
    expect([status, body.code, body.error]).to.deep.equal([409, 'install_needs_consent', 'acme-weather waits for you to agree.']);
  });

  it('installs no other package than the one that was shown', async () => {
    const { status, body } = await install({ name: await packed(), grants: 'all', trust_key: true, digest: '0'.repeat(64) });
    expect([status, body.code]).to.deep.equal([409, 'install_changed']);
    expect((await kernel.http.get('/api/extensions-trust')).body).to.deep.equal({ publishers: [], refused: [] });
  });

  it('refuses what is wrong with the request by its status', async () => {
    const name = await packed();
    for (const body of [{ name: '' }, {}, { name, path: name }, { name, force: true }, { name, digest: 'x' }, { name: 'Not A Source' }])
      expect((await install(body)).status, JSON.stringify(body)).to.equal(400);
    expect((await install({ name: '/nowhere/at/all.tgz' })).status).to.equal(404);
    expect((await install({ name: await packed({}, null) })).body.code).to.equal('install_unsigned');
    await agreed(name);
    expect([(await install({ name, grants: 'all' })).status, (await install({ name, grants: 'all' })).body.code]).to.deep.equal([409, 'install_installed']);
    for (const [body, status, code] of [
      [{ name: '' }, 400, undefined],
      [{ name: 'acme-storm' }, 404, 'install_unknown'],
      [{ name: 'runs' }, 409, 'extension_bundled'],
      [{ name: 'acme-weather', purge: true }, 409, 'extension_needs_confirmation'],
    ] as const) {
      const answer = await kernel.http.post('/api/extensions/uninstall', body);
      expect(answer.status, JSON.stringify(body)).to.equal(status);
      if (code) expect(answer.body.code).to.equal(code);
    }
    expect((await kernel.http.post('/api/extensions/runs/rollback')).body.code).to.equal('extension_bundled');
  });

  it('upgrades, waits for consent to more, goes back, and removes', async () => {
    await agreed(await packed(), { enable: true });
    const dry = await kernel.http.expect(200, 'POST', '/api/extensions/acme-weather/upgrade', { source: await packed({ version: '1.1.0' }), dry_run: true });
    expect([dry.body.status, dry.body.offer.version, (await one()).version]).to.deep.equal(['offered', '1.1.0', '1.0.0']);
    const plain = await kernel.http.expect(200, 'POST', '/api/extensions/acme-weather/upgrade', { source: await packed({ version: '1.1.0' }) });
    expect([plain.body.status, plain.body.extension.version, plain.body.extension.state]).to.deep.equal(['upgraded', '1.1.0', 'active']);

    const source = await packed({ version: '2.0.0', ...ASKS });
    const more = await kernel.http.post('/api/extensions/acme-weather/upgrade', { source });
    expect([more.status, more.body.code, (await one()).version]).to.deep.equal([409, 'install_needs_consent', '1.1.0']);
    const versions = (await kernel.http.expect(200, 'GET', '/api/extensions/acme-weather/versions')).body;
    expect([versions.current, versions.previous.map(({ version }: { version: string }) => version), versions.waiting]).to.deep.equal([
      '1.1.0',
      ['1.0.0'],
      { version: '2.0.0', newGrants: ['env:WEATHER_KEY'] },
    ]);
    const taken = await kernel.http.expect(200, 'POST', '/api/extensions/acme-weather/upgrade', { grants: 'all', digest: more.body.details.digest });
    expect(taken.body.extension).to.include({ version: '2.0.0', state: 'active' });

    const back = await kernel.http.expect(200, 'POST', '/api/extensions/acme-weather/rollback');
    expect(back.body.extension).to.include({ version: '1.1.0', state: 'active' });
    expect((await kernel.http.expect(200, 'POST', '/api/extensions/uninstall', { name: 'acme-weather', purge: true, confirm: 'acme-weather' })).body).to.deep.equal({
      status: 'uninstalled',
      name: 'acme-weather',
    });
    expect((await one()).code).to.equal('extension_not_found');
    expect((await kernel.http.get('/api/extensions-trust')).body.publishers[0].extensions).to.deep.equal([]);
  });

  it('tells its steps to whoever asks for events, and its refusal as the last of them', async () => {
    const events = async (body: object) => {
      const answer = await fetch(`${kernel.url}/api/extensions/install`, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/event-stream' }, body: JSON.stringify(body) });
      expect(answer.headers.get('content-type')).to.match(/^text\/event-stream/);
      return [...(await answer.text()).matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, event, data]) => ({ event, data: JSON.parse(data ?? '') }));
    };
    const name = await packed();
    const refused = await events({ name });
    expect(refused.at(-1)?.data).to.include({ code: 'install_unknown_key', status: 409 });
    const seen = await events({ name, grants: 'all', trust_key: true });
    expect(seen.filter(({ event }) => event === 'progress').map(({ data }) => data.step)).to.include('judge');
    expect(seen.at(-1)).to.deep.equal({ event: 'done', data: { status: 'installed', name: 'acme-weather', connected: false } });
  });

  it('leaves nothing of what was refused', async () => {
    await install({ name: await packed(ASKS) });
    const store = join(kernel.home, 'data/extensions');
    expect(await readdir(join(store, 'staging')).catch(() => [])).to.deep.equal([]);
    expect(await readdir(join(store, 'store')).catch(() => [])).to.deep.equal([]);
  });
});
