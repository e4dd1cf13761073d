import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Events, RouteDecl, Secrets } from '@svc/api';
import { seededIds } from '@svc/platform/clock/ids';
import { systemClock } from '@svc/platform/clock/clock';
import { createFetchAdapter } from '@svc/platform/adapters/fetch/fetch-adapter';
import { createModelOrigins } from '@svc/platform/adapters/fetch/model-origins';
import { createSecrets } from '@svc/platform/adapters/secrets-adapter';
import { createLog } from '@svc/platform/log/log';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { loadCatalog } from '../../models/src/catalog.js';
import { createModelsService } from '../../models/src/service.js';
import { providerTables } from '../migrations/0001_tables.js';
import { createAllowedUrls } from '../src/addresses/allowed-urls.js';
import type { CredentialPools, DefaultModelConfig, FallbackProviders, ProviderUrls } from '../src/config.js';
import type { ProviderColumns } from '../src/contract.js';
import { loadKnownProviders } from '../src/directory.js';
import { createLocalServers } from '../src/addresses/local-servers.js';
import { providerRoutes } from '../src/routes/provider-routes.js';
import { createReach } from '../src/addresses/reach.js';
import { createProvidersService, type ProvidersControl } from '../src/service.js';
import { localAddresses } from '../src/snapshot.js';
import { createSettingsStore } from '../src/store.js';

const KEY = 'sk-canary-0f9e8d7c6b5a4f3e';
const DEAD = 'http://127.0.0.1:1/v1';
/** No model server on this machine. */
const OFF = { ollama: DEAD, lmstudio: DEAD, vllm: DEAD, lemonade: DEAD };

interface Setup {
  env?: Record<string, string>;
  config?: { default_model?: DefaultModelConfig; provider_urls?: ProviderUrls; fallback_providers?: FallbackProviders; credential_pools?: CredentialPools };
  /** What llm knows of providers. */
  troubles?: NonNullable<ProviderColumns['troubles']>;
  locked?: boolean;
}

