/** Aliases and custom models, over HTTP and a real database. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, describeOnEngines, OPEN_RATE, stopTestKernels, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

describeOnEngines('names that people give to models', function () {
  this.timeout(30_000);
  let http: TestHttp;
  before(async () => {
    ({ http } = await bootTestKernel());
  });
  after(stopTestKernels);
  /** Each claim finds the names that came with the catalog and no others. */
  afterEach(async () => {
    for (const name of (await http.expect(200, 'GET', '/api/models/aliases')).body.custom) await http.expect(200, 'DELETE', `/api/models/aliases/${name}`);
    for (const { id, provider } of (await http.expect(200, 'GET', '/api/models?tier=custom')).body.models)
      await http.expect(200, 'DELETE', `/api/models/custom/${encodeURIComponent(id)}?provider=${provider}`);
  });

  const alias = (name: string, modelId: string) => http.post('/api/models/aliases', { alias: name, model_id: modelId });
  const custom = (body: object) => http.post('/api/models/custom', { id: 'house-model', provider: 'openai', ...body });
  const model = (name: string) => http.get(`/api/models/${name}`);

  it('C1 an alias finds its model at once, in any case, and until it is removed', async () => {
    const made = await http.expect(201, 'POST', '/api/models/aliases', { alias: 'Writer', model_id: 'claude-opus-4-7' });
    expect(made.body).to.deep.equal({ alias: 'writer', model_id: 'claude-opus-4-7', status: 'created' });
    expect((await model('WRITER')).body).to.include({ id: 'claude-opus-4-7' });
    expect((await model('claude-opus-4-7')).body.aliases).to.include('writer');
    const { body: all } = await http.expect(200, 'GET', '/api/models/aliases');
    expect(all.aliases.writer).to.equal('claude-opus-4-7');
    expect(all.custom).to.deep.equal(['writer']);
    expect(all.total).to.equal(Object.keys(all.aliases).length).and.to.be.greaterThan(90);
    expect((await http.expect(200, 'DELETE', '/api/models/aliases/WRITER')).body).to.deep.equal({ status: 'removed', alias: 'writer' });
    expect((await model('writer')).status).to.equal(404);
  });

  it('C5 an alias may follow another, and says whose way it was when that one goes', async () => {
    await alias('cheap', 'haiku');
    await alias('cheapest', 'cheap');
    expect((await model('cheapest')).body.id).to.equal('claude-haiku-4-5-20251001');
    const gone = await http.expect(200, 'DELETE', '/api/models/aliases/cheap');
    expect(gone.body.used_by).to.deep.equal(['cheapest']);
    expect((await model('cheapest')).status).to.equal(404);
  });

  it('C4 stands before an alias of the catalog, which comes back when it goes', async () => {
    expect((await alias('sonnet', 'claude-opus-4-7')).body).to.include({ replaces: 'claude-sonnet-4-6' });
    expect((await model('sonnet')).body.id).to.equal('claude-opus-4-7');
    await http.expect(200, 'DELETE', '/api/models/aliases/sonnet');
    expect((await model('sonnet')).body.id).to.equal('claude-sonnet-4-6');
  });

  it('takes prices of the cache and of long requests, and refuses those that nobody can apply', async () => {
    const prices = { input_cost_per_1m: 3, output_cost_per_1m: 15, cache_read_cost_per_1m: 0.3, cache_write_cost_per_1m: 3.75 };
    const tier = { above_input_tokens: 200_000, input_cost_per_1m: 6, output_cost_per_1m: 22.5 };
    expect((await custom({ ...prices, context_window: 1_000_000, context_tiers: [tier] })).status).to.equal(201);
    expect((await model('house-model')).body).to.deep.include({ ...prices, context_tiers: [tier] });
    await http.expect(200, 'DELETE', '/api/models/custom/house-model');
    for (const [body, why] of [
      [{ ...prices, context_window: 1_000_000, context_tiers: [tier, { ...tier, above_input_tokens: 100_000 }] }, 'not more than 200000'],
      [{ ...prices, context_window: 200_000, context_tiers: [tier] }, 'context_window'],
      [{ cache_read_cost_per_1m: 1 }, 'need input_cost_per_1m'],
      [{ ...prices, cache_read_cost_per_1m: -1 }, 'cache_read_cost_per_1m'],
    ] as const) {
      const refused = await custom(body);
      expect([refused.status, refused.text]).to.satisfy(([status, text]: [number, string]) => status === 400 && text.includes(why), refused.text);
    }
  });

  it('takes a name that the catalog does not know, and warns', async () => {
    expect((await alias('lab', 'openrouter/some/new-model')).body.warning).to.contain('some/new-model');
  });

  for (const [what, name, target, status, code] of [
    ['an empty alias', ' ', 'haiku', 400, 'models_bad_alias'],
    ['an alias with a slash', 'a/b', 'haiku', 400, 'models_bad_alias'],
    ['an alias with a line break', 'a\nb', 'haiku', 400, 'models_bad_alias'],
    ['an alias with half a character', 'a\ud800', 'haiku', 400, 'models_bad_alias'],
    ['an alias of dots and slashes', '../x', 'haiku', 400, 'models_bad_alias'],
    ['the word by which agents leave the choice', 'Default', 'haiku', 400, 'models_bad_alias'],
    ['an empty target', 'mine', '  ', 400, 'models_bad_target'],
    ['a target with control characters', 'mine', 'gpt\u0000-5', 400, 'models_bad_target'],
    ['the id of a model', 'GPT-5', 'haiku', 409, 'models_alias_shadows'],
    ['itself', 'mine', 'MINE', 409, 'models_alias_ring'],
  ] as const)
    it(`refuses ${what}`, async () => {
      expect(await alias(name, target))
        .to.deep.include({ status })
        .and.have.nested.property('body.code', code);
    });

  it('refuses an alias twice, a body without its fields, and removing what is not there or came with the catalog', async () => {
    await alias('mine', 'haiku');
    expect((await alias('MINE', 'opus')).body.code).to.equal('models_alias_exists');
    expect((await http.post('/api/models/aliases', { alias: 'x' })).status).to.equal(400);
    expect((await http.delete('/api/models/aliases/nobody')).body.code).to.equal('models_alias_not_found');
    expect((await http.delete('/api/models/aliases/sonnet')).body.code).to.equal('models_alias_shipped');
  });

  it('C5 refuses a ring, also one through aliases of the catalog', async () => {
    await alias('one', 'two');
    await alias('two', 'three');
    const ring = await alias('three', 'one');
    expect([ring.status, ring.body.code]).to.deep.equal([409, 'models_alias_ring']);
    expect(ring.body.error).to.contain('three → one → two → three');
    await alias('mine', 'sonnet');
    expect((await alias('sonnet', 'mine')).body.code).to.equal('models_alias_ring');
  });

  it('C7 of two requests that would make a ring together, one is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([alias(`left${round}`, `right${round}`), alias(`right${round}`, `left${round}`)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.code).to.equal('models_alias_ring');
    }
  });

  it('C7 of two requests for one alias, one is refused; twenty at once are all kept', async () => {
    const twice = await Promise.all([alias('mine', 'haiku'), alias('mine', 'opus')]);
    expect(twice.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    const many = await Promise.all(Array.from({ length: 20 }, (_, index) => alias(`many${index}`, 'haiku')));
    for (const answer of many) expect([201, 503]).to.include(answer.status);
    const kept = (await http.get('/api/models/aliases')).body.custom.length;
    expect(kept).to.equal(1 + many.filter(({ status }) => status === 201).length);
  });

  it('answers a request that is sent again under its key as the first time', async () => {
    const send = () => http.post('/api/models/aliases', { alias: 'again', model_id: 'haiku' }, { 'idempotency-key': 'one' });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(second.body).to.deep.equal(first.body);
  });

  it('C4 a custom model stands before the catalog and gives way again when it is removed', async () => {
    const made = await custom({ id: 'gpt-5', display_name: 'Our GPT', context_window: 64_000, input_cost_per_1m: 7, output_cost_per_1m: 9 });
    expect(made.status).to.equal(201);
    expect(made.body).to.include({ id: 'gpt-5', provider: 'openai', status: 'added' });
    expect((await model('gpt-5')).body).to.include({ source: 'custom', context_window: 64_000, input_cost_per_1m: 7, output_cost_per_m: 9, pricing_known: true, tier: 'custom', modality: 'text' });
    const listed = (await http.get('/api/models?provider=openai')).body.models.filter((one: { id: string }) => one.id === 'gpt-5');
    expect(listed).to.have.length(1);
    await http.expect(200, 'DELETE', '/api/models/custom/GPT-5');
    expect((await model('gpt-5')).body).to.include({ source: 'catalog', input_cost_per_1m: 1.25 });
  });

  it('takes ids with slashes, by path as they are and as %2F', async () => {
    expect((await custom({ id: 'Org/Model-7B', provider: 'together' })).body.model).to.include({ display_name: 'Org/Model-7B', context_window: 128_000, max_output_tokens: 8_192 });
    expect((await model('org/model-7b')).body.id).to.equal('Org/Model-7B');
    expect((await model('Org%2FModel-7B')).body.id).to.equal('Org/Model-7B');
    expect((await http.expect(200, 'DELETE', '/api/models/custom/Org%2FModel-7B')).body).to.deep.equal({ status: 'removed', id: 'Org/Model-7B', provider: 'together' });
    expect((await model('Org/Model-7B')).status).to.equal(404);
  });

  it('says that the price of a model is unknown where none was given', async () => {
    const { body } = await custom({});
    expect(body.model).to.include({ pricing_known: false, input_cost_per_1m: 0 });
    expect(body.warning).to.contain('price');
  });

  for (const [what, body, code] of [
    ['a negative price', { input_cost_per_1m: -1, output_cost_per_1m: 1 }, 'invalid_request'],
    ['half a price', { input_cost_per_1m: 1 }, 'models_bad_model'],
    ['two prices of one thing that differ', { input_cost_per_1m: 1, input_cost_per_m: 2, output_cost_per_1m: 1 }, 'models_bad_model'],
    ['a window of 0', { context_window: 0 }, 'invalid_request'],
    ['a window of half a token', { context_window: 1000.5 }, 'invalid_request'],
    ['answers longer than the window', { context_window: 1_000, max_output_tokens: 2_000 }, 'models_bad_model'],
    ['an id with control characters', { id: 'gpt\u0007' }, 'models_bad_model'],
    ['an id with spaces', { id: 'my model' }, 'models_bad_model'],
    ['an empty id', { id: '  ' }, 'models_bad_model'],
    ['an id that is a place of the interface', { id: 'aliases' }, 'models_bad_model'],
    ['an id of dots', { id: 'a/../b' }, 'models_bad_model'],
    ['a display name with control characters', { display_name: 'a\u001b[31m' }, 'models_bad_model'],
    ['an unknown provider, naming the nearest', { provider: 'opennai' }, 'models_unknown_provider'],
    ['a provider of dots', { provider: '../x' }, 'models_unknown_provider'],
    ['a model of the mock provider', { provider: 'builtin' }, 'models_bad_model'],
    ['a model of images', { modality: 'image' }, 'models_bad_model'],
    ['a tier that is none', { tier: 'golden' }, 'invalid_request'],
  ] as const)
    it(`refuses ${what}`, async () => {
      const answer = await custom(body);
      expect([answer.status, answer.body.code]).to.deep.equal([400, code]);
      expect((await http.get('/api/models?tier=custom')).body.total).to.equal(0);
    });

  it('refuses a custom model twice, one that an alias has the name of, and removing what is not custom', async () => {
    await custom({});
    const twice = await custom({ id: 'HOUSE-MODEL' });
    expect([twice.status, twice.body.code]).to.deep.equal([409, 'models_custom_exists']);
    await alias('mine', 'haiku');
    expect((await custom({ id: 'Mine' })).body.code).to.equal('models_custom_is_alias');
    const shipped = await http.delete('/api/models/custom/gpt-5');
    expect([shipped.status, shipped.body.code]).to.deep.equal([404, 'models_custom_not_found']);
  });

  it('leads to a custom model in any script by its location', async () => {
    const made = await custom({ id: 'Org/モデル-7' });
    const place = String(made.headers.get('location'));
    expect([made.status, place]).to.deep.equal([201, '/api/models/Org/%E3%83%A2%E3%83%87%E3%83%AB-7']);
    expect((await http.expect(200, 'GET', place)).body.id).to.equal('Org/モデル-7');
    await http.expect(200, 'DELETE', place.replace('/models/', '/models/custom/'));
  });

  it('asks whose model is meant where two providers have it', async () => {
    await custom({});
    await custom({ provider: 'groq' });
    expect((await http.delete('/api/models/custom/house-model')).body.code).to.equal('models_custom_ambiguous');
    expect((await http.expect(200, 'DELETE', '/api/models/custom/house-model?provider=groq')).body.provider).to.equal('groq');
    expect((await http.expect(200, 'DELETE', '/api/models/custom/house-model')).body.provider).to.equal('openai');
  });
});

