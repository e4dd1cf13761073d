import { expect } from 'chai';
import type { ModelErrorClass } from '../src/contract.js';
import { transportFailure } from '../src/drivers/exchange.js';
import { classify } from '../src/call/classification.js';
import { failureOfAnswer, isPassing, ModelFailure } from '../src/call/model-failure.js';
import { retryAfterIn } from '../src/call/retry-after.js';
import { withoutSecrets } from '../src/call/secret-words.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const said = (body: unknown, status = 400): string => failureOfAnswer(status, {}, typeof body === 'string' ? body : JSON.stringify(body), NOW).message;

describe('what went wrong with a model', () => {
  it('has its class by the status, and by what providers say under a status that says less', () => {
    const table: ReadonlyArray<readonly [status: number, text: string, expected: ModelErrorClass]> = [
      [401, '', 'auth'],
      [403, 'billing', 'auth'],
      [402, '', 'credit'],
      [400, 'Your credit balance is too low', 'credit'],
      [429, 'insufficient_quota', 'credit'],
      [429, 'Please see your billing page', 'credit'],
      [429, 'slow down', 'rate_limit'],
      [529, '', 'overloaded'],
      [503, '', 'overloaded'],
      [500, 'Overloaded', 'overloaded'],
      [408, '', 'timeout'],
      [504, '', 'timeout'],
      [413, '', 'context_too_long'],
      [400, 'context_length_exceeded', 'context_too_long'],
      [400, 'the maximum context is 8192', 'context_too_long'],
      [400, 'prompt is too long: 9 > 8', 'context_too_long'],
      [400, 'too many tokens', 'context_too_long'],
      [400, 'larger than the context window', 'context_too_long'],
      [404, '', 'model_not_found'],
      [400, 'The model `x` does not exist', 'model_not_found'],
      [400, 'model_not_found', 'model_not_found'],
      [400, 'model x is not supported here', 'model_not_found'],
      [400, 'this file does not exist', 'bad_request'],
      [400, 'the model refuses', 'bad_request'],
      [499, '', 'bad_request'],
      [500, '', 'server'],
      [502, 'Bad gateway', 'server'],
    ];
    for (const [status, text, expected] of table) expect(classify(status, text), `${status} ${text}`).to.equal(expected);
  });

  it('may pass by itself, or not', () => {
    const passing: readonly ModelErrorClass[] = ['rate_limit', 'overloaded', 'server', 'network', 'timeout', 'half_stream'];
    const lasting: readonly ModelErrorClass[] = ['auth', 'credit', 'model_not_found', 'context_too_long', 'bad_request', 'garbage', 'cancelled'];
    expect(passing.filter((one) => !isPassing(one))).to.deep.equal([]);
    expect(lasting.filter(isPassing)).to.deep.equal([]);
  });

  it('is told in the words of the provider, wherever its error holds them', () => {
    expect(said({ error: { message: 'no such role' } })).to.equal('HTTP 400: no such role');
    expect(said({ error: 'plain text' })).to.equal('HTTP 400: plain text');
    expect(said({ message: 'at the top' })).to.equal('HTTP 400: at the top');
    expect(said({ detail: 'as some call it' })).to.equal('HTTP 400: as some call it');
    expect(said([{ error: { message: 'in a list' } }])).to.equal('HTTP 400: in a list');
    expect(said({ error: { code: 7 }, message: 'beside it' })).to.equal('HTTP 400: beside it');
    expect(said({ odd: 1 })).to.equal('HTTP 400: {"odd":1}');
    expect(said('', 502)).to.equal('HTTP 502');
  });

  it('carries the type of the error where its text says less', () => {
    expect(said({ type: 'error', error: { type: 'overloaded_error', message: 'Try later' } }, 500)).to.equal('HTTP 500: Try later (overloaded_error)');
    expect(said({ type: 'error', message: 'Try later' })).to.equal('HTTP 400: Try later');
    expect(said({ type: 'rate', message: 'the rate is too high' })).to.equal('HTTP 400: the rate is too high');
  });

  it('is the text of a page where a proxy answered with one', () => {
    expect(said('<html><head><style>p { x }</style></head><body><h1>502 Bad Gateway</h1><script>let a = "<p>";</script><p>nginx</body></html>', 502)).to.equal('HTTP 502: 502 Bad Gateway nginx');
    expect(said('Bad gateway', 502)).to.equal('HTTP 502: Bad gateway');
    expect(said('a < b <i>c</i>', 502)).to.equal('HTTP 502: a c');
    expect(said('before <script>never ends', 502)).to.equal('HTTP 502: before');
  });

  it('is told in at most three hundred letters', () => {
    expect(withoutSecrets('word '.repeat(200))).to.have.length(300);
  });

  it('names no key, whatever it looks like', () => {
    for (const text of ['Authorization: Bearer abc', 'basic dXNlcg==', 'sk-ant-abcd', 'gsk_abcd', 'hf_abcdefgh', 'AKIA4567890123456789', 'ab**cd', `${'a'.repeat(49)}`]) {
      const shown = withoutSecrets(`it was ${text} here`, text === 'ab**cd');
      expect(shown, text)
        .to.contain('[removed]')
        .and.to.match(/^it was /)
        .and.to.match(/ here$/);
      expect(shown, text).not.to.contain(text.split(' ').at(-1));
    }
    expect(withoutSecrets('wrong key abc123 given', true)).to.equal('wrong key [removed] given');
  });

  it('keeps the words and numbers that are no key', () => {
    const plain = 'model gpt-5-mini takes 123456 tokens, see https://example.org';
    expect(withoutSecrets(plain)).to.equal(plain);
    expect(withoutSecrets('12345678901234567890123')).to.equal('12345678901234567890123');
    expect(withoutSecrets('abc123 is a name')).to.equal('abc123 is a name');
    expect(withoutSecrets(' two\n\n  lines ')).to.equal('two lines');
  });

  it('says when to come again, within what can be believed', () => {
    const table: ReadonlyArray<readonly [string | undefined, number | undefined]> = [
      [undefined, undefined],
      ['7', 7_000],
      [' 1.5 ', 1_500],
      ['0', 0],
      ['300', 300_000],
      ['301', 300_000],
      ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
      ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
      ['soon', undefined],
    ];
    for (const [header, expected] of table) expect(retryAfterIn(header === undefined ? {} : { 'retry-after': header }, '', NOW), String(header)).to.equal(expected);
    expect(failureOfAnswer(429, { 'retry-after': '7' }, '', NOW)).to.include({ retryAfterMs: 7_000, httpStatus: 429 });
  });
});

