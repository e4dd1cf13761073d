/** Vectors of texts through the gateway: real adapters, real rows; providers are played. */
import { type Service, SvcError } from '@svc/api';
import { expect } from 'chai';
import { startGeminiServer } from '@svc/fixtures/providers/gemini-server';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { type ProviderServer, vectorOf } from '@svc/fixtures/providers/scripted-server';
import type { EmbedRequest, ModelDriver } from '../../src/contract.js';
import { CANARY, owner, type Rig, type RigOptions, startRig } from '../gateway-rig.js';

/** Says nothing and makes no vectors, as a driver of another extension. */
const silent: Service<ReturnType<typeof ModelDriver>> = {
  async *stream() {
    yield { type: 'stop', reason: 'end' };
  },
};

describe('vectors of texts', () => {
  let openai: ProviderServer;
  let gemini: ProviderServer;
  let rig: Rig | undefined;
  beforeEach(async () => {
    openai = await startOpenAiServer();
    gemini = await startGeminiServer();
  });
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    await openai.close();
    await gemini.close();
  });

  const boot = async (options: Partial<RigOptions> = {}): Promise<Rig> => {
    rig = await startRig({ urls: { openai: `${openai.url}/v1`, gemini: gemini.url, ollama: `${openai.url}/v1` }, ...options });
    return rig;
  };
  const texts = (count: number, word = 't') => Array.from({ length: count }, (_, index) => `${word}${index}`);
  const embed = ({ llm, context }: Rig, request: Partial<EmbedRequest>, signal?: AbortSignal) =>
    llm.embed({ provider: 'openai', model: 'text-embedding-3-small', texts: ['a'], ...request }, context({ purpose: 'embedding' }), signal ? { signal } : undefined);
  const failure = async (work: Promise<unknown>): Promise<SvcError> => {
    const error = await work.catch((caught: unknown) => caught);
    if (error instanceof SvcError) return error;
    throw new Error(`it should have failed, and gave ${JSON.stringify(error)}`);
  };

  it("come in the order of the texts, by OpenAI's protocol, with what they used", async () => {
    const one = await boot();
    openai.script({ requireKey: CANARY, usage: { input: 50, output: 0 } });
    const answer = await embed(one, { texts: ['a', 'bb', 'ccc'], dimensions: 3 });
    expect(answer.vectors).to.deep.equal(['a', 'bb', 'ccc'].map(vectorOf));
    expect(answer).to.deep.include({ provider: 'openai', model: 'text-embedding-3-small', usage: { inputTokens: 50, outputTokens: 0, costMicros: 10 } });
    expect(answer).to.not.have.property('standIn');
    expect(openai.requests[0]?.path).to.equal('/v1/embeddings');
    expect(openai.requests[0]?.body).to.deep.equal({ model: 'text-embedding-3-small', input: ['a', 'bb', 'ccc'], dimensions: 3 });
  });

  it("come by Gemini's protocol, which says what the texts are for and not what they used", async () => {
    const one = await boot();
    gemini.script({ requireKey: CANARY });
    const { vectors, usage } = await embed(one, { provider: 'gemini', model: 'gemini-embedding-001', texts: ['a', 'bb'], use: 'query', dimensions: 3 });
    expect(vectors).to.deep.equal(['a', 'bb'].map(vectorOf));
    expect(usage).to.include({ estimated: true, inputTokens: 2 });
    expect(gemini.requests[0]?.path).to.equal('/v1beta/models/gemini-embedding-001:batchEmbedContents');
    expect(gemini.requests[0]?.body.requests[1]).to.deep.equal({ model: 'models/gemini-embedding-001', taskType: 'RETRIEVAL_QUERY', outputDimensionality: 3, content: { parts: [{ text: 'bb' }] } });
  });

  it("come from a server of one's own without a price, and from the usual model where only a provider is named", async () => {
    const one = await boot({ keys: { 'provider.ollama': CANARY, 'provider.openai': CANARY } });
    const { usage, model } = await embed(one, { provider: 'openai', model: 'default' });
    expect([model, usage.costMicros]).to.deep.equal(['text-embedding-3-small', 1]);
    expect((await embed(one, { provider: 'ollama', model: '' })).model).to.equal('nomic-embed-text');
    expect(openai.requests.at(-1)?.body.model).to.equal('nomic-embed-text');
  });

  it('V4 are asked for in batches, one after the other, which nobody sees in the answer', async () => {
    const one = await boot();
    const all = texts(130);
    const { vectors, usage, attempts } = await embed(one, { texts: all });
    expect(vectors).to.deep.equal(all.map(vectorOf));
    expect(openai.requests.map(({ body }) => body.input.length)).to.deep.equal([64, 64, 2]);
    expect([usage.inputTokens, attempts.length]).to.deep.equal([260, 3]);
    await embed(one, { texts: texts(3, 'x'.repeat(100_000)) });
    expect(openai.requests.slice(3).map(({ body }) => body.input.length)).to.deep.equal([1, 1, 1]);
  });

  it('are asked for again as calls are, each batch for itself', async () => {
    const one = await boot();
    openai.script([{}, { status: 500 }, { status: 429, headers: { 'retry-after': '3' } }, {}]);
    const { vectors, attempts } = await embed(one, { texts: texts(65) });
    expect(vectors).to.have.length(65);
    expect(attempts.map(({ status, errorClass }) => errorClass ?? status)).to.deep.equal(['ok', 'server', 'rate_limit', 'ok']);
    expect(one.waits).to.have.length(2);
    expect(one.waits[1]).to.be.at.least(3_000);
  });

  it('V1 fail with the provider that was asked, and its own words: no other model steps in', async () => {
    const one = await boot({ fallbacks: [{ provider: 'gemini', model: 'gemini-embedding-001' }], config: { max_retries: 1 } });
    openai.script({ status: 500, message: 'no vectors today' });
    const error = await failure(embed(one, {}));
    expect(error).to.include({ code: 'llm_provider_failed', retry: true });
    expect(error.message).to.contain('no vectors today');
    expect([openai.requests.length, gemini.requests.length]).to.deep.equal([2, 0]);
    openai.script({ requireKey: 'another' });
    expect((await failure(embed(one, {}))).code).to.equal('llm_provider_auth');
    expect(one.invalid).to.deep.equal(['openai']);
    expect(one.logged()).to.not.contain(CANARY);
  });

  it('V2 are one for each text, all of one length, and of numbers; anything else is garbage', async () => {
    const one = await boot({ config: { max_retries: 0 } });
    const bad: ReadonlyArray<readonly [what: string, script: object]> = [
      ['one too few', { vectors: [[1, 2]] }],
      ['one too many', { vectors: [[1], [1], [1]] }],
      ['two lengths', { vectors: [[1, 2], [1]] }],
      ['no numbers', { vectors: [[], []] }],
      ['words', { vectors: [['a'], ['b']] }],
      ['nothing', { body: '{"data":null}' }],
      ['holes', { body: '{"data":[null,{"index":7,"embedding":[1]}]}' }],
      ['no object', { body: '[]' }],
      ['no JSON', { garbage: 'json' }],
    ];
    for (const [what, script] of bad) {
      openai.script(script);
      expect((await failure(embed(one, { texts: ['a', 'b'] }))).code, what).to.equal('llm_provider_garbage');
    }
    gemini.script({ body: '{}' });
    expect((await failure(embed(one, { provider: 'gemini', model: 'm' }))).code).to.equal('llm_provider_garbage');
    openai.script([{}, { vectors: [[1, 2]] }]);
    expect((await failure(embed(one, { texts: texts(65) }))).message).to.contain('not of one length');
  });

  it('V3 are charged to the agent like any call, also when a later batch fails', async () => {
    const one = await boot({ config: { max_retries: 0 } });
    const { settle } = await embed(one, { texts: texts(10) });
    await one.db.commit(settle);
    expect(await one.llm.usage(owner, { agentId: 'agent-1' })).to.deep.include({ requests: 1, inputTokens: 20, outputTokens: 0, costMicros: 4 });
    openai.script([{}, { status: 400, message: 'no' }]);
    await failure(embed(one, { texts: texts(65) }));
    expect(await one.llm.usage(owner, { agentId: 'agent-1' })).to.deep.include({ requests: 2, inputTokens: 20 + 128 });
    const rows = await one.db.system('a test').select<{ purpose: string }>({ from: 'usage', columns: ['purpose'] });
    expect(rows.map(({ purpose }) => purpose)).to.deep.equal(['embedding', 'embedding']);
  });

  it('V3 are within what the agent may use and spend: what does not fit is refused before anything is asked', async () => {
    const capped = await boot({ limits: { max_llm_tokens_per_hour: 100 } });
    await embed(capped, { texts: texts(60) });
    const refused = await failure(embed(capped, {}));
    expect([refused.code, refused.status]).to.deep.equal(['token_quota_exceeded', 429]);
    await capped.close();
    const poor = await boot({ limits: { max_cost_per_hour_usd: 0.000_1 } });
    expect((await failure(embed(poor, { texts: ['x'.repeat(30_000)] }))).code).to.equal('budget_exceeded');
    expect(openai.requests).to.have.length(1);
  });

  it('V3 of many calls at the same time pass a limit of cost by none', async () => {
    const one = await boot({ limits: { max_cost_per_hour_usd: 0.000_2 } });
    openai.script(() => ({ usage: { input: 250, output: 0 } }));
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => embed(one, { texts: ['x'.repeat(750)] })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(4);
  });

  it('are refused by name where the provider makes none', async () => {
    const one = await boot({ foreign: { bedrock: silent }, keys: { 'provider.bedrock': 'k', 'provider.anthropic': 'k', 'provider.groq': 'k' } });
    for (const [provider, model] of [
      ['anthropic', 'claude-sonnet-4-6'],
      ['anthropic', 'default'],
      ['bedrock', 'titan'],
    ] as const) {
      const error = await failure(embed(one, { provider, model }));
      expect([error.code, error.status]).to.deep.equal(['llm_embeddings_unsupported', 400]);
      expect(error.message).to.contain(provider);
    }
    expect((await failure(embed(one, { provider: 'groq', model: 'default' }))).code).to.equal('llm_embedding_model_unnamed');
    expect((await failure(embed(one, { provider: 'nobody', model: 'default' }))).code).to.equal('llm_provider_not_found');
    expect((await failure(embed(one, { provider: 'nobody', model: 'x' }))).code).to.equal('llm_provider_not_found');
  });

  it('V4 are refused of texts that are too many, too long, or empty, and in lengths that nobody makes', async () => {
    const one = await boot();
    for (const request of [{ texts: [] }, { texts: texts(1_025) }, { texts: ['a', ' '] }, { texts: ['x'.repeat(2_000_001)] }, { dimensions: 0 }, { dimensions: 16_385 }, { dimensions: 1.5 }])
      expect((await failure(embed(one, request))).code, JSON.stringify(request).slice(0, 60)).to.equal('llm_embed_invalid');
    expect(openai.requests).to.have.length(0);
  });

  it('are given up when the caller goes, and the agent is free again', async () => {
    const one = await boot({ limits: { max_llm_tokens_per_hour: 100 } });
    openai.script({ hang: true });
    const gone = new AbortController();
    const failed = failure(embed(one, { texts: texts(60) }, gone.signal));
    while (openai.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    gone.abort();
    expect((await failed).code).to.equal('llm_cancelled');
    openai.script({});
    expect((await embed(one, {})).vectors).to.have.length(1);
  });

  describe('of the mock provider', () => {
    const substitute = (request: Partial<EmbedRequest>) => boot().then((one) => embed(one, { provider: 'builtin', model: 'default', ...request }));
    const near = (a: readonly number[] = [], b: readonly number[] = []) => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

    it('say that no model made them, and cost nothing', async () => {
      const answer = await substitute({});
      expect(answer.substitute).to.contain('without a model');
      expect([answer.provider, answer.model, answer.usage.costMicros]).to.deep.equal(['builtin', 'hashing', 0]);
    });

    it('are the same each time, of length one, and of as many numbers as asked', async () => {
      const one = await boot();
      const make = async (dimensions?: number) =>
        (await embed(one, { provider: 'default', model: 'default', texts: ['The cat sat.', '!?', '日本語'], ...(dimensions === undefined ? {} : { dimensions }) })).vectors;
      const vectors = await make();
      expect(await make()).to.deep.equal(vectors);
      for (const vector of vectors) {
        expect(vector).to.have.length(256);
        expect(near(vector, vector)).to.be.closeTo(1, 1e-9);
      }
      expect((await make(3)).every((vector) => vector.length === 3)).to.equal(true);
    });

    it('are near each other where words are shared', async () => {
      const { vectors } = await substitute({ texts: ['the spare key is under the blue pot', 'where is the spare key?', 'trains run late on sundays'] });
      expect(near(vectors[0], vectors[1])).to.be.greaterThan(near(vectors[0], vectors[2]) + 0.2);
    });
  });
});
