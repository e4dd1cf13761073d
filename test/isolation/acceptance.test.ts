/**
 * What the kernel has to keep when the code is a third party's, in another process: its list of acceptance, claim by claim. The
 * same list for code of the daemon's own process is kept by test/lifecycle; README.md says which claim stands where.
 */
import { HealthProbe, isSvcError, ToolAfter, ToolBefore, type ToolRequest } from '@svc/api';
import { bootTestKernel, OPEN_RATE, OWNER, removeThirdParties, stopTestKernels, thirdParty, type ThirdPartySpec, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-kernel';

const boot = async (spec: Omit<ThirdPartySpec, 'id'>): Promise<TestKernel> =>
  bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n`, thirdParties: [await thirdParty({ id: ID, ...spec })] });

const ROUTE = `ctx.routes.add(api.defineRoute({ id: 'ask', method: 'GET', path: '/api/acme/ask', summary: 'Answers', auth: 'bearer', permission: 'acme.read', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => { await new Promise((ok) => setTimeout(ok, 2)); return api.reply(200, { generation: ctx.generation }); } }));`;

const REQUEST: ToolRequest = {
  tool: { name: 'file_read', description: 'Reads', params: {}, risk: 'read', replay: 'safe', parallel: true, capabilities: [] },
  args: {},
  needs: [],
  call: {
    callId: 'c',
    runId: 'r',
    agentId: 'a',
    sessionId: 's',
    actor: OWNER,
    depth: 0,
    capabilities: {
      tools: [],
      network: [],
      memory_read: [],
      memory_write: [],
      shell: [],
      agent_spawn: false,
      agent_message: [],
      file_system: false,
      max_llm_tokens_per_hour: null,
    },
  },
  digest: '0',
  earlier: [],
};

describe('the kernel, and code in another process', function () {
  this.timeout(120_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  it('1 reloads it thirty times under requests: none fails, and nothing is left', async () => {
    const kernel = await boot({ activate: ROUTE });
    const failed: unknown[] = [];
    const generations = new Set<number>();
    let isOver = false;
    const ask = async (): Promise<void> => {
      while (!isOver) {
        const { body, status } = await kernel.http.get('/api/acme/ask');
        if (status === 200) generations.add(body.generation);
        else failed.push(body);
      }
    };
    const clients = [ask(), ask(), ask(), ask()];
    for (let i = 0; i < 30; i++) await kernel.daemon.kernel.reload(ID);
    isOver = true;
    await Promise.all(clients);
    await kernel.daemon.lifecycle.settled();
    const status = kernel.daemon.kernel.extensions().find(({ id }) => id === ID);
    expect(failed).to.deep.equal([]);
    expect(generations.size).to.be.greaterThan(5);
    expect([status?.leaks, status?.holds, status?.generation]).to.deep.equal([[], [], 31]);
  });

  it('1 switches it off and on ten times under requests: they answer 200 or 404, and nothing else', async () => {
    const kernel = await boot({ activate: ROUTE });
    const seen = new Set<number>();
    let isOver = false;
    const asking = (async () => {
      while (!isOver) seen.add((await kernel.http.get('/api/acme/ask')).status);
    })();
    for (let i = 0; i < 10; i++) {
      await kernel.daemon.kernel.disable(ID);
      await kernel.daemon.kernel.enable(ID);
    }
    isOver = true;
    await asking;
    expect([...seen].filter((status) => status !== 200 && status !== 404)).to.deep.equal([]);
  });

  describe('3 a tap of it that fails', () => {
    const tapped = async (hook: string, tap: string, fails: string): Promise<TestKernel> =>
      boot({ manifest: { hooks: [{ name: hook }] }, activate: `ctx.hooks.tap(${tap}, async () => { ${fails} });` });
    const FAILURES = { throws: "throw new Error('no');", 'answers null': 'return null;', 'answers nonsense': 'return { nonsense: true };', hangs: 'return new Promise(() => undefined);' };

    for (const [what, fails] of Object.entries(FAILURES)) {
      it(`in a veto that must be asked, and ${what}: refuses`, async () => {
        const kernel = await tapped('tool.before', 'api.ToolBefore', fails);
        const outcome = await kernel.daemon.parts.hooks
          .handle(ToolBefore)
          .call(REQUEST)
          .catch((error: unknown) => error);
        expect(isSvcError(outcome) || (typeof outcome === 'object' && outcome !== null && 'deny' in outcome), JSON.stringify(outcome)).to.equal(true);
      });

      it(`where answers are gathered, and ${what}: is told as a failure, and the others are heard`, async () => {
        const kernel = await tapped('health.probe', 'api.HealthProbe', fails);
        const rows = await kernel.daemon.parts.hooks.handle(HealthProbe).call(undefined);
        const own = rows.find(({ owner }) => owner === ID);
        expect(own?.value).to.equal(undefined);
        expect(own?.error).to.be.a('string');
        expect(rows.filter(({ value }) => value !== undefined)).not.to.deep.equal([]);
      });
    }

    it('in a pipe that must be asked: refuses; what it answers well is taken', async () => {
      const failing = await tapped('tool.after', 'api.ToolAfter', "throw new Error('no');");
      const outcome = await failing.daemon.parts.hooks
        .handle(ToolAfter)
        .call({ content: 'x' }, REQUEST)
        .catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(Error);
      await stopTestKernels();
      const kernel = await boot({
        manifest: { hooks: [{ name: 'tool.after' }] },
        activate: 'ctx.hooks.tap(api.ToolAfter, (output, request) => ({ ...output, content: output.content + request.tool.name }));',
      });
      expect(await kernel.daemon.parts.hooks.handle(ToolAfter).call({ content: 'x ' }, REQUEST)).to.include({ content: 'x file_read' });
    });
  });

  it('4 loses its process in the middle of calls: all of them end, and routes of others never notice', async () => {
    const kernel = await boot({ activate: ROUTE.replace('setTimeout(ok, 2)', 'ctx.log.info("asked")') });
    // The first one starts the process, before which the daemon makes a key: who has sent none by then is refused.
    const calls = [kernel.http.get('/api/acme/ask')];
    const pidOf = () => kernel.daemon.kernel.extensions().find(({ id }) => id === ID)?.process?.pid;
    while (!pidOf()) await new Promise((resolve) => setTimeout(resolve, 20));
    calls.push(...Array.from({ length: 19 }, () => kernel.http.get('/api/acme/ask')));
    const asked = () => kernel.daemon.log.recent(1_000).filter(({ message }) => message === 'asked').length;
    while (asked() < calls.length) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(Number(pidOf()), 'SIGKILL');
    const others = await Promise.all(Array.from({ length: 20 }, () => kernel.http.get('/api/agents')));
    const codes = (await Promise.all(calls)).map(({ status }) => status);
    expect([...new Set(codes)]).to.deep.equal([503]);
    expect([...new Set(others.map(({ status }) => status))]).to.deep.equal([200]);
  });

  it('8 leaves no trace in openapi.json when it is off, and stands in it with its schemas when it is on', async () => {
    const kernel = await boot({ activate: ROUTE });
    const paths = async (): Promise<string[]> => Object.keys((await kernel.http.expect(200, 'GET', '/api/openapi.json')).body.paths);
    expect(await paths()).to.include('/api/acme/ask');
    await kernel.daemon.kernel.disable(ID);
    expect(await paths()).not.to.include('/api/acme/ask');
  });

  it('9 has a request id on every answer of it, those of its failures included', async () => {
    const kernel = await boot({ activate: ROUTE.replace('return api.reply(200, { generation: ctx.generation });', "if (ctx.generation) throw new Error('no');") });
    const answers = [await kernel.http.get('/api/acme/ask'), await kernel.http.post('/api/acme/ask'), await kernel.http.get('/api/acme/none')];
    for (const { headers, status } of answers) expect(headers.get('x-request-id'), String(status)).to.match(/^[0-9a-f-]{36}$/);
    expect(answers.map(({ status }) => status)).to.deep.equal([500, 405, 404]);
  });
});
