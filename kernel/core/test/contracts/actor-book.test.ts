import { type Actor, type SvcError, Type } from '@svc/api';
import { expect } from 'chai';
import { createActorBook } from '../../src/contracts/actor-book.js';
import { Lifetime } from '../../src/lifetime.js';

describe('the book of actors', () => {
  const stranger = { id: 'stranger', generation: 1, lifetime: new Lifetime('stranger@1') };
  const codeOf = (work: () => void): string => {
    try {
      work();
      return 'passes';
    } catch (error) {
      return (error as SvcError).code;
    }
  };

  it('hands an actor that cannot change over as one and the same, each time', () => {
    const book = createActorBook();
    const known: Actor = Object.freeze({ id: 'owner', role: 'owner', ownerId: 'owner' });
    expect(book.hand(known)).to.deep.equal(known).and.to.equal(book.hand(known));
    expect(book.hand(book.hand(known))).to.equal(book.hand(known));
  });

  it('takes one that can change as it is each time', () => {
    const book = createActorBook();
    const actor = { id: 'user:alice', role: 'admin' as Actor['role'], ownerId: 'user:alice' };
    const before = book.hand(actor);
    actor.role = 'viewer';
    expect(book.hand(actor).role).to.equal('viewer');
    expect(before.role).to.equal('admin');
  });

  it('lets a stranger act for what was handed over, and for nothing it was made of', () => {
    const book = createActorBook();
    const Asked = Type.Object({ actor: Type.Object({ id: Type.String(), role: Type.String(), ownerId: Type.String() }) });
    const known: Actor = Object.freeze({ id: 'owner', role: 'owner', ownerId: 'owner' });
    const handed = book.hand(known);
    expect(codeOf(() => book.check(stranger, Asked, { actor: handed }, 'a call'))).to.equal('passes');
    expect(codeOf(() => book.check(stranger, Asked, { actor: known }, 'a call'))).to.equal('actor_made_up');
    expect(codeOf(() => book.check(stranger, Asked, { actor: { ...known } }, 'a call'))).to.equal('actor_made_up');
  });
});
