import { expect } from 'chai';
import { checkRepetition } from '../src/repetition.js';

const calls = (digest: string, count: number) => Array.from({ length: count }, () => ({ digest }));

describe('loop guard', () => {
  it('L1 warns at the third and fourth identical call', () => {
    const verdicts = [0, 1, 2, 3].map((earlier) => checkRepetition('a', calls('a', earlier)).verdict);
    expect(verdicts).to.deep.equal(['run', 'run', 'warn', 'warn']);
  });

  it('L2 blocks from the fifth identical call on', () => {
    expect(checkRepetition('a', calls('a', 4))).to.deep.equal({ verdict: 'block', identical: 5 });
    expect(checkRepetition('a', calls('a', 11))).to.deep.equal({ verdict: 'block', identical: 12 });
  });

  it('counts calls with other arguments apart', () => {
    expect(checkRepetition('b', [...calls('a', 10), ...calls('b', 1)]).verdict).to.equal('run');
  });

  it('L3 breaks the run at its thirtieth blocked call, of whichever tools', () => {
    expect(checkRepetition('a', calls('a', 32))).to.deep.equal({ verdict: 'block', identical: 33 });
    expect(checkRepetition('a', calls('a', 33))).to.deep.equal({ verdict: 'break', blocked: 30 });
    const mixed = [...calls('a', 19), ...calls('b', 18)];
    expect(checkRepetition('b', mixed)).to.deep.equal({ verdict: 'break', blocked: 30 });
  });

  it('L3 keeps refusing after the break, even a call that is new', () => {
    expect(checkRepetition('new', calls('a', 34)).verdict).to.equal('break');
  });

  it('L4 gives the same verdict whatever became of the earlier calls', () => {
    const earlier = ['completed', 'error', 'denied', 'outcome_unknown'].map((status) => ({ digest: 'a', status }));
    expect(checkRepetition('a', earlier).verdict).to.equal('block');
  });
});
