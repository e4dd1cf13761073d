/** Whether a model must call a tool, as each protocol writes it. */
import { expect } from 'chai';
import type { ModelRequest, Parameters } from '../../src/contract.js';
import { anthropicBody } from '../../src/drivers/anthropic-body.js';
import { geminiBody } from '../../src/drivers/gemini/gemini-body.js';
import { openaiBody } from '../../src/drivers/openai-body.js';

const TARGET = { provider: 'p', model: 'm', baseUrl: 'http://localhost', timeoutMs: 1_000 };
const request = (parameters: Parameters, hasTools = true): ModelRequest => ({
  provider: 'p',
  model: 'm',
  fallbacks: [],
  system: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
  tools: hasTools ? [{ name: 'look', description: '', parameters: { type: 'object', properties: {} }, strict: true }] : [],
  maxTokens: 10,
  thinking: { budgetTokens: 2_000 },
  parameters,
});

describe('a choice of tools', () => {
  const written: ReadonlyArray<readonly [Parameters, openai: object, anthropic: object, gemini: object]> = [
    [{ toolChoice: 'required' }, { tool_choice: 'required' }, { tool_choice: { type: 'any' } }, { mode: 'ANY' }],
    [{ toolChoice: 'none', parallelToolCalls: false }, { tool_choice: 'none', parallel_tool_calls: false }, { tool_choice: { type: 'none' } }, { mode: 'NONE' }],
    [
      { toolChoice: { name: 'look' }, parallelToolCalls: false },
      { tool_choice: { type: 'function', function: { name: 'look' } } },
      { tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true } },
      { mode: 'ANY', allowedFunctionNames: ['look'] },
    ],
  ];
  for (const [asked, openai, anthropic, gemini] of written)
    it(`is written as each protocol has it: ${JSON.stringify(asked)}`, () => {
      expect(JSON.parse(openaiBody(TARGET, request(asked), {}))).to.deep.include(openai);
      expect(JSON.parse(anthropicBody(TARGET, request(asked), {}))).to.deep.include(anthropic);
      expect(JSON.parse(geminiBody(TARGET, request(asked), {})).toolConfig.functionCallingConfig).to.deep.equal(gemini);
    });

  it('of one call at a time needs a choice at Anthropic, and a demanded call no thoughts', () => {
    expect(JSON.parse(anthropicBody(TARGET, request({ parallelToolCalls: false }), {}))).to.deep.include({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } });
    expect(JSON.parse(anthropicBody(TARGET, request({ toolChoice: 'required' }), {}))).to.not.have.property('thinking');
    expect(JSON.parse(anthropicBody(TARGET, request({ toolChoice: 'none' }), {}))).to.have.property('thinking');
  });

  it('is left out where there are no tools', () => {
    const asked = request({ toolChoice: 'none', parallelToolCalls: false }, false);
    expect(JSON.parse(openaiBody(TARGET, asked, {}))).to.not.have.any.keys('tool_choice', 'parallel_tool_calls');
    expect(JSON.parse(anthropicBody(TARGET, asked, {}))).to.not.have.property('tool_choice');
    expect(JSON.parse(geminiBody(TARGET, asked, {}))).to.not.have.property('toolConfig');
  });

  it('of strict arguments is sent where the protocol has a word for it', () => {
    expect(JSON.parse(openaiBody(TARGET, request({}), {})).tools[0].function.strict).to.equal(true);
    expect(JSON.parse(anthropicBody(TARGET, request({}), {})).tools[0]).to.not.have.property('strict');
  });
});
