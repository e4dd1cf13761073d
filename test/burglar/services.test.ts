/** What an extension from elsewhere gets by the services of the daemon: what they declare for it, and no more than its caller may. */
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const SERVICES = ['agents', 'auth', 'llm', 'local-models', 'models', 'providers', 'runs', 'sessions', 'templates', 'tools', 'uploads'];

/** Calls any method of any service with any arguments; an argument that says so is the actor of the request, or of an earlier one. */
const CALLER = `
  const kept = [];
  const Any = api.Type.Any();
  const METHODS = ['get','find','list','briefs','modelsOf','spawn','kill','read','edit','setModel','setSuspended','setSession','roleOf','describe','attach','picture','resolve','checkParameters','canThink','admit','reserve','complete','embed','count','spending','usage','alias','aliases','keep','forget','usable','defaultModel','shownDefault','fallbacks','markKeyInvalid','markKeyValid','submit','stop','counts','total','named','ensure','create','labelled','agentOf','setThinking','discard','compact','append','project','context','wipe','erase','recent','entries','all','decide','execute'];
  const decls = Object.fromEntries(Object.entries(VERSIONS).map(([name, version]) => [name, api.defineService(name, version, Object.fromEntries(METHODS.map((one) => [one, api.method([1,2,3,4].map(() => api.Type.Optional(Any)), Any)])))]));
  const route = (id, method, permission, work) => ctx.routes.add(api.defineRoute({ id, method, path: '/api/caller/' + id.toLowerCase(), area: 'caller', auth: 'bearer', permission, cost: 1, summary: 'Calls a service', errors: [400, 403, 404, 409, 422, 429, 503],
    ...(method === 'POST' ? { body: Any } : {}), responses: { 200: Any }, handler: work }));
  const placed = (value, actor) => value === '<actor>' ? actor : value === '<kept>' ? kept.at(-1) : Array.isArray(value) ? value.map((one) => placed(one, actor)) : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, placed(inner, actor)])) : value;
  const asked = async (req, actor) => {
    const service = ctx.services.optional(decls[req.body.service]).value;
    return { answer: (await service[req.body.method](...placed(req.body.args, actor))) ?? null };
  };
  route('Call', 'POST', 'caller.read', async (req) => api.reply(200, await asked(req, req.actor)));
  route('Keep', 'POST', 'caller.read', async (req) => { kept.push(req.actor); return api.reply(200, {}); });
  route('CallLater', 'POST', 'caller.read', async (req) => { const body = req.body; const actor = req.actor; setTimeout(() => asked({ body }, actor).then((x) => late.push(x), (error) => late.push(error.code)), 300); return api.reply(200, {}); });
  const late = [];
  route('Late', 'POST', 'caller.read', async () => api.reply(200, { late }));
`;

const VIEWER = 'vera-key';
const USER = 'ulf-key';

