import { expect } from 'chai';
import { ceilingInput, ceilingMicros, ceilingOfWords, costMicros, estimateInput, estimateTokens, usageOf } from '../../src/money/pricing.js';
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

  it('cost what the cache and the length of the request make of them, exactly', () => {
    const price = {
      input_cost_per_1m: 3,
      output_cost_per_1m: 15,
      cache_read_cost_per_1m: 0.3,
      cache_write_cost_per_1m: 3.75,
      context_tiers: [
        { above_input_tokens: 200_000, input_cost_per_1m: 6, output_cost_per_1m: 22.5, cache_read_cost_per_1m: 0.6 },
        { above_input_tokens: 500_000, input_cost_per_1m: 5, output_cost_per_1m: 20 },
      ],
    };
    expect(costMicros(price, 1_000, 10)).to.equal(3_150);
    expect(costMicros(price, 1_000, 10, { cacheReadTokens: 800, cacheWriteTokens: 100 })).to.equal(100 * 3 + 800 * 0.3 + 100 * 3.75 + 150);
    expect(costMicros(price, 200_000, 0)).to.equal(600_000);
    expect(costMicros(price, 200_001, 2, { cacheReadTokens: 200_000 })).to.equal(120_000 + 6 + 45);
    // Without a price of its own in a tier, what was cached is input.
    expect(costMicros(price, 600_000, 0, { cacheReadTokens: 600_000 })).to.equal(3_000_000);
    // More cached tokens than there were is no count.
    expect(costMicros(price, 100, 0, { cacheReadTokens: 90, cacheWriteTokens: 11 })).to.equal(300);
    // Doubles would be off here.
    expect(costMicros({ input_cost_per_1m: 0.1, output_cost_per_1m: 0.2 }, 99_999_999, 99_999_997)).to.equal(30_000_000);
    expect(costMicros({ input_cost_per_1m: 99_999.1, output_cost_per_1m: 0 }, 100_000_000, 0)).to.equal(9_999_910_000_000);
  });

  it('are reserved at the highest rate that can apply, which no usage of as many tokens passes', () => {
    const price = {
      input_cost_per_1m: 3,
      output_cost_per_1m: 15,
      cache_write_cost_per_1m: 3.75,
      context_tiers: [{ above_input_tokens: 200_000, input_cost_per_1m: 6, output_cost_per_1m: 12, cache_write_cost_per_1m: 7.5 }],
    };
    expect(ceilingMicros(price, 1_000, 10)).to.equal(3_750 + 150);
    expect(ceilingMicros(price, 200_001, 10)).to.equal(1_500_008 + 150);
    for (const input of [1, 199_999, 200_000, 200_001])
      for (const cached of [{}, { cacheWriteTokens: input }, { cacheReadTokens: input }]) expect(costMicros(price, input, 10, cached)).to.be.at.most(ceilingMicros(price, 200_001, 10));
    expect(ceilingMicros(undefined, 1_000, 10)).to.equal(0);
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
    expect(ceilingInput(ceilingOfWords(request({ system: 'ü'.repeat(30), messages: [] })), {})).to.equal(20);
    expect(ceilingInput(ceilingOfWords(request({ system: 'u'.repeat(30), messages: [] })), undefined)).to.equal(10);
  });

  it('have a ceiling for each image, by what the model takes for one, and a high one where no catalog knows the model', () => {
    const image = { type: 'image', mediaType: 'image/png', data: '' } as const;
    const shown = ceilingOfWords(request({ system: '', messages: [{ role: 'user', parts: [image, image] }] }));
    const words = ceilingInput(ceilingOfWords(request({ system: '', messages: [{ role: 'user', parts: [] }] })), {});
    expect([{ image_tokens: 48_200 }, { image_tokens: 300 }, {}, undefined].map((model) => ceilingInput(shown, model) - words)).to.deep.equal([96_400, 600, 8_400, 100_000]);
  });
});
