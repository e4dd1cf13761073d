/** The short form of recovery.long.test.ts: a few runs, one of the ways. */
import { type PostgresCluster, startCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { type PlannedModel, startPlannedModel } from '../crash/planned-model.js';
import { recoverFrom, WAYS_TO_RECOVER } from './recovery.js';

const RUNS = 12;

describe('runs that a death interrupted', function () {
  this.timeout(600_000);
  let model: PlannedModel;
  let cluster: PostgresCluster;

  before(async () => {
    [model, cluster] = await Promise.all([startPlannedModel(), startCluster()]);
  });
  after(async () => {
    await model.close();
    await cluster.stop();
  });

  it('all end, once, although PostgreSQL is restarted while they are recovered', async () => {
    const { account, interrupted, stranded } = await recoverFrom(WAYS_TO_RECOVER[0] ?? '', model, cluster, RUNS);
    expect([interrupted, stranded, account.problems]).to.deep.equal([RUNS, 0, []]);
    expect(model.faults).to.deep.equal([]);
  });
});
