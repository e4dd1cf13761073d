import { expect } from 'chai';
import type { ModelMessage } from '../../src/contract.js';
import { anthropicBody } from '../../src/drivers/anthropic-body.js';
import { openaiBody } from '../../src/drivers/openai-body.js';
import { request } from '../gateway-rig.js';

const target = { provider: 'x', model: 'some-model', baseUrl: '', timeoutMs: 1 };
type Fields = Parameters<typeof request>[0];
const openai = (fields: Fields = {}, adaptation = {}) => JSON.parse(openaiBody(target, request(fields), adaptation));
const anthropic = (fields: Fields = {}, adaptation = {}) => JSON.parse(anthropicBody(target, request(fields), adaptation));

const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }];
const hello = [{ role: 'user', content: 'Hello' }];
const thinking = { budgetTokens: 5_000 };
const called: ModelMessage = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', args: { n: 1 } }] };
const failed: ModelMessage = { role: 'user', parts: [{ type: 'tool_result', id: 'c1', name: 'look', content: 'gone', isError: true }] };

describe('a request in the chat-completions protocol', () => {
  it('holds the model, the room, the stream with its usage, and nothing that was not asked', () => {
    expect(openai({ system: '' })).to.deep.equal({ model: 'some-model', messages: hello, max_tokens: 100, stream: true, stream_options: { include_usage: true } });
  });

  it('holds temperature, tools and thinking where they were asked', () => {
    expect(openai({ temperature: 0, tools, thinking })).to.deep.include({
      temperature: 0,
      reasoning_effort: 'medium',
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
    });
  });

  it('holds what the caller asked, above what the agent says, whatever the model refused', () => {
    const schema = { type: 'object' };
    const parameters = { temperature: 1.5, topP: 0.5, stop: ['END'], seed: 7, format: { type: 'json_schema' as const, name: 'x', schema, strict: true } };
    const asked = { temperature: 1.5, top_p: 0.5, stop: ['END'], seed: 7, response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } } };
    expect(openai({ temperature: 0, parameters })).to.deep.include(asked);
    expect(openai({ temperature: 0, parameters }, { noTemperature: true })).to.deep.include(asked);
    expect(openai({ parameters: { format: { type: 'json_object' } } }).response_format).to.deep.equal({ type: 'json_object' });
  });

  it('leaves out, or calls by another name, what the model refused', () => {
    const all = { noTemperature: true, noTools: true, noThinking: true, noStreamOptions: true, completionTokens: true };
    expect(openai({ system: '', temperature: 0, tools, thinking }, all)).to.deep.equal({ model: 'some-model', messages: hello, max_completion_tokens: 100, stream: true });
  });

  it('says of a failed call that it failed', () => {
    expect(openai({ system: '', messages: [called, failed] }).messages[1]).to.deep.equal({ role: 'tool', tool_call_id: 'c1', content: 'Error: gone' });
  });

  it('keeps what an assistant said together, beside its calls or alone', () => {
    const parts: ModelMessage['parts'] = [
      { type: 'text', text: 'One, ' },
      { type: 'text', text: 'two.' },
    ];
    const messages = (more: ModelMessage['parts']) => openai({ system: '', messages: [{ role: 'assistant', parts: [...parts, ...more] }] }).messages;
    expect(messages([])).to.deep.equal([{ role: 'assistant', content: 'One, two.' }]);
    expect(messages([{ type: 'tool_call', id: 'c1', name: 'look', args: undefined }])).to.deep.equal([
      { role: 'assistant', content: 'One, two.', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
    ]);
  });

  it('refuses a call in the mouth of a person', () => {
    expect(() => openai({ messages: [{ role: 'user', parts: called.parts }] })).to.throw(TypeError, /tool_call/);
  });
});

