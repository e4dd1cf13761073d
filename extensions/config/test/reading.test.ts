/** The settings as they are shown, exported and described. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEY = 'the-key-of-the-owner-1';
const ANN = 'ann-has-a-key-of-hers-2';
const HASH_OF_ANN = 'sha256:4a7c11a6e0fb3bf0a1b4c3b4a2a4cbd2e7e1c1d3a5f4b0a4f8b4f2d0f6f3a1b2';
const PASSWORD = 'pass-of-the-database-3';

interface Row {
  readonly path: string;
  readonly value: unknown;
  readonly source: string;
  readonly variable: string | null;
  readonly line: number | null;
  readonly by_hand: string | null;
  readonly restart: boolean;
  readonly owner: string;
}

describe('the settings over HTTP', function () {
  this.timeout(20_000);
  afterEach(stopTestKernels);

  const rowsOf = async ({ http }: TestKernel): Promise<(path: string) => Row | undefined> => {
    const { settings, total } = (await http.expect(200, 'GET', '/api/config/settings')).body as { settings: Row[]; total: number };
    expect(total).to.equal(settings.length);
    return (path) => settings.find((row) => row.path === path);
  };

  it('mirror what holds, section by section, older spellings and settings without a value included', async () => {
    const { http } = await bootTestKernel({ config: `${OPEN_RATE}[log]\nlevel = "warn"\n[provider_urls]\nmine = "http://127.0.0.1:9"\n` });

    const { body, headers } = await http.expect(200, 'GET', '/api/config');

    expect(body.api).to.include({ listen_addr: '127.0.0.1:4545', rate_limit_per_second: 100_000 });
    expect(body).to.deep.include({ log: { level: 'warn' }, log_level: 'warn', api_listen: '127.0.0.1:4545', provider_urls: { mine: 'http://127.0.0.1:9' } });
    expect(body.runs.on_disconnect).to.equal(null);
    expect(body.web.search_available).to.equal(false);
    expect(headers.get('etag')).to.match(/^"[0-9a-f]{32}"$/);
  });

  it('hold no secret: not in the tree, the rows, the export or the schema', async () => {
    const config = `${OPEN_RATE}[[users]]\nname = "ann"\nrole = "admin"\napi_key_hash = "${HASH_OF_ANN}"\n[default_model]\napi_key_env = "${'sk_live_pasted_by_mistake'}"\n`;
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${config}`, key: KEY });

    const { body } = await kernel.http.expect(200, 'GET', '/api/config');
    const answers = await Promise.all(['', '/settings', '/export', '/schema', '/status'].map((path) => kernel.http.expect(200, 'GET', `/api/config${path}`)));

    expect(body).to.deep.include({ api_key: '***', api_key_hash: 'not set', users: { count: 1, names: ['ann'] } });
    expect(body.storage).to.include({ url: 'not set' });
    expect(body.default_model.api_key_env).to.equal('***');
    for (const { text } of answers) expect(text).not.to.contain(KEY).and.not.to.contain(HASH_OF_ANN.slice(8, 30)).and.not.to.contain('pasted');
  });

  it('say of each where it comes from: default, line of the file, variable', async () => {
    const kernel = await bootTestKernel({
      config: `log_level = "warn"\n${OPEN_RATE}\n[runs]\n# how many\nmax_active = 7\n`,
      env: { SVC__LLM__MAX_RETRIES: '1', SVC_API_KEY: KEY, SVC_LISTEN: '127.0.0.1:4999' },
      key: KEY,
    });

    const row = await rowsOf(kernel);

    expect(row('runs.max_active')).to.deep.include({ value: 7, source: 'file', line: 10, owner: 'runs', by_hand: null, restart: false });
    expect(row('log.level')).to.deep.include({ value: 'warn', source: 'file', line: 1, owner: 'kernel' });
    expect(row('runs.max_depth')).to.deep.include({ value: 5, source: 'default', line: null });
    expect(row('llm.max_retries')).to.deep.include({ value: 1, source: 'environment', variable: 'SVC__LLM__MAX_RETRIES' });
    expect(row('api_key')).to.deep.include({ value: '***', source: 'environment', variable: 'SVC_API_KEY' });
    expect(row('api.listen_addr')).to.deep.include({ value: '127.0.0.1:4999', source: 'environment', variable: 'SVC_LISTEN', restart: true });
  });

  it('say that an earlier value holds where the file is wrong', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[runs]\nmax_active = 7\n` });
    await writeFile(join(kernel.home, 'config.toml'), `${OPEN_RATE}[runs]\nmax_active = 0\n`);
    await kernel.http.expect(200, 'POST', '/api/config/reload');

    expect((await rowsOf(kernel))('runs.max_active')).to.deep.include({ value: 7, source: 'kept', line: 7 });
  });

  it('are shown of areas that are off as well', async () => {
    const { http } = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\ndisable = ["webchat", "openai-compat"]\n[vault]\nenabled = false\n` });
    expect((await http.expect(200, 'GET', '/api/config')).body.vault).to.deep.equal({ enabled: false });
  });

  it('are exported as a file that says the same when it is read', async () => {
    const first = await bootTestKernel({
      config: `${OPEN_RATE}[log]\nlevel = "warn"\n[llm]\nmax_retries = 1\n[[fallback_providers]]\nprovider = "mine"\nmodel = "m \\"1\\""\n`,
      env: { SVC__RUNS__MAX_ACTIVE: '9' },
    });
    const exported = await first.http.expect(200, 'GET', '/api/config/export');
    const wanted = (await first.http.expect(200, 'GET', '/api/config')).body;
    await first.stop();

    const second = await bootTestKernel({ config: exported.text });

    expect(exported.headers.get('content-type')).to.contain('application/toml');
    expect(exported.headers.get('content-disposition')).to.equal('attachment; filename="svc-config.toml"');
    expect((await second.http.expect(200, 'GET', '/api/config')).body).to.deep.equal(wanted);
    expect(second.daemon.kernel.configProblems()).to.deep.equal([]);
  });

  it('are exported to owners and admins alone', async () => {
    const { createHash } = await import('node:crypto');
    const hash = createHash('sha256').update(ANN).digest('hex');
    const kernel = await bootTestKernel({ config: `api_key = "${KEY}"\n${OPEN_RATE}[[users]]\nname = "ann"\nrole = "user"\napi_key_hash = "sha256:${hash}"\n`, key: KEY });
    const ann = kernel.as(ANN);

    expect((await ann.get('/api/config')).status).to.equal(200);
    for (const [method, path] of [
      ['GET', '/api/config/export'],
      ['POST', '/api/config/reload'],
      ['POST', '/api/init'],
    ] as const)
      expect((await ann.send(method, path, undefined)).status, path).to.equal(403);
    expect((await ann.post('/api/config/set', { path: 'log.level', value: 'warn' })).status).to.equal(403);
    expect((await kernel.as('wrong').get('/api/config')).status).to.equal(401);
  });

  it('are described for forms and for editors', async () => {
    const { http } = await bootTestKernel();

    const form = (await http.expect(200, 'GET', '/api/config/schema')).body;
    const editor = (await http.expect(200, 'GET', '/api/registry/schema')).body;

    expect(form['x-sections']).to.deep.include.members([
      { key: 'log', root_level: false, hot_reloadable: true, owner: 'kernel' },
      { key: 'api', root_level: false, hot_reloadable: false, owner: 'kernel' },
      { key: 'api_key', root_level: true, hot_reloadable: true, owner: 'auth' },
    ]);
    expect(form['x-ui-options']).to.deep.include({ '/log/level': { select: ['trace', 'debug', 'info', 'warn', 'error'] }, '/runs/max_active': { min: 1, max: 100_000, step: 1 } });
    expect(form['x-non-writable']).to.include.members(['api_key', 'users', 'storage.url', 'default_model.api_key_env', 'capabilities.admin']).and.not.include('log.level');
    expect(JSON.stringify(editor)).not.to.match(/"x-[a-z-]+":/);
    expect(Object.keys(editor.properties)).to.deep.equal(Object.keys(form.properties));
    expect(editor.properties.log.properties.level.enum).to.include('debug');
  });

  it('have a file whose state is told', async () => {
    const kernel = await bootTestKernel();
    const { body } = await kernel.http.expect(200, 'GET', '/api/config/status');
    expect(body).to.include({ mode: 'file', exists: true, writable: true, source: join(kernel.home, 'config.toml') });
    expect(`"${body.checksum}"`).to.equal((await kernel.http.get('/api/config')).headers.get('etag'));
  });

  it('show no password of a database', async () => {
    const kernel = await bootTestKernel();
    await writeFile(join(kernel.home, 'config.toml'), `${OPEN_RATE}[storage]\nurl = "postgres://me:${PASSWORD}@127.0.0.1/x"\n`);
    const reloaded = await kernel.http.expect(200, 'POST', '/api/config/reload');
    expect(reloaded.body).to.deep.include({ status: 'partial', restart_required: true });
    expect((await kernel.http.get('/api/config')).body.storage).to.include({ url: '***' });
    for (const path of ['/api/config/export', '/api/config/settings']) expect((await kernel.http.get(path)).text).not.to.contain(PASSWORD);
  });
});
