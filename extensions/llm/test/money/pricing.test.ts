import { expect } from 'chai';
import { ceilingInput, costMicros, estimateInput, estimateTokens, usageOf } from '../../src/money/pricing.js';
import { request } from '../gateway-rig.js';

const PRICE = { input_cost_per_1m: 0.25, output_cost_per_1m: 2 };

describe('tokens and money', () => {
  it('cost dollars per million as micro-dollars per token, rounded up, and nothing where nothing is charged', () => {
    expect(costMicros(PRICE, 1_000, 100)).to.equal(450);
    expect(costMicros(PRICE, 1, 0)).to.equal(1);
    expect(costMicros(PRICE, 0, 0)).to.equal(0);
    // 0.1 × 3 is a little more than 0.3 to a computer.
    expect(costMicros({ input_cost_per_1m: 0.1, output_cost_per_1m: 0 }, 30, 0)).to.equal(3);
    expect(costMicros(undefined, 1_000, 1_000)).to.equal(0);
  });

  it('say that they were estimated only when they were', () => {
    expect(usageOf(PRICE, { inputTokens: 4, outputTokens: 1, estimated: true })).to.deep.equal({ inputTokens: 4, outputTokens: 1, costMicros: 3, estimated: true });
    expect(usageOf(PRICE, { inputTokens: 4, outputTokens: 1, estimated: false })).to.deep.equal({ inputTokens: 4, outputTokens: 1, costMicros: 3 });
  });

  it('are four letters each in an estimate, of every part of a request', () => {
    expect([estimateTokens(''), estimateTokens('abcd'), estimateTokens('abcde')]).to.deep.equal([0, 1, 2]);
    const empty = request({ system: '', messages: [], tools: [] });
    const tokens = (fields: Parameters<typeof request>[0]) => estimateInput({ ...empty, ...fields });
    expect(tokens({})).to.equal(0);
    expect(tokens({ system: 'x'.repeat(40) })).to.equal(10);
    const said = (...parts: ReturnType<typeof request>['messages'][number]['parts']) => tokens({ messages: [{ role: 'user', parts }] });
    expect(said()).to.equal(4);
    expect(said({ type: 'text', text: 'x'.repeat(40) })).to.equal(14);
    expect(said({ type: 'image', mediaType: 'image/png', data: 'x'.repeat(9_999) })).to.equal(1_604);
    expect(said({ type: 'tool_result', id: 'c', name: 'look', content: 'x'.repeat(40), isError: false })).to.equal(14);
    // `look` and `{"n":1}` are eleven letters.
    expect(said({ type: 'tool_call', id: 'c', name: 'look', args: { n: 1 } })).to.equal(7);
    expect(said({ type: 'tool_call', id: 'c', name: 'looking', args: undefined })).to.equal(7);
    const tool = { name: 'look', description: 'It looks', parameters: { type: 'object' } };
    // 4, 8 and 17 letters, and four tokens for the form around them.
    expect(tokens({ tools: [tool] })).to.equal(12);
    expect(tokens({ tools: [tool, tool] })).to.equal(23);
    expect(tokens({ tools: [{ ...tool, parameters: null }] })).to.equal(8);
    expect(tokens({ tools: [{ ...tool, parameters: undefined }] })).to.equal(7);
  });

  it('have a ceiling of a third of the bytes, which no common text passes', () => {
    expect(ceilingInput(request({ system: 'ü'.repeat(30), messages: [] }))).to.equal(20);
    expect(ceilingInput(request({ system: 'u'.repeat(30), messages: [] }))).to.equal(10);
  });
});
