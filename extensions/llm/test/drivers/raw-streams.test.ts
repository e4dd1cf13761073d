/** What providers send that is not quite the protocol: each answer stands here as it stands on the wire. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createAnthropicDriver } from '../../src/drivers/anthropic.js';
import { createOpenAiDriver } from '../../src/drivers/openai.js';
import { request } from '../gateway-rig.js';
import { failureOf, type Raw, type RawServer, startRawServer, reported } from './raw-server.js';

describe('answers as they stand on the wire', () => {
  let server: RawServer;
  before(async () => {
    server = await startRawServer();
  });
  beforeEach(() => server.forget());
  after(() => server.close());

  describe('of the chat-completions protocol', () => {
    const chat = (raw: Raw | string) => server.ask(createOpenAiDriver(server.exchange), raw);
    const delta = (fields: object, finish_reason: string | null = null) => ({ choices: [{ delta: fields, finish_reason }] });

    it('O1 end with a reason; one without is half a stream, also where [DONE] follows', async () => {
      expect(await chat(reported(delta({ content: 'a' }), delta({}, 'stop')))).to.deep.equal([
        { type: 'text', text: 'a' },
        { type: 'stop', reason: 'end' },
      ]);
      expect(server.paths).to.deep.equal(['/chat/completions']);
      expect(await failureOf(chat(reported(delta({ content: 'a' }), '[DONE]')))).to.include({ errorClass: 'half_stream', httpStatus: 200 });
      expect(await failureOf(chat(reported(delta({ content: 'a' }))))).to.include({ errorClass: 'half_stream', httpStatus: 200 });
    });

    it('O1 say why they ended', async () => {
      const stop = async (...chunks: unknown[]) => (await chat(reported(...chunks))).at(-1);
      expect(await stop(delta({}, 'length'))).to.deep.equal({ type: 'stop', reason: 'length' });
      expect(await stop(delta({}, 'content_filter'))).to.deep.equal({ type: 'stop', reason: 'content_filter' });
      const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] };
      expect(await stop(delta(call), delta({}, 'stop'))).to.deep.equal({ type: 'stop', reason: 'tool_calls' });
    });

    it('O2 bring usage in any event, whole or in part', async () => {
      const usage = async (value: unknown) => (await chat(reported({ ...delta({}, 'stop'), usage: value }))).filter(({ type }) => type === 'usage');
      expect(await usage({ prompt_tokens: 7, completion_tokens: 0 })).to.deep.equal([{ type: 'usage', inputTokens: 7, outputTokens: 0 }]);
      expect(await usage({ prompt_tokens: 7 })).to.deep.equal([{ type: 'usage', inputTokens: 7 }]);
      expect(await usage({ completion_tokens: 3, prompt_tokens: 'many' })).to.deep.equal([{ type: 'usage', outputTokens: 3 }]);
      expect(await usage(null)).to.deep.equal([]);
    });

    const callsIn = async (...pieces: readonly object[]) =>
      (await chat(reported(...pieces.map((piece) => delta({ tool_calls: [piece] })), delta({}, 'stop'), '[DONE]'))).flatMap((event) =>
        event.type === 'call' ? [`${event.id} ${event.name} ${event.argsText}`] : [],
      );

    it('O3 are put together by index, in whatever order the pieces come', async () => {
      expect(
        await callsIn(
          { index: 0, id: 'c1', function: { name: 'one' } },
          { index: 1, id: 'c2', function: { name: 'two', arguments: '{"b"' } },
          { index: 0, function: { arguments: '{"a":' } },
          { index: 1, function: { arguments: ':2}' } },
          { index: 0, function: { arguments: '1}' } },
        ),
      ).to.deep.equal(['c1 one {"a":1}', 'c2 two {"b":2}']);
    });

    it('O3 are whole calls, or go on with the last one, where no index tells', async () => {
      expect(await callsIn({ id: 'c1', function: { name: 'one', arguments: '{}' } }, { id: 'c2', function: { name: 'two', arguments: '{' } }, { function: { arguments: '}' } })).to.deep.equal([
        'c1 one {}',
        'c2 two {}',
      ]);
      expect(await callsIn({ function: { name: 'only', arguments: '{}' } })).to.deep.equal([' only {}']);
    });

    it('O3 bring a name in pieces, or the same one again', async () => {
      expect(await callsIn({ index: 0, id: 'c1', function: { name: 'file_' } }, { index: 0, function: { name: 'read' } })).to.deep.equal(['c1 file_read ']);
      expect(await callsIn({ index: 0, id: 'c1', function: { name: 'read' } }, { index: 0, function: { name: 'read', arguments: '{}' } })).to.deep.equal(['c1 read {}']);
    });

    it('may hold 128 calls and no more', async () => {
      const many = (count: number) => Array.from({ length: count }, (_, index) => ({ index, id: `c${index}`, function: { name: 'f' } }));
      expect(await callsIn(...many(128))).to.have.length(128);
      expect(await failureOf(callsIn(...many(129)))).to.include({ errorClass: 'garbage', message: 'the answer has more than 128 tool calls' });
    });

    it('may report a failure although they began well', async () => {
      expect(await failureOf(chat(reported(delta({ content: 'a' }), { error: { message: 'slow down', code: 429 } })))).to.include({ errorClass: 'rate_limit', httpStatus: 429, message: 'slow down' });
      expect(await failureOf(chat(reported({ error: { message: 'it broke', code: 'internal' } })))).to.include({ errorClass: 'server', httpStatus: 200 });
      expect(await failureOf(chat(reported({ error: 'Overloaded' })))).to.include({ errorClass: 'overloaded', message: 'Overloaded' });
      expect((await failureOf(chat(reported({ error: { code: 500 } })))).message).to.contain('reported an error');
      expect(await chat(reported({ error: null, ...delta({ content: 'a' }, 'stop') }))).to.have.length(2);
    });

    it('may be almost empty', async () => {
      expect(
        await chat(reported({}, { choices: [] }, { choices: [{}] }, { choices: [{ delta: null }] }, delta({ content: null, tool_calls: null }), delta({ content: '' }), delta({}, 'stop'), '[DONE]')),
      ).to.deep.equal([{ type: 'stop', reason: 'end' }]);
    });

    it('may leave out the blank line after the last event, and end lines in any way', async () => {
      expect(await chat(`data: ${JSON.stringify(delta({ content: 'a' }))}\r\n\r\ndata: ${JSON.stringify(delta({}, 'stop'))}\n`)).to.deep.equal([
        { type: 'text', text: 'a' },
        { type: 'stop', reason: 'end' },
      ]);
    });

    it('O1 are half a stream when they are cut off in the middle of an event', async () => {
      expect(await failureOf(chat(`${reported(delta({ content: 'a' }))}data: {"choices"`))).to.include({ errorClass: 'half_stream' });
    });

    it('are garbage as a page, as XML, and as JSON that is no object', async () => {
      expect(await failureOf(chat({ type: 'text/html; charset=utf-8', body: '<p>Hello' }))).to.include({
        errorClass: 'garbage',
        message: 'the answer is text/html, not a stream of events',
        httpStatus: 200,
      });
      expect(await failureOf(chat({ type: 'application/xml', body: '<a/>' }))).to.include({ errorClass: 'garbage' });
      for (const value of ['[]', '7', 'null', '"text"', '{']) expect(await failureOf(chat(reported(value))), value).to.include({ errorClass: 'garbage', httpStatus: 200 });
    });

    it('are garbage when thoughts, comments or arguments go on and on', async () => {
      const endless = [
        `: ${'x'.repeat(70_000)}\n\n`,
        reported(delta({ reasoning_content: 'x'.repeat(70_000) })),
        reported(delta({ tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(70_000) } }] })),
      ];
      for (const piece of endless) expect(await failureOf(chat(piece.repeat(1_000)))).to.include({ errorClass: 'garbage', message: 'the answer is longer than 64 MB', httpStatus: 200 });
    });

    it('end a refusal that never ends: its beginning says enough', async () => {
      let sentBytes = 0;
      const flood = createServer((_, response) => {
        response.writeHead(500, { 'content-type': 'application/json' });
        const more = (): void => {
          sentBytes += 65_536;
          if (!response.destroyed) response.write('x'.repeat(65_536));
        };
        response.on('drain', more);
        more();
      });
      await new Promise<void>((resolve) => flood.listen(0, '127.0.0.1', resolve));
      const baseUrl = `http://127.0.0.1:${(flood.address() as AddressInfo).port}`;
      const asked = createOpenAiDriver(server.exchange).ask({ provider: 'x', model: 'm', baseUrl, timeoutMs: 5_000 }, request({}), new AbortController().signal, () => undefined);
      expect(await failureOf(asked)).to.include({ errorClass: 'server', httpStatus: 500 });
      expect(sentBytes).to.be.lessThan(20_000_000);
      await new Promise((resolve) => flood.close(resolve));
    });

    it('are garbage when an event never ends', async () => {
      expect(await failureOf(chat(`data: ${'x'.repeat(4_100_000)}`))).to.include({ errorClass: 'garbage', message: 'an event is larger than 4 MB', httpStatus: 200 });
    });
  });

  describe('of the messages protocol', () => {
    const claude = (raw: Raw | string) => server.ask(createAnthropicDriver(server.exchange), raw);
    const stop = { type: 'message_stop' };
    const ended = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, stop];
    const text = (value: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: value } });
    const begins = (index: number, fields: object = {}) => ({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `c${index}`, name: 'look', input: {}, ...fields } });
    const args = (index: number, partial_json?: string) => ({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', ...(partial_json === undefined ? {} : { partial_json }) } });

    it('A1 end with message_stop and nothing else', async () => {
      expect(await claude(reported(text('a'), ...ended))).to.deep.equal([
        { type: 'text', text: 'a' },
        { type: 'stop', reason: 'end' },
      ]);
      expect(server.paths).to.deep.equal(['/v1/messages']);
      expect(await failureOf(claude(reported(text('a'), { type: 'message_delta', delta: { stop_reason: 'end_turn' } })))).to.include({ errorClass: 'half_stream', httpStatus: 200 });
    });

    it('A1 say why they ended', async () => {
      const reason = async (stop_reason: string | null) => (await claude(reported({ type: 'message_delta', delta: { stop_reason } }, { type: 'message_delta', delta: {} }, stop))).at(-1);
      for (const word of ['max_tokens', 'model_context_window_exceeded']) expect(await reason(word), word).to.deep.equal({ type: 'stop', reason: 'length' });
      expect(await reason('refusal')).to.deep.equal({ type: 'stop', reason: 'content_filter' });
      expect(await reason('end_turn')).to.deep.equal({ type: 'stop', reason: 'end' });
      expect(await failureOf(reason(null)), 'without a reason').to.include({ errorClass: 'half_stream' });
    });

    it('A2 count what was read from a cache or put into one', async () => {
      const usage = async (...events: unknown[]) => (await claude(reported(...events, ...ended))).filter(({ type }) => type === 'usage');
      const start = (value?: object) => ({ type: 'message_start', message: value === undefined ? {} : { usage: value } });
      expect(await usage(start({ input_tokens: 7, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 1 }))).to.deep.equal([
        { type: 'usage', inputTokens: 327, outputTokens: 1, cacheReadTokens: 300, cacheWriteTokens: 20 },
      ]);
      expect(await usage(start({ input_tokens: 7 }), { type: 'message_delta', usage: { output_tokens: 5 } })).to.deep.equal([
        { type: 'usage', inputTokens: 7 },
        { type: 'usage', outputTokens: 5 },
      ]);
      expect(await usage(start(), { type: 'message_start' }, { type: 'message_delta' })).to.deep.equal([]);
    });

    it('A3 begin a call with its whole input, or with none and bring it in pieces', async () => {
      const calls = async (...events: unknown[]) => (await claude(reported(...events, ...ended))).flatMap((event) => (event.type === 'call' ? [`${event.id} ${event.name} ${event.argsText}`] : []));
      expect(await calls(begins(0), begins(1), args(1, '{"b":'), args(0, '{"a":1}'), args(1, '2}'), args(1))).to.deep.equal(['c0 look {"a":1}', 'c1 look {"b":2}']);
      expect(await calls(begins(0, { input: { n: 1 } }))).to.deep.equal(['c0 look {"n":1}']);
      expect(await calls(begins(0, { input: null }))).to.deep.equal(['c0 look ']);
      expect(await calls({ type: 'content_block_start', content_block: { type: 'tool_use' } }, { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{}' } })).to.deep.equal(
        ['  {}'],
      );
      expect((await claude(reported(begins(0), ...ended))).at(-1)).to.deep.equal({ type: 'stop', reason: 'tool_calls' });
    });

    it('A3 are garbage when arguments come for a call that never began, or with more than 128 calls', async () => {
      expect(await failureOf(claude(reported(args(3, '{}'), ...ended)))).to.include({ errorClass: 'garbage', httpStatus: 200 });
      const many = (count: number) => Array.from({ length: count }, (_, index) => begins(index));
      expect(await claude(reported(...many(128), ...ended))).to.have.length(129);
      expect(await failureOf(claude(reported(...many(129), ...ended)))).to.include({ errorClass: 'garbage', message: 'the answer has more than 128 tool calls' });
    });

    it('may begin a block with text, and hold events that nobody knows', async () => {
      expect(
        await claude(
          reported(
            { type: 'content_block_start', content_block: { type: 'text', text: 'a' } },
            { type: 'content_block_start', content_block: { type: 'text', text: '' } },
            { type: 'content_block_start' },
            { type: 'content_block_delta' },
            text(''),
            { type: 'content_block_delta', delta: { type: 'thinking_delta', text: 'hm' } },
            { type: 'content_block_start', content_block: { type: 'thinking', text: 'hm', thinking: '' } },
            { type: 'content_block_start', content_block: { type: 'redacted_thinking', data: 'sealed' } },
            { type: 'ping' },
            { type: 'tomorrow' },
            ...ended,
          ),
        ),
      ).to.deep.equal([
        { type: 'text', text: 'a' },
        { type: 'state', state: { blocks: [{ type: 'redacted_thinking', data: 'sealed' }] } },
        { type: 'stop', reason: 'end' },
      ]);
    });

    it('may report a failure although they began well', async () => {
      const failed = (error?: object) => failureOf(claude(reported(text('a'), { type: 'error', ...(error === undefined ? {} : { error }) })));
      const classes: ReadonlyArray<readonly [string, string, number]> = [
        ['overloaded_error', 'overloaded', 529],
        ['rate_limit_error', 'rate_limit', 429],
        ['authentication_error', 'auth', 401],
        ['permission_error', 'auth', 403],
        ['invalid_request_error', 'bad_request', 400],
        ['not_found_error', 'model_not_found', 404],
        ['request_too_large', 'context_too_long', 413],
        ['timeout_error', 'timeout', 504],
        ['api_error', 'server', 500],
      ];
      for (const [type, errorClass, httpStatus] of classes) expect(await failed({ type, message: 'no' }), type).to.include({ errorClass, httpStatus, message: 'no' });
      expect((await failed()).message).to.contain('reported an error');
      // A short word with digits may be a key where keys are the matter, and only there.
      for (const type of ['authentication_error', 'permission_error']) expect((await failed({ type, message: 'wrong: abc123' })).message, type).to.equal('wrong: [removed]');
      expect((await failed({ type: 'api_error', message: 'wrong: abc123' })).message).to.equal('wrong: abc123');
    });
  });

  describe('that refuse a parameter', () => {
    const good: Raw = { body: reported({ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] }) };
    const refusal = (message: string, status = 400): Raw => ({ status, type: 'application/json', body: JSON.stringify({ error: { message } }) });
    const everything = { temperature: 0.2, tools: [{ name: 'look', description: 'Looks', parameters: {} }], thinking: { budgetTokens: 2_000 } };

    it('are asked again without it, or by the name they want, and so from then on', async () => {
      for (const [message, gone, come] of [
        ['use max_completion_tokens instead', 'max_tokens', 'max_completion_tokens'],
        ['reasoning_effort is unknown', 'reasoning_effort'],
        ['no thinking here', 'reasoning_effort'],
        ['temperature must be 1', 'temperature'],
        ['unknown field stream_options', 'stream_options'],
        ['this model does not support tools', 'tools'],
      ]) {
        const driver = createOpenAiDriver(server.exchange);
        server.forget();
        await server.ask(driver, [refusal(message ?? ''), good], everything);
        await server.ask(driver, good, everything);
        expect(
          server.sent.map((body) => (gone ?? '') in body),
          message,
        ).to.deep.equal([true, false, false]);
        if (come !== undefined)
          expect(
            server.sent.map((body) => come in body),
            message,
          ).to.deep.equal([false, true, true]);
      }
    });

    it('are asked again for each, eight times at most', async () => {
      const parameters = { topP: 0.5, presencePenalty: 1, frequencyPenalty: 1, seed: 7 };
      const left = ['max_completion_tokens', 'top_p is unknown', 'presence_penalty is unknown', 'frequency_penalty is unknown', 'seed is unknown', 'thinking', 'temperature', 'stream_options'];
      const refusals = [...left, 'tool support'].map((message) => refusal(message));
      const driver = createOpenAiDriver(server.exchange);
      expect(await failureOf(server.ask(driver, [...refusals, good], { ...everything, parameters }))).to.include({ errorClass: 'bad_request' });
      expect(server.sent).to.have.length(9);
      expect(Object.keys(server.sent[8] ?? {})).to.have.members(['model', 'messages', 'tools', 'max_completion_tokens', 'stream']);
    });

    it('are not asked again when what they refuse was left out already, is none of these, or is no 400', async () => {
      const driver = createOpenAiDriver(server.exchange);
      for (const message of ['max_completion_tokens', 'thinking', 'temperature', 'stream_options', 'tool support']) {
        server.forget();
        await failureOf(server.ask(createOpenAiDriver(server.exchange), refusal(message), everything));
        expect(server.sent, message).to.have.length(2);
      }
      server.forget();
      await failureOf(server.ask(driver, refusal('a bad role'), everything));
      await failureOf(server.ask(driver, refusal('a tool has a bad name'), everything));
      await failureOf(server.ask(driver, refusal('cannot support that'), everything));
      await failureOf(server.ask(driver, refusal('temperature', 422), everything));
      expect(server.sent).to.have.length(4);
    });

    it('are remembered each by provider and model', async () => {
      const driver = createOpenAiDriver(server.exchange);
      await server.ask(driver, [refusal('temperature'), good], everything);
      server.forget();
      await server.ask(driver, good, everything, { provider: 'x', model: 'another' });
      await server.ask(driver, good, everything, { provider: 'y', model: 'm' });
      await server.ask(driver, good, everything);
      expect(server.sent.map((body) => 'temperature' in body)).to.deep.equal([true, true, false]);
    });

    it('are remembered for two hundred models, and then learned anew', async () => {
      const driver = createOpenAiDriver(server.exchange);
      const learn = (number: number) => server.ask(driver, [refusal('temperature'), good], everything, { provider: 'x', model: `m${number}` });
      for (let number = 0; number < 200; number++) await learn(number);
      const isRemembered = async (number: number) => {
        server.forget();
        await server.ask(driver, good, everything, { provider: 'x', model: `m${number}` });
        return !('temperature' in (server.sent[0] ?? {}));
      };
      expect([await isRemembered(0), await isRemembered(199)]).to.deep.equal([true, true]);
      await learn(200);
      expect([await isRemembered(0), await isRemembered(199), await isRemembered(200)]).to.deep.equal([false, false, true]);
    });

    it("are not waited for where OpenAI's own models are known to", async () => {
      const asked = async (provider: string, model: string) => {
        server.forget();
        await server.ask(createOpenAiDriver(server.exchange), good, everything, { provider, model });
        return [...Object.keys(server.sent[0] ?? {})].filter((key) => /temperature|max_/.test(key)).sort();
      };
      for (const model of ['o1', 'o4-mini', 'gpt-5', 'gpt-6-x']) expect(await asked('openai', model), model).to.deep.equal(['max_completion_tokens']);
      for (const model of ['gpt-5-chat-latest', 'gpt-5.1']) expect(await asked('openai', model), model).to.deep.equal(['max_completion_tokens', 'temperature']);
      for (const model of ['gpt-4o', 'omni', 'my-gpt-5']) expect(await asked('openai', model), model).to.deep.equal(['max_tokens', 'temperature']);
      expect(await asked('other', 'o1')).to.deep.equal(['max_tokens', 'temperature']);
    });
  });
});