describe('who may change the names of models', () => {
  afterEach(stopTestKernels);

  const person = (name: string, role: string): string => `[[users]]
name = "${name}"
role = "${role}"
api_key_hash = "sha256:${createHash('sha256').update(`key-of-${name}-0001`).digest('hex')}"
`;

  it('an admin may, a user may not', async () => {
    const kernel = await bootTestKernel({
      config: `api_key = "key-of-the-owner-0001"
${person('ann', 'admin')}${person('bob', 'user')}${OPEN_RATE}`,
    });
    const body = { alias: 'mine', model_id: 'haiku' };
    expect((await kernel.as('key-of-bob-0001').post('/api/models/aliases', body)).status).to.equal(403);
    expect((await kernel.as('key-of-bob-0001').post('/api/models/custom', { id: 'x', provider: 'openai' })).status).to.equal(403);
    expect((await kernel.as('key-of-bob-0001').post('/api/catalog/update')).status).to.equal(403);
    expect((await kernel.as('key-of-ann-0001').post('/api/models/aliases', body)).status).to.equal(201);
    expect((await kernel.as('key-of-bob-0001').get('/api/models/mine')).body.id).to.equal('claude-haiku-4-5-20251001');
  });
});

describe('an agent whose model is a name that a person gave', function () {
  this.timeout(30_000);
  afterEach(stopModelKernels);

  it('is asked under its real name from the next call on, and what it costs is the price that was registered', async () => {
    const { http, model } = await bootWithModel({ text: 'ok', usage: { input: 1_000, output: 1_000 } });
    await http.expect(201, 'POST', '/api/models/custom', { id: 'house-model', provider: 'openai', wire_id: 'ft:gpt-5:house', input_cost_per_1m: 100, output_cost_per_1m: 200 });
    await http.expect(201, 'POST', '/api/models/aliases', { alias: 'mine', model_id: 'house-model' });
    const { body: agent } = await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'named', model: { provider: 'default', model: 'mine' } } });
    const send = () => http.expect(200, 'POST', `/api/agents/${agent.agent_id}/message`, { message: 'hello' });
    const { body } = await send();
    expect(model.requests.at(-1)?.body.model).to.equal('ft:gpt-5:house');
    expect(body.cost_usd).to.equal(0.3);
    await http.expect(200, 'DELETE', '/api/models/aliases/mine');
    await http.expect(201, 'POST', '/api/models/aliases', { alias: 'mine', model_id: 'openai/lab-model' });
    await send();
    expect(model.requests.at(-1)?.body.model).to.equal('lab-model');
  });

  it('counts a middling price where none is known', async () => {
    const { http } = await bootWithModel({ text: 'ok', usage: { input: 1_000_000, output: 0 } });
    await http.expect(201, 'POST', '/api/models/custom', { id: 'house-model', provider: 'openai' });
    const { body: agent } = await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'named', model: { provider: 'openai', model: 'house-model' } } });
    const { body } = await http.expect(200, 'POST', `/api/agents/${agent.agent_id}/message`, { message: 'hello' });
    expect(body.cost_usd).to.equal(1);
  });

  it('keeps its names over a restart', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-models-'));
    try {
      const first = await bootTestKernel({ home, config: OPEN_RATE });
      await first.http.expect(201, 'POST', '/api/models/aliases', { alias: 'mine', model_id: 'haiku' });
      await first.stop();
      const second = await bootTestKernel({ home, config: OPEN_RATE });
      await until(async () => (await second.http.get('/api/models/mine')).status === 200);
      await second.stop();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
