import { expect } from 'chai';
import { createGcra } from '../src/gcra.js';

const bucket = (options: Partial<{ ratePerSecond: number; windowMs: number; maxCallers: number }> = {}) => createGcra(() => ({ ratePerSecond: 10, windowMs: 1_000, maxCallers: 100, ...options }));

describe('the rate limit', () => {
  it('G1 gives a burst at once and then the rate', () => {
    const gcra = bucket();
    expect(gcra.take('a', 10, 0)).to.equal(true);

    expect(gcra.take('a', 1, 0)).to.equal(false);
    expect(gcra.take('a', 1, 99)).to.equal(false);
    expect(gcra.take('a', 1, 100)).to.equal(true);
  });

  it('G2 takes nothing for what it refuses', () => {
    const gcra = bucket();
    gcra.take('a', 8, 0);
    expect(gcra.take('a', 5, 0)).to.equal(false);

    expect(gcra.take('a', 2, 0)).to.equal(true);
  });

  it('counts each caller alone', () => {
    const gcra = bucket();
    gcra.take('a', 10, 0);

    expect(gcra.take('b', 10, 0)).to.equal(true);
  });

  it('G3 forgets the idle, and the longest unused beyond the cap', () => {
    const gcra = bucket({ maxCallers: 2 });
    gcra.take('a', 10, 0);
    gcra.take('b', 10, 0);
    gcra.take('a', 0, 0);
    gcra.take('c', 1, 0);
    expect(gcra.size()).to.equal(2);
    expect(gcra.take('a', 1, 0), 'a was used after b, so it is still known').to.equal(false);

    gcra.sweep(5_000);

    expect(gcra.size()).to.equal(0);
  });
});
