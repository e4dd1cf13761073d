/** Where a log can be cut. */
import { expect } from 'chai';
import { type Outlined, wholeTurns } from '../src/branching/turns.js';

const log = (text: string): Outlined[] => {
  const kinds = { u: 'user', a: 'assistant', c: 'tool_call', r: 'tool_result', s: 'summary', n: 'note', m: 'recall' } as const;
  return text.split(' ').map((word, index) => ({ seq: index + 1, kind: kinds[word[0] as keyof typeof kinds], runId: word[1] === undefined ? null : `r${word[1]}` })); // the words of this test
};

/** Where each cut of the log ends, behind entry 1, 2, 3 … */
const cuts = (text: string, keep: 'all' | 'none'): number[] => {
  const entries = log(text);
  return entries.map(({ seq }) => wholeTurns(entries, seq, keep));
};

describe('a cut of a log', () => {
  it('parts no answer from its calls, and no call from its result', () => {
    expect(cuts('u1 a1 c1 c1 r1 r1 a1 u2', 'all')).to.deep.equal([1, 6, 6, 6, 6, 6, 7, 8]);
    expect(cuts('u1 a1 c1 c1 r1 r1 a1 u2', 'none')).to.deep.equal([1, 1, 1, 1, 1, 6, 7, 8]);
  });

  it('takes answers without words, and one round after the other', () => {
    expect(cuts('u1 c1 r1 c1 r1 a1', 'all')).to.deep.equal([1, 3, 3, 5, 5, 6]);
    expect(cuts('u1 c1 r1 c1 r1 a1', 'none')).to.deep.equal([1, 1, 3, 3, 5, 6]);
  });

  it('takes along what others wrote in between', () => {
    expect(cuts('u1 a1 c1 s r1 n1', 'all')).to.deep.equal([1, 5, 5, 5, 5, 6]);
    expect(cuts('u1 a1 c1 s r1 n1', 'none')).to.deep.equal([1, 1, 1, 1, 5, 6]);
  });

  it('can stand behind a call that never had a result, once another run has begun', () => {
    expect(cuts('u1 c1 n1 u2 a2', 'all')).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('parts no question from what was recalled for it', () => {
    expect(cuts('u1 a1 m2 m2 u2 a2 c2 r2', 'none')).to.deep.equal([1, 2, 2, 2, 5, 5, 5, 8]);
    expect(cuts('u1 a1 m2 m2 u2 a2', 'all')).to.deep.equal([1, 2, 5, 5, 5, 6]);
  });

  it('stands where it was asked for where there is nothing to part', () => {
    expect(wholeTurns([], 0, 'none')).to.equal(0);
    expect(wholeTurns(log('u1 a1'), 2, 'all')).to.equal(2);
  });
});
