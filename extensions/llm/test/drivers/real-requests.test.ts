/** What providers were seen to want and to count, by the public thread that shows it. Each stands here as it stands on the wire, with the right value. */
import { expect } from 'chai';
import type { DriverEvent, ModelMessage } from '../../src/contract.js';
import { createAnthropicDriver } from '../../src/drivers/anthropic.js';
import { createGeminiDriver } from '../../src/drivers/gemini/gemini.js';
import { createOpenAiDriver } from '../../src/drivers/openai.js';
import type { request } from '../gateway-rig.js';
import { type Raw, type RawServer, reported, startRawServer } from './raw-server.js';

type Names = { provider: string; model: string };
const delta = (fields: object, finish_reason: string | null = null, more: object = {}) => ({ choices: [{ index: 0, delta: fields, finish_reason }], ...more });
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

describe('requests and tokens as they were seen', () => {
  let server: RawServer;
  before(async () => {
    server = await startRawServer();
  });
  beforeEach(() => server.forget());
  after(() => server.close());

  const chat = async (raw: Raw | string | readonly Raw[], fields: Parameters<typeof request>[0] = {}, names: Names = { provider: 'x', model: 'm' }) =>
    said(await server.ask(createOpenAiDriver(server.exchange), raw, { tools, ...fields }, names));

  describe('kind 5: the order of roles', () => {
    const broken: ModelMessage[] = [
      { role: 'user', parts: [{ type: 'text', text: 'time?' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'system_time', args: {} }] },
      {
        role: 'user',
        parts: [
          { type: 'tool_result', id: 'c1', name: 'system_time', content: 'noon', isError: false },
          { type: 'text', text: 'and now?' },
        ],
      },
    ];
    const roles = () => server.sent.map(({ messages }) => (messages as Array<{ role: string }>).map(({ role }) => role[0]).join(''));
    const good: Raw = { body: reported(delta({ content: 'ok' }, 'stop')) };

    it('pi-neuralwatt#12: known of models of Mistral, whoever serves them, and of no others', async () => {
      for (const names of [
        { provider: 'mistral', model: 'm' },
        { provider: 'nim', model: 'mistralai/Devstral-Small-2' },
        { provider: 'x', model: 'qwen3' },
      ])
        await chat([good], { messages: broken }, names);
      expect(roles()).to.deep.equal(['suatau', 'suatau', 'suatu']);
    });

    const refusals: ReadonlyArray<readonly [string, Raw]> = [
      [
        'mini-swe-agent#759, by llama.cpp',
        {
          status: 500,
          type: 'application/json',
          body: JSON.stringify({
            error: {
              code: 500,
              message: 'Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
              type: 'server_error',
            },
          }),
        },
      ],
      ['eclipse-peon-ai#75, in a stream', { body: reported({ error: { code: 'server_error', message: 'Jinja Exception: conversation roles must alternate user and assistant roles' } }) }],
      [
        'vllm-project/vllm#6862, by vLLM',
        {
          status: 400,
          type: 'application/json',
          body: JSON.stringify({ object: 'error', message: 'Conversation roles must alternate user/assistant/user/assistant/...', type: 'BadRequestError', code: 400 }),
        },
      ],
    ];
    for (const [name, refusal] of refusals)
      it(`is learned from a refusal: ${name}`, async () => {
        await chat([refusal, good], { messages: broken });
        expect(roles()).to.deep.equal(['suatu', 'suatau']);
      });

    it('a conversation that ends with an answer gets a word of the user', async () => {
      await chat([good], { messages: [...broken, { role: 'assistant', parts: [{ type: 'text', text: 'It is' }] }] }, { provider: 'mistral', model: 'm' });
      expect(roles()).to.deep.equal(['suatauau']);
    });

    it('autogen#1037: a template without a system role has the prompt in the first message', async () => {
      const refusal: Raw = { status: 400, type: 'application/json', body: JSON.stringify({ error: { message: 'System role not supported' } }) };
      await chat([refusal, good]);
      expect(roles()).to.deep.equal(['su', 'u']);
      expect(JSON.stringify(server.sent[1])).to.contain('You help.');
    });
  });

  describe('kind 9: tokens', () => {
    const tokens = async (...chunks: object[]) => {
      const { usage } = await chat(reported(delta({ content: 'a' }), ...chunks));
      return usage && [usage.inputTokens, usage.outputTokens, usage.cacheReadTokens ?? 0];
    };
    const of = (usage: object) => ({ ...done, usage });
    it('stand in other places: Groq, Moonshot, llama.cpp', async () => {
      expect(await tokens(done, { choices: [], x_groq: { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } } })).to.deep.equal([7, 3, 0]);
      expect(await tokens({ choices: [{ delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 5 } }] })).to.deep.equal([7, 3, 5]);
      expect(await tokens({ ...done, timings: { prompt_n: 2, cache_n: 5, predicted_n: 3 } })).to.deep.equal([7, 3, 5]);
    });
    it('are thought beside the completion or within it', async () => {
      expect(await tokens(of({ prompt_tokens: 10, completion_tokens: 100, total_tokens: 160, completion_tokens_details: { reasoning_tokens: 50 } }))).to.deep.equal([10, 150, 0]);
      expect(await tokens(of({ prompt_tokens: 10, completion_tokens: 100, total_tokens: 110, completion_tokens_details: { reasoning_tokens: 50 } }))).to.deep.equal([10, 100, 0]);
      expect(await tokens(of({ prompt_tokens: 10, completion_tokens: 4, total_tokens: 64 })), 'Gemini over chat completions').to.deep.equal([10, 54, 0]);
    });
    it('are read from caches under many names, within the prompt or beside it', async () => {
      expect(await tokens(of({ prompt_tokens: 100, completion_tokens: 1, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }))).to.deep.equal([100, 1, 60]);
      expect(await tokens(of({ prompt_tokens: 100, completion_tokens: 1, cache_read_input_tokens: 60 }))).to.deep.equal([100, 1, 60]);
      expect(await tokens(of({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 1_011, prompt_tokens_details: { cached_tokens: 1_000 } }))).to.deep.equal([1_010, 1, 1_000]);
    });
    it('grow with each event, and a late zero takes nothing back', async () => {
      expect(
        await tokens({ ...delta({ content: 'b' }), usage: { prompt_tokens: 7, completion_tokens: 1 } }, of({ prompt_tokens: 7, completion_tokens: 9 }), {
          choices: [],
          usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
        }),
      ).to.deep.equal([7, 9, 0]);
    });
    it('are the highest of each part on the other wires', async () => {
      const claude = said(
        await server.ask(
          createAnthropicDriver(server.exchange),
          reported(
            { type: 'message_start', message: { usage: { input_tokens: 10, cache_read_input_tokens: 0, output_tokens: 1 } } },
            { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 0, cache_read_input_tokens: 500, output_tokens: 4 } },
            { type: 'message_stop' },
          ),
        ),
      );
      expect(claude.usage).to.deep.include({ inputTokens: 510, outputTokens: 4, cacheReadTokens: 500 });
      const part = (usageMetadata: object, more: object = {}) => ({ candidates: [{ content: { parts: [{ text: 'a' }] }, ...more }], usageMetadata });
      const gemini = said(
        await server.ask(
          createGeminiDriver(server.exchange),
          reported(part({ promptTokenCount: 9, thoughtsTokenCount: 30 }), part({ promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 43 }, { finishReason: 'STOP' })),
        ),
      );
      expect(gemini.usage).to.deep.include({ inputTokens: 9, outputTokens: 34 });
    });
  });

  describe('kind 11: thinking', () => {
    const sent = async (provider: string, model: string) => {
      server.forget();
      await chat(reported(delta({ content: 'a' }, 'stop')), { thinking: { budgetTokens: 4_096 } }, { provider, model });
      const { reasoning_effort, reasoning, thinking, enable_thinking, thinking_budget, chat_template_kwargs } = server.sent[0] ?? {};
      return JSON.parse(JSON.stringify({ reasoning_effort, reasoning, thinking, enable_thinking, thinking_budget, chat_template_kwargs }));
    };
    it('takes the form of each provider and model', async () => {
      for (const [provider, model, form] of [
        ['openai', 'gpt-5-mini', { reasoning_effort: 'medium' }],
        ['openrouter', 'anthropic/claude-sonnet-4.5', { reasoning: { max_tokens: 4_096 } }],
        ['openrouter', 'openai/gpt-oss-120b', { reasoning: { effort: 'medium' } }],
        ['deepseek', 'deepseek-v4-pro', { thinking: { type: 'enabled' } }],
        ['moonshot', 'kimi-k2.6', { thinking: { type: 'enabled' } }],
        ['zai', 'glm-4.7', { thinking: { type: 'enabled' } }],
        ['qwen', 'qwen3-235b-a22b', { enable_thinking: true, thinking_budget: 4_096 }],
        ['groq', 'qwen/qwen3-32b', { reasoning_effort: 'default' }],
        ['mistral', 'mistral-small-latest', { reasoning_effort: 'high' }],
        ['vllm', 'Qwen/Qwen3-8B', { chat_template_kwargs: { enable_thinking: true, thinking: true } }],
        ['ollama', 'qwen3:8b', { reasoning_effort: 'medium' }],
        ['xai', 'grok-4-fast-reasoning', {}],
      ] as const)
        expect(await sent(provider, model), `${provider} ${model}`).to.deep.equal(form);
    });

    it('egoist/chatwise#1325: the amount that a refusal names is taken; a refusal of all of them is told', async () => {
      const refusal = (message: string): Raw => ({ status: 400, type: 'application/json', body: JSON.stringify({ error: { message } }) });
      const good: Raw = { body: reported(delta({ content: 'a' }, 'stop')) };
      await chat([refusal("reasoning_effort must be one of 'none', 'default'"), good], { thinking: { budgetTokens: 2_000 } });
      expect(server.sent.map((body) => body.reasoning_effort)).to.deep.equal(['low', 'default']);
      const events = await server.ask(createOpenAiDriver(server.exchange), [refusal('reasoning_effort is not supported'), good], { thinking: { budgetTokens: 2_000 } });
      expect(events[0]).to.deep.equal({ type: 'left_out', leftOut: [{ parameter: 'thinking', why: 'the model refuses it' }] });
    });

    it('earendil-works/pi#3297: Claude is told in the form that its refusal names', async () => {
      const refusal: Raw = {
        status: 400,
        type: 'application/json',
        body: JSON.stringify({ error: { message: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.' } }),
      };
      const end: Raw = { body: reported({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }) };
      await server.ask(createAnthropicDriver(server.exchange), [refusal, end], { thinking: { budgetTokens: 8_192 } }, { provider: 'anthropic', model: 'claude-next' });
      expect(server.sent.map((body) => [body.thinking, body.output_config])).to.deep.equal([
        [{ type: 'enabled', budget_tokens: 8_192 }, undefined],
        [{ type: 'adaptive' }, { effort: 'high' }],
      ]);
    });
  });
});
