/** Who sees the name of an agent that is in memory. */
import { actorFrom } from '@svc/api';
import { expect } from 'chai';
import { servedAgents } from '../src/service.js';

type Served = typeof servedAgents;

describe('the name of an agent in memory', () => {
  const alice = actorFrom({ id: 'user:alice', role: 'user', ownerId: 'user:alice' });
  const bob = actorFrom({ id: 'user:bob', role: 'user', ownerId: 'user:bob' });
  const admin = actorFrom({ id: 'user:root', role: 'admin', ownerId: 'user:root' });
  const briefsOf = (state = 'Running') => {
    const asked: unknown[] = [];
    // Only what briefs uses.
    const deps = {
      cache: { get: (id: string) => (id === 'a1' ? { id, name: 'one', sessionId: 's1', ownerId: 'user:alice', state } : undefined) },
      store: {
        briefs: async (_actor: unknown, ids: readonly string[]) => {
          asked.push(ids);
          return {};
        },
      },
    } as unknown as Parameters<Served>[0];
    const { briefs } = servedAgents(deps, {} as Parameters<Served>[1]);
    return { asked, briefs: (actor: Parameters<typeof briefs>[0], ids: readonly string[]) => briefs(actor, ids, {} as Parameters<typeof briefs>[2]) };
  };

  it('is given without a read to its owner and to admins, and to nobody else', async () => {
    const { asked, briefs } = briefsOf();
    for (const actor of [alice, admin]) expect(await briefs(actor, ['a1'])).to.deep.equal({ a1: { name: 'one', sessionId: 's1' } });
    expect(asked).to.deep.equal([]);
    expect([await briefs(bob, ['a1']), asked]).to.deep.equal([{}, [['a1']]]);
  });

  it('is read from the database for several agents, one that is not in memory, and one that was ended', async () => {
    const { asked, briefs } = briefsOf();
    await briefs(alice, ['a1', 'a2']);
    await briefs(alice, ['a2']);
    expect(asked).to.deep.equal([['a1', 'a2'], ['a2']]);
    const ended = briefsOf('Terminated');
    await ended.briefs(alice, ['a1']);
    expect(ended.asked).to.deep.equal([['a1']]);
  });
});
