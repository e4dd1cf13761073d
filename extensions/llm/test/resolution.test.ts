import { createWindows } from '../src/call/windows.js';
import { isSvcError } from '@svc/api';
import type { CatalogModel } from '@svc/ext-models/contract';
import type { DefaultModel, ProviderRecord, ProvidersService } from '@svc/ext-providers/contract';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { loadCatalog } from '../../models/src/catalog.js';
import { createModelsService } from '../../models/src/service.js';
import { createDrivers, type Driver } from '../src/drivers/driver.js';
import { ASSUMED_PRICE } from '../src/money/pricing.js';
import { createResolutionCache } from '../src/resolution-cache.js';
import { type Resolved, resolveChoice } from '../src/resolution.js';

const provider = (name: string, more: Partial<ProviderRecord> = {}): ProviderRecord => ({
  name,
  display_name: name,
  wire: name === 'anthropic' ? 'anthropic' : 'openai',
  base_url: 'http://127.0.0.1:1',
  env_var: null,
  key_required: true,
  auth_status: 'configured',
  secret: null,
  default_model: null,
  problem: null,
  ...more,
});
const LOCAL = provider('local', { key_required: false, auth_status: 'no_key_needed' });
const MOCK_PROVIDER: DefaultModel = { provider: 'builtin', model: 'rehearsal', why: 'nothing else', isMock: true, chosen_by: 'start', chosen_at: null, trouble: null };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

