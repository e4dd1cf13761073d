/** Limits that a hundred requests meet at once: none of them passes because the others were not counted yet. */
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import { OPEN_RATE, type TestAnswer, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const MANY = 100;
const LIMIT = 5;

describe('a limit of five, asked for a hundred times at once', function () {
  this.timeout(60_000);
  let model: HeldServer;

  beforeEach(async () => {
    model = await startHeldServer();
  });
  afterEach(async () => {
    await stopTestKernels();
    await model.close();
  });

  const boot = (limits: string): Promise<TestKernel> => bootTestKernel({ config: `${OPEN_RATE}${limits}\n${model.config}`, env: model.env });
  const assistantOf = async (kernel: TestKernel): Promise<string> => (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  /** Sends them all, waits until all but so many have their answer, and lets the model answer those. */
  const sendMany = async (send: (number: number) => Promise<TestAnswer>, held: number): Promise<number[]> => {
    let refused = 0;
    let enough: () => void = () => undefined;
    const isEnough = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const answers = Array.from({ length: MANY }, async (_, number) => {
      const { status } = await send(number);
      if (status !== 200) refused += 1;
      if (refused >= MANY - held) enough();
      return status;
    });
    const all = Promise.all(answers);
    await Promise.race([isEnough, all]);
    for (let n = 0; n < held; n += 1) (await model.asked()).answer({ text: 'done' });
    return all;
  };
  const counted = (statuses: readonly number[]): Record<number, number> => Object.fromEntries([...new Set(statuses)].sort().map((status) => [status, statuses.filter((one) => one === status).length]));

  it('M1 drives five runs ([runs] max_active), and refuses the others', async () => {
    const kernel = await boot(`[runs]\nmax_active = ${LIMIT}`);
    const agent = await assistantOf(kernel);
    // A question beside the conversation has a lane of its own.
    const statuses = await sendMany((number) => kernel.http.send('POST', `/api/agents/${agent}/message`, { message: `/btw is it ${number}?` }), LIMIT);
    expect(counted(statuses)).to.deep.equal({ 200: LIMIT, 503: MANY - LIMIT });
    expect(model.mostInFlight()).to.equal(LIMIT);
  });

  it('M2 queues five behind the one that runs ([queue] max_depth_per_agent), where they need no room of their own', async () => {
    const kernel = await boot(`[runs]\nmax_active = 2\n[queue]\nmax_depth_per_agent = ${LIMIT}`);
    const agent = await assistantOf(kernel);
    const statuses = await sendMany((number) => kernel.http.send('POST', `/api/agents/${agent}/message`, { message: `hello ${number}` }), LIMIT + 1);
    expect(counted(statuses)).to.deep.equal({ 200: LIMIT + 1, 429: MANY - LIMIT - 1 });
    expect(model.mostInFlight()).to.equal(1);
  });
});
