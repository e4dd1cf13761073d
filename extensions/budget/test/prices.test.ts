/** Prices of cached tokens and of long requests: what is billed, what is reserved, and that sums equal rows. */
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { describeDaemonOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';

const LONG = { above_input_tokens: 10_000, input_cost_per_1m: 6, output_cost_per_1m: 22.5, cache_read_cost_per_1m: 0.6 };
const TIERED = {
  id: 'tiered',
  provider: 'openai',
  context_window: 100_000,
  input_cost_per_1m: 3,
  output_cost_per_1m: 15,
  cache_read_cost_per_1m: 0.3,
  cache_write_cost_per_1m: 300,
  context_tiers: [LONG],
};
const micros = (usd: number): number => Math.round(usd * 1_000_000);

describeDaemonOnEngines('a model with prices of its cache and of long requests', () => {
  afterEach(stopModelKernels);

  const boot = async (): Promise<{ svc: ModelKernel; id: string }> => {
    const svc = await bootWithModel({ text: 'done' });
    await svc.http.expect(201, 'POST', '/api/models/custom', TIERED);
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'tiered', model: { provider: 'openai', model: 'tiered', max_tokens: 100 } } });
    return { svc, id: body.agent_id };
  };

  it('is billed at the rate that did apply, to the micro-dollar, and the sums equal the rows', async () => {
    const { svc, id } = await boot();
    const say = async (usage: { input: number; output: number; cached?: number }): Promise<number> => {
      svc.model.script({ text: 'done', usage });
      return micros((await svc.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'hello' })).body.cost_usd);
    };
    const costs = [await say({ input: 1_000, output: 7, cached: 900 }), await say({ input: 10_001, output: 2, cached: 9_999 }), await say({ input: 10_000, output: 0 })];
    expect(costs).to.deep.equal([100 * 3 + 270 + 105, Math.ceil(12 + 5_999.4 + 45), 30_000]);
    const sum = costs.reduce((all, one) => all + one, 0);
    expect(micros((await svc.http.expect(200, 'GET', '/api/usage')).body.total_cost_usd)).to.equal(sum);
    expect((await svc.http.expect(200, 'GET', '/api/usage/by-model')).body.models.map((row: { cost_usd: number }) => micros(row.cost_usd))).to.deep.equal([sum]);
  });

  it('is reserved at its dearest: a limit that writing to the cache could pass refuses the call', async () => {
    const { svc, id } = await boot();
    const limited = (usd: number) => svc.http.expect(200, 'PUT', `/api/budget/agents/${id}`, { daily_limit_usd: usd });
    // A few hundred tokens at 3 dollars per million are about a tenth of a cent; at 300 they are more than a cent.
    const message = { message: 'word '.repeat(200) };
    await limited(0.01);
    expect((await svc.http.post(`/api/agents/${id}/message`, message)).body).to.include({ code: 'budget_exceeded' });
    await limited(10);
    await svc.http.expect(200, 'POST', `/api/agents/${id}/message`, message);
  });
});
