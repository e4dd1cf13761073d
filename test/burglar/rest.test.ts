/** What a burglar claims before it runs, is shown while it runs, and keeps after it was switched off. */
import { type ExtensionContext, StoragePurge, ToolAfter, ToolBefore, ToolList, defineRoute, HealthProbe, reply, Type } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { Agents } from '@svc/ext-agents/contract';
import type { InstalledFiles } from '@svc/daemon';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { disguises } from '@svc/fixtures/burglar/disguises';
import { house, houseContributions, houseManifest, House } from '@svc/fixtures/burglar/house';
import { burglar, type Shown } from '@svc/fixtures/burglar/index';

/** Of a known build, as what is there before third parties come. */
const houseFiles: InstalledFiles = {
  ...fixtureExtension({
    id: 'house',
    manifest: houseManifest,
    contributions: houseContributions,
    definition: house(() => undefined),
  }),
  build: 'house-1',
};

const breakIn = async (): Promise<{ kernel: TestKernel; ctx: ExtensionContext; shown: Shown }> => {
  const seen: ExtensionContext[] = [];
  const shown: Shown = { things: [] };
  const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["burglar", "house"]\n`, extra: [houseFiles, burglar((ctx) => void seen.push(ctx), shown)] });
  const [ctx] = seen;
  if (!ctx) throw new Error('the burglar did not start');
  return { kernel, ctx, shown };
};

const codeOf = async (attempt: () => unknown): Promise<string> => {
  try {
    await attempt();
    return 'it went through';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
};

describe('a burglar in disguise', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  before(async () => {
    const extra = Object.entries(disguises).map(([id, { manifest, contributions = {}, activate = () => undefined }]) => fixtureExtension({ id, manifest, contributions, definition: { activate } }));
    kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ${JSON.stringify(['house', ...Object.keys(disguises)])}\n`, extra: [houseFiles, ...extra] });
  });
  after(stopTestKernels);

  for (const [id, { says }] of Object.entries(disguises)) {
    it(`${id} does not start, and is told why`, () => {
      const status = kernel.daemon.kernel.extensions().find((one) => one.id === id);
      expect(status?.state, String(status?.reason)).to.be.oneOf(['failed', 'pending']);
      expect(status?.reason).to.contain(says);
    });
  }

  it('leaves the house and the areas as they were', async () => {
    for (const id of ['house', 'agents', 'tools', 'runs']) expect(kernel.daemon.kernel.extensions().find((one) => one.id === id)?.state, id).to.equal('active');
    await kernel.http.expect(200, 'GET', '/api/agents');
    expect((await kernel.http.get('/api/back')).status).to.equal(404);
  });
});

describe('what a burglar is shown', () => {
  afterEach(stopTestKernels);
  const actor = actorOf('owner');
  const capabilities = { tools: [], network: [], memory_read: [], memory_write: [], shell: [], agent_spawn: false, agent_message: [], file_system: false, max_llm_tokens_per_hour: null };

  it('is what a tool is, never what runs it, and nothing that it changes is changed for others', async () => {
    const { kernel, shown } = await breakIn();
    const { hooks } = kernel.daemon.parts;
    const facts = { name: 'file_read', description: 'x', params: { type: 'object' }, risk: 'exec', replay: 'safe', parallel: true, capabilities: [] } as const;
    // Of nobody's run: policies that look for the agent and its conversation have nothing to look for.
    const call = { callId: 'c', runId: '', agentId: '', sessionId: '', actor, depth: 0, capabilities };
    const request = { tool: facts, args: { path: 'own.txt' }, call, digest: 'd', earlier: [], needs: [] };
    const before = JSON.stringify(request);
    await hooks.handle(ToolBefore).call(request);
    await hooks.handle(ToolAfter).call({ content: 'x' }, request);
    await hooks.handle(ToolList).call([facts], { agentId: 'a' });
    expect(JSON.stringify(request)).to.equal(before);
    expect(shown.things).to.have.lengthOf(2);
    expect(JSON.stringify(shown.things)).to.not.contain('"run":');
    for (const thing of shown.things) for (const value of Object.values(thing as object)) expect(value).to.not.be.a('function');
    expect(facts.risk).to.equal('exec');
  });

  it('adds no tool to the list that agents get', async () => {
    const { kernel } = await breakIn();
    expect((await kernel.http.expect(200, 'GET', '/api/tools')).text).to.not.contain('burglar_tool');
  });

  it('is a copy of what a service answers', async () => {
    const { ctx } = await breakIn();
    const first = await ctx.services.require(House).rooms(0);
    Object.assign(first[0] ?? {}, { name: 'mine' });
    expect(await ctx.services.require(House).rooms(0)).to.deep.equal([{ name: 'attic' }]);
  });

  it('holds kernel declarations that nobody changes', () => {
    for (const decl of [ToolBefore, StoragePurge, HealthProbe]) expect(Object.isFrozen(decl) && Object.isFrozen(decl.subject)).to.equal(true);
  });
});

