/** What runs refuse, and how many they drive at once. */
import { OPEN_RATE, OWNER, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';

const assistantOf = async (kernel: TestKernel): Promise<string> => (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;

describe('the size of a message', () => {
  afterEach(stopTestKernels);

  it('may be 100,000 characters and not one more', async () => {
    const kernel = await bootTestKernel();
    const path = `/api/agents/${await assistantOf(kernel)}/message`;

    await kernel.http.expect(200, 'POST', path, { message: 'x'.repeat(100_000) });
    const { body } = await kernel.http.expect(413, 'POST', path, { message: 'x'.repeat(100_001) });

    expect(body.code).to.equal('run_message_too_large');
    expect(body.error).to.contain('100001').and.to.contain('100000');
  });

  it('is what its parts have together', async () => {
    const kernel = await bootTestKernel();
    const half = { type: 'text', text: 'x'.repeat(50_000) };
    const ask = (content: readonly unknown[]) => kernel.http.send('POST', '/v1/chat/completions', { model: 'svc:assistant', messages: [{ role: 'user', content }] });

    expect((await ask([half, half])).status).to.equal(200);
    expect((await ask([half, half, { type: 'text', text: 'x' }])).status).to.equal(413);
  });

  it('is at least one character, and a refused message leaves no run', async () => {
    const kernel = await bootTestKernel();
    const agent = await assistantOf(kernel);

    for (const [status, message] of [
      [400, ''],
      [413, 'x'.repeat(100_001)],
    ] as const) {
      await kernel.http.expect(status, 'POST', `/api/agents/${agent}/message`, { message });
    }

    const { body } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);
    expect(body.messages).to.deep.equal([]);
  });
});

describe('the number of runs in flight', () => {
  let model: HeldServer;

  beforeEach(async () => {
    model = await startHeldServer();
  });

  afterEach(async () => {
    await stopTestKernels();
    await model.close();
  });

  const boot = (maxActive: number, home?: string): Promise<TestKernel> =>
    bootTestKernel({ config: `${OPEN_RATE}[runs]\nmax_active = ${maxActive}\n${model.config}`, env: model.env, ...(home === undefined ? {} : { home }) });

  const spawn = async (kernel: TestKernel, name: string): Promise<string> => (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name } })).body.agent_id;
  const say = (kernel: TestKernel, agent: string) => kernel.http.send('POST', `/api/agents/${agent}/message`, { message: 'hello' });

  it('is at most max_active: one more is refused with 503 and when to come again, until one has ended', async () => {
    const kernel = await boot(2);
    const [one, two, three] = [await spawn(kernel, 'one'), await spawn(kernel, 'two'), await spawn(kernel, 'three')];
    const first = say(kernel, one);
    const asked = await model.asked();
    const second = say(kernel, two);
    const askedToo = await model.asked();

    const refused = await say(kernel, three);

    expect(refused.status).to.equal(503);
    expect(refused.body.code).to.equal('run_too_many');
    expect(refused.headers.get('retry-after')).to.equal('1');
    asked.answer({ text: 'done' });
    expect((await first).status).to.equal(200);
    const third = say(kernel, three);
    for (const open of [askedToo, await model.asked()]) open.answer({ text: 'done' });
    expect([(await second).status, (await third).status]).to.deep.equal([200, 200]);
  });

  it('may be many without a warning of the process', async () => {
    const warned: string[] = [];
    const receive = (warning: Error): void => void warned.push(`${warning.name}: ${warning.message}`);
    process.on('warning', receive);
    const kernel = await boot(100);
    const agents = await Promise.all(Array.from({ length: 30 }, (_, index) => spawn(kernel, `agent-${index}`)));
    const said = agents.map((agent) => say(kernel, agent));
    const asked = [];
    for (const _ of agents) asked.push(await model.asked());
    for (const one of asked) one.answer({ text: 'done' });
    expect((await Promise.all(said)).map(({ status }) => status)).to.deep.equal(agents.map(() => 200));
    process.off('warning', receive);
    expect(warned).to.deep.equal([]);
  });

  it('holds for runs that were given back too: they go on one after the other, and all of them do', async () => {
    const kernel = await boot(1);
    const agents = [await spawn(kernel, 'one'), await spawn(kernel, 'two'), await spawn(kernel, 'three')];
    const own = say(kernel, (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id);
    const asked = await model.asked();
    const left = await Promise.all(agents.map((agent) => leave(kernel, agent)));

    asked.answer({ text: 'done' });
    for (const _ of agents) (await model.asked()).answer({ text: 'at last' });
    await own;

    for (const id of left) expect(await ended(kernel, id)).to.equal('done');
    expect(model.mostInFlight()).to.equal(1);
  });
});

/** A run as a generation that drains leaves it: accepted, begun, and given back. */
const leave = async ({ daemon: { parts }, http }: TestKernel, agentId: string): Promise<string> => {
  const { session_id: sessionId } = (await http.expect(200, 'GET', `/api/agents/${agentId}/session`)).body;
  const input = { agentId, sessionId, door: 'rest', depth: 0, parts: [{ type: 'text', text: 'hello' }] };
  const { run, leased } = await parts.journal.open({ kind: 'agent', actor: OWNER, lane: sessionId, input });
  if (leased) await parts.journal.release(leased);
  return run.id;
};

/** How a run ended; each look is a request, so that the daemon gets its turn. */
const ended = async (kernel: TestKernel, runId: string): Promise<string | undefined> => {
  for (let tries = 0; tries < 500; tries++) {
    const run = await kernel.daemon.parts.journal.get(OWNER, runId);
    if (run && run.status !== 'queued' && run.status !== 'running') return run.status;
    await kernel.http.get('/api/health');
  }
  return 'still going';
};