describe('from what an agent names to what is called', () => {
  const models = createModelsService({ load: loadCatalog });
  const mute: Driver = { ask: async () => undefined };
  const drivers = createDrivers({ openai: mute, anthropic: mute, builtin: mute }, { optional: () => ({ value: undefined, onChange: () => ({ dispose: () => undefined }) }) });
  /** The catalog is the shipped one; who serves it stands here. */
  const providersOf = (records: readonly ProviderRecord[], chosen: Partial<DefaultModel> = {}, fallbacks: Array<{ provider: string; model: string }> = []) => {
    const asked: string[] = [];
    // What resolution asks of providers, and no more.
    const service: Pick<Mutable<ProvidersService>, 'get' | 'defaultModel' | 'fallbacks'> = {
      get: async (name: string) => {
        asked.push(name);
        return records.find((record) => record.name === name);
      },
      defaultModel: async () => ({ ...MOCK_PROVIDER, ...chosen }),
      fallbacks: async () => fallbacks,
    };
    return { service: service as Mutable<ProvidersService>, asked };
  };
  const usual = [provider('openai'), provider('anthropic'), provider('groq'), LOCAL];
  const resolve = (named: string, model: string, records = usual, chosen: Partial<DefaultModel> = {}): Promise<Resolved> =>
    resolveChoice({ drivers, models, windows: createWindows(), providers: providersOf(records, chosen).service }, { provider: named, model });
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.catch((caught: unknown) => caught);
    return isSvcError(error) ? error.code : 'nothing';
  };
  const openaiDefault = { provider: 'openai', model: 'gpt-5', isMock: false, why: 'chosen' };

  it('R1 takes three words for the default, of a provider and of a model', async () => {
    for (const word of ['', 'default', 'auto']) {
      expect(await resolve(word, word, usual, openaiDefault), word).to.include({ provider: 'openai', model: 'gpt-5', why: 'chosen' });
      expect(await resolve('openai', word, usual, openaiDefault), word).to.include({ model: 'gpt-5', why: 'The agent names openai.' });
    }
  });

  it('R1 finds a model without a provider by its prefix, by the catalog, or at the default provider, and says which', async () => {
    expect(await resolve('default', 'groq/tomorrow')).to.include({ provider: 'groq', model: 'tomorrow', why: "The model's name begins with its provider, groq." });
    expect(await resolve('default', 'gpt-5-mini')).to.include({ provider: 'openai', model: 'gpt-5-mini', why: 'openai serves gpt-5-mini.' });
    expect(await resolve('default', 'tomorrow', usual, openaiDefault)).to.deep.include({
      provider: 'openai',
      model: 'tomorrow',
      why: 'The catalog does not know tomorrow, so svc asks the default provider openai for it.',
    });
    expect(await resolve('default', 'nobody/tomorrow', usual, openaiDefault)).to.include({ provider: 'openai', model: 'nobody/tomorrow' });
    expect(await resolve('default', '/tomorrow', usual, openaiDefault)).to.include({ provider: 'openai', model: '/tomorrow' });
    expect(await codeOf(resolve('default', 'tomorrow'))).to.equal('llm_model_not_found');
  });

  it('R1 takes the usual model of a provider: the chosen one, its own, or the first of the catalog that can call tools', async () => {
    expect(await resolve('openai', 'default', usual, { ...openaiDefault, model: 'gpt-4o' })).to.include({ model: 'gpt-4o' });
    const own = [provider('openai', { default_model: 'gpt-4.1' })];
    expect(await resolve('openai', 'default', own, { provider: 'groq', model: 'x' })).to.include({ wireModel: 'gpt-4.1' });
    expect(await resolve('openai', 'default', own, { provider: 'openai', model: '' })).to.include({ wireModel: 'gpt-4.1' });
    const first = (await models.list({ provider: 'anthropic' })).find((entry) => entry.supports_tools);
    expect(await resolve('anthropic', 'default')).to.include({ model: first?.id });
    expect(await codeOf(resolve('local', 'default'))).to.equal('llm_model_not_found');
  });

  it('R2 refuses a provider that was named and cannot be used, each for its own reason', async () => {
    expect(await codeOf(resolve('nobody', 'x'))).to.equal('llm_provider_not_found');
    const refused = (more: Partial<ProviderRecord>) => codeOf(resolve('openai', 'gpt-5', [provider('openai', more)], openaiDefault));
    expect(await refused({ wire: 'unsupported' })).to.equal('llm_provider_unsupported');
    expect(await refused({ auth_status: 'missing' })).to.equal('llm_provider_key_missing');
    expect(await refused({ auth_status: 'missing', problem: 'The vault is locked.' })).to.equal('llm_provider_key_unreadable');
    expect(await refused({ problem: 'The vault is locked.', key_required: false })).to.equal('nothing');
    expect(await refused({ auth_status: 'invalid_key' })).to.equal('nothing');
  });

  it('R2 names the variable of a missing key, where the provider has one', async () => {
    const message = async (env_var: string | null) => resolve('openai', 'gpt-5', [provider('openai', { auth_status: 'missing', env_var })]).catch((error: Error) => error.message);
    expect(await message('OPENAI_API_KEY')).to.contain('OPENAI_API_KEY is not set');
    expect(await message(null)).to.contain('its environment variable is not set');
  });

  it('takes the prefix of its own provider off a model, and no other', async () => {
    expect(await resolve('openai', 'openai/gpt-5')).to.include({ provider: 'openai', model: 'gpt-5', wireModel: 'gpt-5' });
    expect(await resolve('openai', 'openai-x/gpt')).to.include({ model: 'openai-x/gpt', wireModel: 'openai-x/gpt' });
  });

  const entry: CatalogModel = {
    id: 'long-name',
    provider: 'local',
    display_name: 'Long',
    tier: 'fast',
    context_window: 9_000,
    max_output_tokens: 500,
    input_cost_per_1m: 0.5,
    output_cost_per_1m: 5,
    supports_tools: true,
    supports_vision: false,
    supports_streaming: true,
    wire_id: 'short',
  };
  const withCatalog = (entries: readonly CatalogModel[], model: string, records = [LOCAL, provider('paid')]) => {
    const find = async (name: string, of?: string) => entries.find(({ id, provider: by }) => id === name && (of === undefined || by === of));
    // What resolution asks of models.
    const played = { list: async () => [...entries], find, alias: async () => undefined, aliases: async () => ({}) };
    return resolveChoice({ drivers, models: played, windows: createWindows(), providers: providersOf(records).service }, { provider: entries[0]?.provider ?? 'paid', model });
  };

  it('calls a model by what its provider calls it, and shows it by its id', async () => {
    expect(await withCatalog([entry], 'long-name')).to.deep.include({ model: 'long-name', wireModel: 'short', contextWindow: 9_000, price: entry, info: entry });
    const { wire_id: _, ...plain } = entry;
    expect(await withCatalog([plain], 'long-name')).to.include({ wireModel: 'long-name' });
    expect(await withCatalog([{ ...entry, id: 'local/long-name' }], 'long-name')).to.include({ model: 'local/long-name', wireModel: 'short' });
  });

  it('takes the name that the entry has for its provider, also where a tag is part of it', async () => {
    expect(await withCatalog([{ ...entry, id: 'long-name:free' }], 'long-name:free')).to.include({ model: 'long-name:free', wireModel: 'short' });
  });

  it('counts a middling price where the entry says that none is known, and nothing where nobody takes money', async () => {
    const unknown = { ...entry, pricing_known: false };
    expect((await withCatalog([{ ...unknown, provider: 'paid' }], 'long-name')).price).to.deep.equal({ input_cost_per_1m: 1, output_cost_per_1m: 3 });
    expect((await withCatalog([unknown], 'long-name')).price).to.equal(undefined);
  });

  it('keeps a tag that only the server knows, and finds the model without it', async () => {
    expect(await withCatalog([entry], 'long-name:latest')).to.include({ model: 'long-name', wireModel: 'long-name:latest', contextWindow: 9_000 });
    expect(await withCatalog([entry], 'other:latest')).to.include({ model: 'other:latest', wireModel: 'other:latest', info: undefined });
  });

  it('assumes a price and a window for a model outside the catalog, and no price where nobody takes money', async () => {
    expect(await withCatalog([], 'unknown')).to.deep.include({ model: 'unknown', wireModel: 'unknown', price: ASSUMED_PRICE, contextWindow: 128_000, info: undefined });
    expect(await resolve('local', 'unknown')).to.deep.include({ price: undefined, contextWindow: 128_000 });
    expect(await resolve('openai', 'gpt-5')).to.include({ canThink: true });
    expect(await resolve('openai', 'gpt-4o')).to.include({ canThink: false });
  });

  describe('kept for a moment', () => {
    const open = (records = usual) => {
      const clock = virtualClock(0);
      const fallbacks = [{ provider: 'groq', model: 'a' }];
      const { service, asked } = providersOf(records, {}, fallbacks);
      return { clock, asked, fallbacks, service, cache: createResolutionCache({ drivers, models, windows: createWindows(), providers: service, clock }) };
    };

    it('R3 asks once in a second, for each choice', async () => {
      const { cache, clock, asked } = open();
      const choice = { provider: 'openai', model: 'gpt-5' };
      const first = await cache.resolve(choice);
      await clock.advance(999);
      expect(await cache.resolve(choice)).to.equal(first);
      expect(asked).to.deep.equal(['openai']);
      expect(await cache.resolve({ provider: 'openai', model: 'gpt-4o' })).to.include({ model: 'gpt-4o' });
      expect(await cache.resolve({ provider: 'groq', model: 'gpt-5' })).to.include({ provider: 'groq' });
      expect(asked).to.deep.equal(['openai', 'openai', 'groq']);
      await clock.advance(1);
      await cache.resolve(choice);
      expect(asked).to.have.length(4);
    });

    it('R3 forgets everything when a change is announced, also what was being asked then', async () => {
      const { cache, asked, fallbacks, service } = open();
      const choice = { provider: 'openai', model: 'gpt-5' };
      await cache.resolve(choice);
      expect(await cache.fallbacks()).to.have.length(1);
      cache.clear();
      fallbacks.push({ provider: 'openai', model: 'b' });
      service.fallbacks = async () => [...fallbacks];
      expect(await cache.fallbacks()).to.have.length(2);
      const onItsWay = [cache.resolve(choice), cache.resolve({ provider: 'groq', model: 'x' })];
      cache.clear();
      await Promise.all(onItsWay);
      await cache.resolve(choice);
      expect(asked).to.deep.equal(['openai', 'openai', 'groq', 'openai']);
    });

    it('R3 asks for the fallbacks once in a second, and again for those that changed on the way', async () => {
      const { cache, clock, service } = open();
      let times = 0;
      service.fallbacks = async () => [{ provider: 'groq', model: String(++times) }];
      const model = async () => (await cache.fallbacks())[0]?.model;
      expect(await model()).to.equal('1');
      await clock.advance(999);
      expect(await model()).to.equal('1');
      await clock.advance(1);
      expect(await model()).to.equal('2');
      await clock.advance(1_000);
      const onItsWay = model();
      cache.clear();
      expect(await onItsWay).to.equal('3');
      expect(await model()).to.equal('4');
    });

    it('R4 keeps no failure', async () => {
      const records: ProviderRecord[] = [];
      const { cache } = open(records);
      expect(await codeOf(Promise.resolve(cache.resolve({ provider: 'openai', model: 'gpt-5' })))).to.equal('llm_provider_not_found');
      records.push(provider('openai'));
      expect(await cache.resolve({ provider: 'openai', model: 'gpt-5' })).to.include({ provider: 'openai' });
    });

    it('holds five hundred choices and then begins anew', async () => {
      const { cache, asked } = open();
      const ask = (number: number) => cache.resolve({ provider: 'local', model: `m${number}` });
      for (let number = 0; number < 500; number++) await ask(number);
      await ask(0);
      expect(asked).to.have.length(500);
      await ask(500);
      await ask(0);
      expect(asked).to.have.length(502);
    });
  });
});
