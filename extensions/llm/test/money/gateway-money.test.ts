import { expect } from 'chai';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { request, type Rig, type RigOptions, startRig } from '../gateway-rig.js';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { LlmSection } from '../../src/config.js';
import { llmErrors, quotaErrors } from '../../src/errors.js';

describe('what the gateway counts and lets others say', () => {
  let openai: ProviderServer;
  let anthropic: ProviderServer;
  let rig: Rig | undefined;
  beforeEach(async () => {
    openai = await startOpenAiServer();
    anthropic = await startAnthropicServer();
  });
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    await openai.close();
    await anthropic.close();
  });
  const start = async (extra: Partial<RigOptions> = {}): Promise<Rig> => {
    rig = await startRig({ urls: { openai: openai.url, anthropic: anthropic.url }, ...extra });
    return rig;
  };
  const claude = { provider: 'anthropic', model: 'claude-sonnet-4-6' };

  it('N1 reserves and settles what is not tokens under the same limits, in the same rows', async () => {
    const { llm, context, db } = await start({ limits: { max_cost_per_hour_usd: 0.1 } });
    const images = { provider: 'openai', model: 'painter', unit: 'image', quantity: 2, priceMicros: 40_000, lastsMs: 60_000 } as const;
    const first = await llm.reserveUnits(context({ purpose: 'media' }), images);
    expect(first.ceilingMicros).to.equal(80_000);
    await db.commit(await llm.settleUnits(first.reservation, 1));
    expect(await llm.settleUnits(first.reservation, 1)).to.deep.equal([]);
    const rows = await db.system('a test').select({ from: 'usage', columns: ['model', 'cost_micros', 'unit', 'quantity', 'purpose'] });
    expect(rows).to.deep.equal([{ model: 'painter', cost_micros: 40_000, unit: 'image', quantity: 1, purpose: 'media' }]);
    expect(await db.system('a test').count('reservations', {})).to.equal(0);
    const refused = await llm.reserveUnits(context({ purpose: 'media' }), images).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'budget_exceeded' });
  });

  it('N2 what an earlier process reserved can be settled by the next one, once', async () => {
    const { llm, context, db, reservations } = await start({ limits: { max_cost_per_hour_usd: 1 } });
    const video = { provider: 'minimax', model: 'film', unit: 'second', quantity: 6, priceMicros: 47_000, lastsMs: 3_600_000 } as const;
    const row = { provider: 'minimax', model: 'film', inputTokens: 0, outputTokens: 0, costMicros: 282_000, lastsMs: 3_600_000, units: video };
    await db.commit([reservations.insert('left-1', context({ purpose: 'media' }), row), reservations.insert('left-2', context({ purpose: 'media' }), row)]);
    for (const [id, seconds] of [
      ['left-1', 3],
      ['left-2', 0],
    ] as const)
      await db.commit((await llm.settleUnits(id, seconds)).filter(({ sealed }) => !sealed.includes('event')));
    const rows = await db.system('a test').select({ from: 'usage', columns: ['cost_micros', 'quantity', 'unit', 'estimated'] });
    expect(rows).to.deep.equal([{ cost_micros: 141_000, quantity: 3, unit: 'second', estimated: 0 }]);
    expect(await db.system('a test').count('reservations', {})).to.equal(0);
    expect(await llm.settleUnits('left-1', 3)).to.deep.equal([]);
  });

  it('reserves the ceiling of the dearest model: all it takes in, all it may say and think', async () => {
    const { llm, context } = await start();
    const ceiling = async (fields: Parameters<typeof request>[0]) => (await llm.reserve(request(fields), context({ runId: 'run-7' }))).ceilingMicros;
    // Nine tokens at most for `You help.`, `Hello` and their form; 0.25 and 2 USD per million.
    expect(await ceiling({})).to.equal(203);
    expect(await ceiling({ thinking: { budgetTokens: 500 } })).to.equal(1_203);
    // 3.75 into the cache and 15 USD per million, of 64 000 tokens at most.
    expect(await ceiling({ ...claude, maxTokens: 1_000_000 })).to.equal(960_034);
    expect(await ceiling({ fallbacks: [claude] })).to.equal(1_534);
    expect(await ceiling({ provider: 'nobody', model: 'x' })).to.equal(0);
    const { writes } = await llm.reserve(request(), context({ runId: 'run-7' }));
    expect(writes.map(({ sealed }) => sealed)).to.deep.equal(['llm: insert reservations']);
  });

  it('sums what each attempt used, and calls it estimated only where a part was', async () => {
    const { llm, context } = await start({ config: { max_retries: 0 } });
    // It began with its numbers and said nothing.
    anthropic.script({ deltas: [], halfStream: true, usage: { input: 30, output: 9 } });
    openai.script({ text: 'x'.repeat(8), usage: { input: 40, output: 2 } });
    const chain = request({ ...claude, fallbacks: [{ provider: 'openai', model: 'gpt-5-mini' }] });
    expect((await llm.complete(chain, context())).usage).to.deep.equal({ inputTokens: 70, outputTokens: 3, costMicros: 105 + 14 });
    openai.script({ text: 'x'.repeat(8), usage: null });
    expect((await llm.complete(chain, context())).usage).to.deep.include({ outputTokens: 3, estimated: true });
  });

  it('counts calls, those that no model answered, and attempts after the first', async () => {
    const { llm, context, counters } = await start({ config: { max_retries: 1 } });
    await llm.complete(request(), context());
    expect(counters).to.include({ calls: 1, failures: 0, retries: 0 });
    openai.script({ status: 500 });
    await llm.complete(request(), context()).catch(() => undefined);
    expect(counters).to.include({ calls: 2, failures: 1, retries: 1 });
    openai.script([{ status: 500 }, { text: 'ok' }]);
    await llm.complete(request(), context());
    expect(counters).to.include({ calls: 3, failures: 1, retries: 2 });
  });

  it('takes nothing for a call that ended some other way', async () => {
    const keyTaken = () => {
      throw new TypeError('a bug');
    };
    const { llm, context } = await start({ keyTaken, limits: { max_llm_tokens_per_hour: 1_000 } });
    expect(await llm.complete(request(), context()).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    await llm.admit('agent-1', []);
  });

  it('says of a model whether it can think, and nothing of a provider that nobody knows', async () => {
    const { llm } = await start();
    expect(await llm.canThink(claude)).to.equal(true);
    expect(await llm.canThink({ provider: 'openai', model: 'gpt-4o' })).to.equal(false);
    expect(await llm.canThink({ provider: 'nobody', model: 'gpt-5' })).to.equal(null);
    expect(await llm.count('12345')).to.equal(2);
  });
});

