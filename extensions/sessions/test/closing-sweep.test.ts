/** The sweep of closed sessions, as a function. */
import type { Logger, Write } from '@svc/api';
import { expect } from 'chai';
import { createSweep } from '../src/closing/closing.js';

const log: Logger = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };

describe('the sweep of closed sessions', () => {
  /** What is closed, what is erased, and what each erasure waits for. */
  const setUp = (erasure: () => Promise<void>) => {
    const [closed, erased, begun] = [new Set<string>(), [] as string[], [] as string[]];
    const sweep = createSweep({
      store: {
        unerased: async (_now, limit) => [...closed].slice(0, limit),
        unmoved: async () => [],
        removeRows: async () => undefined,
        erased: (id): Write => {
          closed.delete(id);
          erased.push(id);
          return { sealed: id };
        },
      },
      commit: async () => ({ changes: [] }),
      purge: async ({ sessionId = '' }) => {
        begun.push(sessionId);
        await erasure();
        return { id: sessionId, complete: true, waiting: [] };
      },
      gone: () => undefined,
      bin: { take: async () => false, comeBack: async () => undefined },
      clock: { iso: () => '2026-01-01T00:00:00.000Z' },
      log,
    });
    return { closed, erased, begun, sweep };
  };

  it('takes along what is closed while another sweep is under way', async () => {
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { closed, erased, begun, sweep } = setUp(() => held);
    closed.add('a');
    const first = sweep();
    while (begun.length === 0) await Promise.resolve();
    closed.add('b');
    const second = [sweep(), sweep()];
    goOn();
    await first;
    await Promise.all(second);
    expect(erased).to.deep.equal(['a', 'b']);
    expect(begun).to.deep.equal(['a', 'b']);
  });

  it('goes on after one that failed', async () => {
    const faults = [new Error('away for a moment')];
    const { closed, erased, sweep } = setUp(() => (faults.length > 0 ? Promise.reject(faults.shift()) : Promise.resolve()));
    closed.add('a');
    await sweep();
    expect(erased).to.deep.equal([]);
    await sweep();
    expect(erased).to.deep.equal(['a']);
  });
});
