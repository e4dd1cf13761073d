import { expect } from 'chai';
import { StrikeRegistry } from '../src/hooks/strike-registry.js';

describe('the strike book', () => {
  const create = () => {
    const time = { ms: 0 };
    const registry = new StrikeRegistry(() => time.ms);
    const strike = (count: number, place: string, everyMs: number): string[] =>
      Array.from({ length: count }, () => {
        time.ms += everyMs;
        return registry.strike('memory', place);
      });
    return { registry, time, strike };
  };

  it('suspends at the fifth strike in one place within a minute', () => {
    const { strike } = create();
    expect(strike(5, 'doctor.check', 1_000)).to.deep.equal(['noted', 'noted', 'noted', 'noted', 'suspend']);
  });

  it('does not add up strikes in several places, nor those of an earlier minute', () => {
    expect(create().strike(8, 'doctor.check', 16_000)).to.not.include('suspend');
    const { strike } = create();
    expect([...strike(4, 'doctor.check', 10), ...strike(4, 'health.probe', 10)]).to.not.include('suspend');
  });

  it('has enough when a few seconds were lost in one place, however few the strikes, and shortens the patience there', () => {
    let now = 0;
    const registry = new StrikeRegistry(() => now);
    expect(registry.patienceMs('a', 'here')).to.equal(5_000);
    expect(registry.strike('a', 'here', 2_000)).to.equal('noted');
    now += 30_000;
    expect([registry.patienceMs('a', 'here'), registry.patienceMs('a', 'there'), registry.patienceMs('b', 'here')]).to.deep.equal([3_000, 5_000, 5_000]);
    expect(registry.strike('a', 'there', 4_000)).to.equal('noted');
    expect(registry.strike('a', 'here', 3_000)).to.equal('slow');
    expect(registry.patienceMs('a', 'here'), 'nobody answers in no time').to.equal(500);
    now += 600_000;
    expect([registry.patienceMs('a', 'here'), registry.strike('a', 'here', 10)]).to.deep.equal([5_000, 'noted']);
  });

  it('quarantines at the twentieth within five minutes, wherever they were', () => {
    const { strike } = create();
    const verdicts = Array.from({ length: 20 }, (_, n) => strike(1, `place ${n}`, 14_000)[0]);
    expect(verdicts.slice(0, 19).every((verdict) => verdict === 'noted')).to.equal(true);
    expect(verdicts[19]).to.equal('quarantine');
    expect(create().strike(60, 'rare', 16_000)).to.not.include('quarantine');
  });

  it('keeps no more than it needs, and forgets when a person says so', () => {
    const { registry, strike } = create();
    strike(200, 'a tight loop', 1);
    expect(registry.count('memory')).to.equal(20);
    registry.forget('memory');
    expect(registry.count('memory')).to.equal(0);
    expect(strike(1, 'a tight loop', 1)).to.deep.equal(['noted']);
  });
});
