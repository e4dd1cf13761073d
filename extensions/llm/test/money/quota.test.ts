import { isSvcError, type SvcError } from '@svc/api';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { request, type Rig, type RigOptions, startRig } from '../gateway-rig.js';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const MINUTE_MS = 60_000;

describe('what an agent may use', () => {
  let openai: ProviderServer;
  let rig: Rig | undefined;
  let now = NOON;

  beforeEach(async () => {
    now = NOON;
    openai = await startOpenAiServer();
    openai.script(() => ({ text: 'ok', usage: { input: 60, output: 40 } }));
  });
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    await openai.close();
  });

  const start = async (limits: RigOptions['limits'], extra: Partial<RigOptions> = {}): Promise<Rig> => {
    rig = await startRig({ urls: { openai: openai.url }, limits: limits ?? {}, now: () => now, ...extra });
    return rig;
  };
  /** One call of 100 tokens, settled as a run settles it. */
  const call = async ({ llm, db, context }: Rig, agentId = 'agent-1'): Promise<'ok' | SvcError> => {
    try {
      await db.commit((await llm.complete(request(), context({ agentId }))).settle);
      return 'ok';
    } catch (error) {
      if (isSvcError(error)) return error;
      throw error;
    }
  };
  const refusalOf = async (work: Promise<'ok' | SvcError>): Promise<SvcError> => {
    const result = await work;
    if (result === 'ok') throw new Error('it should have been refused');
    return result;
  };

  it('Q1 ends with 429, the limit, and the time it goes on, without asking the provider', async () => {
    const one = await start({ max_llm_tokens_per_hour: 200 });
    expect([await call(one), await call(one)]).to.deep.equal(['ok', 'ok']);

    const refused = await refusalOf(call(one));

    expect(refused).to.include({ code: 'token_quota_exceeded', status: 429 });
    expect(refused.details).to.deep.equal({ limit: 200, used: 200, reset_at: '2026-03-10T13:01:00.000Z' });
    expect(refused.headers).to.deep.equal({ 'retry-after': String(61 * 60) });
    expect(openai.requests).to.have.length(2);
    expect(await call(one, 'agent-2')).to.equal('ok');
  });

  it('Q2 counts the last hour, whichever life of the daemon used it', async () => {
    const first = await start({ max_llm_tokens_per_hour: 200 });
    await call(first);
    now += 30 * MINUTE_MS;
    await call(first);
    await first.close(true);

    const second = await start({ max_llm_tokens_per_hour: 200 }, { home: first.home });
    const refused = await refusalOf(call(second));
    expect(refused.details).to.deep.include({ used: 200, reset_at: '2026-03-10T13:01:00.000Z' });

    now = NOON + 61 * MINUTE_MS;
    expect(await call(second)).to.equal('ok');
    expect((await refusalOf(call(second))).details).to.include({ reset_at: '2026-03-10T13:31:00.000Z' });
  });

  it('Q2 counts the calls that another process made', async () => {
    const one = await start({ max_llm_tokens_per_hour: 200 });
    await call(one);
    const columns = 'id, run_id, agent_id, owner_id, provider, model, input_tokens, output_tokens, cost_micros, estimated, purpose, at';
    const values = ['x', 'r', 'agent-1', 'owner', 'openai', 'm', 150, 0, 0, 0, 'run', new Date(now).toISOString()];
    await one.db.commit([one.db.sql(`INSERT INTO ${one.db.table('usage')} (${columns}) VALUES (${values.map(() => '?').join(', ')})`, values)]);
    one.passes(15_000);

    expect((await refusalOf(call(one))).details).to.include({ used: 250 });
  });

  it('Q3 passes a limit of tokens by one reservation at most, however many calls come at once', async () => {
    // A call reserves what it may use: the 100 tokens of its answer and what it says.
    const one = await start({ max_llm_tokens_per_hour: 450 }, { sleep: () => new Promise(() => undefined) });

    const results = await Promise.all(Array.from({ length: 50 }, () => call(one)));

    const answered = results.filter((result) => result === 'ok').length;
    expect(answered).to.equal(5);
    expect(openai.requests).to.have.length(5);
    expect(results.filter((result) => result !== 'ok' && result.code === 'token_quota_exceeded')).to.have.length(45);
  });

  it('Q3 lets a call wait for those on their way, and go when they leave something over', async () => {
    let going = 0;
    let most = 0;
    openai.script(async () => {
      going += 1;
      most = Math.max(most, going);
      await new Promise((resolve) => setImmediate(resolve));
      going -= 1;
      return { text: 'ok', usage: { input: 1, output: 1 } };
    });
    const one = await start({ max_llm_tokens_per_hour: 150 }, { sleep: () => new Promise(() => undefined) });

    const results = await Promise.all(Array.from({ length: 10 }, () => call(one)));

    expect(results).to.deep.equal(Array.from({ length: 10 }, () => 'ok'));
    expect(most).to.be.at.most(2);
  });

  it('Q3 gives back what a failed call had reserved', async () => {
    const one = await start({ max_llm_tokens_per_hour: 150 }, { config: { max_retries: 0 } });
    openai.script(() => ({ status: 500, error: 'no' }));
    for (let i = 0; i < 5; i++) expect((await refusalOf(call(one))).code).to.equal('llm_provider_failed');
    openai.script(() => ({ text: 'ok', usage: { input: 60, output: 40 } }));
    expect(await call(one)).to.equal('ok');
  });

  it('Q3 spends no more than a limit of cost, counting what the call may cost at most', async () => {
    // gpt-5-mini: 0.25 and 2 USD per million; 100 tokens of answer may cost 0.0002.
    openai.script(() => ({ text: 'ok', usage: { input: 60, output: 100 } }));
    const one = await start({ max_cost_per_day_usd: 0.000_5 }, { sleep: () => new Promise(() => undefined) });

    const results = await Promise.all(Array.from({ length: 20 }, () => call(one)));

    expect(results.filter((result) => result === 'ok')).to.have.length(2);
    const refused = results.find((result): result is SvcError => result !== 'ok');
    expect(refused).to.include({ code: 'budget_exceeded', status: 429 });
    expect(refused?.details).to.include({ period: 'day', limit_usd: 0.000_5, used_usd: 0.000_43, reset_at: '2026-03-11T00:00:00.000Z' });
    expect(refused?.headers).to.deep.equal({ 'retry-after': String(12 * 60 * 60) });
  });

  it('Q2 begins a day and a month anew in UTC, and an hour after sixty minutes', async () => {
    openai.script(() => ({ text: 'ok', usage: { input: 60, output: 100 } }));
    const cap = 0.000_25;
    const cases = [
      { limits: { max_cost_per_hour_usd: cap }, next: '2026-03-10T13:01:00Z' },
      { limits: { max_cost_per_day_usd: cap }, next: '2026-03-11T00:00:00Z' },
      { limits: { max_cost_per_month_usd: cap }, next: '2026-04-01T00:00:00Z' },
    ];
    for (const { limits, next } of cases) {
      now = NOON;
      const one = await start(limits);
      expect(await call(one), next).to.equal('ok');
      now = Date.parse(next) - 1_000;
      expect((await refusalOf(call(one))).details, next).to.include({ reset_at: new Date(next).toISOString() });
      now = Date.parse(next);
      expect(await call(one), next).to.equal('ok');
      await one.close();
      rig = undefined;
    }
  });

  it('Q1 keeps a limit of cost for a model that the catalog does not know', async () => {
    const { llm, context } = await start({ max_cost_per_day_usd: 0.000_01 });
    const error = await llm.complete(request({ model: 'brand-new' }), context()).catch((caught: unknown) => caught);
    expect(isSvcError(error) && error.code).to.equal('budget_exceeded');
    expect(openai.requests).to.have.length(0);
  });

  it('Q3 paces calls where burst_ratio says how much one minute may use', async () => {
    const slept: number[] = [];
    const pass = async (ms: number): Promise<void> => {
      slept.push(ms);
      now += ms;
    };
    const one = await start({ max_llm_tokens_per_hour: 1_000, burst_ratio: 0.2 }, { sleep: pass });
    now += 15_000;
    for (let i = 0; i < 3; i++) expect(await call(one)).to.equal('ok');
    expect(slept).to.deep.equal([45_000]);
  });

  it('Q4 lets whoever asks beforehand know', async () => {
    const one = await start({ max_llm_tokens_per_hour: 100 });
    await one.llm.admit('agent-1', [request()]);
    await call(one);
    expect(((await one.llm.admit('agent-1', [request()]).catch((error: unknown) => error)) as SvcError).code).to.equal('token_quota_exceeded');
  });
});
