/** An extension that listens and never answers costs a few seconds in all, not its budget with each message. */
import { ToolBefore, type ToolRequest } from '@svc/api';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, OWNER, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-slow';
const NEVER = "ctx.log.warn('was called'); await new Promise(() => undefined);";
const CONTEXT = `api.definePipe('run.context', '1.0.0', { policy: 'open', budgetMs: 30000, remote: true, value: api.Type.String(), context: api.Type.Any() })`;

const REQUEST: ToolRequest = {
  tool: { name: 'file_read', description: 'Reads', params: {}, risk: 'read', replay: 'safe', parallel: true, capabilities: [] },
  args: {},
  needs: [],
  call: {
    ...{ callId: 'c', runId: '', agentId: '', sessionId: '', actor: OWNER, depth: 0 },
    capabilities: { tools: [], network: [], memory_read: [], memory_write: [], shell: [], agent_spawn: false, agent_message: [], file_system: false, max_llm_tokens_per_hour: null },
  },
  digest: '0',
  earlier: [],
};

describe('an extension that listens and never answers', function () {
  this.timeout(120_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });
  const boot = async (hook: string, tap: string, handler: string, isolation: 'isolated' | 'walled' = 'isolated'): Promise<TestKernel> =>
    bootTestKernel({
      config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n`,
      thirdParties: [await thirdParty({ id: ID, isolation, manifest: { hooks: [{ name: hook }] }, activate: `ctx.hooks.tap(${tap}, async (...args) => { ${handler} });` })],
    });
  const statusOf = (kernel: TestKernel) => kernel.daemon.kernel.extensions().find(({ id }) => id === ID);
  /** How often it was called, by its own log: what a call takes says nothing on a busy machine. */
  const calls = (kernel: TestKernel): number => kernel.daemon.log.recent(1_000).filter(({ message }) => message.includes('was called')).length;
  const lostSeconds = (kernel: TestKernel): number => Number(/(\d+) s were lost/.exec(statusOf(kernel)?.reason ?? '')?.[1]);
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };

  for (const isolation of ['isolated', 'walled'] as const)
    it(`${isolation}: five messages lose a few seconds between them, are all answered, and the list and doctor say why`, async function () {
      if (isolation === 'walled' && (await wallFault()) !== undefined) this.skip();
      const kernel = await boot('run.context', CONTEXT, NEVER, isolation);
      const { body } = await kernel.http.expect(200, 'GET', '/api/agents');
      const agent = (body.items ?? body.agents ?? body)[0].id;
      const send = (): Promise<unknown> => kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hi' });
      for (let i = 0; i < 3; i++) await send();
      // The tap may wait 30 s with each; it is given up after a few, and from then on it is not called.
      expect(lostSeconds(kernel)).to.be.within(1, 14);
      const before = calls(kernel);
      expect(before).to.be.within(1, 3);
      for (let i = 0; i < 2; i++) await send();
      expect(calls(kernel)).to.equal(before);
      expect(statusOf(kernel)).to.deep.include({ state: 'active', degraded: true });
      expect(statusOf(kernel)?.reason).to.match(/it did not answer run\.context in time, and \d+ s were lost: it is not called there until it is reloaded/);
      const { body: health } = await kernel.http.expect(200, 'GET', '/api/health/detail');
      expect(JSON.stringify(health.doctor)).to.contain('did not answer run.context in time');
      // A person who reloads it has it called again.
      await kernel.daemon.kernel.reload(ID);
      expect(statusOf(kernel)).to.deep.include({ degraded: false });
      expect(await timed(send)).to.be.greaterThan(4_000);
      expect(calls(kernel)).to.be.greaterThan(before);
    });

  it('where it is asked for leave: each call is refused, as the hook says, and soon at once', async () => {
    const kernel = await boot('tool.before', 'api.ToolBefore', NEVER);
    const ask = kernel.daemon.parts.hooks.handle(ToolBefore);
    const verdicts: unknown[] = [];
    const called: number[] = [];
    for (let i = 0; i < 8; i++) {
      verdicts.push(await ask.call(REQUEST));
      called.push(calls(kernel));
    }
    expect(
      verdicts.every((one) => (one as { code?: string } | undefined)?.code === 'hook_failed'),
      JSON.stringify(verdicts),
    ).to.equal(true);
    expect(called[0]).to.equal(1);
    expect(called.slice(4), 'it is not called any more').to.deep.equal(Array(4).fill(called[3]));
    expect(lostSeconds(kernel)).to.be.within(1, 8);
    expect(statusOf(kernel)?.reason).to.contain('requests that it checks are refused');
  });
});
