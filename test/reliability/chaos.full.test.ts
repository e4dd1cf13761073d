/** Three daemons on one PostgreSQL under load, and every kind of failure of one of them, once each. With CHAOS_ROUNDS=3 it prints the table of README.md. */
import { natsProgram, type NatsServer, startNats } from '@svc/testing/nats/server';
import { type PostgresCluster, startCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { randomOfRun } from '../crash/load.js';
import { type PlannedModel, startPlannedModel } from '../crash/planned-model.js';
import { type Chaos, chaosTable, kindsOfBlow, strike } from './chaos.js';

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

  const survive = async (nats?: NatsServer): Promise<void> => {
    const random = randomOfRun();
    const blows = Array.from({ length: ROUNDS }, () => kindsOfBlow(nats !== undefined)).flat();
    const chaos: Chaos = await strike(model, await cluster.fresh(), { blows, clients: CLIENTS, random, ...(nats ? { nats } : {}) });
    console.log(`\n${chaosTable(chaos)}\n`);
    expect(chaos.account.problems.join('\n')).to.equal('');
    expect(chaos.account.acknowledged).to.equal(chaos.messages);
    expect(model.faults).to.deep.equal([]);
  };

  it('answer each message once, repeat no effect, ring each timer once and lose nothing', () => survive());

  (natsProgram() === undefined ? it.skip : it)('do the same over NATS, which fails as well', async () => {
    const nats = await startNats();
    try {
      await survive(nats);
    } finally {
      await nats.close();
    }
  });
});
