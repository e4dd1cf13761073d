/** Failures of providers as a call meets them: on real sockets, with several keys, other models, half answers and limits. */
import type { ProviderServer } from '@svc/fixtures/providers/openai-server';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { isSvcError, type SvcError } from '@svc/api';
import { expect } from 'chai';
import type { AnswerPiece, Attempt, ModelRequest } from '../../src/contract.js';
import { request, type Rig, type RigOptions, startRig } from '../gateway-rig.js';

const KEYS = { 'provider.openai.first': 'sk-canary-first-1111', 'provider.openai.second': 'sk-canary-second-2222', 'provider.anthropic': 'sk-canary-claude-3333' };

describe('a provider that fails', () => {
  let openai: ProviderServer;
  let anthropic: ProviderServer;
  let rig: Rig;
  before(async () => {
    openai = await startOpenAiServer();
    anthropic = await startAnthropicServer();
  });
  after(async () => {
    await openai.close();
    await anthropic.close();
  });
  afterEach(() => rig.close());

  const start = async (extra: Partial<RigOptions> = {}): Promise<Rig> => {
    openai.beginAnew();
    anthropic.beginAnew();
    rig = await startRig({ urls: { openai: openai.url, anthropic: anthropic.url }, keys: KEYS, ...extra });
    return rig;
  };
  const pooled = { pools: { openai: ['first', 'second'] } };
  const keyOf = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }): string => (headers['authorization']?.includes('first') ? 'first' : 'second');
  const attemptsOf = (error: unknown): readonly Attempt[] => (isSvcError(error) ? (error.details as { attempts: readonly Attempt[] }).attempts : []);
  const shownOf = (attempts: readonly Attempt[]): string[] =>
    attempts.map(({ provider, key, errorClass, status, skipped, waitedMs }) => `${provider}${key ? `:${key}` : ''} ${skipped ? 'skipped ' : ''}${errorClass ?? status} ${waitedMs}`);
  const failureOf = (call: Promise<unknown>): Promise<SvcError> =>
    call.then(
      () => expect.fail('it should have failed'),
      (error: SvcError) => error,
    );
  const claude = [{ provider: 'anthropic', model: 'claude-sonnet-4-6' }];

  it('is called at once with the next key when one is limited, and with that one from then on', async () => {
    const { llm, context } = await start(pooled);
    openai.script((asked) => (keyOf(asked) === 'first' ? { status: 429, headers: { 'retry-after': '30' } } : { text: 'hi' }));
    const first = await llm.complete(request(), context());
    expect(shownOf(first.attempts)).to.deep.equal(['openai:first rate_limit 0', 'openai:second ok 0']);
    expect(rig.waits).to.deep.equal([]);
    expect(shownOf((await llm.complete(request(), context())).attempts)).to.deep.equal(['openai:second ok 0']);
    expect(openai.requests).to.have.length(3);
  });

  it('waits for the key that is free first, where all are limited', async () => {
    const { llm, context } = await start(pooled);
    let refusals = 2;
    openai.script((asked) => (refusals-- > 0 ? { status: 429, headers: { 'retry-after': keyOf(asked) === 'first' ? '4' : '9' } } : { text: 'hi' }));
    const { attempts } = await llm.complete(request(), context());
    expect(attempts.map(({ key }) => key)).to.deep.equal(['first', 'second', 'first']);
    expect(rig.waits[0]).to.be.within(3_000, 4_500);
  });

  it('is called with the next key when one is refused, and never shows a key', async () => {
    const { llm, context, logged } = await start(pooled);
    openai.script((asked) => (keyOf(asked) === 'first' ? { requireKey: 'another' } : { status: 400, message: `no: ${asked.headers['authorization']}` }));
    const error = await failureOf(llm.complete(request(), context()));
    expect(shownOf(attemptsOf(error))).to.deep.equal(['openai:first auth 0', 'openai:second bad_request 0']);
    const shown = JSON.stringify([error.message, error.details, rig.health.troubles()]) + logged();
    for (const key of Object.values(KEYS)) expect(shown).not.to.contain(key).and.not.to.contain(key.slice(-10));
    expect(rig.health.troubles().map(({ kind, key }) => [kind, key])).to.deep.equal([['refused', 'first']]);
  });

  it('is left for the next model while it is known that it cannot answer, and every attempt shows', async () => {
    const { llm, context } = await start({ keys: { ...KEYS, 'provider.openai': KEYS['provider.openai.first'] } });
    openai.script({ status: 429, headers: { 'retry-after': '60' } });
    const chain = request({ fallbacks: claude });
    expect(shownOf((await llm.complete(chain, context())).attempts)).to.deep.equal(['openai rate_limit 0', 'anthropic ok 0']);
    expect(shownOf((await llm.complete(chain, context())).attempts)).to.deep.equal(['openai skipped rate_limit 0', 'anthropic ok 0']);
    expect(openai.requests).to.have.length(1);
  });

  it('fails at once, with the time, where it asks for more than the longest wait', async () => {
    const { llm, context } = await start({ ...pooled, config: { max_wait_ms: 10_000 } });
    openai.script({ status: 429, headers: { 'retry-after': '60' } });
    await failureOf(llm.complete(request(), context()));
    const error = await failureOf(llm.complete(request(), context()));
    expect(error.code).to.equal('llm_provider_rate_limited');
    expect(Number(error.headers?.['retry-after'])).to.be.within(59, 60);
    expect(shownOf(attemptsOf(error))).to.deep.equal(['openai skipped rate_limit 0']);
    expect(openai.requests).to.have.length(2);
  });

  it('is not waited for beyond the time of a turn', async () => {
    const { llm, context } = await start({ ...pooled, config: { turn_timeout_secs: 7, max_retries: 10 } });
    openai.script({ status: 503 });
    const error = await failureOf(llm.complete(request(), context()));
    expect(error.code).to.equal('llm_provider_overloaded');
    expect(rig.waits.reduce((sum, ms) => sum + ms, 0)).to.be.below(7_000);
    expect(attemptsOf(error).length).to.be.below(5);
  });

  it('that says nothing more ends by the idle time, in the time of a turn', async () => {
    const { llm, context } = await start({ ...pooled, config: { idle_timeout_secs: 5, request_timeout_secs: 5, max_retries: 0 } });
    openai.script({ hang: true });
    const error = await failureOf(llm.complete(request({ timeoutMs: 120 }), context()));
    expect(error.code).to.equal('llm_provider_timeout');
  });

  it('that hangs in every attempt ends with the turn, whatever the time of one request is', async () => {
    const { llm, context } = await start({ ...pooled, config: { turn_timeout_secs: 1, idle_timeout_secs: 600, request_timeout_secs: 600 } });
    openai.script({ hang: true });
    const began = performance.now();
    const error = await failureOf(llm.complete(request(), context()));
    expect(error.code).to.equal('llm_provider_timeout');
    expect(performance.now() - began).to.be.within(900, 4_000);
  });

  describe('in the middle of an answer', () => {
    const pieces = async (asked: ModelRequest): Promise<readonly AnswerPiece[]> => {
      const all: AnswerPiece[] = [];
      for await (const piece of rig.llm.stream(asked, rig.context())) all.push(piece);
      return all;
    };
    const wordOf = (piece: AnswerPiece): string =>
      'text' in piece ? piece.text : 'discarded' in piece ? `[${piece.discarded.why}]` : 'waits' in piece ? '[waits]' : 'answer' in piece ? `= ${piece.answer.text}` : '';

    it('is called again where the caller can take back what it showed, and is told to', async () => {
      await start(pooled);
      openai.script([{ deltas: ['half an '], halfStream: true }, { text: 'a whole answer' }]);
      const said = (await pieces(request({ mayDiscard: true }))).map(wordOf);
      expect(said).to.deep.equal(['half an ', '[half_stream]', '[waits]', 'a whole answer', '= a whole answer']);
    });

    it('gives way to the next model the same way', async () => {
      await start({ ...pooled, config: { max_retries: 0 } });
      openai.script({ deltas: ['half an '], reset: true });
      anthropic.script({ text: 'from another' });
      const said = (await pieces(request({ mayDiscard: true, fallbacks: claude }))).map(wordOf);
      expect(said).to.deep.equal(['half an ', '[network]', 'from another', '= from another']);
    });

    it('is an error for a caller that cannot take it back', async () => {
      await start(pooled);
      openai.script([{ deltas: ['half an '], halfStream: true }, { text: 'a whole answer' }]);
      expect((await failureOf(pieces(request()))).code).to.equal('llm_half_stream');
      expect(openai.requests).to.have.length(1);
    });
  });

  describe('is billed', () => {
    const rows = async () =>
      rig.db.system('a test').read<{ input_tokens: number; output_tokens: number; estimated: number }>(`SELECT input_tokens, output_tokens, estimated FROM ${rig.db.table('usage')} ORDER BY id`);

    it('for numbers that cannot be by an estimate, never by less than nothing', async () => {
      await start(pooled);
      for (const usage of [{ prompt_tokens: -5, completion_tokens: -7 }, { prompt_tokens: '12', completion_tokens: 1e12 }, { prompt_tokens: Number.MAX_VALUE, completion_tokens: 2.5 }, {}, null]) {
        const chunk = { choices: [{ index: 0, delta: { content: 'x'.repeat(40) }, finish_reason: 'stop' }], ...(usage === null ? {} : { usage }) };
        openai.script({ raw: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` });
        const answer = await rig.llm.complete(request(), rig.context());
        expect(answer.usage, JSON.stringify(usage)).to.include({ inputTokens: 8, outputTokens: 10, estimated: true });
      }
    });

    it('attempt by attempt: the next is reserved when the one before is settled, and a limit between them ends the call', async () => {
      // 0.25 and 2 USD per million: the request takes 9 tokens at most, and 100 of output; an attempt may cost 203.
      await start({ ...pooled, limits: { max_cost_per_hour_usd: 0.0003 } });
      openai.script({ deltas: ['x'.repeat(320)], halfStream: true });
      const error = await failureOf(rig.llm.complete(request(), rig.context()));
      expect(error.code).to.equal('budget_exceeded');
      expect(shownOf(attemptsOf(error))).to.have.length(1);
      expect(openai.requests).to.have.length(1);
      expect(await rows()).to.deep.equal([{ input_tokens: 8, output_tokens: 80, estimated: 1 }]);
    });
  });
});