describe('an extension from elsewhere that calls services', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let agentId: string;
  before(async () => {
    const { createHash } = await import('node:crypto');
    const person = (name: string, role: string, key: string) => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(key).digest('hex')}"\n`;
    const caller = await thirdParty({
      id: 'caller',
      manifest: { optional: Object.fromEntries(SERVICES.map((name) => [name, '^1'])) },
      before: `const VERSIONS = ${JSON.stringify(Object.fromEntries(SERVICES.map((name) => [name, '1.0.0'])))};`,
      activate: CALLER,
    });
    kernel = await bootTestKernel({
      config: `api_key = "root"\n${OPEN_RATE}[extensions]\nenable = ["caller"]\n${person('vera', 'viewer', VIEWER)}${person('ulf', 'user', USER)}`,
      key: 'root',
      thirdParties: [caller],
    });
    const manifest_toml = 'name = "plain"\n[capabilities]\ntools = ["*"]\n';
    agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml })).body.agent_id;
  });
  after(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  const ask = async (service: string, method: string, args: readonly unknown[], key = 'root'): Promise<string> => {
    const { status, body, text } = await kernel.as(key).post('/api/caller/call', { service, method, args });
    return status === 200 ? `it got ${JSON.stringify(body.answer)}` : String(body?.code ?? text);
  };
  const EVERYTHING = { tools: ['*'], network: ['*'], memory_read: ['*'], memory_write: ['*'], shell: ['*'], agent_spawn: true, agent_message: ['*'], file_system: true, max_llm_tokens_per_hour: null };
  const toolCall = (capabilities: object) => ({
    name: 'shell_exec',
    args: { command: 'echo loot' },
    earlier: [],
    call: { callId: 'c1', runId: 'r1', agentId, sessionId: 's1', actor: '<actor>', depth: 0, capabilities },
  });

  it('reads what is declared for it, for whoever calls it', async () => {
    expect(await ask('agents', 'list', ['<actor>'])).to.contain('"name":"plain"');
    expect(await ask('agents', 'list', ['<actor>'], USER)).not.to.contain('"name":"plain"');
    expect(await ask('tools', 'all', [])).to.contain('shell_exec');
  });

  const inner: Readonly<Record<string, readonly [service: string, method: string, args: () => readonly unknown[]]>> = {
    'runs a command with rights that it names itself': ['tools', 'execute', () => [toolCall(EVERYTHING)]],
    'has a call decided by rights that it names itself': ['tools', 'decide', () => [toolCall(EVERYTHING)]],
    'makes an agent with a shell': ['agents', 'spawn', () => ['<actor>', { manifestToml: 'name = "loot"\n[capabilities]\nshell = ["*"]\n' }]],
    'makes an agent of a table': ['agents', 'spawn', () => ['<actor>', { manifest: { name: 'loot', capabilities: { shell: ['*'] } } }]],
    'gives an agent a shell': ['agents', 'edit', () => ['<actor>', agentId, { manifest: { capabilities: { shell: ['*'] } } }]],
    'gives an agent another model': ['agents', 'setModel', () => ['<actor>', agentId, { provider: 'ollama', model: 'mine' }]],
    'removes an agent': ['agents', 'kill', () => ['<actor>', agentId]],
    'asks which role somebody has': ['auth', 'roleOf', () => ['owner']],
    'says that a key is not valid': ['providers', 'markKeyInvalid', () => ['openai']],
    'changes the catalog of models': ['local-models', 'keep', () => ['openai', []]],
    'asks whose a session is': ['sessions', 'agentOf', () => ['s1']],
    'writes what was never said': ['sessions', 'append', () => ['<actor>', { id: 's1', agentId, ownerId: 'owner', seq: 0 }, []]],
    'takes all sessions away': ['sessions', 'wipe', () => ['<actor>', { id: agentId, sessionId: 's1' }]],
    'puts files into a workspace': ['uploads', 'attach', () => ['<actor>', [], { agentId }]],
    'reserves money': ['llm', 'reserve', () => [{}, {}]],
  };
  for (const [what, [service, method, args]] of Object.entries(inner))
    it(`${what}: service_internal`, async () => {
      expect(await ask(service, method, args())).to.equal('service_internal');
    });

  it('changes nothing for a viewer, whose own calls may not', async () => {
    const draft = { agentId, parts: [{ type: 'text', text: 'hello' }], door: 'rest' };
    expect(await ask('runs', 'submit', ['<actor>', draft], VIEWER)).to.equal('service_role_refused');
    expect(await ask('runs', 'submit', ['<actor>', draft])).to.contain('"runId"');
  });

  it('acts for nobody once the call that handed them over has ended', async () => {
    await kernel.http.expect(200, 'POST', '/api/caller/keep', {});
    // The owner's actor is known again for as long as a call of the owner is under way; a user's call hands over the user alone.
    expect(await ask('agents', 'list', ['<kept>'], USER)).to.equal('actor_made_up');
    await kernel.http.expect(200, 'POST', '/api/caller/calllater', { service: 'agents', method: 'list', args: ['<actor>'] });
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect((await kernel.as(USER).expect(200, 'POST', '/api/caller/late', {})).body.late).to.deep.equal(['actor_made_up']);
  });

  it('is shown with what it can do by each service, in words', async () => {
    const { contributions } = kernel.daemon.installed.all().find(({ id }) => id === 'runs') ?? {};
    expect(contributions?.services?.runs?.join('; ')).to.contain('sends messages to your agents').and.to.contain('everything you granted to those agents');
  });
});
