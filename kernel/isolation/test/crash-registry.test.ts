import { expect } from 'chai';
import { createCrashRegistry } from '../src/supervisor/crash-registry.js';

describe('the crash book', () => {
  const create = () => {
    let now = 0;
    return {
      registry: createCrashRegistry(() => now),
      pass: (ms: number) => {
        now += ms;
      },
    };
  };

  it('doubles the wait with each crash, and the fifth in ten minutes is too many', () => {
    const { registry } = create();
    expect([1, 2, 3, 4, 5].map(() => registry.crashed('a'))).to.deep.equal([
      { waitMs: 1_000, isTooMany: false },
      { waitMs: 2_000, isTooMany: false },
      { waitMs: 4_000, isTooMany: false },
      { waitMs: 8_000, isTooMany: false },
      { waitMs: 16_000, isTooMany: true },
    ]);
  });

  it('forgets what is older than ten minutes, and what a person forgave', () => {
    const { registry, pass } = create();
    for (let times = 0; times < 4; times++) registry.crashed('a');
    pass(10 * 60_000);
    expect([registry.count('a'), registry.crashed('a')]).to.deep.equal([0, { waitMs: 1_000, isTooMany: false }]);
    registry.forget('a');
    expect(registry.count('a')).to.equal(0);
  });

  it('keeps each extension apart', () => {
    const { registry } = create();
    registry.crashed('a');
    expect([registry.count('a'), registry.count('b')]).to.deep.equal([1, 0]);
  });
});
