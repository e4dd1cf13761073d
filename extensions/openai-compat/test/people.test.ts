/** The conversation of each person that a client speaks for. */
import type { Db } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import type { Agent } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { systemClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createPeople } from '../src/conversation/people.js';

const alice = actorOf('user:alice');
const bob = actorOf('user:bob');
// Nothing else of an agent is asked for.
const agentOf = (id: string) => ({ id, name: `agent ${id}` }) as Agent;
const UUID_8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the people of a client', () => {
  /** Sessions as they were begun, and how many the agent is said to have. */
  const open = (all = 0) => {
    const begun = new Map<string, { ownerId: string; label: string | undefined }>();
    const sessions: Pick<SessionsService, 'agentOf' | 'counts' | 'create'> = {
      agentOf: async (id) => (begun.has(id) ? 'a' : undefined),
      counts: async (_actor, [id = '']) => ({ [id]: { all, recent: 0 } }),
      create: async (actor, agentId, { id = '', label } = {}) => {
        begun.set(id, { ownerId: actor.ownerId, label });
        return { ref: { id, agentId, ownerId: actor.ownerId, seq: 0 }, writes: [] };
      },
    };
    const commit: Db['commit'] = async () => ({ changes: [] }) as never; // nobody reads what a commit gives
    return { begun, people: createPeople({ sessions: sessions as SessionsService, commit, clock: systemClock(), ids: { uuid: () => 'fresh' } as never }) }; // no other id is asked for
  };

  it('have a session each, told apart by caller, agent and name, and the same each time', async () => {
    const { people, begun } = open();
    const ids = [
      await people.sessionOf(alice, agentOf('a'), 'ada'),
      await people.sessionOf(bob, agentOf('a'), 'ada'),
      await people.sessionOf(alice, agentOf('b'), 'ada'),
      await people.sessionOf(alice, agentOf('a'), 'Ada'),
    ];
    expect(new Set(ids).size).to.equal(4);
    for (const id of ids) expect(id).to.match(UUID_8);
    expect(await people.sessionOf(alice, agentOf('a'), 'ada')).to.equal(ids[0]);
    expect([begun.size, begun.get(ids[1] ?? '')?.ownerId]).to.deep.equal([4, 'user:bob']);
  });

  it('are named in the label, in the letters that labels have', async () => {
    const { people, begun } = open();
    const id = await people.sessionOf(alice, agentOf('a'), `ada@example.org ${'x'.repeat(400)}`);
    expect(begun.get(id)?.label)
      .to.match(/^[A-Za-z0-9 _-]{1,128}$/)
      .and.to.contain('user ada-example-org');
  });

  it('are refused where the agent has ten thousand sessions, but for those who have theirs', async () => {
    const few = open(9_999);
    const id = await few.people.sessionOf(alice, agentOf('a'), 'ada');
    const many = open(10_000);
    expect(await many.people.sessionOf(alice, agentOf('a'), 'ada').catch((error: { code: string }) => error.code)).to.equal('too_many_users');
    many.begun.set(id, { ownerId: alice.ownerId, label: undefined });
    expect(await many.people.sessionOf(alice, agentOf('a'), 'ada')).to.equal(id);
  });
});
