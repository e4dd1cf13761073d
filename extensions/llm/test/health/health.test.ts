import { expect } from 'chai';
import { ModelFailure } from '../../src/call/model-failure.js';
import type { LlmConfig } from '../../src/config.js';
import type { ModelErrorClass } from '../../src/contract.js';
import { createHealth } from '../../src/health/health.js';

const CONFIG: LlmConfig = { request_timeout_secs: 5, turn_timeout_secs: 60, idle_timeout_secs: 5, max_retries: 3, retry_base_ms: 1_000, max_wait_ms: 60_000, prompt_caching: true };

describe('what is known of providers, keys and models', () => {
  const start = () => {
    let now = 1_000;
    const health = createHealth({ clock: { mono: () => now }, ids: { random: () => 0.5 } });
    const place = (model = 'a', key = '', provider = 'one') => ({ provider, model, key });
    const fails = (errorClass: ModelErrorClass, at = place(), extra: { httpStatus?: number; retryAfterMs?: number } = {}) =>
      health.failed(at, new ModelFailure(errorClass, 'no', extra), undefined, CONFIG);
    const chosen = (model = 'a', keys: readonly string[] = [''], provider = 'one'): string => {
      const found = health.choose(provider, model, keys);
      return 'key' in found ? `key ${found.key}` : `${found.trouble.kind} ${found.inMs}`;
    };
    return { health, place, fails, chosen, passes: (ms: number) => (now += ms) };
  };

  it('H1 concerns what a failure says something of', () => {
    const limit = start();
    limit.fails('rate_limit', limit.place('a', 'x'), { retryAfterMs: 5_000 });
    expect(limit.chosen('a', ['x'])).to.equal('limited 5000');
    expect(limit.chosen('b', ['x'])).to.equal('key x');
    const refused = start();
    refused.fails('auth', refused.place('a', 'x'), { httpStatus: 401 });
    expect(refused.chosen('b', ['x', 'y'])).to.equal('key y');
    const forbidden = start();
    forbidden.fails('auth', forbidden.place('a', 'x'), { httpStatus: 403 });
    expect(forbidden.chosen('b', ['x'])).to.equal('key x');
    expect(forbidden.chosen('a', ['x'])).to.match(/^refused/);
    const overload = start();
    for (let times = 0; times < 3; times++) overload.fails('overloaded', overload.place('a', 'x'));
    expect(overload.chosen('a', ['y'])).to.equal('overloaded 1000');
    expect(overload.chosen('b', ['x'])).to.equal('key x');
    const network = start();
    for (let times = 0; times < 3; times++) network.fails('network');
    expect(network.chosen('b')).to.equal('unreachable 1000');
    expect(network.chosen('b', [''], 'two')).to.equal('key ');
  });

  it('H1 is not concerned by a request that was wrong, too long or cancelled', () => {
    const { fails, chosen, health } = start();
    for (const errorClass of ['bad_request', 'context_too_long', 'content', 'model_not_found', 'garbage', 'cancelled'] as const) for (let times = 0; times < 5; times++) fails(errorClass);
    expect(chosen()).to.equal('key ');
    expect(health.troubles()).to.deep.equal([]);
  });

  it('H2 counts an overload from the third in a row, and each answer begins the count anew', () => {
    const { fails, chosen, health, place } = start();
    fails('overloaded');
    fails('overloaded');
    expect(chosen()).to.equal('key ');
    health.answered(place());
    fails('overloaded');
    fails('overloaded');
    expect(chosen()).to.equal('key ');
    fails('overloaded');
    expect(chosen()).to.equal('overloaded 1000');
  });

  it('H3 grows the time with each failed trial, up to the longest wait', () => {
    const { fails, chosen, passes } = start();
    for (let times = 0; times < 3; times++) fails('server');
    for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      expect(chosen()).to.equal(`failing ${ms}`);
      passes(ms);
      expect(chosen()).to.equal('key ');
      fails('server');
    }
  });

  it('H3 lets one call try while the others wait, and all when it answers', () => {
    const { fails, chosen, passes, health, place } = start();
    fails('rate_limit', place(), { retryAfterMs: 3_000 });
    passes(3_000);
    expect(chosen(), 'the trial').to.equal('key ');
    expect(chosen(), 'another').to.equal('limited 250');
    health.alive(place());
    expect(chosen(), 'its answer has begun').to.equal('key ');
    health.answered(place());
    expect([chosen(), chosen()]).to.deep.equal(['key ', 'key ']);
  });

  it('H3 gives the trial to the next call when the first was cancelled', () => {
    const { fails, chosen, passes, place } = start();
    fails('rate_limit', place(), { retryAfterMs: 3_000 });
    passes(3_000);
    chosen();
    fails('cancelled');
    expect(chosen()).to.equal('key ');
  });

  it('H4 uses a refused key again when it was changed, or after five seconds', () => {
    const { fails, chosen, passes, health, place } = start();
    fails('auth', place(), { httpStatus: 401 });
    expect(chosen()).to.equal('refused 5000');
    passes(5_000);
    expect(chosen()).to.equal('key ');
    fails('auth', place(), { httpStatus: 401 });
    expect(chosen()).to.equal('refused 5000');
    health.keysChanged('two');
    expect(chosen()).to.equal('refused 5000');
    health.keysChanged('one');
    expect(chosen()).to.equal('key ');
    // A key that waits for its limit is better than one that is refused.
    fails('auth', place('a', 'x'), { httpStatus: 401 });
    fails('rate_limit', place('a', 'y'), { retryAfterMs: 50_000 });
    passes(6_000);
    expect(chosen('a', ['x', 'y'])).to.equal('limited 44000');
  });

  it('chooses among several keys the first that can be used, then the one that was limited longest ago', () => {
    const { fails, chosen, passes, place, health } = start();
    const keys = ['x', 'y', 'z'];
    expect(chosen('a', keys)).to.equal('key x');
    fails('rate_limit', place('a', 'x'), { retryAfterMs: 1_000 });
    expect(chosen('a', keys)).to.equal('key y');
    passes(100);
    fails('rate_limit', place('a', 'y'), { retryAfterMs: 1_000 });
    expect(chosen('a', keys)).to.equal('key z');
    passes(100);
    fails('credit', place('a', 'z'));
    expect(chosen('a', keys)).to.equal('limited 800');
    expect(health.readyInMs('one', 'a', keys)).to.equal(800);
    passes(5_000);
    expect(chosen('a', keys), 'limited longest ago').to.equal('key x');
    health.answered(place('a', 'x'));
    expect(chosen('a', keys), 'y rests longer than x now').to.equal('key x');
  });

  it('H5 is bounded', () => {
    const { fails, health, place } = start();
    for (let index = 0; index < 5_000; index++) fails('rate_limit', place(`m${index}`, 'x'), { retryAfterMs: 1_000 });
    expect(health.troubles()).to.have.length.within(1_990, 2_000);
    expect(health.troubles().at(-1)).to.include({ model: 'm4999', kind: 'limited', failures: 1, inMs: 1_000 });
  });
});
