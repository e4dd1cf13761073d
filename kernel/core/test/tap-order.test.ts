import { expect } from 'chai';
import type { Tap } from '../src/hooks/hook-slot.js';
import { Lifetime } from '../src/lifetime.js';
import { orderTaps } from '../src/hooks/tap-order.js';

interface Wish {
  readonly stage?: number;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const tap = (id: string, wish: Wish = {}): Tap => ({
  owner: { id, generation: 1, lifetime: new Lifetime(id) },
  name: id,
  fn: () => undefined,
  stage: wish.stage ?? 0,
  before: wish.before ?? [],
  after: wish.after ?? [],
});

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length === 0 ? [[]] : items.flatMap((item, index) => permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]));

/** The one order that every order of loading gives. */
const orderOf = (taps: readonly Tap[]): string => {
  const orders = new Set(
    permutations(taps).map((loaded) =>
      orderTaps(loaded)
        .map((one) => one.owner.id)
        .join(' '),
    ),
  );
  expect([...orders]).to.have.length(1);
  return [...orders][0] ?? '';
};

describe('the order of taps', () => {
  it('is by stage, then by id, whatever the order of loading', () => {
    expect(orderOf([tap('d', { stage: 200 }), tap('b'), tap('c', { stage: -200 }), tap('a'), tap('e', { stage: -50 })])).to.equal('c e a b d');
  });

  it('follows before and after inside a stage', () => {
    expect(orderOf([tap('a', { after: ['c'] }), tap('b'), tap('c')])).to.equal('b c a');
    expect(orderOf([tap('c', { before: ['a'] }), tap('a'), tap('b')])).to.equal('b c a');
  });

  it('follows a chain of wishes to its end', () => {
    expect(orderOf([tap('a', { after: ['c'] }), tap('b'), tap('c', { after: ['d'] }), tap('d')])).to.equal('b d c a');
  });

  it('keeps the stage where a wish speaks against it', () => {
    expect(orderOf([tap('a', { stage: -100, after: ['b'] }), tap('b')])).to.equal('a b');
  });

  it('goes by id where wishes contradict each other', () => {
    expect(orderOf([tap('a', { after: ['b'] }), tap('b', { after: ['a'] }), tap('c')])).to.equal('c a b');
  });

  it('keeps the taps of one extension in the order it added them', () => {
    const first = tap('a');
    const second = { ...tap('a'), name: 'second' };
    expect(orderTaps([first, tap('b'), second]).map((one) => one.name)).to.deep.equal(['a', 'second', 'b']);
  });

  it('does not mind wishes about who is not there', () => {
    expect(orderOf([tap('b', { before: ['nobody'], after: ['no-one'] }), tap('a')])).to.equal('a b');
  });
});
