/** LangChain and the AI SDK from npm, unchanged and at their defaults, pointed at the daemon. */
import { createHash } from 'node:crypto';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { type VirtualClock, virtualClock } from '@svc/platform/clock/clock';
import { APICallError, RetryError, generateText, streamText } from 'ai';
import { expect } from 'chai';
import type { ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels } from './model-kernel.js';
import { type VirtualWaits, virtualWaits } from './virtual-waits.js';

const REFUSAL = { status: 400, message: 'this question is refused' };
/** 1 try and 6 more. */
const LANGCHAIN_TRIES = 7;
const AI_SDK_TRIES = 3;

/** The session that the daemon shows by itself. */
const modelOf = (svc: ModelKernel): string => `svc:assistant@${svc.agent.session_id}`;
const langchain = (svc: ModelKernel) => new ChatOpenAI({ model: 'svc:assistant', apiKey: 'any', configuration: { baseURL: `${svc.kernel.url}/v1` } });
const aiSdk = (svc: ModelKernel) => createOpenAICompatible({ name: 'svc', baseURL: `${svc.kernel.url}/v1`, apiKey: 'any' })(modelOf(svc));

const failing = async (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('clients that send again by themselves', function () {
  this.timeout(30_000); // the first of them loads LangChain
  let clock: VirtualClock;
  let waits: VirtualWaits | undefined;

  beforeEach(() => {
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  });
  afterEach(async () => {
    await waits?.restore();
    await stopModelKernels();
  });

  const boot = async (script: ScriptedAnswer): Promise<ModelKernel> => {
    const svc = await bootWithModel(script, { clock });
    waits = virtualWaits(clock);
    return svc;
  };

  const userTurns = async (svc: ModelKernel): Promise<number> => {
    const { body } = await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`);
    return body.messages.filter((message: { role: string }) => message.role === 'User').length;
  };
  /** Requests that came to /v1, from the daemon's own count. */
  const counted = (svc: ModelKernel): { sent: () => number; fetch: typeof fetch } => {
    let sent = 0;
    return {
      sent: () => sent,
      fetch: (input, init) => {
        if (String(input instanceof Request ? input.url : input).startsWith(svc.kernel.url)) sent += 1;
        return fetch(input, init);
      },
    };
  };

  it('LangChain asks a refused question once, however often it tries, and reads why', async () => {
    const svc = await boot(REFUSAL);
    const { sent, fetch } = counted(svc);
    const model = new ChatOpenAI({ model: modelOf(svc), apiKey: 'any', configuration: { baseURL: `${svc.kernel.url}/v1`, fetch } });

    const error = await failing(model.invoke('may I?'));

    expect(sent()).to.equal(LANGCHAIN_TRIES);
    expect(waits?.waitedMs()).to.be.greaterThan(60_000);
    expect(svc.model.requests).to.have.length(1);
    expect(await userTurns(svc)).to.equal(1);
    expect(error).to.include({ status: 500, code: 'llm_provider_rejected', type: 'server_error' });
    expect(String(error)).to.contain('this question is refused');
  });

  it('the AI SDK asks a refused question once, however often it tries, and reads why', async () => {
    const svc = await boot(REFUSAL);

    const error = await failing(generateText({ model: aiSdk(svc), prompt: 'may I?' }));

    expect(RetryError.isInstance(error) && error.errors.length).to.equal(AI_SDK_TRIES);
    expect(svc.model.requests).to.have.length(1);
    expect(await userTurns(svc)).to.equal(1);
    const last = (error as RetryError).lastError as APICallError;
    expect(APICallError.isInstance(last)).to.equal(true);
    expect(last).to.include({ statusCode: 500 });
    expect(last.message).to.contain('this question is refused');
  });

  it('the AI SDK reads a refusal before the first word from a stream too, and asks once', async () => {
    const svc = await boot(REFUSAL);
    const errors: unknown[] = [];

    const { textStream } = streamText({ model: aiSdk(svc), prompt: 'may I?', onError: ({ error }) => void errors.push(error) });
    for await (const _piece of textStream);

    expect(svc.model.requests).to.have.length(1);
    expect(String(errors[0])).to.contain('this question is refused');
  });

  it('LangChain and the AI SDK read the message of what the platform refuses', async () => {
    const svc = await boot({ text: 'yes' });
    const bad = [{ role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url: 'https://example.org/a.png' } }] }];
    expect(String(await failing(langchain(svc).invoke(bad)))).to.contain('only data URLs');
    const error = await failing(generateText({ model: aiSdk(svc), prompt: 'x', temperature: 9 }));
    expect(String(error)).to.contain('temperature');
  });

  it('get answers, whole and streamed, with their usage', async () => {
    const svc = await boot({ deltas: ['one ', 'two'], usage: { input: 8, output: 4 } });
    const whole = await langchain(svc).invoke('count');
    expect(whole.content).to.equal('one two');
    expect(whole.usage_metadata).to.include({ input_tokens: 8, output_tokens: 4, total_tokens: 12 });
    const pieces = [];
    let total = 0;
    for await (const piece of await langchain(svc).stream('count')) {
      pieces.push(piece.content);
      // LangChain's own type says that a chunk has none.
      total += (piece as unknown as { usage_metadata?: { total_tokens: number } }).usage_metadata?.total_tokens ?? 0;
    }
    expect(pieces.join('')).to.equal('one two');
    // LangChain adds up what each chunk says: the usage must come once.
    expect(total).to.equal(12);
    const streamed = streamText({ model: aiSdk(svc), prompt: 'count' });
    expect(await streamed.text).to.equal('one two');
    expect(await streamed.usage).to.include({ inputTokens: 8, outputTokens: 4 });
  });

  const mayI = (http: TestHttp, agent = 'assistant', headers: Record<string, string> = {}) =>
    http.post('/v1/chat/completions', { model: `svc:${agent}`, messages: [{ role: 'user', content: 'may I?' }] }, headers);

  it('are answered from the row for a minute, with the status and all that was said first', async () => {
    const svc = await boot(REFUSAL);
    const first = await mayI(svc.http);
    const again = await mayI(svc.http);
    expect([again.status, again.body.error, again.body.code, again.body.hint]).to.deep.equal([first.status, first.body.error, first.body.code, first.body.hint]);
    expect(again.headers.get('x-should-retry')).to.equal('false');
    expect(again.headers.get('x-svc-run')).to.equal(first.headers.get('x-svc-run'));
    expect(svc.model.requests).to.have.length(1);

    await clock.advance(66_000);
    await mayI(svc.http);
    expect(svc.model.requests).to.have.length(2);
  });

  const fixing: ReadonlyArray<readonly [what: string, fix: (svc: ModelKernel) => Promise<unknown>]> = [
    ['a key was set', (svc) => svc.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: 'sk-another-key-of-the-tests' })],
    ['a command was given', (svc) => svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: '/usage' })],
  ];
  for (const [what, fix] of fixing)
    it(`ask anew at once when ${what}`, async () => {
      const svc = await bootWithModel(REFUSAL, { clock });
      await mayI(svc.http);
      await clock.advance(1);
      await fix(svc);
      await mayI(svc.http);
      expect(svc.model.requests).to.have.length(2);
    });

  it('ask anew under an Idempotency-Key of their own', async () => {
    const svc = await boot(REFUSAL);
    await mayI(svc.http);
    await mayI(svc.http, 'assistant', { 'idempotency-key': 'another request' });
    expect(svc.model.requests).to.have.length(2);
  });

  it('are not answered what somebody else was', async () => {
    const hash = `sha256:${createHash('sha256').update('alice-key').digest('hex')}`;
    const svc = await bootWithModel(REFUSAL, { clock, key: 'root-key', config: `api_key = "root-key"\n${OPEN_RATE}\n[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "${hash}"\n` });
    const alice = svc.kernel.as('alice-key');
    await alice.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "hers"\n' });
    await mayI(alice, 'hers');
    await mayI(svc.http, 'hers');
    expect(svc.model.requests).to.have.length(2);
    await mayI(alice, 'hers');
    await mayI(svc.http, 'hers');
    expect(svc.model.requests).to.have.length(2);
  });

  it('ask anew what failed in a way that may pass', async () => {
    const svc = await boot({ deltas: ['half a'], halfStream: true });
    await mayI(svc.http);
    await mayI(svc.http);
    expect(svc.model.requests).to.have.length(2);
  });
});
