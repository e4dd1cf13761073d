/** Rows kept in memory, of which another process may change any. */
import { virtualClock, type VirtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { type Actor, actorFrom } from '../src/actor.js';
import { type RowCache, cacheRows, readOneCached } from '../src/row-cache.js';

describe('rows that are kept in memory', () => {
  let clock: VirtualClock;
  let cache: RowCache<{ id: string }>;
  let reads: number;

  beforeEach(() => {
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    cache = cacheRows<{ id: string }>(clock);
    reads = 0;
  });

  const agent = { id: 'a' };
  const get = async (): Promise<void> => {
    if (cache.get('a')) return;
    await cache.load('a', async () => {
      reads += 1;
      return agent;
    });
  };

  it('are read anew after three seconds, however often they are asked for', async () => {
    for (let ms = 0; ms < 3_000; ms += 500) {
      await get();
      await clock.advance(500);
    }
    expect(reads).to.equal(1);
    await get();
    expect(reads).to.equal(2);
  });

  it('are read anew when somebody says that they changed, also while they are read', async () => {
    await get();
    cache.changed('a');
    expect(cache.get('a')).to.equal(undefined);
    await cache.load('a', async () => {
      cache.changed('a');
      return agent;
    });
    expect(cache.get('a')).to.equal(undefined);
    await get();
    expect(cache.get('a')).to.equal(agent);
  });

  describe('of one id, for who sees all', () => {
    const owner: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
    const bob: Actor = actorFrom({ id: 'user:bob', role: 'user', ownerId: 'user:bob' });
    const counts = { kept: cacheRows<number>(virtualClock(0)), reads: 0 };
    const read = (actor: Actor, ids: readonly string[], found: Record<string, number>) =>
      readOneCached(counts.kept, actor, ids, 0, async () => {
        counts.reads += 1;
        return found;
      });

    it('are read once, and so is that there are none', async () => {
      expect(await read(owner, ['x'], { x: 3 })).to.deep.equal({ x: 3 });
      expect(await read(owner, ['x'], {})).to.deep.equal({ x: 3 });
      expect(await read(owner, ['y'], {})).to.deep.equal({ y: 0 });
      expect(await read(owner, ['y'], { y: 1 })).to.deep.equal({ y: 0 });
      expect(counts.reads).to.equal(2);
    });

    it('are never what somebody who sees less is told, nor taken from what they were told', async () => {
      expect(await read(bob, ['x'], { x: 1 })).to.deep.equal({ x: 1 });
      expect(await read(owner, ['x'], {})).to.deep.equal({ x: 3 });
    });

    it('are not looked at when several are asked for', async () => {
      expect(await read(owner, ['x', 'y'], { x: 4, y: 5 })).to.deep.equal({ x: 4, y: 5 });
      expect(await read(owner, [], {})).to.deep.equal({});
    });
  });
});
