import { expect } from 'chai';
import { compare, guardLines, LEAST_NOISE, merged, recordOf } from '../bench/guard.mjs';

interface Row {
  readonly what: string;
  readonly ratioValue?: number;
  readonly spread?: number;
  readonly better?: 'lower' | 'higher';
}

describe('the guard of the bench', () => {
  const cpu = (ratioValue: number, spread = 0): Row => ({ what: 'CPU per message', ratioValue, spread, better: 'lower' });
  const rate = (ratioValue: number, spread = 0): Row => ({ what: 'messages a second', ratioValue, spread, better: 'higher' });
  const resultsOf = (...rows: Row[]) => [{ name: 'messages', rows }];
  const names = (changes: ReadonlyArray<{ what: string }>) => changes.map(({ what }) => what);
  const recorded = recordOf(resultsOf(cpu(4), rate(0.3)));

  it('names what got worse beyond the noise, in the direction of its row', () => {
    expect(names(compare(recorded, resultsOf(cpu(5), rate(0.3))).worse)).to.deep.equal(['CPU per message']);
    expect(names(compare(recorded, resultsOf(cpu(4), rate(0.2))).worse)).to.deep.equal(['messages a second']);
  });

  it('takes a change to the good side for better, not for worse', () => {
    const found = compare(recorded, resultsOf(cpu(3), rate(0.4)));
    expect(names(found.better)).to.deep.equal(['CPU per message', 'messages a second']);
    expect(found.worse).to.deep.equal([]);
  });

  it('says nothing of a change within the least noise, even where the windows agree', () => {
    const found = compare(recorded, resultsOf(cpu(4 * (1 + LEAST_NOISE * 0.9)), rate(0.3 / (1 + LEAST_NOISE * 0.9))));
    expect([found.worse, found.better]).to.deep.equal([[], []]);
  });

  it('adds up the spread of the recorded windows and of these', () => {
    const spread = recordOf(resultsOf(cpu(4, 0.2)));
    expect(compare(spread, resultsOf(cpu(5.1, 0.1))).worse).to.deep.equal([]);
    expect(names(compare(spread, resultsOf(cpu(5.1, 0.05))).worse)).to.deep.equal(['CPU per message']);
    expect(names(compare(spread, resultsOf(cpu(5.3, 0.1))).worse)).to.deep.equal(['CPU per message']);
  });

  it('says what is missing and what is unknown, and takes neither for worse', () => {
    const found = compare(recorded, resultsOf(cpu(4), { what: 'a new row', ratioValue: 2, spread: 0, better: 'lower' }));
    expect(found).to.deep.equal({ worse: [], better: [], missing: ['messages a second'], unknown: ['a new row'] });
    expect(guardLines(found)).to.deep.equal([
      'missing: messages a second is recorded and was not measured',
      'unknown: a new row was measured and is not recorded',
      'guard: nothing got worse by more than the noise',
    ]);
  });

  it('misses no row of a measurement that did not run', () => {
    expect(compare(recorded, [{ name: 'start-up', rows: [] }]).missing).to.deep.equal([]);
  });

  it('misses the rows of a measurement that failed', () => {
    expect(compare(recorded, resultsOf({ what: 'messages' })).missing).to.deep.equal(['CPU per message', 'messages a second']);
  });

  it('shows both ratios and the noise of what got worse', () => {
    expect(guardLines(compare(recorded, resultsOf(cpu(6), rate(0.3))))).to.deep.equal(['worse: CPU per message: 4 × was recorded, 6 × now (noise 10 %)', 'guard: 1 got worse by more than the noise']);
  });

  it('records only rows with a ratio that is a number', () => {
    expect(recordOf(resultsOf(cpu(4.00019, 0.1), { what: 'idle memory' }, { what: 'broken', ratioValue: Number.NaN, spread: 0, better: 'lower' }))).to.deep.equal({
      'CPU per message': { measurement: 'messages', ratio: 4, spread: 0.1, better: 'lower' },
    });
  });

  it('keeps what other measurements have recorded, and drops rows that a measurement no longer has', () => {
    const other = recordOf([{ name: 'start-up', rows: [{ what: 'ready', ratioValue: 3, spread: 0, better: 'lower' }] }]);
    expect(Object.keys(merged({ ...recorded, ...other }, resultsOf(cpu(5))))).to.deep.equal(['ready', 'CPU per message']);
  });
});
