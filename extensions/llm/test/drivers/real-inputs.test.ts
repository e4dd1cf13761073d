/** What providers and servers were seen to send, by the public thread that shows it. Each stands here as it stands on the wire, with the right value. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { DriverEvent, ModelMessage, ProviderState } from '../../src/contract.js';
import { withOwnState } from '../../src/call/own-state.js';
import { createAnthropicDriver } from '../../src/drivers/anthropic.js';
import { createGeminiDriver } from '../../src/drivers/gemini/gemini.js';
import { createOpenAiDriver } from '../../src/drivers/openai.js';
import { request } from '../gateway-rig.js';
import { failureOf, type Raw, type RawServer, reported, startRawServer } from './raw-server.js';

type Names = { provider: string; model: string };
const delta = (fields: object, finish_reason: string | null = null, more: object = {}) => ({ choices: [{ index: 0, delta: fields, finish_reason }], ...more });
const tool = (fields: object, more: object = {}) => delta({ tool_calls: [{ type: 'function', ...more, function: fields }] });
const done = delta({}, 'stop');
const said = (events: readonly DriverEvent[]) => ({
  text: events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join(''),
  thought: events.flatMap((event) => (event.type === 'thought' ? [event.text] : [])).join(''),
  calls: events.flatMap((event) => (event.type === 'call' ? [`${event.name}${event.argsText}`] : [])),
  state: events.find((event) => event.type === 'state')?.state,
  usage: events.findLast((event) => event.type === 'usage'),
  stop: events.at(-1)?.type === 'stop' ? (events.at(-1) as { reason: string }).reason : undefined,
});
const tools = ['look', 'file_read', 'system_time'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));

describe('answers as they were seen', () => {
  let server: RawServer;
  before(async () => {
    server = await startRawServer();
  });
  beforeEach(() => server.forget());
  after(() => server.close());

  const chat = async (raw: Raw | string | readonly Raw[], fields: Parameters<typeof request>[0] = {}, names: Names = { provider: 'x', model: 'm' }) =>
    said(await server.ask(createOpenAiDriver(server.exchange), raw, { tools, ...fields }, names));

  describe('kind 2: what a provider wants back', () => {
    const back = async (state: Omit<ProviderState, 'provider' | 'model'>, names: Names = { provider: 'x', model: 'm' }) => {
      const messages: ModelMessage[] = [
        { role: 'user', parts: [{ type: 'text', text: 'time?' }] },
        { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'system_time', args: {}, state: { ...names, ...state } }] },
        { role: 'user', parts: [{ type: 'tool_result', id: 'c1', name: 'system_time', content: 'noon', isError: false }] },
      ];
      await chat(reported(delta({ content: 'ok' }, 'stop')), { messages }, names);
      return (server.sent.at(-1) as { messages: Array<Record<string, unknown>> }).messages[2] ?? {};
    };

    it('langchain-ai/langchain#37347: a signature beside the call, and none beside the others', async () => {
      const extra_content = { google: { thought_signature: 'SIG' } };
      const events = await server.ask(
        createOpenAiDriver(server.exchange),
        reported(tool({ name: 'look', arguments: '{}' }, { id: 'a', index: 0, extra_content }), tool({ name: 'look', arguments: '{"n":2}' }, { id: 'b', index: 1 }), done),
      );
      expect(events.filter(({ type }) => type === 'call').map((event) => ('state' in event ? event.state : undefined))).to.deep.equal([{ extra_content }, undefined]);
      const message = await back({ call: { extra_content } });
      expect(message.tool_calls).to.deep.equal([{ extra_content, id: 'c1', type: 'function', function: { name: 'system_time', arguments: '{}' } }]);
    });

    it('maximhq/bifrost#5277: reasoning_details in pieces are put together by index and type', async () => {
      const piece = (text: string, more: object = {}) => delta({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text, ...more }] });
      const sealed = { type: 'reasoning.encrypted', index: 1, id: 'rs_1', data: 'AAAA' };
      const { state, thought } = await chat(
        reported(piece('The user '), piece('asks.'), piece('', { signature: 'Ev==' }), delta({ reasoning_details: [sealed] }), tool({ name: 'look', arguments: '{}' }, { index: 0, id: 'a' }), done),
      );
      expect(thought).to.equal('The user asks.');
      expect(state).to.deep.equal({
        reasoning: 'The user asks.',
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'The user asks.', signature: 'Ev==' }, sealed],
      });
      expect((await back({ message: state ?? {} })).reasoning_details).to.deep.equal(state?.reasoning_details);
    });

    it('open-webui/open-webui#27467: thinking_blocks of a LiteLLM proxy, each sealed by its signature', async () => {
      const block = (thinking: string, signature = '') => delta({ reasoning_content: thinking, thinking_blocks: [{ type: 'thinking', thinking, signature }] });
      const { state } = await chat(reported(block('one '), block('two'), block('', 'S1'), block('three'), block('', 'S2'), delta({ content: 'ok' }, 'stop')));
      expect(state?.thinking_blocks).to.deep.equal([
        { type: 'thinking', thinking: 'one two', signature: 'S1' },
        { type: 'thinking', thinking: 'three', signature: 'S2' },
      ]);
    });

    it('AgentiLoop/Agent#22: an answer of another model gets a thought, where its absence is refused', async () => {
      const driver = createOpenAiDriver(server.exchange);
      const refusal: Raw = {
        status: 400,
        type: 'application/json',
        body: JSON.stringify({ error: { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.', type: 'invalid_request_error' } }),
      };
      const messages: ModelMessage[] = [
        { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', parts: [{ type: 'text', text: 'hello' }] },
        { role: 'user', parts: [{ type: 'text', text: 'and?' }] },
      ];
      await server.ask(driver, [refusal, { body: reported(delta({ content: 'ok' }, 'stop')) }], { messages });
      const [first, second] = server.sent.map(({ messages: sent }) => (sent as Array<Record<string, unknown>>)[2]);
      expect(first).to.not.have.property('reasoning_content');
      expect(second?.reasoning_content).to.match(/\S/);
    });

    it('a member that the provider does not take back is left out from then on', async () => {
      const driver = createOpenAiDriver(server.exchange);
      const refusal: Raw = {
        status: 400,
        type: 'application/json',
        body: JSON.stringify({ error: { message: "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]" } }),
      };
      const state = { provider: 'x', model: 'm', message: { reasoning: 'hm' } };
      const messages: ModelMessage[] = [
        { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', parts: [{ type: 'text', text: 'hello', state }] },
        { role: 'user', parts: [{ type: 'text', text: 'and?' }] },
      ];
      const good: Raw = { body: reported(delta({ content: 'ok' }, 'stop')) };
      await server.ask(driver, [refusal, good], { messages });
      await server.ask(driver, good, { messages });
      expect(server.sent.map(({ messages: sent }) => 'reasoning' in ((sent as object[])[2] ?? {}))).to.deep.equal([true, false, false]);
    });

    it('goes to the same provider and model alone, and the message of that model stays the same object', () => {
      const of = (provider: string, model: string): ModelMessage => ({ role: 'assistant', parts: [{ type: 'text', text: 'a', state: { provider, model, message: { reasoning_content: 'sealed' } } }] });
      const own = of('deepseek', 'v4');
      const sent = withOwnState([own, of('deepseek', 'v3'), of('moonshot', 'v4')], { provider: 'deepseek', model: 'v4' });
      expect(sent[0]).to.equal(own);
      expect(JSON.stringify(sent.slice(1))).to.not.contain('sealed');
    });

    it('thoughts of Claude go back with the round of calls, sealed, and it thinks on', async () => {
      const block = { type: 'thinking', thinking: 'hm', signature: 'SIG' };
      const events = await server.ask(
        createAnthropicDriver(server.exchange),
        reported(
          { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'SIG' } },
          { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c1', name: 'look', input: {} } },
          { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
          { type: 'message_stop' },
        ),
      );
      const { state } = said(events);
      expect(state).to.deep.equal({ blocks: [block] });
      const messages: ModelMessage[] = [
        { role: 'user', parts: [{ type: 'text', text: 'go' }] },
        { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', args: {}, state: { provider: 'anthropic', model: 'claude-sonnet-4-5', message: state ?? {} } }] },
        { role: 'user', parts: [{ type: 'tool_result', id: 'c1', name: 'look', content: 'x', isError: false }] },
      ];
      const end = reported({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' });
      await server.ask(createAnthropicDriver(server.exchange), end, { messages, thinking: { budgetTokens: 2_000 } }, { provider: 'anthropic', model: 'claude-sonnet-4-5' });
      expect((server.sent.at(-1) as { messages: Array<{ content: object[] }> }).messages[1]?.content[0]).to.deep.equal(block);
      expect(server.sent.at(-1)?.thinking).to.deep.equal({ type: 'enabled', budget_tokens: 2_000 });
    });
  });

  describe('kind 3: what is no stream', () => {
    const one = delta({ content: 'a' });
    const two = delta({ content: 'b' }, 'stop');
    const forms: ReadonlyArray<readonly [string, string]> = [
      ['lines of JSON', `${JSON.stringify(one)}\n${JSON.stringify(two)}\n`],
      ['a list', JSON.stringify([one, two])],
      ['one after the other', JSON.stringify(one) + JSON.stringify(two)],
      ['a mark of byte order, comments and carriage returns', `\uFEFF: OPENROUTER PROCESSING\r\rdata: ${JSON.stringify(one)}\r\rdata: ${JSON.stringify(two)}\r\r`],
      ['no blank lines', `data: ${JSON.stringify(one)}\ndata: ${JSON.stringify(two)}\ndata: [DONE]\n`],
      ['the field twice', `data: data: ${JSON.stringify(one)}\n\ndata: data: ${JSON.stringify(two)}\n\n`],
      ['some lines without the field, and no line end', `data: ${JSON.stringify(one)}\n\n${JSON.stringify(two)}`],
      ['the last event without its line end', `data: ${JSON.stringify(one)}\n\ndata: ${JSON.stringify(two)}`],
      ['empty data and pings between', `data: ${JSON.stringify(one)}\n\ndata:\n\nevent: ping\ndata: x\n\ndata: ${JSON.stringify(two)}\n\n`],
    ];
    for (const [name, body] of forms)
      it(`is read all the same: ${name}`, async () => {
        expect(await chat(body)).to.include({ text: 'ab', stop: 'end' });
      });

    it('is a whole answer, on each wire', async () => {
      const whole = { choices: [{ message: { role: 'assistant', content: 'I do not stream.', tool_calls: null }, finish_reason: null }], usage: { prompt_tokens: 7, completion_tokens: 5 } };
      expect(await chat({ type: 'application/json', body: JSON.stringify(whole, null, 2) })).to.deep.include({
        text: 'I do not stream.',
        stop: 'end',
        usage: { type: 'usage', inputTokens: 7, outputTokens: 5 },
      });
      const message = {
        type: 'message',
        content: [
          { type: 'text', text: 'Whole.' },
          { type: 'tool_use', id: 't', name: 'look', input: { a: 1 } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 3, output_tokens: 2 },
      };
      expect(said(await server.ask(createAnthropicDriver(server.exchange), JSON.stringify(message)))).to.deep.include({ text: 'Whole.', calls: ['look{"a":1}'], stop: 'tool_calls' });
      const part = (text: string, more: object = {}) => ({ candidates: [{ content: { parts: [{ text }] }, ...more }] });
      expect(said(await server.ask(createGeminiDriver(server.exchange), JSON.stringify([part('Who'), part('le.', { finishReason: 'STOP' })])))).to.deep.include({ text: 'Whole.', stop: 'end' });
    });

    it('comes packed, with a header or without', async () => {
      const body = Buffer.from(reported(one, two));
      const packs: ReadonlyArray<readonly [string | undefined, Buffer]> = [
        ['gzip', gzipSync(body)],
        [undefined, gzipSync(body)],
        ['br', brotliCompressSync(body)],
        ['gzip', body],
      ];
      for (const [encoding, bytes] of packs) {
        const packer = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream', ...(encoding === undefined ? {} : { 'content-encoding': encoding }) }).end(bytes));
        await new Promise<void>((resolve) => packer.listen(0, '127.0.0.1', resolve));
        const events: DriverEvent[] = [];
        const target = { provider: 'x', model: 'm', baseUrl: `http://127.0.0.1:${(packer.address() as AddressInfo).port}`, timeoutMs: 5_000 };
        await createOpenAiDriver(server.exchange).ask(target, request({}), new AbortController().signal, (event) => void events.push(event));
        expect(said(events), String(encoding)).to.include({ text: 'ab', stop: 'end' });
        await new Promise((resolve) => packer.close(resolve));
      }
    });

    const failures: ReadonlyArray<readonly [thread: string, body: string, errorClass: string, words: string]> = [
      ['zendev-sh/goai#110', `event: error\ndata: {"error":{"message":"Compute error."},"message":"Compute error."}\n\n`, 'server', 'Compute error.'],
      [
        'fms-guardrails-orchestrator#436',
        `event: error\ndata: {"code":400,"details":"Requested sample logprobs of 21, which is greater than max allowed: 20"}\n\ndata: [DONE]\n\n`,
        'bad_request',
        'logprobs of 21',
      ],
      ['BerriAI/litellm#40578', 'data: {"error": {"message": "Too many requests: the queue is full", "code": 429}}\n\ndata: [DONE]\n\n', 'rate_limit', 'queue is full'],
      [
        'charmbracelet/crush#279',
        '{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"message\\":\\"Unexpected field foo\\"}","provider_name":"Mistral"}}}',
        'bad_request',
        'Unexpected field foo',
      ],
      ['MiniMax', '{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"},"choices":null}', 'credit', 'insufficient balance'],
      ['FastAPI', '{"detail":"Not authenticated"}', 'auth', 'Not authenticated'],
      ['vLLM', 'data: {"object":"error","message":"The model `q` does not exist.","type":"NotFoundError","code":404}\n\n', 'model_not_found', 'does not exist'],
      ['a text', 'upstream connect error or disconnect/reset before headers', 'garbage', 'upstream connect error'],
      ['a page', '<!doctype html><title>Just a moment...</title>', 'garbage', 'Just a moment...'],
    ];
    for (const [thread, body, errorClass, words] of failures)
      it(`is a failure in the provider's words: ${thread}`, async () => {
        const failure = await failureOf(chat(body));
        expect(failure).to.include({ errorClass });
        expect(failure.message).to.contain(words);
      });
  });

  describe('kind 4: parts of a delta', () => {
    it('content that is a list, a part or a refusal is text', async () => {
      expect(
        await chat(reported(delta({ content: [{ type: 'text', text: 'a' }, { type: 'reference', reference_ids: [1] }, 'b'] }), delta({ content: { type: 'output_text', text: 'c' } }), done)),
      ).to.include({ text: 'abc' });
      expect(await chat(reported(delta({ content: null, refusal: 'I can’t ' }), delta({ refusal: 'do that.' }), done))).to.include({ text: 'I can’t do that.' });
    });

    const calls: ReadonlyArray<readonly [name: string, pieces: readonly object[], found: readonly string[]]> = [
      ['whole, without index or id', [{ function: { name: 'look', arguments: '{"a":1}' } }, { function: { name: 'look', arguments: '{"a":2}' } }], ['look{"a":1}', 'look{"a":2}']],
      [
        'whole, with index 0 and no id',
        [
          { index: 0, function: { name: 'look', arguments: '{}' } },
          { index: 0, function: { name: 'file_read', arguments: '{}' } },
        ],
        ['look{}', 'file_read{}'],
      ],
      [
        'with an index of null',
        [
          { index: null, id: 'a', function: { name: 'look', arguments: '{' } },
          { index: null, function: { arguments: '}' } },
        ],
        ['look{}'],
      ],
      [
        'with the name in each piece',
        [
          { index: 0, id: 'a', function: { name: 'look', arguments: '{"a"' } },
          { index: 0, id: 'a', function: { name: 'look', arguments: ':1}' } },
        ],
        ['look{"a":1}'],
      ],
      [
        'with a new id in each piece',
        [
          { index: 0, id: 'a', function: { name: 'look', arguments: '{"a"' } },
          { index: 0, id: 'b', function: { name: null, arguments: ':1}' } },
        ],
        ['look{"a":1}'],
      ],
      [
        'with an empty id behind the first',
        [
          { index: 0, id: 'a', function: { name: 'look', arguments: '{"a"' } },
          { index: 0, id: '', function: { name: '', arguments: ':1}' } },
        ],
        ['look{"a":1}'],
      ],
      [
        'with one id for two',
        [
          { index: 0, id: 'x', function: { name: 'look', arguments: '{}' } },
          { index: 1, id: 'x', function: { name: 'file_read', arguments: '{}' } },
        ],
        ['look{}', 'file_read{}'],
      ],
      [
        'repeated whole at the end',
        [
          { index: 0, id: 'a', function: { name: 'look', arguments: '{"a":1}' } },
          { index: 0, id: 'a', function: { name: 'look', arguments: '{"a":1}' } },
        ],
        ['look{"a":1}'],
      ],
      [
        'with a name in parts',
        [
          { index: 0, id: 'a', function: { name: 'file_' } },
          { index: 0, function: { name: 'read', arguments: '{}' } },
        ],
        ['file_read{}'],
      ],
      ['with an index in letters and arguments that are an object', [{ index: '0', id: 'a', function: { name: 'look', arguments: { a: [1] } } }], ['look{"a":[1]}']],
      [
        'interleaved, with one index and ids',
        [
          { index: 0, id: 'a', function: { name: 'look', arguments: '{"a"' } },
          { index: 0, id: 'b', function: { name: 'look', arguments: '{"b"' } },
          { index: 0, id: 'a', function: { arguments: ':1}' } },
          { index: 0, id: 'b', function: { arguments: ':2}' } },
        ],
        ['look{"a":1}', 'look{"b":2}'],
      ],
    ];
    for (const [name, pieces, found] of calls)
      it(`calls ${name}`, async () => {
        expect((await chat(reported(...pieces.map((piece) => delta({ tool_calls: [piece] })), delta({}, 'tool_calls')))).calls).to.deep.equal(found);
      });

    it('a call in the older form', async () => {
      expect((await chat(reported(delta({ function_call: { name: 'look', arguments: '{"a"' } }), delta({ function_call: { arguments: ':1}' } }), delta({}, 'function_call')))).calls).to.deep.equal([
        'look{"a":1}',
      ]);
    });

    it('control words around the name of a tool', async () => {
      const named = async (name: string, id = 'a') => (await chat(reported(tool({ name, arguments: '{}' }, { index: 0, id }), delta({}, 'tool_calls')))).calls[0];
      for (const name of ['look<|channel|>commentary', 'functions.look', 'functions.look:0', 'default_api.look', 'default_api:look', 'assistant<|channel|>commentary to=functions.look', ' look '])
        expect(await named(name), name).to.equal('look{}');
      expect(await named('', 'functions.look:3')).to.equal('look{}');
      expect(await named('delete_all')).to.equal('delete_all{}');
    });

    it('reasons that mean failure, and those that do not', async () => {
      for (const [reason, errorClass] of [
        ['error', 'server'],
        ['network_error', 'server'],
        ['abort', 'server'],
        ['MALFORMED_FUNCTION_CALL', 'server'],
        ['insufficient_system_resource', 'overloaded'],
      ] as const) {
        const failure = await failureOf(chat(reported(delta({ content: 'half' }), delta({}, reason))));
        expect(failure, reason).to.include({ errorClass, isOfAnswer: true });
        expect(failure.message).to.contain(reason);
      }
      for (const [reason, stop] of [
        ['model_length', 'length'],
        ['SAFETY', 'content_filter'],
        ['sensitive', 'content_filter'],
        ['eos', 'end'],
      ] as const)
        expect((await chat(reported(delta({ content: 'a' }), delta({}, reason)))).stop, reason).to.equal(stop);
      const native = reported({ choices: [{ delta: { content: '' }, finish_reason: 'error', native_finish_reason: 'MALFORMED_FUNCTION_CALL' }] });
      expect((await failureOf(chat(native))).message).to.contain('MALFORMED_FUNCTION_CALL');
    });

    it('nbramia/LifeOS#568, lobehub#17453: thoughts that were never opened are closed', async () => {
      const events = await server.ask(createOpenAiDriver(server.exchange), reported(delta({ content: 'internal' }), delta({ content: ' reasoning</thi' }), delta({ content: 'nk>answer' }), done));
      expect(events.map((event) => (event.type === 'text' ? event.text : event.type))).to.deep.equal(['internal', ' reasoning', 'was_thought', 'answer', 'stop']);
      const claude = await server.ask(
        createAnthropicDriver(server.exchange),
        reported({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'hm</think>answer' } }, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }),
        {},
        { provider: 'deepseek', model: 'deepseek-v4-pro' },
      );
      expect(claude.map(({ type }) => type)).to.deep.equal(['text', 'was_thought', 'text', 'stop']);
    });

    const written: ReadonlyArray<readonly [name: string, text: string, found: string]> = [
      ['Hermes', 'I look.\n<tool_call>\n{"name": "look", "arguments": {"a": 1}}\n</tool_call>', 'look{"a":1}'],
      ['Qwen', '<tool_call>\n<function=look>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>', 'look{"a":1}'],
      ['GLM', '<tool_call>look\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>', 'look{"a":1}'],
      ['Kimi', '<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"a":1}<|tool_call_end|><|tool_calls_section_end|>', 'look{"a":1}'],
      ['Mistral', '[TOOL_CALLS][{"name":"look","arguments":{"a":1}}]', 'look{"a":1}'],
      ['MiniMax', '<minimax:tool_call>\n<invoke name="look">\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>', 'look{"a":1}'],
    ];
    for (const [name, text, found] of written)
      it(`a call as text of ${name}, wherever the text is cut`, async () => {
        for (const size of [1, 7, text.length]) {
          const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => delta({ content: text.slice(at * size, (at + 1) * size) }));
          const answer = await chat(reported(...pieces, done));
          expect([answer.calls, answer.text.trim(), answer.stop], String(size)).to.deep.equal([[found], name === 'Hermes' ? 'I look.' : '', 'tool_calls']);
        }
      });

    it('a call as text is text where it is spoken of, names no offered tool, is not the end, or stands beside a real one', async () => {
      for (const text of [
        'Write <tool_call>{"name":"look","arguments":{}}</tool_call> so.',
        '```\n<tool_call>{"name":"look","arguments":{}}</tool_call>\n```',
        '<tool_call>{"name":"delete_all","arguments":{}}</tool_call>',
        '<tool_call>{"name":"look","arguments":{}}</tool_call> and then more',
        '<tool_call>{"name":"look","arguments":"no"}</tool_call>',
      ])
        expect(await chat(reported(delta({ content: text }), done)), text).to.deep.include({ text, calls: [] });
      const beside = await chat(reported(delta({ content: '<tool_call>{"name":"look","arguments":{}}</tool_call>' }), tool({ name: 'system_time', arguments: '{}' }, { index: 0, id: 'a' }), done));
      expect(beside.calls).to.deep.equal(['system_time{}']);
    });
  });
});
