/** Three daemons on one PostgreSQL under load, and every kind of failure of one of them, once each. With CHAOS_ROUNDS=3 it prints the table of README.md. */
import { type PostgresCluster, startCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { randomOfRun } from '../crash/load.js';
import { type PlannedModel, startPlannedModel } from '../crash/planned-model.js';
import { type Chaos, chaosTable, KINDS_OF_BLOW, strike } from './chaos.js';

const ROUNDS = Number(process.env.CHAOS_ROUNDS ?? 1);
const CLIENTS = 6;

describe('three daemons under load, one of them failing all the time', function () {
  this.timeout(1_200_000);
  let model: PlannedModel;
  let cluster: PostgresCluster;

  before(async () => {
    [model, cluster] = await Promise.all([startPlannedModel(1), startCluster()]);
  });
  after(async () => {
    await model.close();
    await cluster.stop();
  });

  it('answer each message once, repeat no effect, ring each timer once and lose nothing', async () => {
    const random = randomOfRun();
    const blows = Array.from({ length: ROUNDS }, () => KINDS_OF_BLOW).flat();
    const chaos: Chaos = await strike(model, await cluster.fresh(), { blows, clients: CLIENTS, random });
    console.log(`\n${chaosTable(chaos)}\n`);
    expect(chaos.account.problems.join('\n')).to.equal('');
    expect(chaos.account.acknowledged).to.equal(chaos.messages);
    expect(model.faults).to.deep.equal([]);
  });
});
