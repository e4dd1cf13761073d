/** What is learned of a model's window from the words of a refusal. */
import { expect } from 'chai';
import { createWindows, shareThatFits } from '../src/call/windows.js';

describe('a window that only the provider knows', () => {
  const SAID: ReadonlyArray<readonly [said: string, share: number]> = [
    ['request (20600 tokens) exceeds the available context size (10000 tokens), try increasing it', 10_000 / 20_600],
    ["This model's maximum context length is 4096 tokens. However, you requested 8000 tokens (7500 in the messages, 500 in the completion).", 4096 / 8000],
    ['prompt is too long: 400000 tokens > 200000 maximum', 0.5],
    ['The input token count (2000000) exceeds the maximum number of tokens allowed (1000000).', 0.5],
    ['on tokens per min (TPM): Limit 30,000, Requested 60,000.', 0.5],
    ['n_keep: 9000 >= n_ctx: 4500', 0.5],
  ];
  for (const [said, share] of SAID) it(`is read from: ${said.slice(0, 40)}`, () => expect(shareThatFits(said)).to.be.closeTo(share * 0.95, 0.001));

  it('is guessed where the words have no numbers, shrinks with each refusal, and is of one model', () => {
    const windows = createWindows();
    expect(windows.of('a', 'm')).to.equal(undefined);
    windows.refused('a', 'm', 100_000, 'too long');
    expect(windows.of('a', 'm')).to.equal(60_000);
    windows.refused('a', 'm', 500_000, 'too long');
    expect(windows.of('a', 'm')).to.equal(54_000);
    expect(windows.of('b', 'm')).to.equal(undefined);
  });
});