describe('a call that never became an answer', () => {
  const never = new AbortController().signal;
  const coded = (code: string, text = 'it failed', cause?: unknown): Error => Object.assign(new Error(text, { cause }), { code });
  const classOf = (error: unknown, signal = never): ModelErrorClass => transportFailure(error, signal).errorClass;

  it('is a deadline, a network, or a key that nobody could read', () => {
    expect(classOf(coded('ECONNREFUSED'))).to.equal('network');
    expect(classOf(new Error('fetch failed', { cause: coded('ENOTFOUND') }))).to.equal('network');
    expect(classOf(coded('ETIMEDOUT'))).to.equal('timeout');
    expect(classOf(coded('fetch_deadline'))).to.equal('timeout');
    expect(classOf(new Error('outer', { cause: coded('UND_ERR_HEADERS_TIMEOUT') }))).to.equal('timeout');
    expect(classOf(new DOMException('x', 'TimeoutError'))).to.equal('timeout');
    expect(classOf(new Error('the socket timed out'))).to.equal('timeout');
    expect(classOf(coded('ECONNRESET', 'it timed out'))).to.equal('network');
    expect(classOf(coded('vault_locked'))).to.equal('auth');
    expect(classOf(coded('fetch_secret_missing'))).to.equal('auth');
    expect(classOf('a plain text')).to.equal('network');
  });

  it('is told by its outermost words, without keys', () => {
    const failure = transportFailure(new Error('could not send Bearer abcdef', { cause: coded('ECONNRESET', 'inner') }), never);
    expect(failure.message).to.equal('could not send Bearer [removed]');
    expect(transportFailure('plain', never).message).to.equal('plain');
  });

  it('is a cancel once the caller has gone, and what it was where that is known', () => {
    expect(classOf(coded('ECONNRESET'), AbortSignal.abort())).to.equal('cancelled');
    const known = new ModelFailure('garbage', 'x');
    expect(transportFailure(known, AbortSignal.abort())).to.equal(known);
  });
});
