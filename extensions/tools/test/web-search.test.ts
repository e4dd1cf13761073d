/** web_search against a server that speaks the providers' wires. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel, type TestKernelOptions } from '@svc/testing';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { type PlayedProvider, type SearchServer, startSearchServer } from '@svc/fixtures/search/search-server';
import { createSearchCache } from '../src/web-search/search-cache.js';
import { SEARCH_ADAPTERS } from '../src/web-search/providers.js';

const INVOKE = '[tool_invoke]\nenabled = true\nallowlist = ["*"]\n';
const KEYS: Readonly<Record<string, string>> = { brave: 'BRAVE_API_KEY', tavily: 'TAVILY_API_KEY', perplexity: 'PERPLEXITY_API_KEY', jina: 'JINA_API_KEY' };
const ALL: readonly PlayedProvider[] = ['brave', 'tavily', 'perplexity', 'jina', 'searxng', 'duckduckgo'];

describe('web_search', () => {
  let server: SearchServer;
  let kernel: TestKernel;
  beforeEach(async () => {
    server = await startSearchServer();
  });
  afterEach(async () => {
    await stopTestKernels();
    await server.close();
  });

  const urlOf = (provider: PlayedProvider, more = ''): string => `[web.${provider}]\nurl = "${server.url}/${provider}"\n${more}`;
  const boot = async (config: string, env: Readonly<Record<string, string>> = {}, options: TestKernelOptions = {}): Promise<void> => {
    kernel = await bootTestKernel({ ...options, config: `${OPEN_RATE}${INVOKE}${config}`, env });
  };
  const isListed = async (): Promise<boolean> => (await kernel.http.get('/api/tools/web_search')).status === 200;
  const listed = async (): Promise<void> => {
    while (!(await isListed())) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const search = async (args: object = { query: 'blue pots' }, agent?: string) => {
    const { status, body } = await kernel.http.post(`/api/tools/web_search/invoke${agent === undefined ? '' : `?agent_id=${agent}`}`, args);
    return { status, text: String(body.content ?? body.error), code: body.code };
  };
  /** One that has all it needs, and is the one that is named. */
  const bootWith = async (provider: PlayedProvider, more = '', web = ''): Promise<void> => {
    const env = KEYS[provider] === undefined ? {} : { [KEYS[provider]]: server.key };
    await boot(`[web]\nsearch_provider = "${provider}"\n${web}${urlOf(provider, more)}`, env);
    await listed();
  };

  it('is not there without a provider, and says what is missing', async () => {
    await boot('');
    const { body } = await kernel.http.expect(200, 'GET', '/api/tools');
    expect(body.tools.map(({ name }: { name: string }) => name)).not.to.include('web_search');
    const one = await kernel.http.get('/api/tools/web_search');
    expect([one.status, one.body.code]).to.deep.equal([404, 'tools_unavailable']);
    expect(one.body.error).to.contain('BRAVE_API_KEY');
    const called = await search();
    expect([called.status, called.code]).to.deep.equal([404, 'tools_unavailable']);
  });

  for (const provider of ALL)
    it(`asks ${provider} as it wants to be asked, and reads its answer`, async () => {
      await bootWith(provider);
      const { status, text } = await search({ query: 'blue pots', max_results: 2 });
      expect(status, text).to.equal(200);
      const [asked] = server.requests;
      expect([server.requests.length, asked?.provider, asked?.query]).to.deep.equal([1, provider, 'blue pots']);
      const lines = text.split('\n').filter((line) => !line.startsWith('[in the words'));
      const first =
        provider === 'duckduckgo'
          ? ['1. blue pots', '   https://site0.example/page?id=0', '   What blue pots is.']
          : ['1. Title 1', '   https://site1.example/page?id=1', `   About blue pots ${provider === 'brave' ? '& 1' : '1'}`];
      expect(lines.slice(0, 4)).to.deep.equal([`[${provider}: 2 results for "blue pots"]`, ...first]);
      expect(lines).to.have.length(7);
      expect(text.includes('[in the words of tavily] In short: blue pots.')).to.equal(provider === 'tavily');
    });

  it('hands on what the settings say of a provider', async () => {
    await bootWith('brave', 'country = "NZ"\nsearch_lang = "en"\nfreshness = "pw"\nmax_results = 2\n');
    expect((await search()).text).to.match(/\[brave: 2 results/);
    expect(server.requests[0]?.asked).to.deep.equal({ q: 'blue pots', count: '2', country: 'NZ', search_lang: 'en', freshness: 'pw' });
  });

  it('takes the first provider that has what it needs, and one that needs no key only by its name', async () => {
    await boot(`${urlOf('brave')}${urlOf('tavily')}${urlOf('searxng')}${urlOf('duckduckgo')}`, { TAVILY_API_KEY: server.key });
    await listed();
    expect((await search()).text).to.match(/^\[tavily/);
    await kernel.stop();
    await boot(urlOf('duckduckgo'));
    expect(await isListed()).to.equal(false);
  });

  it('takes its key from the variable that the settings name, and shows it to nobody', async () => {
    await boot(`[web]\nsearch_provider = "brave"\n${urlOf('brave', 'api_key_env = "MY_SEARCH_KEY"\n')}`, { MY_SEARCH_KEY: 'search-key-that-is-wrong', BRAVE_API_KEY: server.key });
    await listed();
    const { status, text } = await search();
    expect(status).to.equal(400);
    expect(text).to.contain('brave refused its API key (401)').and.not.contain('search-key-that-is-wrong');
  });

  it('names the provider and what went wrong: no results, a page, another form, too many, gone wrong, elsewhere', async () => {
    await bootWith('tavily');
    const cases: ReadonlyArray<readonly [SearchServer['failure'], RegExp]> = [
      ['html', /tavily answered with a page instead of results/],
      ['json', /tavily answered in a form that is not known/],
      [429, /tavily is rate-limiting searches \(429\)\. Try again in 7 s/],
      [403, /tavily refused its API key \(403\)/],
      [432, /tavily answered with status 432/],
      [500, /tavily answered with status 500/],
      ['elsewhere', /tavily could not be asked: .*elsewhere\.example/],
    ];
    for (const [failure, said] of cases) {
      server.failure = failure;
      const { status, text } = await search();
      expect([status, said.test(text)], `${failure}: ${text}`).to.deep.equal([400, true]);
    }
    server.failure = undefined;
    server.results = 0;
    expect((await search({ query: 'nothing' })).text).to.match(/^\[tavily found nothing for "nothing"\]/);
  });

  it('ends with a provider that says nothing, and with one that is not there', async () => {
    await bootWith('searxng', '', 'timeout_secs = 1\n');
    server.failure = 'hang';
    expect((await search()).text).to.match(/searxng did not answer within 1 s/);
    server.failure = 403;
    expect((await search()).text).to.match(/searxng refuses the format json/);
    await server.close();
    expect((await search()).text).to.match(/searxng could not be asked/);
    server = await startSearchServer();
  });

  it('gives results again for a while, and failures never', async () => {
    await bootWith('searxng');
    server.failure = 500;
    await search();
    server.failure = undefined;
    const first = await search();
    expect(await search()).to.deep.equal(first);
    expect(server.requests).to.have.length(2);
    await search({ query: 'blue pots', max_results: 1 });
    expect(server.requests).to.have.length(3);
    await kernel.stop();
    await bootWith('searxng', '', 'cache_ttl_minutes = 0\n');
    for (const _ of [1, 2]) await search();
    expect(server.requests).to.have.length(5);
  });

  it('needs a network grant that covers the host of the provider, and opens no other', async () => {
    await bootWith('searxng');
    const agentWith = async (name: string, network: string): Promise<string> =>
      (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\nnetwork = ${network}\n` })).body.agent_id;
    for (const [name, network, status] of [
      ['none', '[]', 403],
      ['other', '["example.org"]', 403],
      ['host', '["127.0.0.1"]', 200],
      ['all', '["*"]', 200],
    ] as const)
      expect((await search({ query: name }, await agentWith(name, network))).status, name).to.equal(status);
    // What the operator opened for searching is no page for the agent.
    const { body } = await kernel.http.get('/api/agents');
    const all = body.agents.find(({ name }: { name: string }) => name === 'all').id;
    const fetched = await kernel.http.post(`/api/tools/web_fetch/invoke?agent_id=${all}`, { url: `${server.url}/searxng/search?q=x` });
    expect(fetched.body.content).to.match(/not public|this machine/);
  });

  it('refuses what is no search', async () => {
    await bootWith('searxng');
    for (const args of [{}, { query: '' }, { query: '   ' }, { query: 'x'.repeat(401) }, { query: 'x', max_results: 0 }, { query: 'x', max_results: 21 }]) {
      const { status, code } = await search(args);
      expect([status, code], JSON.stringify(args).slice(0, 40)).to.deep.equal([400, 'tools_bad_arguments']);
    }
    expect(server.requests).to.have.length(0);
  });

  it('keeps two hundred searches, the oldest going first, each for its time', async () => {
    const clock = virtualClock(0);
    const cache = createSearchCache(clock);
    for (let n = 0; n <= 200; n++) cache.put(`k${n}`, String(n), 1_000);
    expect([cache.get('k0'), cache.get('k1'), cache.get('k200')]).to.deep.equal([undefined, '1', '200']);
    await clock.advance(1_000);
    expect(cache.get('k1')).to.equal(undefined);
    cache.put('never', 'x', 0);
    expect(cache.get('never')).to.equal(undefined);
  });

  it('leaves out results that are no pages', () => {
    const read = SEARCH_ADAPTERS.searxng.read({ results: [{ title: 'a', url: 'javascript:alert(1)' }, { title: 'b' }, 'x', null, { url: 'https://b.example', title: 7 }] });
    expect(read).to.deep.equal({ hits: [{ title: '', url: 'https://b.example', snippet: '' }] });
    for (const [name, body] of [
      ['brave', {}],
      ['tavily', []],
      ['perplexity', 'x'],
      ['jina', { data: null }],
      ['duckduckgo', { Heading: 'x' }],
    ] as const)
      expect(SEARCH_ADAPTERS[name].read(body), name).to.equal(undefined);
  });
});