describe('a request in the messages protocol', () => {
  const text = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];

  it('holds the model, the room, the stream, and nothing that was not asked', () => {
    expect(anthropic({ system: '' })).to.deep.equal({ model: 'some-model', max_tokens: 100, messages: text, stream: true });
  });

  it('holds temperature and tools where they were asked', () => {
    expect(anthropic({ temperature: 0.5, tools })).to.deep.include({ system: 'You help.', temperature: 0.5, tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object' } }] });
  });

  it('holds thinking instead of a temperature', () => {
    const body = anthropic({ temperature: 0.5, thinking });
    expect(body.thinking).to.deep.equal({ type: 'enabled', budget_tokens: 5_000 });
    expect(body).not.to.have.property('temperature');
  });

  it("holds what the caller asked; the agent's own temperature gives way to a top_p", () => {
    expect(anthropic({ temperature: 0.2, parameters: { topP: 0.5, stop: ['END'] } }))
      .to.deep.include({ top_p: 0.5, stop_sequences: ['END'] })
      .and.not.have.property('temperature');
    expect(anthropic({ temperature: 0.2, parameters: { topP: 0.5, temperature: 0.9 } })).to.deep.include({ top_p: 0.5, temperature: 0.9 });
    expect(anthropic({ temperature: 0.2, thinking, parameters: { temperature: 0.9 } }).temperature).to.equal(0.9);
  });

  it('marks what is to be cached: the last tool, the system prompt, and the last part of the last message', () => {
    const marked = (fields: Fields) => JSON.parse(anthropicBody({ ...target, cachesPrompt: true }, request(fields), {}));
    const cache_control = { type: 'ephemeral' };
    const body = marked({ tools, messages: [called, failed] });
    expect(body.tools).to.deep.equal([{ name: 'look', description: 'Looks', input_schema: { type: 'object' }, cache_control }]);
    expect(body.messages[0].content[0]).not.to.have.property('cache_control');
    expect(body.messages[1].content[0]).to.deep.include({ type: 'tool_result', cache_control });
    // The same messages stand unmarked in the next request, where the conversation has gone on.
    expect(anthropic({ tools, messages: [called, failed] })).to.deep.include({ system: 'You help.' });
    expect(JSON.stringify(anthropic({ tools, messages: [called, failed] }))).not.to.contain('cache_control');
    expect(marked({ system: '', messages: [] })).not.to.have.property('system');
  });

  it('goes on without thinking in the middle of a round of tools', () => {
    const body = anthropic({ temperature: 0.5, thinking, messages: [called, failed] });
    expect(body).not.to.have.property('thinking');
    expect(body.temperature).to.equal(0.5);
    expect(anthropic({ thinking, messages: [called, failed, { role: 'assistant', parts: [{ type: 'text', text: 'Oh.' }] }] })).to.have.property('thinking');
    expect(anthropic({ thinking, messages: [] })).to.have.property('thinking');
  });

  it('leaves out what the model refused', () => {
    expect(anthropic({ system: '', temperature: 0.5, tools, thinking }, { noTemperature: true, noTools: true, noThinking: true })).to.deep.equal({
      model: 'some-model',
      max_tokens: 100,
      messages: text,
      stream: true,
    });
    expect(anthropic({ temperature: 0.5, thinking }, { noThinking: true }).temperature).to.equal(0.5);
  });

  it('puts results first, marks failed ones, and leaves empty texts and messages out', () => {
    const messages = anthropic({
      messages: [
        {
          role: 'assistant',
          parts: [
            { type: 'text', text: '' },
            { type: 'tool_call', id: 'c1', name: 'look', args: undefined },
          ],
        },
        { role: 'user', parts: [{ type: 'text', text: 'Well?' }, ...failed.parts] },
        { role: 'assistant', parts: [{ type: 'text', text: '' }] },
      ],
    }).messages;
    expect(messages).to.deep.equal([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'gone', is_error: true },
          { type: 'text', text: 'Well?' },
        ],
      },
    ]);
  });
});
