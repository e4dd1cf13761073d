/** A limit of the queue, met by a hundred requests at two daemons on one PostgreSQL: each is counted in the commit that accepts it. */
import { stopTestKernels } from '@svc/testing';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import { until } from '../clients/model-kernel.js';
import { bootTwo, type TwoDaemons } from './two-daemons.js';

const MANY = 100;
const LIMIT = 5;

describe('a limit of five for two daemons on one PostgreSQL', function () {
  this.timeout(90_000);
  let two: TwoDaemons;
  before(async () => {
    two = await bootTwo({ url: await (await sharedCluster()).fresh(), script: { hang: true }, config: `[queue]\nmax_depth_per_agent = ${LIMIT}\n` });
  });
  after(async () => {
    await two.stop();
    await stopTestKernels();
  });

  it('queues exactly five of a hundred messages that come to both at once', async () => {
    const { a, b, agent, model } = two;
    const path = `/api/agents/${agent.id}/message`;
    const first = a.kernel.http.post(path, { message: 'the one that runs' });
    await until(() => model.requests.length > 0);
    const refusals: string[] = [];
    const sent = Array.from({ length: MANY }, async (_, number) => {
      const { status, body } = await (number % 2 === 0 ? a : b).kernel.http.send('POST', path, { message: `hello ${number}` });
      if (status !== 200) refusals.push(`${status} ${body.code}`);
    });
    await until(() => refusals.length >= MANY - LIMIT);
    const { runs } = (await b.kernel.http.expect(200, 'GET', `/api/runs?agent_id=${agent.id}&limit=${MANY}`)).body;
    const counted = (wanted: string): number => runs.filter(({ status }: { status: string }) => status === wanted).length;
    expect([counted('queued'), counted('running')]).to.deep.equal([LIMIT, 1]);
    expect(new Set(refusals)).to.deep.equal(new Set(['429 run_queue_full']));
    expect(refusals).to.have.length(MANY - LIMIT);
    for (const { kernel } of [a, b]) await kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/stop`);
    await Promise.all([first, ...sent]);
  });
});
