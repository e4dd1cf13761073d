import { expect } from 'chai';
import { createCrashBook } from '../src/supervisor/crash-book.js';

describe('the crash book', () => {
  const create = () => {
    let now = 0;
    return {
      book: createCrashBook(() => now),
      pass: (ms: number) => {
        now += ms;
      },
    };
  };

  it('doubles the wait with each crash, and the fifth in ten minutes is too many', () => {
    const { book } = create();
    expect([1, 2, 3, 4, 5].map(() => book.crashed('a'))).to.deep.equal([
      { waitMs: 1_000, isTooMany: false },
      { waitMs: 2_000, isTooMany: false },
      { waitMs: 4_000, isTooMany: false },
      { waitMs: 8_000, isTooMany: false },
      { waitMs: 16_000, isTooMany: true },
    ]);
  });

  it('forgets what is older than ten minutes, and what a person forgave', () => {
    const { book, pass } = create();
    for (let times = 0; times < 4; times++) book.crashed('a');
    pass(10 * 60_000);
    expect([book.count('a'), book.crashed('a')]).to.deep.equal([0, { waitMs: 1_000, isTooMany: false }]);
    book.forget('a');
    expect(book.count('a')).to.equal(0);
  });

  it('keeps each extension apart', () => {
    const { book } = create();
    book.crashed('a');
    expect([book.count('a'), book.count('b')]).to.deep.equal([1, 0]);
  });
});
