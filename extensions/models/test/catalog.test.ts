import { expect } from 'chai';
import { loadCatalog } from '../src/catalog.js';
import { modelRoutes } from '../src/routes.js';
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
    for (const [alias, id] of catalog.aliases) expect(catalog.byId.has(id.toLowerCase()), alias).to.equal(true);
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
    const [list, get] = modelRoutes(models);
    const listed = (await list?.handler({ query: { provider: 'anthropic', tier: 'fast' } } as never)) as unknown as { body: { models: Array<{ id: string }>; total: number } };
    expect(listed.body.models.map(({ id }) => id)).to.deep.equal(['claude-haiku-4-5-20251001']);
    expect(listed.body.total).to.equal(1);
    const missing = await get?.handler({ params: { id: 'a/b' } } as never).catch((error: unknown) => error);
    expect(missing).to.include({ code: 'models_not_found', status: 404 }).and.have.property('message').that.contains('a/b');
  });
});
