import { isSvcError, type SvcError, actorFrom } from '@svc/api';
import { expect } from 'chai';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import type { Attempt } from '../src/contract.js';
import { CANARY, owner, request, type Rig, type RigOptions, startRig } from './gateway-rig.js';

describe('the model gateway', () => {
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
  const errorOf = async (work: Promise<unknown>): Promise<SvcError> => {
    try {
      await work;
    } catch (error) {
      if (isSvcError(error)) return error;
      throw error;
    }
    throw new Error('it should have failed');
  };
  const attemptsOf = (error: SvcError): readonly Attempt[] => (error.details as { attempts: readonly Attempt[] }).attempts;
  const claude = { provider: 'anthropic', model: 'claude-sonnet-4-6' };

  it('answers with text, usage, cost from the catalog and the row that settles it', async () => {
    openai.script({ deltas: ['Hel', 'lo'], usage: { input: 1_000, output: 100 } });
    const { llm, listen, db, received, context } = await start();
    const answer = await listen(request(), context());
    expect(answer).to.include({ text: 'Hello', stop: 'end', provider: 'openai', model: 'gpt-5-mini' });
    // 0.25 and 2 USD per million.
    expect(answer.usage).to.deep.equal({ inputTokens: 1_000, outputTokens: 100, costMicros: 450 });
    expect(received.join('')).to.equal('Hello');
    await db.commit(answer.settle);
    expect(await llm.usage(owner, { agentId: 'agent-1' })).to.deep.equal({ requests: 1, inputTokens: 1_000, outputTokens: 100, costMicros: 450 });
    expect(await llm.usage(owner, { runIds: ['run-0', 'run-1', 'run-2'] })).to.include({ requests: 1 });
    expect(await llm.usage(actorFrom({ id: 'user:eve', role: 'user', ownerId: 'user:eve' }), { agentId: 'agent-1' })).to.include({ requests: 0, costMicros: 0 });
  });

  it('asks Anthropic to cache tools, system prompt and conversation, and counts what was read and written', async () => {
    anthropic.script({ text: 'ok', usage: { input: 10_000, output: 100, cached: 8_000, cacheWritten: 1_000 } });
    const tools = ['look', 'find'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));
    const { listen, context } = await start();
    const { usage } = await listen(request({ ...claude, tools }), context());
    const { body } = anthropic.requests[0] ?? {};
    const cache_control = { type: 'ephemeral' };
    expect(body.system).to.deep.equal([{ type: 'text', text: 'You help.', cache_control }]);
    expect(body.tools.map((tool: object) => 'cache_control' in tool)).to.deep.equal([false, true]);
    expect(body.messages).to.deep.equal([{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control }] }]);
    // 3 USD per million, 0.30 of it from the cache, 3.75 into it, and 15 for the answer.
    expect(usage).to.deep.equal({ inputTokens: 10_000, outputTokens: 100, costMicros: 1_000 * 3 + 8_000 * 0.3 + 1_000 * 3.75 + 100 * 15 });
  });

  it('marks nothing with prompt_caching = false, for providers that cache by themselves, and for servers that refuse it', async () => {
    const marked = ({ requests }: ProviderServer): boolean[] => requests.map(({ body }) => JSON.stringify(body).includes('cache'));
    const { listen, context } = await start({ config: { prompt_caching: true } });
    await listen(request(), context());
    expect(marked(openai)).to.deep.equal([false]);
    anthropic.script(({ body }) => (JSON.stringify(body).includes('cache_control') ? { status: 400, message: 'system.0.cache_control: Extra inputs are not permitted' } : { text: 'ok' }));
    for (const _ of [1, 2]) await listen(request(claude), context());
    expect(marked(anthropic)).to.deep.equal([true, false, false]);
    await rig?.close();
    anthropic.script({ text: 'ok' });
    const off = await start({ config: { prompt_caching: false } });
    await off.listen(request(claude), off.context());
    expect(marked(anthropic).at(-1)).to.equal(false);
  });

  it('counts tokens itself where the provider does not, and says so', async () => {
    openai.script({ text: 'x'.repeat(40), usage: null });
    const { llm, context } = await start();
    const { usage } = await llm.complete(request(), context());
    expect(usage).to.include({ outputTokens: 10, estimated: true });
    expect(usage.costMicros).to.be.greaterThan(0);
  });

  it('gives arguments as values, and broken ones as an error the model can read', async () => {
    openai.script({
      toolCalls: [
        { name: 'a', args: { n: 1 } },
        { name: 'b', args: '{"n": ' },
        { name: 'c', args: '' },
      ],
    });
    const { llm, context } = await start();
    const { calls, stop } = await llm.complete(request(), context());
    expect(stop).to.equal('tool_calls');
    expect(calls.map(({ name, args }) => ({ name, args }))).to.deep.equal([
      { name: 'a', args: { n: 1 } },
      { name: 'b', args: null },
      { name: 'c', args: {} },
    ]);
    expect(calls[1]?.argsError).to.contain('not JSON');
  });

  it('asks again after what passes, waiting longer each time and never less than it was told', async () => {
    openai.script([{ status: 500 }, { status: 429, headers: { 'retry-after': '9' } }, { status: 529 }, { text: 'at last' }]);
    const { llm, waits, context } = await start();
    const answer = await llm.complete(request(), context());
    expect(answer.text).to.equal('at last');
    expect(answer.attempts.map(({ status, errorClass }) => errorClass ?? status)).to.deep.equal(['server', 'rate_limit', 'overloaded', 'ok']);
    expect(answer.attempts.map(({ waitedMs }) => waitedMs)).to.deep.equal([...waits, 0]);
    expect(waits[0]).to.be.within(1_000, 3_000);
    expect(waits[1]).to.equal(9_000);
    expect(waits[2]).to.be.within(4_000, 12_000);
  });

  it('tells whoever listens why it waits, how long, and how often still', async () => {
    openai.script([{ status: 529 }, { status: 500 }, { text: 'at last' }]);
    const { listen, waits, reportedWaits, context } = await start();
    expect((await listen(request(), context())).text).to.equal('at last');
    expect(reportedWaits.map(({ retry, of, why, provider }) => [retry, of, why, provider])).to.deep.equal([
      [1, 3, 'overloaded', 'openai'],
      [2, 3, 'server', 'openai'],
    ]);
    expect(reportedWaits.map(({ ms }) => ms)).to.deep.equal(waits);
  });

  it('gives up after three retries, with every attempt in the details', async () => {
    openai.script({ status: 503, message: 'Service busy' });
    const { llm, context } = await start();
    const error = await errorOf(llm.complete(request(), context()));
    expect(error).to.include({ code: 'llm_provider_overloaded', status: 500, retry: true });
    expect(error.message).to.contain('openai').and.to.contain('gpt-5-mini').and.to.contain('Service busy');
    expect(attemptsOf(error)).to.have.length(4);
    expect(openai.requests).to.have.length(4);
  });

  it('takes the mark of a refused key back when a call succeeds', async () => {
    openai.script([{ status: 401 }, { text: 'here again' }]);
    const { llm, invalid, context, passes } = await start();
    await errorOf(llm.complete(request(), context()));
    expect(invalid).to.deep.equal(['openai']);
    passes(5_000);
    await llm.complete(request(), context());
    expect(invalid).to.deep.equal([]);
  });

  it('says of a chain that was refused throughout that asking again is no use, and else that it may be', async () => {
    const chain = { fallbacks: [{ provider: 'anthropic', model: 'claude-sonnet-4-5' }] };
    openai.script({ status: 400, message: 'no' });
    anthropic.script({ status: 400, message: 'no' });
    const { llm, context } = await start();
    expect(await errorOf(llm.complete(request(chain), context()))).to.include({ code: 'llm_all_models_failed', retry: false });
    anthropic.script({ status: 500, message: 'later' });
    expect(await errorOf(llm.complete(request(chain), context()))).to.include({ code: 'llm_all_models_failed', retry: true });
  });

  it('does not ask again with a refused key: it marks the key and names the command', async () => {
    openai.script({ requireKey: 'the right one' });
    const { llm, invalid, logged, context } = await start();
    const error = await errorOf(llm.complete(request(), context()));
    expect(error).to.include({ code: 'llm_provider_auth', status: 500 });
    expect(error.message).to.contain('svc providers set-key openai');
    expect(openai.requests).to.have.length(1);
    expect(invalid).to.deep.equal(['openai']);
    const everything = JSON.stringify([error.message, error.hint, error.details, String(error.cause), logged()]);
    expect(everything).not.to.contain(CANARY).and.not.to.contain('canary');
  });

  it('L1 L2 tries each model of the chain once and shows every attempt', async () => {
    openai.script({ status: 400, message: 'bad' });
    anthropic.script({ text: 'from the second' });
    const { llm, context } = await start();
    const answer = await llm.complete(request({ fallbacks: [{ provider: 'openai', model: 'gpt-5-mini' }, claude] }), context());
    expect(answer).to.include({ text: 'from the second', provider: 'anthropic', model: 'claude-sonnet-4-6' });
    expect(answer.attempts.map(({ provider, status }) => `${provider} ${status}`)).to.deep.equal(['openai error', 'anthropic ok']);
    expect(openai.requests).to.have.length(1);
  });

  it("uses config's fallbacks after the agent's own", async () => {
    openai.script({ status: 400 });
    const { llm, context } = await start({ fallbacks: [claude] });
    expect(await llm.complete(request(), context())).to.include({ provider: 'anthropic' });
  });

  it('names all models when none could answer', async () => {
    openai.script({ status: 400, message: 'no' });
    anthropic.script({ requireKey: 'other' });
    const { llm, context } = await start();
    const error = await errorOf(llm.complete(request({ fallbacks: [claude] }), context()));
    expect(error.code).to.equal('llm_all_models_failed');
    expect(error.message).to.contain('openai/gpt-5-mini').and.to.contain('anthropic/claude-sonnet-4-6');
    expect(attemptsOf(error).map(({ errorClass }) => errorClass)).to.deep.equal(['bad_request', 'auth']);
  });

  it('moves on at once when the provider asks for a long wait and another model stands ready', async () => {
    openai.script({ status: 429, headers: { 'retry-after': '11' } });
    const { llm, waits, context } = await start();
    expect(await llm.complete(request({ fallbacks: [claude] }), context())).to.include({ provider: 'anthropic' });
    expect(waits).to.deep.equal([]);
  });

  it('passes a wait that is too long on to the caller', async () => {
    openai.script({ status: 429, headers: { 'retry-after': '120' } });
    const { llm, waits, context } = await start();
    const error = await errorOf(llm.complete(request(), context()));
    expect(error.headers).to.include({ 'retry-after': '120' });
    expect(waits).to.deep.equal([]);
  });

  it('L3 L4 makes half a stream an error, bills it, and lets no other model finish it', async () => {
    openai.script({ deltas: ['The answer ', 'is'], halfStream: true });
    const { llm, listen, received, context } = await start();
    const error = await errorOf(listen(request({ fallbacks: [claude] }), context()));
    expect(error.code).to.equal('llm_half_stream');
    expect(received.join('')).to.equal('The answer is');
    expect(openai.requests).to.have.length(1);
    expect(anthropic.requests).to.have.length(0);
    expect((await llm.usage(owner, { runIds: ['run-1'] })).outputTokens).to.be.greaterThan(0);
  });

  it('asks again after half a stream that nobody has heard', async () => {
    openai.script([{ deltas: ['The'], halfStream: true }, { text: 'whole' }]);
    const { llm, context } = await start();
    expect((await llm.complete(request(), context())).text).to.equal('whole');
  });

  it('cannot be held for ever by a model that hangs', async () => {
    openai.script({ hang: true });
    const { llm, context } = await start();
    const error = await errorOf(llm.complete(request({ timeoutMs: 80 }), context()));
    expect(error.code).to.equal('llm_provider_timeout');
    expect(attemptsOf(error).map(({ errorClass }) => errorClass)).to.deep.equal(['timeout', 'timeout']);
  });

  it('is cancelled by its signal, without another attempt', async () => {
    openai.script({ hang: true });
    const { llm, context } = await start();
    const cancel = new AbortController();
    const failed = errorOf(llm.complete(request({ fallbacks: [claude] }), context(), { signal: cancel.signal }));
    setTimeout(() => cancel.abort(), 20);
    const error = await failed;
    expect(error.code).to.equal('llm_cancelled');
    expect(attemptsOf(error).map(({ errorClass }) => errorClass)).to.deep.equal(['cancelled']);
    expect(anthropic.requests).to.have.length(0);
  });

  it('refuses a provider that was named without its key, and never answers with the mock provider', async () => {
    const { llm, context } = await start({ keys: {} });
    const error = await errorOf(llm.complete(request(), context()));
    expect(error).to.include({ code: 'llm_provider_key_missing', status: 412 });
    expect(error.message).to.contain('OPENAI_API_KEY').and.to.contain('svc providers set-key openai');
    expect(attemptsOf(error)).to.have.length(1);
  });

  it('resolves default, aliases, prefixes and names', async () => {
    const { llm } = await start();
    expect(await llm.resolve({ provider: 'default', model: 'default' })).to.deep.include({ provider: 'builtin', model: 'rehearsal', why: 'nothing else' });
    expect(await llm.resolve({ provider: 'default', model: 'sonnet' })).to.deep.include({ provider: 'anthropic', model: 'claude-sonnet-4-6', contextWindow: 200_000 });
    expect(await llm.resolve({ provider: 'default', model: 'openai/gpt-5' })).to.deep.include({ provider: 'openai', model: 'gpt-5' });
    expect(await llm.resolve({ provider: 'openai', model: 'tomorrows-model' })).to.deep.include({ provider: 'openai', model: 'tomorrows-model' });
    expect((await errorOf(llm.resolve({ provider: 'default', model: 'no-such' }))).code).to.equal('llm_model_not_found');
    expect((await errorOf(llm.resolve({ provider: 'nobody', model: 'x' }))).code).to.equal('llm_provider_not_found');
    expect((await errorOf(llm.resolve({ provider: 'bedrock', model: 'x' }))).code).to.equal('llm_provider_unsupported');
  });

  it("asks OpenAI's reasoning models in their own words", async () => {
    const { llm, context } = await start();
    await llm.complete(request({ temperature: 0.7 }), context());
    expect(openai.requests[0]?.body).to.include({ max_completion_tokens: 100 }).and.not.to.have.any.keys('max_tokens', 'temperature');
  });

  it('never asks a model for more than it can give', async () => {
    const { llm, context } = await start();
    await llm.complete(request({ ...claude, maxTokens: 1_000_000 }), context());
    expect(anthropic.requests[0]?.body.max_tokens).to.equal(64_000);
  });

  it('reserves at least what the call will cost, by the dearest model of the chain', async () => {
    openai.script({ text: 'y'.repeat(400), usage: { input: 40, output: 100 } });
    const { llm, context } = await start();
    const asked = request({ messages: [{ role: 'user', parts: [{ type: 'text', text: 'word '.repeat(30) }] }] });
    const alone = await llm.reserve(asked, context({ runId: 'run-1' }));
    const { usage } = await llm.complete(asked, context());
    expect(alone.ceilingMicros).to.be.at.least(usage.costMicros);
    const chained = await llm.reserve({ ...asked, fallbacks: [claude] }, context({ runId: 'run-1' }));
    expect(chained.ceilingMicros).to.be.greaterThan(alone.ceilingMicros);
  });
});