describe('providers', () => {
  const models = createModelsService({ load: loadCatalog });
  const log = createLog({ dir: null, level: 'debug', clock: systemClock(), terminal: false });
  const owned = { id: 'providers', tables: ['settings', 'defaults', 'key_states'] };
  let home: string;
  let storage: Storage;
  let local: ProviderServer;
  let vault: Map<string, string>;
  let changes: string[];
  let routes: RouteDecl[];
  let nowMs: number;

  before(async () => {
    local = await startOpenAiServer();
  });
  after(() => local.close());
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-providers-'));
    storage = await openStorage({ file: join(home, 'svc.db'), clock: systemClock(), log: log.logger('storage'), onEvents: () => undefined });
    await storage.migrate(owned, [providerTables]);
    vault = new Map();
    changes = [];
    nowMs = 0;
  });
  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const secretsOf = (setup: Setup): Secrets =>
    createSecrets({
      env: setup.env ?? {},
      ask: async (name) => {
        if (setup.locked) throw Object.assign(new Error('The vault cannot be opened.'), { code: 'vault_locked', status: 503, retry: false });
        const value = vault.get(name);
        return value === undefined ? undefined : { value };
      },
      change: async ({ op, name, value }) => ({ changed: op === 'put' ? !!vault.set(name, value ?? '') : vault.delete(name) }),
      log,
    });

  /** With no local server unless a test says otherwise. */
  const start = (setup: Setup = {}): ProvidersControl => {
    const config = {
      default_model: { provider: '', model: '', api_key_env: '', base_url: '' },
      provider_urls: OFF,
      provider_proxy_urls: {},
      fallback_providers: [],
      credential_pools: [],
      ...setup.config,
    };
    const clock = { ...systemClock(), mono: () => nowMs };
    const origins = createModelOrigins();
    const adapter = createFetchAdapter({ config: { get: () => undefined }, secrets: { resolve: async () => undefined }, clock: systemClock(), log: log.logger('fetch'), isModelUrl: origins.covers });
    const servers = createLocalServers({ fetch: adapter.fetch, clock, log: log.logger('providers'), addresses: async () => localAddresses(await providers.list()) });
    const providers: ProvidersControl = createProvidersService({
      known: loadKnownProviders,
      // Each section has its own type; the table above holds them all.
      config: { get: (section) => config[section.section.replace('/', '') as keyof typeof config] as never, onChange: () => ({ dispose: () => undefined }) },
      secrets: secretsOf(setup),
      store: createSettingsStore(storage.dbFor(owned)),
      models,
      lists: { forget: async () => undefined },
      events: { publish: (_event: unknown, data: { name: string }) => void changes.push(data.name) } as Partial<Events> as Events,
      clock,
      local: servers,
      allowed: createAllowedUrls(origins),
      log: log.logger('providers'),
    });
    routes = providerRoutes({
      providers,
      models,
      columns: { isEmpty: () => setup.troubles === undefined, call: async () => [{ owner: 'llm', value: { troubles: setup.troubles ?? [] } }] },
      local: servers,
      reach: createReach({ fetch: adapter.fetch, clock: systemClock(), local: servers, lists: { keep: async () => undefined }, isShipped: async () => true, log: { warn: () => undefined } }),
      known: loadKnownProviders,
      testing: { fetch: adapter.fetch, clock: systemClock(), models },
    });
    return providers;
  };
  const call = async (id: string, req: object): Promise<{ status: number; body: Record<string, unknown> }> => {
    const route = routes.find((one) => one.id === id);
    const signal = new AbortController().signal;
    return (await route?.handler({ log: log.logger('http'), signal, ids: seededIds(1), ...req } as never)) as never;
  };
  const clockDay = (): string => new Date().toISOString().slice(0, 10);
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'no error',
      (error: { code: string }) => error.code,
    );

  it('has a whole row for every shipped provider', async () => {
    const all = await loadKnownProviders();
    expect(new Set(all.map(({ name }) => name)).size).to.equal(all.length);
    for (const entry of all) {
      expect(entry.wire, entry.name).to.be.oneOf(['openai', 'anthropic', 'gemini', 'builtin', 'copilot', 'unsupported']);
      if (entry.wire !== 'builtin') expect(URL.canParse(entry.base_url), entry.name).to.equal(true);
      if (entry.key_required) expect(entry.env_var, entry.name).to.match(/^[A-Z0-9_]+$/);
      if (entry.default_model !== undefined) expect(await models.find(entry.default_model, entry.name), entry.name).to.include({ supports_tools: true });
    }
  });

  it('P2 takes the mock provider when there is nothing else, and says how to change that', async () => {
    expect(await start().defaultModel())
      .to.deep.include({ provider: 'builtin', model: 'rehearsal', isMock: true })
      .and.have.property('why')
      .that.contains('svc providers set-key');
  });

  for (const [env, expected] of [
    [
      { GROQ_API_KEY: KEY, OPENAI_API_KEY: KEY },
      { provider: 'openai', isMock: false, chosen_by: 'start' },
    ],
    [{ GROQ_API_KEY: KEY }, { provider: 'groq', model: 'llama-3.3-70b-versatile' }],
    [{ ZAI_API_KEY: KEY }, { provider: 'zai', model: 'zai/glm-4.7' }],
  ] as const) {
    it(`P2 takes the first provider with a key, in its fixed order: ${Object.keys(env).join(' and ')}`, async () => {
      expect(await start({ env }).defaultModel()).to.include(expected);
    });
  }

  it('P5 keeps who was chosen, with the reason, over a restart at which another provider would come first', async () => {
    const chosen = await start({ env: { GROQ_API_KEY: KEY } }).defaultModel();
    expect(chosen.why).to.contain('Groq').and.contain(clockDay());
    const later = start({ env: { OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY } });
    expect(await later.defaultModel()).to.deep.equal(chosen);
  });

  it('P5 stays with a default whose key is gone after a restart, and says so, whoever else has one', async () => {
    await start({ env: { GROQ_API_KEY: KEY } }).defaultModel();
    const later = await start({ env: { OPENAI_API_KEY: KEY } }).defaultModel();
    expect(later).to.include({ provider: 'groq' });
    expect(later.trouble).to.contain('no key');
  });

  it('P5 stays with a default whose key is refused, and says so until a call succeeds', async () => {
    const providers = start({ env: { OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY } });
    await providers.markKeyInvalid('openai');
    expect(await providers.defaultModel()).to.include({ provider: 'openai' });
    expect((await providers.defaultModel()).trouble).to.contain('refused');
    expect((await providers.get('openai'))?.auth_status).to.equal('invalid_key');
    providers.markKeyValid('openai');
    expect((await providers.defaultModel()).trouble).to.equal(null);
    expect((await providers.get('openai'))?.auth_status).to.equal('configured');
  });

  it('P5 lets a person choose, for this life and the next', async () => {
    start({ env: { OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY } });
    const answer = await call('setDefaultProvider', { params: { name: 'groq' }, body: {} });
    expect(answer.body).to.include({ provider: 'groq', model: 'llama-3.3-70b-versatile', chosen_by: 'person', problem: null });
    const later = start({ env: { OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY } });
    expect(await later.defaultModel()).to.include({ provider: 'groq', chosen_by: 'person' });
    const list = (await call('listProviders', {})).body as { default: object; providers: Array<{ name: string; is_default: boolean }> };
    expect(list.default).to.include({ provider: 'groq', chosen_by: 'person' });
    expect(list.providers.filter((one) => one.is_default).map((one) => one.name)).to.deep.equal(['groq']);
  });

  it('P5 refuses a choice against config.toml, of an unknown provider, and of one whose protocol nobody speaks', async () => {
    const choose = (name: string) => codeOf(call('setDefaultProvider', { params: { name }, body: {} }));
    start({ config: { default_model: { provider: 'mistral', model: '', api_key_env: '', base_url: '' } } });
    expect(await choose('groq')).to.equal('providers_default_in_config');
    start({ config: { provider_urls: { ...OFF, 'my-box': DEAD } } });
    expect(await choose('nobody')).to.equal('providers_not_found');
    expect(await choose('bedrock')).to.equal('providers_not_usable');
    expect(await choose('my-box')).to.equal('providers_no_model');
  });

  it('P5 lets a second key move nobody, and a first one take over from a default without a key', async () => {
    await start({ env: { GROQ_API_KEY: KEY } }).defaultModel();
    const second = start({ env: { GROQ_API_KEY: KEY } });
    expect(await second.setKey('openai', KEY)).to.deep.equal({ switchedDefault: undefined });
    expect(await second.defaultModel()).to.include({ provider: 'groq' });
    const later = start();
    expect((await later.setKey('mistral', KEY)).switchedDefault).to.include({ provider: 'mistral', chosen_by: 'key' });
  });

  it('P2 puts config first, even where its provider has no key', async () => {
    const config = { default_model: { provider: 'mistral', model: '', api_key_env: '', base_url: '' } };
    expect(await start({ env: { OPENAI_API_KEY: KEY }, config }).defaultModel()).to.include({ provider: 'mistral', model: 'mistral-large-latest' });
  });

  it('P2 takes a local server that answers when nobody has a key, and the model on it that can use tools', async () => {
    const providers = start({ config: { provider_urls: { ...OFF, ollama: local.url } } });
    expect(await providers.defaultModel()).to.include({ provider: 'ollama', model: 'qwen3:latest', isMock: false });
    const statuses = Object.fromEntries((await providers.list()).map((record) => [record.name, record.auth_status]));
    expect(statuses).to.include({ ollama: 'auto_detected', lmstudio: 'local_offline', vllm: 'local_offline', builtin: 'no_key_needed', openai: 'missing' });
  });

  it('asks local servers at most once a minute', async () => {
    let asked = 0;
    const clock = { ...systemClock(), mono: () => nowMs };
    const servers = createLocalServers({
      fetch: async () => Promise.reject(new Error('refused')),
      clock,
      log: log.logger('providers'),
      addresses: async () => {
        asked++;
        return [{ name: 'ollama', baseUrl: DEAD }];
      },
    });
    for (let i = 0; i < 5; i++) await servers.answering();
    expect(asked).to.equal(1);
    nowMs += 60_001;
    await servers.answering();
    await servers.answering();
    expect(asked).to.equal(2);
  });

  it('P4 keeps a key, moves the default off the mock provider, and never gives the key back', async () => {
    const providers = start();
    const answer = await call('setProviderKey', { query: {}, params: { name: 'openai' }, body: { key: `  ${KEY} ` } });
    expect(answer.body).to.include({ status: 'configured', provider: 'openai', switched_default: true, default_model: 'gpt-5-mini' });
    expect(vault.get('provider.openai')).to.equal(KEY);
    expect(await providers.defaultModel()).to.include({ provider: 'openai' });
    expect(changes).to.deep.equal(['openai']);
    const list = await call('listProviders', {});
    expect(JSON.stringify([answer, list, log.recent(2_000)])).not.to.contain(KEY);
    expect((await call('setProviderKey', { query: {}, params: { name: 'groq' }, body: { api_key: KEY } })).body).to.deep.equal({ status: 'configured', provider: 'groq' });
  });

  it('P4 forgets a key that is removed; then the mock provider answers, not another vendor', async () => {
    const providers = start({ env: { GROQ_API_KEY: KEY } });
    await providers.setKey('openai', KEY);
    await providers.setDefault('openai', '');
    expect((await call('removeProviderKey', { params: { name: 'openai' }, query: {} })).body).to.deep.equal({ status: 'removed', provider: 'openai' });
    expect(await providers.defaultModel()).to.include({ provider: 'builtin', isMock: true });
    expect((await providers.defaultModel()).why)
      .to.contain('OpenAI')
      .and.contain('removed');
  });

  describe('with several keys', () => {
    const credential_pools: CredentialPools = [
      {
        provider: 'openai',
        strategy: 'fill_first',
        keys: [
          { label: 'spare', api_key_env: '', priority: 2 },
          { label: 'team', api_key_env: 'TEAM_KEY', priority: 1 },
          { label: 'absent', api_key_env: 'NOT_SET', priority: 0 },
        ],
      },
    ];
    const named = async (providers: ProvidersControl) => (await providers.get('openai'))?.keys?.map(({ name, secret, env }) => [name, secret, env]);

    it('P9 uses those that are there, its own first, then by priority', async () => {
      const providers = start({ env: { OPENAI_API_KEY: KEY, TEAM_KEY: KEY }, config: { credential_pools } });
      expect(await named(providers)).to.deep.equal([
        ['default', 'provider.openai', 'OPENAI_API_KEY'],
        ['team', 'provider.openai.team', 'TEAM_KEY'],
      ]);
      expect((await call('setProviderKey', { params: { name: 'openai' }, query: {}, body: { api_key: KEY, label: 'spare' } })).status).to.equal(200);
      expect(vault.get('provider.openai.spare')).to.equal(KEY);
      expect((await named(providers))?.map(([name]) => name)).to.deep.equal(['default', 'team', 'spare']);
      expect((await call('removeProviderKey', { params: { name: 'openai' }, query: { label: 'spare' } })).body).to.deep.equal({ status: 'removed', provider: 'openai' });
      expect((await named(providers))?.map(([name]) => name)).to.deep.equal(['default', 'team']);
      expect(changes).to.include('openai');
    });

    it('P9 has a key as long as one of them is there, and is asked with that one', async () => {
      const providers = start({ env: { TEAM_KEY: KEY }, config: { credential_pools } });
      expect(await providers.get('openai')).to.deep.include({ auth_status: 'configured', secret: { secret: 'provider.openai.team', env: 'TEAM_KEY' } });
      expect(await named(providers), 'one is no choice').to.equal(undefined);
    });

    it('P9 takes its own key where its label names the usual variable', async () => {
      const pool = {
        provider: 'openai',
        strategy: 'random' as const,
        keys: [
          { label: 'main', api_key_env: 'OPENAI_API_KEY', priority: 5 },
          { label: 'team', api_key_env: 'TEAM_KEY', priority: 1 },
        ],
      };
      const providers = start({ env: { OPENAI_API_KEY: KEY, TEAM_KEY: KEY }, config: { credential_pools: [pool] } });
      expect(await named(providers)).to.deep.equal([
        ['team', 'provider.openai.team', 'TEAM_KEY'],
        ['main', 'provider.openai', 'OPENAI_API_KEY'],
      ]);
    });

    it('refuses a label that config.toml does not list, and stores nothing', async () => {
      start({ config: { credential_pools } });
      const put = call('setProviderKey', { params: { name: 'openai' }, query: {}, body: { api_key: KEY, label: 'other' } });
      expect((await put.catch((error: unknown) => error)) as object).to.include({ code: 'providers_no_such_key', status: 404 });
      expect(vault.size).to.equal(0);
    });

    it('shows the names and the health of its keys, and never a key', async () => {
      const until = '2026-01-01T00:00:00.000Z';
      const limited = { provider: 'openai', kind: 'limited' as const, model: 'gpt-5-mini', key: 'team', failures: 1, until };
      start({ env: { OPENAI_API_KEY: KEY, TEAM_KEY: KEY }, config: { credential_pools }, troubles: [limited, { ...limited, provider: 'groq' }] });
      const { body } = await call('getProvider', { params: { name: 'openai' } });
      expect(body).to.deep.include({
        health: 'ok',
        keys: [
          { name: 'default', health: 'ok' },
          { name: 'team', health: 'limited' },
        ],
        troubles: [{ kind: 'limited', model: 'gpt-5-mini', key: 'team', failures: 1, until }],
      });
      expect(JSON.stringify(body)).not.to.contain(KEY);
      start({ env: { OPENAI_API_KEY: KEY, TEAM_KEY: KEY }, config: { credential_pools }, troubles: [limited, { ...limited, key: 'default' }] });
      expect((await call('getProvider', { params: { name: 'openai' } })).body['health'], 'all of them').to.equal('limited');
    });
  });

  it('refuses an empty key, a key for who needs none, and unknown names', async () => {
    start();
    expect(await codeOf(call('setProviderKey', { query: {}, params: { name: 'openai' }, body: { api_key: '  ' } }))).to.equal('providers_empty_key');
    expect(await codeOf(call('setProviderKey', { query: {}, params: { name: 'builtin' }, body: { api_key: KEY } }))).to.equal('providers_no_key_needed');
    expect(await codeOf(call('setProviderKey', { query: {}, params: { name: 'nobody' }, body: { api_key: KEY } }))).to.equal('providers_not_found');
    expect(await codeOf(call('getProvider', { params: { name: 'nobody' } }))).to.equal('providers_not_found');
  });

  it('lists each provider by its shape, leaving env_var out where no key is needed', async () => {
    start({ env: { OPENAI_API_KEY: KEY } });
    const { providers, total } = (await call('listProviders', {})).body as { providers: Array<Record<string, unknown>>; total: number };
    expect(total).to.equal(providers.length);
    expect(providers.find(({ name }) => name === 'openai')).to.deep.include({ auth_status: 'configured', env_var: 'OPENAI_API_KEY', base_url: 'https://api.openai.com/v1', display_name: 'OpenAI' });
    expect(providers.find(({ name }) => name === 'ollama')).not.to.have.property('env_var');
    expect(providers.find(({ name }) => name === 'anthropic')?.model_count).to.be.greaterThan(3);
  });

  it('says of each provider whether it has a key, where it stands, and whether it can be asked now', async () => {
    const providers = start({ env: { OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY }, config: { provider_urls: { ...OFF, 'my-box': 'https://llm.example/api' } } });
    await providers.markKeyInvalid('groq');
    const { providers: rows } = (await call('listProviders', {})).body as { providers: Array<Record<string, unknown>> };
    const row = (name: string) => rows.find((one) => one.name === name);
    expect(row('openai')).to.include({ id: 'openai', api_key_env: 'OPENAI_API_KEY', key_present: true, available: true, is_local: false, is_custom: false, reachable: null, last_tested: null });
    expect(row('groq')).to.include({ key_present: true, available: false });
    expect(row('anthropic')).to.include({ key_present: false, available: false });
    expect(row('my-box')).to.include({ is_custom: true, is_local: false, key_present: false });
    expect(row('builtin')).to.include({ key_present: false, available: true, is_local: true, is_custom: false });
    expect(row('bedrock')).to.include({ available: false });
    expect([...(await providers.usable())]).to.have.members(rows.filter((one) => one.available).map((one) => one.name));
  });

  it('tells nothing of keys that nobody can see', async () => {
    start({ locked: true });
    expect((await call('getProvider', { params: { name: 'openai' } })).body).to.include({ key_present: null, available: false });
  });

  it('shows what a server on this machine answered, and when', async () => {
    start({ config: { provider_urls: { ...OFF, ollama: local.url } } });
    await call('listProviders', {});
    const { body } = await call('getProvider', { params: { name: 'ollama' } });
    expect(body).to.include({ is_local: true, reachable: true, auth_status: 'auto_detected', available: true });
    expect(body.discovered_models).to.include('qwen3:latest');
    expect(body.latency_ms).to.be.a('number');
    expect(Date.parse(String(body.last_tested))).to.be.a('number').and.not.NaN;
    expect((await call('getProvider', { params: { name: 'lmstudio' } })).body).to.include({ reachable: false, latency_ms: null, discovered_models: null, available: false });
  });

  it('gives a provider with its models of the catalog', async () => {
    start();
    const { body } = await call('getProvider', { params: { name: 'anthropic' } });
    expect(body.models)
      .to.have.length(Number(body.model_count))
      .and.to.satisfy((all: Array<{ provider: string }>) => all.every((model) => model.provider === 'anthropic'));
  });

  it('remembers of a new address whether anything answered there, until it is another', async () => {
    start();
    await call('setProviderUrl', { params: { name: 'openai' }, body: { url: local.url } });
    expect((await call('getProvider', { params: { name: 'openai' } })).body).to.include({ reachable: true });
    await call('setProviderUrl', { params: { name: 'openai' }, body: { url: 'http://127.0.0.1:1/v1' } });
    expect((await call('getProvider', { params: { name: 'openai' } })).body).to.include({ reachable: false, latency_ms: null });
  });

  it('P4 saves a base URL for the next call and for the next life', async () => {
    start();
    const answer = await call('setProviderUrl', { params: { name: 'openai' }, body: { url: `${local.url}/` } });
    expect(answer.body)
      .to.include({ status: 'saved', provider: 'openai', base_url: `${local.url}/v1`, reachable: true })
      .and.have.property('latency_ms')
      .that.is.a('number');
    expect((await start().get('openai'))?.base_url).to.equal(`${local.url}/v1`);
    expect((await call('setProviderUrl', { params: { name: 'anthropic' }, body: { base_url: 'http://127.0.0.1:1/v1/' } })).body).to.include({ base_url: 'http://127.0.0.1:1', reachable: false });
  });

  it('refuses URLs that are not http or https, or that carry a key', async () => {
    start();
    for (const url of ['', 'ftp://x', 'file:///etc/passwd', 'not a url', 'https://user:pass@x.example', 'https://x.example?key=1']) {
      expect(await codeOf(call('setProviderUrl', { params: { name: 'openai' }, body: { url } })), url).to.equal('providers_bad_url');
    }
    expect(await codeOf(call('setProviderUrl', { params: { name: 'nobody' }, body: { url: 'https://x.example' } }))).to.equal('providers_not_found');
  });

  it('marks a refused key until another is set', async () => {
    const providers = start({ env: { OPENAI_API_KEY: KEY, GROQ_API_KEY: KEY } });
    await providers.markKeyInvalid('openai');
    expect((await providers.get('openai'))?.auth_status).to.equal('invalid_key');
    await providers.setKey('openai', `${KEY}2`);
    expect((await providers.get('openai'))?.auth_status).to.equal('configured');
  });

  it("takes a name of one's own with a URL as an OpenAI-compatible server", async () => {
    const providers = start({ config: { provider_urls: { ...OFF, 'my-box': local.url, remote: 'https://llm.example/api' } } });
    expect(await providers.get('my-box')).to.deep.include({ wire: 'openai', base_url: `${local.url}/v1`, auth_status: 'no_key_needed', secret: null });
    expect(await providers.get('remote')).to.deep.include({ auth_status: 'missing', env_var: 'REMOTE_API_KEY' });
  });

  it("gives config's fallbacks, with the usual model where none is named", async () => {
    const fallback_providers = [
      { provider: 'groq', model: '', api_key_env: '', base_url: '' },
      { provider: 'openai', model: 'gpt-5', api_key_env: '', base_url: '' },
    ];
    expect(await start({ config: { fallback_providers } }).fallbacks()).to.deep.equal([
      { provider: 'groq', model: 'llama-3.3-70b-versatile' },
      { provider: 'openai', model: 'gpt-5' },
    ]);
  });

  it('does not answer with the mock provider while a locked vault hides which keys there are', async () => {
    const providers = start({ locked: true });
    expect(await codeOf(providers.defaultModel())).to.equal('providers_keys_unreadable');
    expect((await call('listProviders', {})).status).to.equal(200);
    expect((await providers.get('openai'))?.problem).to.contain('vault');
  });

  it('P6 opens access to models for the base URLs of the list, and closes it for those that left it', async () => {
    const origins = createModelOrigins();
    const allowed = createAllowedUrls({ allow: (url, _, { proxy } = {}) => origins.allow(url, proxy) });
    const open = (...urls: string[]) => urls.filter((url) => origins.covers(new URL(url)));
    const [a, b] = ['http://a.test/v1', 'http://b.test/v1'];
    const direct = (...urls: string[]) => urls.map((url) => ({ url, proxy: undefined }));
    allowed.look()(direct(a));
    expect(open(a, b)).to.deep.equal([a]);
    const early = allowed.look();
    const late = allowed.look();
    late(direct(a, b));
    // What was looked up before is older than what stands.
    early(direct(a));
    expect(open(a, b)).to.deep.equal([a, b]);
    allowed.look()(direct(b));
    expect(open(a, b)).to.deep.equal([b]);
    allowed.look()([{ url: b, proxy: 'http://proxy.test:1' }]);
    expect([open(b), origins.proxyOf(new URL(`${b}/chat`)), origins.proxies()]).to.deep.equal([[b], 'http://proxy.test:1', ['http://proxy.test:1']]);
    allowed.look()(direct(b));
    expect([open(b), origins.proxyOf(new URL(b)), origins.proxies()]).to.deep.equal([[b], undefined, []]);
  });
});
