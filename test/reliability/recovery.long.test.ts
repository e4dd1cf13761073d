/**
 * Interrupted runs, and everything that comes in the way of their recovery. With RECOVERY_RUNS=250 it prints the table of README.md.
 * Twenty-four leave six at each of the four calls of the model at which a run may hang: what goes wrong at one of them, or for one
 * run in ten, is seen.
 */
import { type PostgresCluster, startCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { type PlannedModel, startPlannedModel } from '../crash/planned-model.js';
import { recoverFrom, recoveryTable, type Trial, WAYS_TO_RECOVER } from './recovery.js';

const RUNS = Number(process.env.RECOVERY_RUNS ?? 24);

describe(`${RUNS} interrupted runs`, function () {
  this.timeout(900_000);
  const trials: Trial[] = [];
  let model: PlannedModel;
  let cluster: PostgresCluster;

  before(async () => {
    [model, cluster] = await Promise.all([startPlannedModel(), startCluster({ maxConnections: 200 })]);
  });
  after(async () => {
    await model.close();
    await cluster.stop();
    console.log(`\n${recoveryTable(trials)}\n`);
  });

  for (const what of WAYS_TO_RECOVER)
    it(`all end, once: ${what}`, async () => {
      const trial = await recoverFrom(what, model, cluster, RUNS);
      trials.push(trial);
      expect(trial.account.problems.join('\n')).to.equal('');
      expect([trial.interrupted, trial.stranded]).to.deep.equal([RUNS, 0]);
      expect(model.faults).to.deep.equal([]);
    });
});
