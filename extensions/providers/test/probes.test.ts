/** Tests of providers and the look for local servers, over HTTP, against servers that speak each wire. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type ListAnswer, type ListServer, ollamaList, openAiList, startListServer } from '@svc/fixtures/providers/list-server';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';

const FIVE_MB = 5 * 1024 * 1024;
const KEY = 'sk-canary-77d1f0c2aa';
const DEAD = 'http://127.0.0.1:1/v1';
const HTML: ListAnswer = { body: '<!doctype html><title>Welcome</title>' };

describe('what providers answer', function () {
  this.timeout(30_000);
  let server: ListServer;
  let home: string;
  beforeEach(async () => {
    server = await startListServer();
    home = await mkdtemp(join(tmpdir(), 'svc-probes-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await server.close();
    await rm(home, { recursive: true, force: true });
  });

  const urls = (more: Readonly<Record<string, string>> = {}): string =>
    `[provider_urls]\n${Object.entries({ ollama: DEAD, lmstudio: DEAD, vllm: DEAD, lemonade: DEAD, ...more })
      .map(([name, url]) => `${name} = "${url}"\n`)
      .join('')}`;
  const boot = (more: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}): Promise<TestKernel> => bootTestKernel({ home, config: OPEN_RATE + urls(more), env });
  const test = async (kernel: TestKernel, name: string, body?: object) => (await kernel.http.expect(200, 'POST', `/api/providers/${name}/test`, body)).body;
  const provider = async (kernel: TestKernel, name: string) => (await kernel.http.expect(200, 'GET', `/api/providers/${name}`)).body;

  describe('when tested', () => {
    const list = {
      anthropic: (...ids: string[]) => ({ body: { data: ids.map((id) => ({ type: 'model', id })) } }),
      gemini: (...ids: string[]) => ({ body: { models: ids.map((id) => ({ name: `models/${id}` })) } }),
    };
    for (const [name, path, answer, model, header, value] of [
      ['openai', '/v1/models', openAiList('gpt-5', 'gpt-5-nano', 'gpt-5-mini'), 'gpt-5-nano', 'authorization', `Bearer ${KEY}`],
      ['anthropic', '/v1/models', list.anthropic('claude-opus-4-7', 'claude-haiku-4-5-20251001'), 'claude-haiku-4-5-20251001', 'x-api-key', KEY],
      ['gemini', '/v1beta/models', list.gemini('gemini-2.5-pro', 'gemini-2.5-flash-lite'), 'gemini-2.5-flash-lite', 'x-goog-api-key', KEY],
    ] as const)
      it(`P7 ${name}: asks its list with the key, and names the cheapest model of the catalog that it lists`, async () => {
        server.answer(path, answer);
        const kernel = await boot({ [name]: server.url });
        await kernel.http.expect(200, 'POST', `/api/providers/${name}/key`, { api_key: KEY });
        const found = await test(kernel, name);
        expect(found).to.include({ status: 'ok', provider: name, model_tested: model, auth_status: 'validated_key' });
        expect(found.latency_ms).to.be.a('number');
        expect(found.models_listed).to.include(model);
        expect(server.asked.at(-1)?.headers[header]).to.equal(value);
        expect(await provider(kernel, name)).to.include({ auth_status: 'validated_key', available: true, key_present: true, reachable: true });
        await kernel.stop();
        // P7: over a restart, until there is another key.
        const later = await boot({ [name]: server.url });
        expect(await provider(later, name)).to.include({ auth_status: 'validated_key' });
        await later.http.expect(200, 'POST', `/api/providers/${name}/key`, { api_key: `${KEY}2` });
        expect(await provider(later, name)).to.include({ auth_status: 'configured' });
      });

    it('a server on this machine is asked without a key, Ollama by its own list', async () => {
      server.answer('/api/tags', ollamaList(['qwen3:8b', 5_000_000_000]));
      const kernel = await boot({ ollama: server.url });
      expect(await test(kernel, 'ollama')).to.include({ status: 'ok', model_tested: 'qwen3:8b' });
      expect(server.asked.map(({ path }) => path)).to.include('/api/tags');
      server.answer('/api/tags', ollamaList());
      expect(await test(kernel, 'ollama'))
        .to.include({ status: 'error', model_tested: null })
        .and.have.property('error')
        .that.contains('lists no models');
    });

    it('the mock provider is there', async () => {
      expect(await test(await boot(), 'builtin')).to.include({ status: 'ok', model_tested: 'rehearsal', latency_ms: 0 });
    });

    it('a model that was asked for is looked for in the list', async () => {
      server.answer('/v1/models', openAiList('gpt-5', 'house-model'));
      const kernel = await boot({ openai: server.url }, { OPENAI_API_KEY: KEY });
      expect(await test(kernel, 'openai', { model: 'GPT-5' })).to.include({ status: 'ok', model_tested: 'gpt-5' });
      expect(await test(kernel, 'openai', { model: 'house-model' })).to.include({ status: 'ok' });
      expect(await test(kernel, 'openai', { model: 'gpt-9' }))
        .to.include({ status: 'error', model_tested: 'gpt-9' })
        .and.have.property('error')
        .that.contains('gpt-9');
    });

    it('whatever is no list is an error that says so', async () => {
      const kernel = await boot({ mine: `${server.url}/v1` });
      for (const [what, answer, says] of [
        ['a web page', HTML, 'web page'],
        ['a web page that says it is JSON', { body: '<html>', headers: { 'content-type': 'application/json' } }, 'web page'],
        ['JSON that is no list', { body: { hello: 'world' } }, 'does not answer with a list of models'],
        ['a 500', { status: 500 }, 'answered 500'],
        ['a 404', { status: 404 }, 'no list of models at /v1/models (404)'],
        ['a 429', { status: 429 }, 'no more questions'],
        ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, 'redirects (302)'],
        ['five megabytes', { bytes: FIVE_MB }, 'more than 4 MB'],
      ] as const) {
        server.answer('/v1/models', answer);
        expect(await test(kernel, 'mine'), what)
          .to.include({ status: 'error', model_tested: null, auth_status: 'no_key_needed' })
          .and.have.property('error')
          .that.contains(says);
        expect(await provider(kernel, 'mine'), what)
          .to.include({ reachable: true })
          .and.have.property('error_message')
          .that.contains(says);
      }
    });

    it('nobody at the address is an error', async () => {
      const kernel = await boot({ openai: DEAD }, { OPENAI_API_KEY: KEY });
      expect(await test(kernel, 'openai'))
        .to.include({ status: 'error', auth_status: 'configured' })
        .and.have.property('error')
        .that.contains('connection was refused');
      expect(await provider(kernel, 'openai')).to.include({ reachable: false, latency_ms: null });
    });

    for (const status of [401, 403])
      it(`P7 a ${status} marks the key as refused, over a restart, and says nothing of it`, async () => {
        server.answer('/v1/models', { status, body: { error: { message: `Incorrect API key provided: ${KEY}` } } });
        const kernel = await boot({ openai: server.url });
        await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: KEY });
        const found = await test(kernel, 'openai');
        expect(found).to.include({ status: 'error', auth_status: 'invalid_key' }).and.have.property('error').that.contains(`refused the key (${status})`);
        expect(JSON.stringify(found)).not.to.contain(KEY);
        await kernel.stop();
        const later = await boot({ openai: server.url });
        expect(await provider(later, 'openai')).to.include({ auth_status: 'invalid_key', available: false, key_present: true });
        server.answer('/v1/models', openAiList('gpt-5'));
        expect(await test(later, 'openai')).to.include({ status: 'ok', auth_status: 'validated_key' });
      });

    it('P7 what was said of a key in the environment ends with this life: the next may bring another', async () => {
      server.answer('/v1/models', { status: 401 });
      const kernel = await boot({ openai: server.url }, { OPENAI_API_KEY: KEY });
      expect(await test(kernel, 'openai')).to.include({ auth_status: 'invalid_key' });
      await kernel.stop();
      expect(await provider(await boot({ openai: server.url }, { OPENAI_API_KEY: `${KEY}2` }), 'openai')).to.include({ auth_status: 'configured' });
    });

    it('refuses what there is nothing to ask with', async () => {
      const { http } = await boot();
      const refused = async (name: string, body?: object) => {
        const answer = await http.post(`/api/providers/${name}/test`, body);
        return [answer.status, answer.body.code];
      };
      expect(await refused('openai')).to.deep.equal([400, 'providers_no_key']);
      expect(await refused('bedrock')).to.deep.equal([409, 'providers_not_testable']);
      expect(await refused('nobody')).to.deep.equal([404, 'providers_not_found']);
      expect(await refused('..%2Fx')).to.deep.equal([404, 'providers_not_found']);
      expect(await refused('openai', { model: '' })).to.deep.equal([400, 'invalid_request']);
    });
  });

  describeDaemonOnEngines('when looked for on this machine', () => {
    const detect = async (kernel: TestKernel) => (await kernel.http.expect(200, 'GET', '/api/providers/local-llm/detect')).body;
    const listed = async (kernel: TestKernel) => (await kernel.http.expect(200, 'GET', '/api/models?provider=ollama')).body.models.filter((model: { source: string }) => model.source === 'local');
    const idsOf = (models: ReadonlyArray<{ id: string }>): string[] => models.map(({ id }) => id);

    it('keeps what a server lists, over a restart, until it lists something else', async () => {
      server.answer('/api/tags', ollamaList(['qwen3:8b', 5_000_000_000], ['house-llama', 7]));
      const kernel = await boot({ ollama: server.url });
      const found = await detect(kernel);
      expect(found).to.deep.include({
        available: true,
        base_url: `${server.url}/v1`,
        models: [
          { name: 'qwen3:8b', size: 5_000_000_000, provider: 'ollama' },
          { name: 'house-llama', size: 7, provider: 'ollama' },
        ],
      });
      const local = await listed(kernel);
      expect(idsOf(local)).to.deep.equal(['qwen3:8b', 'house-llama']);
      // What the catalog says of qwen3 holds for its tags too.
      expect(local[0]).to.include({ context_window: 40_960, tier: 'local', available: true, input_cost_per_1m: 0, pricing_known: true, source: 'local' });
      expect((await kernel.http.get('/api/models/llama4')).body).to.include({ source: 'catalog', available: false });
      await kernel.stop();
      await server.close();
      const later = await boot({ ollama: server.url });
      expect(idsOf(await listed(later))).to.deep.equal(['qwen3:8b', 'house-llama']);
      expect(await detect(later)).to.include({ available: false });
      expect((await listed(later))[0]).to.include({ id: 'qwen3:8b', available: false });
      await later.stop();
      server = await startListServer({ '/api/tags': ollamaList(['house-llama', 7]) });
      const last = await boot({ ollama: server.url });
      await detect(last);
      expect(idsOf(await listed(last))).to.deep.equal(['house-llama']);
    });

    it('a server that lists nothing is there, and has no models any more', async () => {
      server.answer('/api/tags', ollamaList(['qwen3:8b', 1]));
      const kernel = await boot({ ollama: server.url });
      await detect(kernel);
      server.answer('/api/tags', ollamaList());
      expect(await detect(kernel)).to.deep.include({ available: true, models: [] });
      expect(await listed(kernel)).to.deep.equal([]);
    });

    it('what is no list is reported, and what was seen before stays', async () => {
      server.answer('/api/tags', ollamaList(['qwen3:8b', 1]));
      const kernel = await boot({ ollama: server.url });
      await detect(kernel);
      for (const [what, answer, says] of [
        ['a web page', HTML, 'web page'],
        ['a 500', { status: 500 }, 'answered 500'],
        // Said beforehand: a busy machine may not read them in time.
        ['five megabytes', { bytes: FIVE_MB, headers: { 'content-length': String(FIVE_MB + '{"data": []}'.length) } }, 'more than 4 MB'],
        ['silence', { hang: true }, 'did not answer in time'],
      ] as const) {
        server.answer('/api/tags', answer);
        const found = await detect(kernel);
        expect(found.available, what).to.equal(false);
        expect(found.servers.find((one: { provider: string }) => one.provider === 'ollama').error).to.contain(says);
        expect(idsOf(await listed(kernel)), what).to.deep.equal(['qwen3:8b']);
      }
    });

    it('asks all of them, the ones that people added too, and takes LM Studio’s and vLLM’s own words for windows', async () => {
      server.answer('/v1/models', { body: { data: [{ id: 'org/model-a', max_model_len: 16_384 }, { id: 'bad name' }, { id: 7 }, 'x', { id: 'a\u0000b' }] } });
      const kernel = await boot({ vllm: server.url, mine: `${server.url}/v1` });
      const found = await detect(kernel);
      expect(found.models).to.deep.equal([
        { name: 'org/model-a', size: null, provider: 'vllm' },
        { name: 'org/model-a', size: null, provider: 'mine' },
      ]);
      expect(found.servers.map((one: { provider: string }) => one.provider)).to.have.members(['vllm', 'mine', 'ollama', 'lmstudio', 'lemonade']);
      expect((await kernel.http.get('/api/models/org/model-a')).body).to.include({ context_window: 16_384, max_output_tokens: 8_192 });
    });

    it('an agent that names what was found is answered by it', async () => {
      const model = await startOpenAiServer({ text: 'hello from here' });
      try {
        const kernel = await boot({ vllm: `${model.url}/v1` });
        expect((await detect(kernel)).models).to.deep.equal([{ name: 'qwen3:latest', size: null, provider: 'vllm' }]);
        const { body: agent } = await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'local', model: { provider: 'vllm', model: 'qwen3:latest' } } });
        const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agent.agent_id}/message`, { message: 'hello' });
        expect(body).to.include({ response: 'hello from here', cost_usd: 0 });
        expect(model.requests.at(-1)?.body.model).to.equal('qwen3:latest');
      } finally {
        await model.close();
      }
    });
  });
});
