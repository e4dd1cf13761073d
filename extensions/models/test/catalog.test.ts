import { expect } from 'chai';
import { loadCatalog } from '../src/catalog.js';
import { modelRoutes } from '../src/routes/model-routes.js';
import { createModelsService } from '../src/service.js';

describe('the model catalog', () => {
  const models = createModelsService({ load: loadCatalog });

  it('has a whole and sane row for every model', async () => {
    const all = await models.list();
    expect(all.length).to.be.greaterThan(150);
    for (const model of all) {
      const at = `${model.provider}/${model.id}`;
      expect(model.tier, at).to.be.oneOf(['frontier', 'smart', 'balanced', 'fast', 'local', 'custom']);
      for (const count of [model.context_window, model.max_output_tokens]) expect(Number.isInteger(count) && count > 0, at).to.equal(true);
      expect(model.max_output_tokens, at).to.be.at.most(model.context_window);
      for (const price of [model.input_cost_per_1m, model.output_cost_per_1m]) expect(price, at).to.be.within(0, 1_000);
      for (const flag of [model.supports_tools, model.supports_vision, model.supports_streaming]) expect(flag, at).to.be.a('boolean');
      if (model.tier === 'local') expect(model.input_cost_per_1m + model.output_cost_per_1m, at).to.equal(0);
    }
    expect(new Set(all.map(({ provider, id }) => `${provider}\n${id}`)).size).to.equal(all.length);
  });

  it("C1 finds a model by id, alias, display name and the provider's own name, in any case", async () => {
    const found = await Promise.all(['claude-sonnet-4-6', 'SONNET', 'Claude Sonnet 4.6'].map((name) => models.find(name)));
    expect(found.map((model) => model?.id)).to.deep.equal(['claude-sonnet-4-6', 'claude-sonnet-4-6', 'claude-sonnet-4-6']);
    expect((await models.find('google/gemini-2.5-pro', 'openrouter'))?.id).to.equal('openrouter/google/gemini-2.5-pro');
    expect(await models.find('no-such-model')).to.equal(undefined);
  });

  it('C2 looks only at the provider that is named', async () => {
    expect((await models.find('glm-5.1', 'zhipu'))?.provider).to.equal('zhipu');
    expect(await models.find('glm-5.1', 'anthropic')).to.equal(undefined);
    expect((await models.list({ provider: 'openai' })).every(({ provider }) => provider === 'openai')).to.equal(true);
  });

  it('leads every alias to a model it has', async () => {
    const catalog = await loadCatalog();
    for (const alias of catalog.aliases.keys()) expect((await models.find(alias))?.provider, alias).to.be.a('string');
  });

  it('C3 reads the file on first use, once', async () => {
    let loads = 0;
    const lazy = createModelsService({
      load: () => {
        loads++;
        return loadCatalog();
      },
    });
    expect(loads).to.equal(0);
    await Promise.all([lazy.list(), lazy.find('gpt-5'), lazy.alias('opus')]);
    expect(loads).to.equal(1);
  });

  it('answers GET /api/models with the models of a provider and tier, and 404 names the model', async () => {
    const [, get] = routesWith(['anthropic']);
    const listed = await list(['anthropic'], { provider: 'anthropic', tier: 'fast' });
    expect(listed.models.map(({ id }) => id)).to.deep.equal(['claude-haiku-4-5-20251001']);
    expect(listed.total).to.equal(1);
    const missing = await Promise.resolve(get?.handler({ params: { id: 'a/b' } } as never)).catch((error: unknown) => error);
    expect(missing).to.include({ code: 'models_not_found', status: 404 }).and.have.property('message').that.contains('a/b');
  });

  it('says of each model whether its provider can be asked now, and counts and filters by it', async () => {
    const all = await list(['anthropic', 'builtin'], {});
    const able = all.models.filter((model) => model.available);
    expect(new Set(able.map(({ provider }) => provider))).to.deep.equal(new Set(['anthropic', 'builtin']));
    expect(all.available).to.equal(able.length).and.to.be.lessThan(all.total);

    expect(await list(['anthropic', 'builtin'], { available: true })).to.deep.include({ total: able.length, available: able.length });
    expect(await list(['anthropic', 'builtin'], { available: false })).to.deep.include({ total: all.total - able.length, available: 0 });
  });

  it('shows prices under both names, other names of the model, and where the row comes from', async () => {
    const [haiku] = (await list([], { provider: 'anthropic', tier: 'fast' })).models;
    expect(haiku).to.deep.include({
      input_cost_per_1m: 1,
      input_cost_per_m: 1,
      output_cost_per_1m: 5,
      output_cost_per_m: 5,
      pricing_known: true,
      modality: 'text',
      source: 'catalog',
      supports_thinking: true,
      available: false,
    });
    expect(haiku?.aliases).to.include('haiku');
    expect((await list([], { provider: 'builtin' })).models[0]).to.include({ source: 'builtin' });
  });

  const routesWith = (usable: readonly string[] | undefined) =>
    modelRoutes({
      models,
      columns: {
        isEmpty: () => false,
        call: async ({ models: asked }) => [
          ...(usable ? [{ owner: 'providers', value: { providers: usable.map((name) => ({ name, isUsable: true })) } }] : []),
          { owner: 'llm', value: { canThink: asked.map(() => true) } },
        ],
      },
    });

  interface Listed {
    models: Array<{ id: string; provider: string; available: boolean; aliases: string[] }>;
    total: number;
    available: number;
  }
  const list = async (usable: readonly string[], query: object): Promise<Listed> => {
    const [route] = routesWith(usable);
    if (!route) throw new Error('there is no route that lists models');
    return ((await route.handler({ query } as never)) as unknown as { body: Listed }).body;
  };
});