describe('for whom a third party acts', () => {
  afterEach(stopTestKernels);

  const boot = async (grants: readonly string[]): Promise<TestKernel> => {
    const thirdParty = fixtureExtension({
      id: 'stranger',
      manifest: { requires: { agents: '^1' }, grants: grants.map((grant) => ({ grant, why: 'a test' })) },
      contributions: { routes: ['GET /api/stranger'] },
      definition: {
        activate: (ctx) => {
          const agents = ctx.services.require(Agents);
          const list = defineRoute({
            id: 'listStrange',
            method: 'GET',
            path: '/api/stranger',
            summary: 'x',
            auth: 'bearer',
            permission: 'x.read',
            cost: 0,
            query: Type.Object({ as: Type.Optional(Type.String()) }),
            responses: { 200: Type.Object({ agents: Type.Integer() }) },
            handler: async ({ actor, query }) => reply(200, { agents: (await agents.list(query.as === undefined ? actor : actorOf(query.as))).length }),
          });
          ctx.routes.add(list);
        },
      },
    });
    return bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["stranger"]\n`, extra: [thirdParty] });
  };

  it('is whoever asked it', async () => {
    const kernel = await boot([]);
    expect((await kernel.http.expect(200, 'GET', '/api/stranger')).body.agents).to.be.a('number');
  });

  it('is nobody whom it names itself', async () => {
    const kernel = await boot([]);
    const { status, body } = await kernel.http.get('/api/stranger?as=owner');
    expect([status, body.error?.code ?? body.code]).to.deep.equal([403, 'actor_made_up']);
  });

  it('is anybody, with the grant', async () => {
    const kernel = await boot(['actors']);
    expect((await kernel.http.expect(200, 'GET', '/api/stranger?as=owner')).body.agents).to.be.a('number');
  });
});

describe('a burglar that was switched off', () => {
  afterEach(stopTestKernels);

  it('holds on to nothing: each member of its context refuses it by name', async () => {
    const { kernel, ctx } = await breakIn();
    const agents = ctx.services.require(House);
    const { data, cache } = ctx.files;
    await kernel.daemon.kernel.disable('burglar', { force: true });
    const attempts: Record<string, () => unknown> = { service: () => agents.rooms(0), 'files.data': () => data.list(), 'files.cache': () => cache.write('x', 'y'), kernel: () => ctx.kernel };
    for (const part of ['config', 'routes', 'sockets', 'tools', 'hooks', 'services', 'streams', 'timers', 'secrets', 'workers', 'egress', 'tcp'] as const)
      for (const [name, fn] of Object.entries(ctx[part]) as [string, (...args: unknown[]) => unknown][]) attempts[`${part}.${name}`] = () => fn({ name: 'x' }, { purpose: 'webhook' });
    const actor = actorOf('owner');
    Object.assign(attempts, {
      'events.publish': () => ctx.events.publish({ declares: 'event', name: 'burglar.seen', version: '1.0.0', data: Type.Object({}) }, {}),
      'journal.claim': () => ctx.journal.claim('burglar.job', 1),
      'journal.get': () => ctx.journal.get(actor, 'x'),
      'journal.list': () => ctx.journal.list({ actor, kind: 'burglar.job' }),
      'db.select': () => ctx.db.system('a test').select({ from: 'loot' }),
      'db.commit': () => ctx.db.commit([]),
      'db.read': () => ctx.db.system('a test').read('SELECT id FROM burglar__loot'),
      fetch: () => ctx.fetch('http://example.com', { purpose: 'webhook' }),
      exec: () => ctx.exec('true', [], { cwd: '/' }),
      env: () => ctx.env('PATH'),
      onDispose: () => ctx.onDispose('x', () => undefined),
    });
    for (const [name, attempt] of Object.entries(attempts)) expect(await codeOf(attempt), name).to.equal('daemon_extension_stopped');
    expect(ctx.hold('more work')).to.equal(null);
    expect(ctx.signal.aborted).to.equal(true);
  });
});
