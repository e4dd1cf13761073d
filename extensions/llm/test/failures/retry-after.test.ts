import { expect } from 'chai';
import { retryAfterIn } from '../../src/call/retry-after.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('when a provider may be asked again', () => {
  const says = (headers: Record<string, string>, body = ''): number | undefined => retryAfterIn(headers, body, NOW);

  it('is read from seconds, from an HTTP date and from milliseconds, and the exact one wins', () => {
    expect(says({ 'retry-after': '7' })).to.equal(7_000);
    expect(says({ 'retry-after': ' 1.5 ' })).to.equal(1_500);
    expect(says({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' })).to.equal(30_000);
    expect(says({ 'retry-after-ms': '350', 'retry-after': '1' })).to.equal(350);
    expect(says({ 'retry-after': 'soon' })).to.equal(undefined);
    expect(says({})).to.equal(undefined);
  });

  it("is counted from the provider's clock where it says the time: clocks differ", () => {
    // This machine is an hour behind.
    expect(says({ date: 'Thu, 01 Jan 2026 01:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 01:00:20 GMT' })).to.equal(20_000);
    expect(says({ date: 'yesterday', 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' })).to.equal(20_000);
  });

  it('is at least now and at most five minutes away, whatever was sent', () => {
    for (const value of ['86400', '99999999999999999999', 'Fri, 01 Jan 2027 00:00:00 GMT']) expect(says({ 'retry-after': value }), value).to.equal(300_000);
    expect(says({ 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' })).to.equal(0);
    expect(says({ 'retry-after': '-5' })).to.equal(undefined);
    expect(says({ 'retry-after': 'NaN' })).to.equal(undefined);
  });

  it('is read from the resets of limits with nothing left, in the forms of OpenAI, Anthropic, Groq and OpenRouter', () => {
    const openai = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s', 'x-ratelimit-remaining-tokens': '149984', 'x-ratelimit-reset-tokens': '20ms' };
    expect(says(openai)).to.equal(300_000);
    expect(says({ ...openai, 'x-ratelimit-reset-requests': '1m2.5s' })).to.equal(62_500);
    expect(says({ ...openai, 'x-ratelimit-remaining-requests': '4' })).to.equal(undefined);
    expect(says({ 'anthropic-ratelimit-requests-remaining': '0', 'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:12Z' })).to.equal(12_000);
    expect(says({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 9_000) })).to.equal(9_000);
    expect(says({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + 8) })).to.equal(8_000);
    expect(says({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'later' })).to.equal(undefined);
  });

  it("is read from Google's RetryInfo, and from the words of a body", () => {
    expect(says({}, '{"error":{"details":[{"retryDelay":"17.5s"}]}}')).to.equal(17_500);
    expect(says({}, '{"error":{"details":[{"retryDelay":"1m3s"}]}}')).to.equal(63_000);
    expect(says({}, 'Rate limit reached … Please try again in 7.66s. Visit …')).to.equal(7_660);
    expect(says({}, 'Please try again in 620ms.')).to.equal(620);
    expect(says({}, `${' '.repeat(30_000)}try again in 5s`)).to.equal(undefined);
  });
});
