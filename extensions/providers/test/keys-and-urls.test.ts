/** Keys, addresses and providers of one's own, over HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type ListServer, openAiList, startListServer } from '@svc/fixtures/providers/list-server';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

const KEY = 'sk-canary-51c0ffee';
const DEAD = 'http://127.0.0.1:1/v1';
const OFF = `[provider_urls]\nollama = "${DEAD}"\nlmstudio = "${DEAD}"\nvllm = "${DEAD}"\nlemonade = "${DEAD}"\n`;

describeDaemonOnEngines('keys and addresses of providers', function () {
  this.timeout(30_000);
  let server: ListServer;
  let home: string;
  beforeEach(async () => {
    server = await startListServer({ '/v1/models': openAiList('gpt-5', 'house-model') });
    home = await mkdtemp(join(tmpdir(), 'svc-keys-'));
  });
  afterEach(async () => {
    await stopModelKernels();
    await stopTestKernels();
    await server.close();
    await rm(home, { recursive: true, force: true });
  });
  const boot = (env: Readonly<Record<string, string>> = {}): Promise<TestKernel> => bootTestKernel({ home, config: OPEN_RATE + OFF, env });
  const provider = async (kernel: TestKernel, name: string) => (await kernel.http.expect(200, 'GET', `/api/providers/${name}`)).body;
  const refusal = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };

  it('a key is tried at once where that is asked for, and kept in either case', async () => {
    const kernel = await boot();
    await kernel.http.expect(200, 'PUT', '/api/providers/openai/url', { url: server.url });
    const { body } = await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: ` ${KEY}\n`, verify: true });
    expect(body).to.deep.include({ status: 'configured', provider: 'openai' });
    expect(body.test).to.include({ status: 'ok', model_tested: 'gpt-5', auth_status: 'validated_key' });
    expect(server.asked.at(-1)?.headers.authorization).to.equal(`Bearer ${KEY}`);
    server.answer('/v1/models', { status: 401 });
    const refused = await kernel.http.expect(200, 'POST', '/api/providers/openai/key?test=1', { key: `${KEY}2` });
    expect(refused.body.test).to.include({ status: 'error', auth_status: 'invalid_key' });
    expect(await provider(kernel, 'openai')).to.include({ auth_status: 'invalid_key', key_present: true });
  });

  it('P8 a key that is removed stays removed, though the environment holds one, until a person says otherwise', async () => {
    const kernel = await boot({ OPENAI_API_KEY: KEY });
    await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: `${KEY}2` });
    const { body } = await kernel.http.expect(200, 'DELETE', '/api/providers/openai/key');
    expect(body).to.include({ status: 'removed', provider: 'openai', suppressed: true });
    expect(body.message).to.contain('OPENAI_API_KEY');
    expect(await provider(kernel, 'openai')).to.include({ auth_status: 'missing', suppressed: true, available: false, key_present: false });
    expect((await kernel.http.post('/api/providers/openai/test')).body.error).to.contain('ignored since');
    await kernel.stop();
    const later = await boot({ OPENAI_API_KEY: KEY });
    expect(await provider(later, 'openai')).to.include({ auth_status: 'missing', suppressed: true });
    expect((await later.http.expect(200, 'POST', '/api/providers/openai/enable')).body).to.deep.equal({ status: 'enabled', provider: 'openai', auth_status: 'configured' });
    expect(await provider(later, 'openai')).to.include({ auth_status: 'configured', suppressed: false });
  });

  it('P8 a new key ends it as well, and removing one that is nowhere is no error', async () => {
    const kernel = await boot({ OPENAI_API_KEY: KEY });
    await kernel.http.expect(200, 'DELETE', '/api/providers/openai/key');
    await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: KEY });
    expect(await provider(kernel, 'openai')).to.include({ auth_status: 'configured', suppressed: false });
    expect((await kernel.http.expect(200, 'DELETE', '/api/providers/groq/key')).body).to.deep.equal({ status: 'removed', provider: 'groq' });
  });

  it('P8 an agent whose provider lost its key this way is refused with 412, and the key is not sent', async () => {
    const { http, model, agent } = await bootWithModel({ text: 'ok' });
    await http.expect(200, 'DELETE', '/api/providers/openai/key');
    const answer = await http.post(`/api/agents/${agent.id}/message`, { message: 'hello' });
    expect([answer.status, answer.body.code]).to.deep.equal([412, 'llm_provider_key_missing']);
    expect(model.requests).to.have.length(0);
  });

  it('refuses keys of spaces, keys with line breaks, and keys for who needs none', async () => {
    const { http } = await boot();
    expect(await refusal(http.post('/api/providers/openai/key', { api_key: '   ' }))).to.deep.equal([400, 'providers_empty_key']);
    expect(await refusal(http.post('/api/providers/openai/key', {}))).to.deep.equal([400, 'providers_empty_key']);
    expect(await refusal(http.post('/api/providers/openai/key', { api_key: 'sk-a\nsk-b' }))).to.deep.equal([400, 'providers_bad_key']);
    expect(await refusal(http.post('/api/providers/openai/key', { api_key: 'sk-ключ' }))).to.deep.equal([400, 'providers_bad_key']);
    expect(await refusal(http.post('/api/providers/openai/key', { api_key: 'x'.repeat(9_000) }))).to.deep.equal([400, 'invalid_request']);
    expect(await refusal(http.post('/api/providers/builtin/key', { api_key: KEY }))).to.deep.equal([400, 'providers_no_key_needed']);
    expect(await refusal(http.delete('/api/providers/builtin/key'))).to.deep.equal([400, 'providers_no_key_needed']);
    expect(await refusal(http.post('/api/providers/nobody/key', { api_key: KEY }))).to.deep.equal([404, 'providers_not_found']);
    expect(await refusal(http.delete('/api/providers/nobody/key'))).to.deep.equal([404, 'providers_not_found']);
    expect(await refusal(http.post('/api/providers/nobody/enable'))).to.deep.equal([404, 'providers_not_found']);
  });

  it('a key with an address makes a provider of one’s own, which answers, and goes with its key', async () => {
    const kernel = await boot();
    const { body } = await kernel.http.expect(200, 'POST', '/api/providers/my-lab/key', { api_key: KEY, url: `${server.url}/`, verify: true });
    expect(body.test).to.include({ status: 'ok', model_tested: 'gpt-5' });
    expect(await provider(kernel, 'my-lab')).to.include({ is_custom: true, base_url: `${server.url}/v1`, auth_status: 'validated_key', wire: 'openai' });
    expect((await kernel.http.expect(200, 'DELETE', '/api/providers/my-lab/url')).body).to.deep.equal({ status: 'removed', provider: 'my-lab', base_url: null });
    expect((await kernel.http.get('/api/providers/my-lab')).status).to.equal(404);
    await kernel.http.expect(200, 'PUT', '/api/providers/my-lab/url', { url: server.url, create: true });
    expect(await provider(kernel, 'my-lab')).to.include({ auth_status: 'no_key_needed', key_present: false });
  });

  it('what its server lists goes with a provider of one’s own', async () => {
    const { http } = await boot();
    await http.expect(200, 'PUT', '/api/providers/my-lab/url', { url: server.url, create: true });
    const models = async () => (await http.get('/api/models?provider=my-lab')).body.models.map((one: { id: string }) => one.id);
    await http.expect(200, 'GET', '/api/providers/local-llm/detect');
    expect(await models()).to.deep.equal(['gpt-5', 'house-model']);
    await http.expect(200, 'DELETE', '/api/providers/my-lab/url');
    expect(await models()).to.deep.equal([]);
  });

  it('what its server lists is listed as soon as it was asked, priced as nobody knows, and an agent can name it', async () => {
    const kernel = await boot();
    await kernel.http.expect(200, 'POST', '/api/providers/my-lab/key', { api_key: KEY, url: `${server.url}/`, verify: true });
    const { body } = await kernel.http.expect(200, 'GET', '/api/models?provider=my-lab');
    expect(body.models.map((one: { id: string; source: string }) => [one.id, one.source])).to.deep.equal([
      ['gpt-5', 'local'],
      ['house-model', 'local'],
    ]);
    const { agents } = (await kernel.http.expect(200, 'GET', '/api/agents')).body;
    const switched = (model: string) => kernel.http.expect(200, 'PUT', `/api/agents/${agents[0].id}/model`, { provider: 'my-lab', model });
    expect((await switched('house-model')).body)
      .to.include({ provider: 'my-lab', model: 'house-model' })
      .and.not.have.property('warnings');
    expect((await switched('house-modle')).body.warnings.join()).to.contain('Did you mean house-model');
  });

  it('P7 what is said of a key that was changed meanwhile is not said of the new one', async () => {
    const { http } = await boot();
    await http.expect(200, 'PUT', '/api/providers/openai/url', { url: server.url });
    await http.expect(200, 'POST', '/api/providers/openai/key', { api_key: KEY });
    let release = (): void => undefined;
    server.answer('/v1/models', { status: 401, until: new Promise((resolve) => (release = () => resolve(undefined))) });
    const before = server.asked.length;
    const testing = http.expect(200, 'POST', '/api/providers/openai/test');
    await until(() => server.asked.length > before);
    await http.expect(200, 'POST', '/api/providers/openai/key', { api_key: `${KEY}2` });
    release();
    expect((await testing).body).to.include({ status: 'error', auth_status: 'configured' });
  });

  it('refuses names that no provider can have, and makes none unasked', async () => {
    const { http } = await boot();
    const create = (name: string) => refusal(http.put(`/api/providers/${name}/url`, { url: server.url, create: true }));
    for (const name of ['..%2Fx', 'My-Box', 'a%20b', '-x', 'default', 'auto', 'local-llm', 'codeassist', 'a_b']) expect(await create(name), name).to.deep.equal([400, 'providers_bad_name']);
    expect(await create('x'.repeat(65))).to.deep.equal([400, 'invalid_request']);
    expect(await refusal(http.put('/api/providers/builtin/url', { url: server.url, create: true }))).to.deep.equal([409, 'providers_no_address']);
    expect(await refusal(http.put('/api/providers/my-box/url', { url: server.url }))).to.deep.equal([404, 'providers_not_found']);
    expect(await refusal(http.post('/api/providers/my-box/key', { api_key: ' ', url: server.url }))).to.deep.equal([400, 'providers_empty_key']);
    expect((await http.get('/api/providers/my-box')).status).to.equal(404);
  });

  for (const [what, url] of [
    ['nothing', ''],
    ['no URL', 'not a url'],
    ['another scheme', 'ftp://x.example'],
    ['a file', 'file:///etc/passwd'],
    ['credentials', 'https://user:secret@x.example/v1'],
    ['a query', 'https://x.example/v1?key=1'],
    ['a fragment', 'https://x.example/v1#top'],
  ] as const)
    it(`refuses an address that is or has ${what}, and does not repeat it`, async () => {
      const { http } = await boot();
      const answer = await http.put('/api/providers/openai/url', { url });
      expect([answer.status, answer.body.code]).to.deep.equal([400, 'providers_bad_url']);
      expect(answer.text).not.to.contain('secret@');
    });

  it('a proxy holds a login in no file, and is an address without a path', async () => {
    const { http } = await boot();
    const url = server.url;
    for (const proxy_url of ['http://user:pass@proxy.test:3128', 'http://proxy.test:3128/path', 'http://:8080'])
      expect(await refusal(http.put('/api/providers/openai/url', { url, proxy_url })), proxy_url).to.deep.equal([400, 'providers_bad_proxy']);
  });

  it('a new address is asked without the key, and what it lists or is wrong with it is told', async () => {
    const kernel = await boot({ OPENAI_API_KEY: KEY });
    const { body } = await kernel.http.expect(200, 'PUT', '/api/providers/openai/url', { url: `${server.url}//` });
    expect(body).to.deep.include({ status: 'saved', base_url: `${server.url}/v1`, reachable: true, discovered_models: ['gpt-5', 'house-model'] });
    expect(server.asked.at(-1)?.headers).not.to.have.property('authorization');
    server.answer('/v1/models', { body: '<html>' });
    const page = await kernel.http.expect(200, 'PUT', '/api/providers/openai/url', { base_url: server.url });
    expect(page.body).to.include({ reachable: true }).and.have.property('message').that.contains('web page');
    const dead = await kernel.http.expect(200, 'PUT', '/api/providers/openai/url', { url: DEAD });
    expect(dead.body).to.include({ reachable: false });
  });

  it('an address that was saved can be taken back, and one that was not cannot', async () => {
    const kernel = await boot();
    await kernel.http.expect(200, 'PUT', '/api/providers/openai/url', { url: server.url });
    expect((await kernel.http.expect(200, 'DELETE', '/api/providers/openai/url')).body.base_url).to.equal('https://api.openai.com/v1');
    expect(await refusal(kernel.http.delete('/api/providers/openai/url'))).to.deep.equal([409, 'providers_no_saved_url']);
    expect(await refusal(kernel.http.delete('/api/providers/nobody/url'))).to.deep.equal([404, 'providers_not_found']);
  });
});
