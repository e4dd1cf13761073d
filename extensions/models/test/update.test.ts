/** Newer catalogs, from a host over real HTTP. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type CatalogHost, catalogKeys, sampleCatalog, sampleModel, startCatalogHost } from '@svc/fixtures/catalogs/catalog-host';
import { loadCatalog } from '../src/catalog.js';

describe('updates of the catalog', function () {
  this.timeout(30_000);
  const keys = catalogKeys();
  let host: CatalogHost;
  let home: string;
  beforeEach(async () => {
    host = await startCatalogHost();
    home = await mkdtemp(join(tmpdir(), 'svc-catalog-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await host.close();
    await rm(home, { recursive: true, force: true });
  });

  const allowed = '[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n';
  const settings = (lines: Readonly<Record<string, string>> = {}): string =>
    `[models]\n${Object.entries({ catalog_url: `${host.url}/catalog.json`, catalog_public_key: keys.publicKey, ...lines })
      .filter(([, value]) => value !== '')
      .map(([key, value]) => `${key} = "${value}"\n`)
      .join('')}`;
  const boot = (config = settings() + allowed): Promise<TestKernel> => bootTestKernel({ home, config: OPEN_RATE + config });
  const update = (kernel: TestKernel) => kernel.http.post('/api/catalog/update');
  const status = async (kernel: TestKernel) => (await kernel.http.expect(200, 'GET', '/api/catalog/status')).body;
  const file = (name: string): string => join(home, 'data', 'ext', 'models', name);
  /** Whatever was refused, the shipped catalog goes on. */
  const expectRefused = async (kernel: TestKernel, wanted: { status: number; code: string; says: string }): Promise<void> => {
    const answer = await update(kernel);
    expect([answer.status, answer.body.code]).to.deep.equal([wanted.status, wanted.code]);
    expect(answer.body.error).to.contain(wanted.says);
    expect(await status(kernel)).to.include({ source: 'shipped', version: (await loadCatalog()).version });
    expect((await kernel.http.get('/api/models/gpt-5')).status).to.equal(200);
  };

  it('without an address are refused, with the version that stands', async () => {
    const kernel = await boot('');
    const shipped = await loadCatalog();
    expect(await status(kernel)).to.deep.equal({
      version: shipped.version,
      last_updated: shipped.updated,
      available_updates: null,
      available_version: null,
      models_count: shipped.models.length,
      last_sync: null,
      source: 'shipped',
      update_configured: false,
      problem: null,
    });
    await expectRefused(kernel, { status: 409, code: 'models_no_catalog_url', says: shipped.version });
    expect((await kernel.http.get('/api/catalog/status?check=true')).status).to.equal(409);
  });

  it('U3 take a signed catalog, which holds at once and over a restart, and leave what people made', async () => {
    host.publish(sampleCatalog({ aliases: { newest: 'newest-model', writer: 'new-model' } }), keys);
    const kernel = await boot(settings({ catalog_sha256_url: `${host.url}/catalog.json.sha256` }) + allowed);
    await kernel.http.expect(201, 'POST', '/api/models/custom', { id: 'newer-model', provider: 'openai', context_window: 1_000 });
    await kernel.http.expect(201, 'POST', '/api/models/aliases', { alias: 'writer', model_id: 'gpt-5' });
    const { body } = await kernel.http.expect(200, 'POST', '/api/catalog/update');
    const shipped = await loadCatalog();
    expect(body).to.include({ status: 'ok', version: '2099.1.1', previous_version: shipped.version, changed: true, files_downloaded: 3, models_count: 4, dropped_count: 0 });
    const standsNew = async (one: TestKernel): Promise<void> => {
      expect((await one.http.get('/api/models/newest')).body).to.include({ id: 'newest-model', source: 'catalog', input_cost_per_1m: 2 });
      expect((await one.http.get('/api/models/claude-opus-4-7')).status).to.equal(404);
      expect((await one.http.get('/api/models/rehearsal')).body.source).to.equal('builtin');
      expect((await one.http.get('/api/models/newer-model')).body).to.include({ source: 'custom', context_window: 1_000 });
      expect((await one.http.get('/api/models/aliases')).body.aliases.writer).to.equal('gpt-5');
    };
    await standsNew(kernel);
    expect(await status(kernel)).to.include({ version: '2099.1.1', available_updates: 0, available_version: '2099.1.1', last_sync: body.timestamp, source: 'fetched', models_count: 4 });
    await kernel.stop();
    await standsNew(await boot());
  });

  it('U4 keep the catalog before as previous, which stands where the newer file is damaged, and doctor tells', async () => {
    host.publish(sampleCatalog(), keys);
    const kernel = await boot();
    await kernel.http.expect(200, 'POST', '/api/catalog/update');
    host.publish(sampleCatalog({ version: '2099.1.2', models: [sampleModel({ id: 'second' })], aliases: {} }), keys);
    await kernel.http.expect(200, 'POST', '/api/catalog/update');
    expect(JSON.parse(await readFile(file('catalog.previous.json'), 'utf8')).version).to.equal('2099.1.1');
    await kernel.stop();
    await writeFile(file('catalog.json'), '{"version": "2099.1.2", "models": [');
    const later = await boot();
    expect(await status(later))
      .to.include({ version: '2099.1.1', source: 'previous' })
      .and.have.property('problem')
      .that.contains('catalog.json');
    expect((await later.http.get('/api/models/newest')).status).to.equal(200);
    await later.stop();
    await writeFile(file('catalog.previous.json'), 'no JSON either');
    expect(await status(await boot())).to.include({ source: 'shipped' });
  });

  it('U1 drop an entry that is not right and name it, and take the others', async () => {
    const models = [
      sampleModel(),
      sampleModel({ id: 'cheat', input_cost_per_1m: -5 }),
      sampleModel({ id: 'second', tier: 'golden', some_new_field: { x: 1 } }),
      sampleModel({ id: 'NEW-MODEL' }),
      sampleModel({ id: 'rest' }),
      sampleModel({ id: 'more' }),
      sampleModel({ id: 'own', provider: 'builtin' }),
    ];
    host.publish(sampleCatalog({ models, aliases: { fine: 'second', lost: 'nowhere', a: 'b', b: 'a', ' ': 'rest', num: 7 } }), keys);
    const kernel = await boot();
    const { body } = await kernel.http.expect(200, 'POST', '/api/catalog/update');
    const why = Object.fromEntries(body.dropped.map((one: { entry: string; why: string }) => [one.entry, one.why]));
    expect(Object.keys(why)).to.have.members(['openai/cheat at models[1]', 'openai/NEW-MODEL at models[3]', 'builtin/own at models[6]', 'alias lost', 'alias a', 'alias b', 'alias ?', 'alias num']);
    expect(why['openai/cheat at models[1]']).to.contain('input_cost_per_1m');
    expect(why['alias a']).to.contain('cycle');
    expect(body).to.include({ dropped_count: 8, models_count: 5 });
    expect((await kernel.http.get('/api/models/fine')).body)
      .to.include({ id: 'second', tier: 'custom' })
      .and.not.have.property('some_new_field');
    expect((await kernel.http.get('/api/models/cheat')).status).to.equal(404);
  });

  it('U1 name an alias that leads in a cycle with one that somebody made; it leads nowhere', async () => {
    host.publish(sampleCatalog({ aliases: { back: 'new-model' } }), keys);
    const kernel = await boot();
    await kernel.http.expect(201, 'POST', '/api/models/aliases', { alias: 'new-model', model_id: 'back' });
    const { body } = await kernel.http.expect(200, 'POST', '/api/catalog/update');
    expect(body.dropped.map((one: { entry: string }) => one.entry)).to.deep.equal(['alias back']);
    // The model of that name is there, and is found where the ring leads nowhere.
    expect((await kernel.http.get('/api/models/new-model')).body.id).to.equal('new-model');
  });

  for (const [what, file, says] of [
    ['most of whose entries are wrong', JSON.stringify(sampleCatalog({ models: [sampleModel(), { id: 1 }, { id: 2 }] })), '2 of its 3 models'],
    ['without models', JSON.stringify(sampleCatalog({ models: [] })), 'models'],
    ['without a version', JSON.stringify(sampleCatalog({ version: 'newest' })), 'version'],
    ['that is a list', '[]', 'catalog'],
    ['that is a web page', '<!doctype html><p>Sign in to the network</p>', 'web page'],
    ['that is half a file', '{"version": "2099.1.1", "mod', 'not JSON'],
    ['with a number no catalog has', JSON.stringify(sampleCatalog({ models: [{ ...sampleModel(), context_window: 1e300 }] })), '1 of its 1 models'],
  ] as const)
    it(`refuse a file ${what}`, async () => {
      host.publish(file, keys);
      await expectRefused(await boot(), { status: 502, code: 'models_catalog_unusable', says });
    });

  it('refuse bytes that are no text', async () => {
    const body = Buffer.from([0xff, 0xfe, 0x00, 0x7b]);
    host.put('/catalog.json', { body });
    host.put('/catalog.json.sig', { body: keys.sign(body) });
    await expectRefused(await boot(), { status: 502, code: 'models_catalog_unusable', says: 'UTF-8' });
  });

  it('U3 refuse a wrong SHA-256, a wrong signature, one of another key, and one that is missing', async () => {
    const unverified = (says: string) => ({ status: 502, code: 'models_catalog_unverified', says });
    host.publish(sampleCatalog(), keys);
    host.put('/catalog.json.sha256', { body: `${'0'.repeat(64)}  catalog.json` });
    const kernel = await boot(settings({ catalog_sha256_url: `${host.url}/catalog.json.sha256` }) + allowed);
    await expectRefused(kernel, unverified('000000000000… was announced'));
    host.put('/catalog.json.sha256', { body: '<html>' });
    await expectRefused(kernel, unverified('no SHA-256'));
    host.publish(sampleCatalog(), keys);
    host.put('/catalog.json', { body: JSON.stringify(sampleCatalog({ version: '2099.1.1', aliases: { opus: 'new-model' } })) });
    host.put('/catalog.json.sha256', { status: 404 });
    await expectRefused(kernel, { status: 502, code: 'models_catalog_unreachable', says: '404' });
    await kernel.stop();
    const signedOnly = await boot();
    await expectRefused(signedOnly, unverified('not signed'));
    host.publish(sampleCatalog(), catalogKeys());
    await expectRefused(signedOnly, unverified('not signed'));
    host.put('/catalog.json.sig', { body: 'aGVsbG8=' });
    await expectRefused(signedOnly, unverified('not signed'));
    host.put('/catalog.json.sig', { status: 404 });
    await expectRefused(signedOnly, { status: 502, code: 'models_catalog_unreachable', says: '404' });
  });

  it('U3 take a signature in base64 as well', async () => {
    host.publish(sampleCatalog(), keys);
    host.put('/catalog.json.sig', { body: `${keys.sign(Buffer.from(JSON.stringify(sampleCatalog()))).toString('base64')}\n` });
    expect((await update(await boot())).status).to.equal(200);
  });

  it('U3 refuse plain http without a signature before anything is asked', async () => {
    await expectRefused(await boot(settings({ catalog_public_key: '' }) + allowed), { status: 409, code: 'models_catalog_unsafe', says: 'plain http' });
    expect(host.asked).to.deep.equal([]);
  });

  it('U7 refuse a catalog that is older than the one that stands', async () => {
    host.publish(sampleCatalog(), keys);
    const kernel = await boot();
    await kernel.http.expect(200, 'POST', '/api/catalog/update');
    host.publish(sampleCatalog({ version: '2098.12.31' }), keys);
    const answer = await update(kernel);
    expect([answer.status, answer.body.code]).to.deep.equal([409, 'models_catalog_older']);
    expect(await status(kernel)).to.include({ version: '2099.1.1' });
  });

  it('change nothing where the host has what stands, and take the same version with other content', async () => {
    host.publish(sampleCatalog(), keys);
    const kernel = await boot();
    expect((await update(kernel)).body.changed).to.equal(true);
    expect((await update(kernel)).body.changed).to.equal(false);
    host.publish(sampleCatalog({ models: [sampleModel({ input_cost_per_1m: 3 })], aliases: {} }), keys);
    await kernel.http.expect(200, 'GET', '/api/catalog/status?check=true');
    expect((await update(kernel)).body.changed).to.equal(true);
    expect((await kernel.http.get('/api/models/new-model')).body.input_cost_per_1m).to.equal(3);
  });

  it('are seen by a check, which changes nothing', async () => {
    host.publish(sampleCatalog(), keys);
    const kernel = await boot();
    const { body } = await kernel.http.expect(200, 'GET', '/api/catalog/status?check=true');
    expect(body).to.include({ available_updates: 1, available_version: '2099.1.1', source: 'shipped' });
    expect((await kernel.http.get('/api/models/new-model')).status).to.equal(404);
  });

  it('U6 asked for by many at once fetch once', async () => {
    host.publish(sampleCatalog(), keys);
    const kernel = await boot();
    const answers = await Promise.all(Array.from({ length: 5 }, () => update(kernel)));
    expect(answers.map((answer) => answer.status)).to.deep.equal([200, 200, 200, 200, 200]);
    expect(host.asked).to.deep.equal(['/catalog.json', '/catalog.json.sig']);
  });

  it('refuse fifty megabytes, with and without their length told', async () => {
    const kernel = await boot();
    for (const headers of [{}, { 'content-length': String(50 * 1024 * 1024) }]) {
      host.put('/catalog.json', { endless: 50 * 1024 * 1024, headers });
      await expectRefused(kernel, { status: 502, code: 'models_catalog_unreachable', says: 'larger than' });
    }
  });

  it('follow no redirect to a private address, and reach none that is not allowed', async () => {
    host.put('/catalog.json', { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data' } });
    const kernel = await boot();
    await expectRefused(kernel, { status: 502, code: 'models_catalog_unreachable', says: '169.254.169.254 is not allowed' });
    host.put('/catalog.json', { status: 302, headers: { location: 'file:///etc/passwd' } });
    await expectRefused(kernel, { status: 502, code: 'models_catalog_unreachable', says: 'file is not http' });
    await kernel.stop();
    await expectRefused(await boot(settings()), { status: 502, code: 'models_catalog_unreachable', says: 'is not allowed' });
  });

  it('say so offline, and the standing catalog stays', async () => {
    const kernel = await boot(settings({ catalog_url: 'http://127.0.0.1:1/catalog.json' }) + allowed);
    await expectRefused(kernel, { status: 502, code: 'models_catalog_unreachable', says: 'connection was refused' });
    host.put('/catalog.json', { status: 500, body: 'oops' });
    await kernel.stop();
    await expectRefused(await boot(), { status: 502, code: 'models_catalog_unreachable', says: 'answered 500' });
  });
});
