import { type Actor, type SvcError, Type, actorFrom } from '@svc/api';
import { expect } from 'chai';
import { createActorRegistry } from '../../src/contracts/actor-registry.js';
import { Lifetime } from '../../src/lifetime.js';

describe('the book of actors', () => {
  const thirdParty = { id: 'stranger', generation: 1, lifetime: new Lifetime('stranger@1') };
  const codeOf = (work: () => void): string => {
    try {
      work();
      return 'passes';
    } catch (error) {
      return (error as SvcError).code;
    }
  };

  it('hands an actor that cannot change over as one and the same, each time', () => {
    const registry = createActorRegistry();
    const known: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
    expect(registry.hand(known)).to.deep.equal(known).and.to.equal(registry.hand(known));
    expect(registry.hand(registry.hand(known))).to.equal(registry.hand(known));
  });

  it('takes no object literal for an actor: this does not compile when it does', () => {
    interface Written {
      readonly id: string;
      readonly role: 'owner';
      readonly ownerId: string;
    }
    const isActor: Written extends Actor ? true : false = false;
    expect(isActor).to.equal(false);
  });

  it('takes one that can change as it is each time', () => {
    const registry = createActorRegistry();
    // As code that no compiler has seen makes one.
    const actor = { id: 'user:alice', role: 'admin', ownerId: 'user:alice' };
    const before = registry.hand(actor as Actor);
    actor.role = 'viewer';
    expect(registry.hand(actor as Actor).role).to.equal('viewer');
    expect(before.role).to.equal('admin');
  });

  it('lets a third party act for what was handed over, and for nothing it was made of', () => {
    const registry = createActorRegistry();
    const Asked = Type.Object({ actor: Type.Object({ id: Type.String(), role: Type.String(), ownerId: Type.String() }) });
    const known: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
    const handed = registry.hand(known);
    expect(codeOf(() => registry.check(thirdParty, Asked, { actor: handed }, 'a call'))).to.equal('passes');
    expect(codeOf(() => registry.check(thirdParty, Asked, { actor: known }, 'a call'))).to.equal('actor_made_up');
    expect(codeOf(() => registry.check(thirdParty, Asked, { actor: { ...known } }, 'a call'))).to.equal('actor_made_up');
  });
});
