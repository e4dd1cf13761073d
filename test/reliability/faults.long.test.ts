/** Every fault at every step of a run on SQLite, and at every third step on PostgreSQL. Prints the table of README.md; with FAULTS=all it has every step on both. */
import { describeOnEngines } from '@svc/testing';
import { expect } from 'chai';
import { type PlannedModel, startPlannedModel } from '../crash/planned-model.js';
import { bootFaulty, countFaults, type FaultyDaemon, faultsAt, faultTable } from './faults.js';

/** A merge of two commits that end together can make a point that only some messages have. */
const MOST_MISSED = 0.03;

describeOnEngines('a fault at each step of a run', function (engine) {
  this.timeout(900_000);
  let model: PlannedModel;
  let daemon: FaultyDaemon;

  before(async () => {
    model = await startPlannedModel();
    daemon = await bootFaulty(model);
  });
  after(async () => {
    await daemon.close();
    await model.close();
  });

  it('loses nothing, repeats nothing and blocks no session', async () => {
    const all = faultsAt(await daemon.pointsOfMessage());
    const faults = engine.name === 'SQLite' || process.env['FAULTS'] === 'all' ? all : all.filter((_fault, at) => at % 3 === 0);
    const rows = await countFaults(daemon, faults);
    console.log(`\n${engine.name}\n\n${faultTable(rows)}\n`);
    expect(rows.flatMap(({ account }) => account.problems).join('\n')).to.equal('');
    // What passes in a second is no failure of a message.
    expect(rows.filter(({ told }) => told > 0).map(({ kind }) => kind)).to.deep.equal([]);
    expect(model.faults).to.deep.equal([]);
    expect(rows.reduce((sum, { missed }) => sum + missed, 0)).to.be.at.most(faults.length * MOST_MISSED);
  });
});
