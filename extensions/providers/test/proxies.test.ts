/** In a network where a proxy is the way out: providers are reached through it, and what fails names it. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { openAiList, startListServer, type ListServer } from '@svc/fixtures/providers/list-server';
import { startProxy, type TestProxy } from '@svc/fixtures/providers/proxy';

const DEAD = 'http://127.0.0.1:1';
const OFF = `${OPEN_RATE}[provider_urls]\nollama = "${DEAD}/v1"\nlmstudio = "${DEAD}/v1"\nvllm = "${DEAD}/v1"\nlemonade = "${DEAD}/v1"\n`;
const CORP = 'http://llm.corp.example/v1';

describe('proxies of providers', function () {
  this.timeout(30_000);
  let server: ListServer;
  let proxy: TestProxy;
  beforeEach(async () => {
    server = await startListServer({ '/v1/models': openAiList('gpt-5') });
    proxy = await startProxy(Number(new URL(server.url).port));
  });
  afterEach(async () => {
    await stopTestKernels();
    await proxy.close();
    await server.close();
  });
  const boot = (config = '', env: Readonly<Record<string, string>> = {}): Promise<TestKernel> => bootTestKernel({ config: OFF + config, env });
  const reach = async ({ http }: TestKernel, more: object = {}, name = 'openai') =>
    (await http.expect(200, 'PUT', `/api/providers/${name}/url`, { url: CORP, ...more })).body as { reachable: boolean; message?: string };

  it('a proxy that is saved for one provider leads there, is shown, stays with the next address and goes with an empty text', async () => {
    const kernel = await boot();
    expect(await reach(kernel, { proxy_url: proxy.url })).to.deep.include({ reachable: true, discovered_models: ['gpt-5'] });
    expect(proxy.asked).to.deep.equal(['GET http://llm.corp.example/v1/models']);
    expect((await reach(kernel)).reachable).to.equal(true);
    expect((await kernel.http.get('/api/providers/openai')).body.proxy_url).to.equal(proxy.url);
    expect((await kernel.http.get('/api/providers/groq')).body.proxy_url).to.equal(null);
    expect((await reach(kernel, { proxy_url: '' })).reachable).to.equal(false);
    expect((await kernel.http.get('/api/providers/openai')).body.proxy_url).to.equal(null);
  });

  it('[provider_proxy_urls] comes before [proxy], and what is saved before both', async () => {
    const kernel = await boot(`[provider_proxy_urls]\nopenai = "${proxy.url}"\n[proxy]\nhttp_proxy = "${DEAD}"\n`);
    expect((await reach(kernel)).reachable).to.equal(true);
    expect((await reach(kernel, { url: 'http://other.corp.example/v1' }, 'groq')).message).to.equal(
      'other.corp.example through the proxy http://127.0.0.1:1 ([proxy] http_proxy) cannot be reached: the connection was refused.',
    );
    expect((await reach(kernel, { proxy_url: 'http://127.0.0.1:2' })).message).to.contain('through the proxy http://127.0.0.1:2 (set for this provider)');
  });

  it('the environment names the way, with a login that no answer shows, and svc doctor says which', async () => {
    const kernel = await boot('', { HTTP_PROXY: proxy.url.replace('//', '//name:canary-pass@'), NO_PROXY: 'internal.example' });
    expect((await reach(kernel)).reachable).to.equal(true);
    expect(proxy.logins).to.deep.equal([`Basic ${Buffer.from('name:canary-pass').toString('base64')}`]);
    const { doctor } = (await kernel.http.expect(200, 'GET', '/api/health/detail')).body;
    const found = doctor.find(({ check }: { check: string }) => check === 'ProxyCheck');
    expect(found).to.deep.include({ result: 'pass', message: `Requests leave through the proxy ${proxy.url} (HTTP_PROXY), except to internal.example. What a name leads to is checked by the proxy.` });
    proxy.refuse(407);
    expect((await reach(kernel)).message).to.contain(`through the proxy ${proxy.url} (HTTP_PROXY) cannot be reached: the proxy asks for a user name and a password`);
    await proxy.close();
    const later = (await kernel.http.expect(200, 'GET', '/api/health/detail')).body.doctor.find(({ check }: { check: string }) => check === 'ProxyCheck');
    expect([later.result, later.message]).to.deep.equal(['fail', `The proxy ${proxy.url} (HTTP_PROXY) does not answer: ECONNREFUSED.`]);
  });
});
