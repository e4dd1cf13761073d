import { expect } from 'chai';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { type ProviderServer, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import type { DriverEvent, ModelRequest } from '../../src/contract.js';
import type { Driver } from '../../src/drivers/driver.js';
import { startGeminiServer } from '@svc/fixtures/providers/gemini-server';
import { createAnthropicDriver } from '../../src/drivers/anthropic.js';
import { createGeminiDriver } from '../../src/drivers/gemini/gemini.js';
import { createOpenAiDriver } from '../../src/drivers/openai.js';
import { ModelFailure } from '../../src/call/model-failure.js';
import { CANARY, realFetch, request } from '../gateway-rig.js';

const wires = [
  { wire: 'openai', model: 'gpt-4o', start: startOpenAiServer, create: createOpenAiDriver, key: ['authorization', `Bearer ${CANARY}`], refusedKey: 401 },
  { wire: 'anthropic', model: 'claude-sonnet-4-6', start: startAnthropicServer, create: createAnthropicDriver, key: ['x-api-key', CANARY], refusedKey: 401 },
  { wire: 'gemini', model: 'gemini-2.5-flash', start: startGeminiServer, create: createGeminiDriver, key: ['x-goog-api-key', CANARY], refusedKey: 400 },
] as const;

for (const { wire, model, start, create, key, refusedKey } of wires) {
  describe(`the ${wire} driver`, () => {
    const adapter = realFetch({ 'provider.x': CANARY });
    let server: ProviderServer;
    let driver: Driver;

    before(async () => {
      server = await start();
    });
    beforeEach(() => {
      driver = create({ fetch: adapter.fetch, now: () => Date.parse('2026-01-01T00:00:00Z') });
    });
    after(async () => {
      await adapter.close();
      await server.close();
    });

    const run = async (
      answer: ScriptedAnswer | readonly ScriptedAnswer[],
      asked: ModelRequest = request({ model }),
      extra: { timeoutMs?: number; idleTimeoutMs?: number; signal?: AbortSignal } = {},
    ): Promise<DriverEvent[]> => {
      server.script(answer);
      const { timeoutMs = 5_000, idleTimeoutMs = 5_000, signal = new AbortController().signal } = extra;
      const target = { provider: 'x', model, baseUrl: server.url, secret: { secret: 'provider.x' }, timeoutMs, idleTimeoutMs };
      const events: DriverEvent[] = [];
      await driver.ask(target, asked, signal, (event) => void events.push(event));
      return events;
    };
    const failure = async (answer: ScriptedAnswer, extra = {}): Promise<ModelFailure> => {
      try {
        await run(answer, undefined, extra);
      } catch (error) {
        if (error instanceof ModelFailure) return error;
        throw error;
      }
      throw new Error('it should have failed');
    };
    const textOf = (events: readonly DriverEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    const lastUsage = (events: readonly DriverEvent[]) => Object.assign({}, ...events.filter((event) => event.type === 'usage').map(({ type: _, ...tokens }) => tokens));

    it('gives each delta as it came, usage and why it stopped', async () => {
      const events = await run({ deltas: ['Good', ' morn', 'ing'], usage: { input: 21, output: 3 } });
      expect(events.filter((event) => event.type === 'text')).to.deep.equal([
        { type: 'text', text: 'Good' },
        { type: 'text', text: ' morn' },
        { type: 'text', text: 'ing' },
      ]);
      expect(lastUsage(events)).to.deep.equal({ inputTokens: 21, outputTokens: 3 });
      expect(events.at(-1)).to.deep.equal({ type: 'stop', reason: 'end' });
    });

    it('tells what the model thinks from what it says', async () => {
      const events = await run({ thoughts: 'Morning, or evening?', deltas: ['Good', ' morning'] });
      const said = events.flatMap((event) => (event.type === 'thought' || event.type === 'text' ? [event] : []));
      expect(said.findLastIndex(({ type }) => type === 'thought')).to.be.below(said.findIndex(({ type }) => type === 'text'));
      expect(said.map(({ type, text }) => (type === 'thought' ? text : '')).join('')).to.equal('Morning, or evening?');
      expect(textOf(events)).to.equal('Good morning');
    });

    it('sends the key in its header and nowhere else', async () => {
      await run({ requireKey: CANARY });
      const sent = server.requests.at(-1);
      expect(sent?.headers[key[0]]).to.equal(key[1]);
      expect(JSON.stringify([sent?.path, sent?.body])).not.to.contain(CANARY);
    });

    it('puts tool calls together from many small pieces', async () => {
      const args = { path: 'a/b.txt', content: 'Zeile "eins"\n🚀' };
      const events = await run({
        text: 'Writing.',
        toolCalls: [
          { id: 'c1', name: 'file_write', args },
          { id: 'c2', name: 'system_time', args: {} },
        ],
        argPieces: 25,
      });
      const calls = events.flatMap((event) => (event.type === 'call' ? [event] : []));
      expect(calls.map(({ id, name, argsText }) => ({ id, name, args: JSON.parse(argsText || '{}') }))).to.deep.equal([
        { id: 'c1', name: 'file_write', args },
        { id: 'c2', name: 'system_time', args: {} },
      ]);
      expect(events.at(-1)).to.deep.equal({ type: 'stop', reason: 'tool_calls' });
    });

    it('keeps letters whole that packets cut in two', async () => {
      const text = 'Grüße 🚀 日本語 é';
      expect(textOf(await run({ text, cutBytes: 3 }))).to.equal(text);
    });

    it('says how much of the input a cache had', async () => {
      expect(lastUsage(await run({ text: 'hi', usage: { input: 100, output: 3, cached: 80 } }))).to.deep.equal({ inputTokens: 100, outputTokens: 3, cacheReadTokens: 80 });
    });

    it('does without usage when the provider sends none', async () => {
      const events = await run({ text: 'hi', usage: null });
      expect(textOf(events)).to.equal('hi');
      expect(lastUsage(events)).to.deep.equal({});
    });

    it('sends images, calls and results in the form of the protocol', async () => {
      const asked = request({
        model,
        messages: [
          {
            role: 'user',
            parts: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', mediaType: 'image/png', data: 'aGk=' },
            ],
          },
          { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', args: { n: 1 } }] },
          {
            role: 'user',
            parts: [
              { type: 'tool_result', id: 'c1', name: 'look', content: 'a cat', isError: false },
              { type: 'text', text: 'And now?' },
            ],
          },
        ],
        tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }],
      });
      await run({}, asked);
      const { body } = server.requests.at(-1) ?? { body: {} };
      if (wire === 'openai') {
        expect(body.messages).to.deep.equal([
          { role: 'system', content: 'You help.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            ],
          },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"n":1}' } }] },
          { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
          { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
        ]);
        expect(body.tools).to.deep.equal([{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }]);
      } else if (wire === 'gemini') {
        expect(body.systemInstruction).to.deep.equal({ parts: [{ text: 'You help.' }] });
        expect(body.contents).to.deep.equal([
          { role: 'user', parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
          { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: { n: 1 } } }] },
          { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'look', response: { output: 'a cat' } } }, { text: 'And now?' }] },
        ]);
        expect(body.tools).to.deep.equal([{ functionDeclarations: [{ name: 'look', description: 'Looks' }] }]);
      } else {
        expect(body.system).to.equal('You help.');
        expect(body.messages).to.deep.equal([
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
            ],
          },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { n: 1 } }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c1', content: 'a cat' },
              { type: 'text', text: 'And now?' },
            ],
          },
        ]);
        expect(body.tools).to.deep.equal([{ name: 'look', description: 'Looks', input_schema: { type: 'object' } }]);
      }
    });

    it('calls a refused key `auth` and keeps the key out of what it tells', async () => {
      const error = await failure({ requireKey: 'another' });
      expect(error.errorClass).to.equal('auth');
      expect(error.httpStatus).to.equal(refusedKey);
      expect(error.message).to.contain('Incorrect API key').and.not.to.contain('canary').and.not.to.contain(CANARY.slice(-8));
    });

    it('reads Retry-After in seconds and as a date', async () => {
      expect(await failure({ status: 429, headers: { 'retry-after': '7' } })).to.include({ errorClass: 'rate_limit', httpStatus: 429, retryAfterMs: 7_000 });
      expect((await failure({ status: 429, headers: { date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' } })).retryAfterMs).to.equal(9_000);
      expect((await failure({ status: 429, headers: { 'retry-after': '86400' } })).retryAfterMs).to.equal(300_000);
    });

    it('tells classes of errors apart', async () => {
      const classOf = async (status: number, message?: string) => (await failure({ status, ...(message === undefined ? {} : { message }) })).errorClass;
      expect(await classOf(500)).to.equal('server');
      expect(await classOf(529)).to.equal('overloaded');
      expect(await classOf(400, "This model's maximum context length is 8192 tokens")).to.equal('context_too_long');
      expect(await classOf(400, 'messages: bad role')).to.equal('bad_request');
      expect(await classOf(404, 'model: no-such')).to.equal('model_not_found');
      expect(await classOf(400, 'Your credit balance is too low')).to.equal('credit');
    });

    it('says half_stream when the body ends without its ending', async () => {
      expect((await failure({ deltas: ['The answer is'], halfStream: true })).errorClass).to.equal('half_stream');
    });

    it('says network when the connection is cut in the middle', async () => {
      expect((await failure({ deltas: ['The answer is'], reset: true })).errorClass).to.equal('network');
    });

    it('says garbage for a web page and for events that are not JSON', async () => {
      expect((await failure({ garbage: 'html' })).errorClass).to.equal('garbage');
      expect((await failure({ garbage: 'json' })).errorClass).to.equal('garbage');
    });

    it('ends a call that hangs at its deadline', async () => {
      expect((await failure({ hang: true }, { timeoutMs: 100 })).errorClass).to.equal('timeout');
    });

    it('ends a stream that falls silent', async () => {
      expect((await failure({ deltas: ['a', 'b'], eventDelayMs: 400 }, { idleTimeoutMs: 100 })).errorClass).to.equal('timeout');
    });

    it('says cancelled when the caller goes', async () => {
      const cancel = new AbortController();
      const failed = failure({ hang: true }, { signal: cancel.signal });
      setImmediate(() => cancel.abort());
      expect((await failed).errorClass).to.equal('cancelled');
    });

    it('says network when nobody listens', async () => {
      const target = { provider: 'x', model, baseUrl: 'http://127.0.0.1:1', timeoutMs: 2_000 };
      const caught = await driver.ask(target, request({ model }), new AbortController().signal, () => undefined).catch((error: unknown) => error);
      expect(caught).to.be.instanceOf(ModelFailure).with.property('errorClass', 'network');
    });

    it('leaves out a parameter that the model refuses, and remembers it', async () => {
      const asked = request({ model, temperature: 0.2 });
      await run([{ status: 400, message: '`temperature` is not supported by this model' }, { text: 'fine' }], asked);
      await run({ text: 'fine' }, asked);
      const sent = server.requests.slice(-3).map(({ body }) => JSON.stringify(body).includes('"temperature"'));
      expect(sent).to.deep.equal([true, false, false]);
    });

    it('serves many calls over one connection', async () => {
      await run({ text: 'hi' });
      const before = server.connections();
      for (let call = 0; call < 3; call++) await run({ text: 'hi' });
      expect(server.connections()).to.equal(before);
    });
  });
}