describe('[llm] of the config', () => {
  const usual = { request_timeout_secs: 120, turn_timeout_secs: 600, idle_timeout_secs: 60, max_retries: 3, retry_base_ms: 2_000, max_wait_ms: 60_000, prompt_caching: true };
  const isTaken = async (fields: object) => (await createValueChecks().check(LlmSection.schema, { ...usual, ...fields })).ok;

  it('has defaults that fit', async () => {
    const defaults = Object.fromEntries(Object.entries(LlmSection.schema.properties).map(([key, { default: value }]) => [key, value]));
    expect(defaults).to.deep.equal(usual);
    expect(await isTaken({})).to.equal(true);
  });

  it('takes each number from its least to its most, and no key that it does not know', async () => {
    for (const [key, least, most] of [
      ['request_timeout_secs', 1, 3_600],
      ['turn_timeout_secs', 1, 14_400],
      ['idle_timeout_secs', 1, 3_600],
      ['max_retries', 0, 10],
      ['retry_base_ms', 1, 60_000],
      ['max_wait_ms', 1, 300_000],
    ] as const) {
      expect([await isTaken({ [key]: least - 1 }), await isTaken({ [key]: least }), await isTaken({ [key]: most }), await isTaken({ [key]: most + 1 })], key).to.deep.equal([false, true, true, false]);
    }
    expect(await isTaken({ retries: 3 })).to.equal(false);
  });
});

describe('errors of model calls', () => {
  it('have the status that says whose doing it is, and say whether asking again may help', () => {
    const provider = [
      llmErrors.provider_auth,
      llmErrors.provider_credit,
      llmErrors.provider_rate_limited,
      llmErrors.provider_overloaded,
      llmErrors.provider_model_missing,
      llmErrors.context_too_long,
      llmErrors.provider_rejected,
      llmErrors.provider_timeout,
      llmErrors.provider_unreachable,
      llmErrors.provider_failed,
      llmErrors.half_stream,
      llmErrors.provider_garbage,
    ].map((error) => error('p', 'm', 'said'));
    const others = [
      llmErrors.model_not_found('m'),
      llmErrors.provider_not_found('p'),
      llmErrors.provider_unsupported('p'),
      llmErrors.provider_key_missing('p', 'P'),
      llmErrors.provider_key_unreadable('p', 'locked'),
      llmErrors.all_models_failed(2, ''),
      llmErrors.cancelled(),
      quotaErrors.token_quota_exceeded('tokens', 1, 1, ''),
      quotaErrors.budget_exceeded('agent', 'day', 1, 1, 1, ''),
    ];
    expect([...provider, ...others].map(({ code, status, retry }) => `${code} ${status}${retry ? ' retry' : ''}`)).to.deep.equal([
      'llm_provider_auth 500',
      'llm_provider_credit 500',
      'llm_provider_rate_limited 500 retry',
      'llm_provider_overloaded 500 retry',
      'llm_provider_model_missing 500',
      'llm_context_too_long 500',
      'llm_provider_rejected 500',
      'llm_provider_timeout 500 retry',
      'llm_provider_unreachable 500 retry',
      'llm_provider_failed 500 retry',
      'llm_half_stream 500 retry',
      'llm_provider_garbage 500 retry',
      'llm_model_not_found 404',
      'llm_provider_not_found 404',
      'llm_provider_unsupported 400',
      'llm_provider_key_missing 412',
      'llm_provider_key_unreadable 503',
      'llm_all_models_failed 500 retry',
      'llm_cancelled 499',
      'token_quota_exceeded 429 retry',
      'budget_exceeded 429 retry',
    ]);
  });

  it('tell money to the millionth of a dollar', () => {
    expect(quotaErrors.budget_exceeded('agent', 'day', 0.5, 0.100_000_4, 0.000_02, 'noon').message).to.equal(
      'The agent may spend 0.5 USD per day and has spent 0.1 USD; the next model call may cost 0.00002 USD. It can continue at noon.',
    );
  });
});
