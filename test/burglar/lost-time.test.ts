/** An extension that listens and never answers costs a few seconds in all, not its budget with each message. */
import { ToolBefore, type ToolRequest } from '@svc/api';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, OWNER, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-slow';
const NEVER = 'await new Promise(() => undefined);';
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
      const each: number[] = [];
      for (let i = 0; i < 5; i++) each.push(await timed(() => kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hi' })));
      // It is not called any more: what a message takes without it, on this machine.
      const plain = await timed(() => kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hi' }));
      expect(each.reduce((sum, ms) => sum + Math.max(0, ms - plain), 0)).to.be.lessThan(15_000);
      expect(Math.max(...each.slice(1)) - plain, 'after the first').to.be.lessThan(2_500 + plain);
      expect(statusOf(kernel)).to.deep.include({ state: 'active', degraded: true });
      expect(statusOf(kernel)?.reason).to.match(/it did not answer run\.context in time, and \d+ s were lost: it is not called there until it is reloaded/);
      const { body: health } = await kernel.http.expect(200, 'GET', '/api/health/detail');
      expect(JSON.stringify(health.doctor)).to.contain('did not answer run.context in time');
      // A person who reloads it has it called again.
      await kernel.daemon.kernel.reload(ID);
      expect(statusOf(kernel)).to.deep.include({ degraded: false });
      expect(await timed(() => kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'hi' }))).to.be.greaterThan(4_000);
    });

  it('where it is asked for leave: each call is refused, as the hook says, and soon at once', async () => {
    const kernel = await boot('tool.before', 'api.ToolBefore', NEVER);
    const ask = kernel.daemon.parts.hooks.handle(ToolBefore);
    const verdicts: unknown[] = [];
    const each: number[] = [];
    for (let i = 0; i < 8; i++) each.push(await timed(async () => verdicts.push(await ask.call(REQUEST))));
    expect(
      verdicts.every((one) => (one as { code?: string } | undefined)?.code === 'hook_failed'),
      JSON.stringify(verdicts),
    ).to.equal(true);
    expect(each.reduce((sum, ms) => sum + ms, 0)).to.be.lessThan(8_000);
    // None of them waits for an answer any more; on a busy machine one may have a slow turn.
    expect(Math.min(...each.slice(4))).to.be.lessThan(100);
    expect(Math.max(...each.slice(4))).to.be.lessThan(1_000);
    expect(statusOf(kernel)?.reason).to.contain('requests that it checks are refused');
  });
});
