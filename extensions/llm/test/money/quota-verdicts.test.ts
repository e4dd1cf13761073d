import type { SvcError, Write } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { virtualClock } from '@svc/platform/clock/clock';
import { createAreaActors } from '@svc/core';
import { expect } from 'chai';
import type { Budget } from '../../src/config.js';
import { createQuota } from '../../src/money/quota.js';
import { createLedgers, type Need } from '../../src/money/quota-ledger.js';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const never = new AbortController().signal;
const gone = AbortSignal.abort();
const NONE: Need = { tokens: 0, costMicros: 0 };
const NO_BUDGET: Budget = { hourly_limit: 0, daily_limit: 0, monthly_limit: 0, idle_limit: 0, alert_threshold: 0.8, default_max_llm_tokens_per_hour: 0, default_burst_ratio: 0 };

describe('the verdict on what an agent may use', () => {
  const open = (limits: { tokens?: number } & Record<string, number>, budget: Partial<Budget> = {}) => {
    const { tokens = 0, ...resources } = limits;
    const clock = virtualClock(NOON);
    const none = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0 };
    const actors = createAreaActors('llm');
    const store = { spent: async () => ({ minutes: [], elsewhere: NONE }), spentByDay: async () => [] };
    const sealed = (name: string): Write => ({ sealed: name });
    const quota = createQuota({
      actors,
      // The quota reads nothing else of an agent.
      agents: { get: async () => ({ manifest: { capabilities: { max_llm_tokens_per_hour: tokens }, resources: { ...none, ...resources } } }) as unknown as Agent },
      config: { get: () => ({ ...NO_BUDGET, ...budget }) as never, onChange: () => ({ dispose: () => undefined }) },
      ledgers: createLedgers({ store, clock }),
      reservations: { insert: () => sealed('insert'), remove: () => sealed('remove'), leftOf: async () => [], settleUnits: async () => undefined, sweep: async () => 0 },
      guard: { applies: () => false, fits: async () => true },
      db: { commit: async () => ({ changes: [] }) },
      events: { event: ({ name }, data) => sealed(`${name} ${JSON.stringify(data)}`) },
      self: 'me',
      clock,
      ids: { uuid: () => 'id', random: () => 0.5 },
    });
    const context = { actor: actors.system('a test'), agentId: 'a', runId: 'r', purpose: 'run' as const };
    const reserve = async (need: { tokens?: number; costMicros?: number }, signal = never) => {
      const ceiling = { provider: 'p', model: 'm', inputTokens: need.tokens ?? 0, outputTokens: 0, costMicros: need.costMicros ?? 0, lastsMs: 1_000 };
      const hold = await quota.hold(context, async () => ceiling, signal);
      return { settle: (used: Need) => hold.settle(used, clock.now()).map(({ sealed: name }) => name) };
    };
    const admit = async (): Promise<void> => quota.admit('a', async () => false);
    const refusal = async (work: Promise<unknown>): Promise<SvcError> => {
      const error = await work.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      if (error === undefined) throw new Error('it should have been refused');
      return error as SvcError; // a quota throws nothing else
    };
    return { clock, quota, admit, reserve, refusal };
  };

  it('keeps no book on an agent without limits', async () => {
    const { quota, reserve, admit } = open({});
    (await reserve({ tokens: 1_000_000, costMicros: 1_000_000 })).settle({ tokens: 1_000_000, costMicros: 1_000_000 });
    await admit();
    expect(quota.size()).to.equal(0);
  });

  it('says of tokens on their way to come again in a second, and of used ones when the hour has passed', async () => {
    const { reserve, refusal, admit } = open({ tokens: 100 });
    const place = await reserve({ tokens: 100 });
    const early = await refusal(reserve({ tokens: 1 }, gone));
    expect(early.details).to.deep.equal({ limit: 100, used: 0, reset_at: '2026-03-10T12:00:01.000Z' });
    expect(early.headers).to.deep.equal({ 'retry-after': '1' });
    await admit();
    place.settle({ tokens: 99, costMicros: 0 });
    place.settle({ tokens: 500, costMicros: 0 });
    const last = await reserve({ tokens: 1 });
    last.settle({ tokens: 1, costMicros: 0 });
    const late = await refusal(admit());
    expect(late.details).to.deep.equal({ limit: 100, used: 100, reset_at: '2026-03-10T13:01:00.000Z' });
    expect(late.headers).to.deep.equal({ 'retry-after': '3660' });
  });

  it('lets whoever waits for a minute to end in when it does', async () => {
    const { reserve, refusal, admit, clock } = open({ tokens: 1_000, burst_ratio: 0.1 });
    (await reserve({ tokens: 100 })).settle({ tokens: 100, costMicros: 0 });
    await admit();
    expect((await refusal(reserve({ tokens: 1 }, gone))).details).to.deep.equal({ limit: 100, used: 100, reset_at: '2026-03-10T12:01:00.000Z' });
    let isIn = false;
    const waiting = reserve({ tokens: 1 }).then(() => {
      isIn = true;
    });
    await clock.advance(59_999);
    expect(isIn).to.equal(false);
    await clock.advance(1);
    await waiting;
  });

  it('waits two minutes for calls on their way, and no longer', async () => {
    const { reserve, refusal, clock } = open({ tokens: 100 });
    await reserve({ tokens: 100 });
    const waiting = refusal(reserve({ tokens: 1 }));
    let isOver = false;
    void waiting.then(() => {
      isOver = true;
    });
    await clock.advance(119_999);
    expect(isOver).to.equal(false);
    await clock.advance(1);
    expect((await waiting).code).to.equal('token_quota_exceeded');
  });

  it('lets no call begin that may cost more than is left, in any period', async () => {
    for (const [key, period, resetAt] of [
      ['max_cost_per_hour_usd', 'hour', '2026-03-10T13:01:00.000Z'],
      ['max_cost_per_day_usd', 'day', '2026-03-11T00:00:00.000Z'],
      ['max_cost_per_month_usd', 'month', '2026-04-01T00:00:00.000Z'],
    ] as const) {
      const { reserve, refusal, admit } = open({ [key]: 0.000_1 });
      (await reserve({ costMicros: 100 })).settle({ tokens: 0, costMicros: 40 });
      const place = await reserve({ costMicros: 60 });
      const waits = await refusal(reserve({ costMicros: 1 }, gone));
      expect(waits.details, period).to.deep.equal({ scope: 'agent', period, limit_usd: 0.000_1, used_usd: 0.000_04, call_usd: 0.000_001, reset_at: '2026-03-10T12:00:01.000Z' });
      const never61 = await refusal(reserve({ costMicros: 61 }));
      expect(never61.details, period).to.deep.equal({ scope: 'agent', period, limit_usd: 0.000_1, used_usd: 0.000_04, call_usd: 0.000_061, reset_at: resetAt });
      await admit();
      place.settle({ tokens: 0, costMicros: 60 });
      expect((await refusal(admit())).details, period).to.include({ used_usd: 0.000_1, call_usd: 0 });
    }
  });

  it('lets a call that costs nothing begin, whatever was spent', async () => {
    const { reserve, refusal, quota, admit } = open({ max_cost_per_day_usd: 0.000_1 }, { daily_limit: 0.000_1 });
    (await reserve({ costMicros: 100 })).settle({ tokens: 0, costMicros: 100 });
    (await reserve({ tokens: 1_000_000 })).settle({ tokens: 1_000_000, costMicros: 0 });
    await quota.admit('a', async () => true);
    expect((await refusal(reserve({ costMicros: 1 }))).code).to.equal('budget_exceeded');
    expect((await refusal(admit())).code).to.equal('budget_exceeded');
  });

  it('holds the limit of all agents together, and says that it is theirs', async () => {
    const { reserve, refusal } = open({}, { daily_limit: 0.000_1 });
    const first = await reserve({ costMicros: 60 });
    const refused = await refusal(reserve({ costMicros: 41 }, gone));
    expect(refused.message).to.match(/^All agents together may spend 0.0001 USD per day and have spent 0 USD; the next model call may cost 0.000041 USD\./);
    expect(refused.details).to.deep.include({ scope: 'all', period: 'day', reset_at: '2026-03-10T12:00:01.000Z' });
    first.settle({ tokens: 0, costMicros: 10 });
    await reserve({ costMicros: 90 });
  });

  it('holds the tokens of [budget] for an agent that names none', async () => {
    const { reserve, refusal } = open({}, { default_max_llm_tokens_per_hour: 10 });
    (await reserve({ tokens: 10 })).settle({ tokens: 10, costMicros: 0 });
    expect((await refusal(reserve({ tokens: 1 }))).details).to.deep.include({ limit: 10, used: 10 });
  });

  it('announces half of a limit, the share that warns, and all of it, each once', async () => {
    const { reserve } = open({ max_cost_per_day_usd: 0.000_1 }, { monthly_limit: 0.001 });
    const events = async (costMicros: number) => (await reserve({ costMicros })).settle({ tokens: 0, costMicros }).filter((name) => name.startsWith('llm.budget_reached'));
    expect(await events(49)).to.deep.equal([]);
    expect(await events(1)).to.deep.equal([`llm.budget_reached ${JSON.stringify({ agentId: 'a', period: 'day', percent: 50, limitUsd: 0.000_1, usedUsd: 0.000_05 })}`]);
    expect(await events(29)).to.deep.equal([]);
    expect((await events(21)).map((name) => JSON.parse(name.slice(19)).percent)).to.deep.equal([80, 100]);
  });
});
