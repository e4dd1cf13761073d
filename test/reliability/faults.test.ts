/** The short form of faults.long.test.ts: some faults by chance, on SQLite. */
import { expect } from 'chai';
import { randomOfRun } from '../crash/load.js';
import { startPlannedModel } from '../crash/planned-model.js';
import { bootFaulty, countFaults, faultsAt } from './faults.js';

const SAMPLE = 10;

describe('faults short of death', function () {
  this.timeout(300_000);

  it('at some steps of a run lose nothing, repeat nothing and block no session', async () => {
    const model = await startPlannedModel();
    const daemon = await bootFaulty(model);
    try {
      const random = randomOfRun();
      const all = faultsAt(await daemon.pointsOfMessage());
      const rows = await countFaults(daemon, Array.from({ length: SAMPLE }, () => all.splice(Math.floor(random() * all.length), 1)).flat());
      expect(rows.flatMap(({ account }) => account.problems).join('\n')).to.equal('');
      expect(rows.filter(({ told }) => told > 0).map(({ kind }) => kind)).to.deep.equal([]);
      expect(model.faults).to.deep.equal([]);
    } finally {
      await daemon.close();
      await model.close();
    }
  });
});
