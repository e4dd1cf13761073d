import { checkValue } from '@svc/api';
import { expect } from 'chai';
import { LlmConfig } from '../src/config.js';
import { llmErrors, quotaErrors } from '../src/errors.js';

describe('[llm] of the config', () => {
  const usual = { request_timeout_secs: 120, idle_timeout_secs: 60, max_retries: 3, retry_base_ms: 2_000, max_wait_ms: 60_000 };
  const isTaken = async (fields: object) => (await checkValue(LlmConfig, { ...usual, ...fields })).ok;

  it('has defaults that fit', async () => {
    const defaults = Object.fromEntries(Object.entries(LlmConfig.properties).map(([key, { default: value }]) => [key, value]));
    expect(defaults).to.deep.equal(usual);
    expect(await isTaken({})).to.equal(true);
  });

  it('takes each number from its least to its most, and no key that it does not know', async () => {
    for (const [key, least, most] of [
      ['request_timeout_secs', 1, 3_600],
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
      quotaErrors.budget_exceeded('day', 1, 1, 1, ''),
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
    expect(quotaErrors.budget_exceeded('day', 0.5, 0.100_000_4, 0.000_02, 'noon').message).to.equal(
      'The agent may spend 0.5 USD per day and has spent 0.1 USD; the next model call may cost 0.00002 USD. It can go on at noon.',
    );
  });
});
