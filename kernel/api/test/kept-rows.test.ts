/** Rows kept in memory, of which another process may change any. */
import { virtualClock, type VirtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { type KeptRows, keepRows } from '../src/kept-rows.js';

describe('rows that are kept in memory', () => {
  let clock: VirtualClock;
  let cache: KeptRows<{ id: string }>;
  let reads: number;

  beforeEach(() => {
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    cache = keepRows<{ id: string }>(clock);
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
});
