/** Who works on a database: one daemon on a file, two on a PostgreSQL, one of which falls silent. */
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { freePort } from '@svc/testing/free-port';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { until } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { bootTwo, latch, type TwoDaemons } from '@svc/test/replicas/two-daemons';
import { expect } from 'chai';

const TICK_MS = 50;

describe('the list of replicas', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  afterEach(() => stopTestKernels());

  it('says that there is one daemon on a file, to admins alone', async () => {
    const { as } = await bootTestKernel({ config: `${OPEN_RATE}${person('root', 'owner')}${person('alice', 'user')}`, key: keyOf('root') });
    const { body } = await as(keyOf('root')).expect(200, 'GET', '/api/cluster');
    expect(body).to.deep.include({ shared: false, summary: 'One daemon on a SQLite file. For more, set [storage] url to a PostgreSQL database.', connected: true, waiting_runs: 0 });
    expect(body.daemons).to.have.length(1);
    expect(body.daemons[0]).to.include({ state: 'running', asked: true, delivers_events: true, runs: 0, pid: process.pid });
    await as(keyOf('alice')).expect(403, 'GET', '/api/cluster');
    await as('').expect(401, 'GET', '/api/cluster');
  });

  it('says while NATS is away, also from the start, why nothing is heard, and that the daemon works', async () => {
    const port = await freePort();
    const { as, http } = await bootTestKernel({
      config: `${OPEN_RATE}${person('root', 'owner')}[cluster]\nbus = "nats://127.0.0.1:${port}"\n`,
      key: keyOf('root'),
      env: { SVC__STORAGE__URL: await (await sharedCluster()).fresh() },
    });
    await until(async () => {
      const { carrier, connection } = (await http.expect(200, 'GET', '/api/cluster')).body;
      return carrier === 'nats' && !connection.includes('it is being opened');
    });
    const { body } = await http.expect(200, 'GET', '/api/cluster');
    expect(body).to.deep.include({ connected: false, carrier: 'nats' });
    expect(body.disconnected_secs).to.be.at.least(0);
    expect(body.connection).to.match(/^Not connected over NATS for \d+ s: nothing answers at this address\. Changes are read from the database within seconds$/);
    const { doctor } = (await as(keyOf('root')).expect(200, 'GET', '/api/health/detail')).body;
    expect(doctor.find(({ check }: { check: string }) => check === 'ReplicasCheck')).to.deep.include({
      result: 'warn',
      fix: 'Start the NATS server, or correct [cluster] bus and its credentials.',
    });
    await http.expect(201, 'POST', '/api/agents', { name: 'works' });
  });

  it('shows two on a PostgreSQL: who delivers events, who holds runs, who fell silent, who went', async () => {
    const clock = virtualClock(systemClock().now());
    const model = latch();
    const url = await (await sharedCluster()).fresh();
    const two: TwoDaemons = await bootTwo({ url, clock, script: model.script, config: (name) => `${person('root', 'owner')}[cluster]\nname = "${name}"\n`, key: keyOf('root') });
    const { a, b, agent } = two;
    const list = async () => (await a.kernel.http.expect(200, 'GET', '/api/cluster')).body;
    // Time goes on by itself, as for any daemon: what waits for it on a slow machine is not left waiting. Steps ahead come in turn.
    let steps = Promise.resolve();
    const pass = (ms: number): Promise<void> => {
      steps = steps.then(() => clock.advance(ms));
      return steps;
    };
    const going = setInterval(() => void pass(TICK_MS), TICK_MS);
    const states = async () => (await list()).daemons.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`);
    try {
      await until(async () => (await list()).daemons.every(({ reached }: { reached: boolean }) => reached));
      expect(await states()).to.deep.equal(['a running', 'b running']);
      const { daemons, connection, summary } = await list();
      expect([connection, summary]).to.deep.equal(['PostgreSQL LISTEN and NOTIFY', '2 daemons on this database.']);
      expect(daemons.map(({ delivers_events: delivers }: { delivers_events: boolean }) => delivers)).to.deep.equal([true, false]);
      expect(daemons.map(({ asked }: { asked: boolean }) => asked)).to.deep.equal([true, false]);

      const asked = b.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'hello' });
      await until(() => model.waiting() === 1);
      await until(async () => (await list()).daemons[1].does === 'holds 1 run');

      const { page } = await chromium.open(`${a.kernel.url}/`);
      await logInAs(page, 'root');
      await page.goto(`${a.kernel.url}/#/cluster`);
      await page.getByRole('heading', { name: 'Replicas', level: 1 }).waitFor();
      await page.getByRole('cell', { name: 'Runs: 1' }).waitFor();
      await expectWellMade(page, 'replicas');
      model.answer({ text: 'done' });
      await asked;

      b.cutOff();
      await pass(20_000);
      await until(async () => (await states())[1] === 'b silent');
      await pass(5_000);
      await page.getByText(/Silent for/).waitFor();
      await pass(60_000);
      await until(async () => (await states()).length === 1);
      b.cutIn();
      await until(async () => (await states()).length === 2);
      await b.kernel.stop();
      expect(await states()).to.deep.equal(['a running']);
    } finally {
      clearInterval(going);
      await steps;
      await two.stop();
    }
  });
});
