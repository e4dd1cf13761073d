import { matchesAny, matchesPattern, nearest } from '@svc/api';
import { expect } from 'chai';

describe('patterns of manifests', () => {
  it('match all, the same, or any run of characters at each star', () => {
    for (const [pattern, value] of [
      ['*', 'x'],
      ['file_read', 'file_read'],
      ['file_*', 'file_read'],
      ['*_read', 'file_read'],
      ['f*_r*d', 'file_read'],
      ['a*a', 'aa'],
    ] as const)
      expect(matchesPattern(pattern, value), pattern).to.equal(true);
    for (const [pattern, value] of [
      ['file_read', 'file_reads'],
      ['file_*', 'xfile_'],
      ['a*a', 'a'],
      ['a*b*a', 'aba_'],
      ['', 'x'],
      ['f.le', 'file'],
    ] as const)
      expect(matchesPattern(pattern, value), pattern).to.equal(false);
    expect(matchesAny(['a', 'b*'], 'bc')).to.equal(true);
    expect(matchesAny([], 'bc')).to.equal(false);
  });

  it('take no longer for a hostile pattern', () => {
    // Three times, so that a turn which a busy machine gave to others is not taken for work.
    const took = [1, 2, 3].map(() => {
      const started = performance.now();
      matchesPattern('*a'.repeat(400), 'a'.repeat(100_000));
      return performance.now() - started;
    });
    expect(Math.min(...took)).to.be.below(200);
  });
});

describe('nearest', () => {
  it('finds the word that was meant, swaps and beginnings included, and nothing for another word', () => {
    expect(nearest('fiel_read', ['file_write', 'file_read', 'shell_exec'])).to.deep.equal(['file_read']);
    expect(nearest('web', ['web_fetch', 'file_read'])).to.deep.equal(['web_fetch']);
    expect(nearest('banana', ['file_read'])).to.deep.equal([]);
    expect(nearest('x'.repeat(100_000), ['x'])).to.deep.equal([]);
  });
});
