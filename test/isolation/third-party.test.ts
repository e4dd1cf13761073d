/** What an extension in a process of its own can do: all that its context has for it, on a real daemon. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootTestKernel, describeDaemonOnEngines, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type ThirdPartySpec, type TestKernel, type TestKernelOptions } from '@svc/testing';
import { expect } from 'chai';

const why = 'the test says so';

const boot = async (spec: ThirdPartySpec, options: TestKernelOptions = {}, config = ''): Promise<TestKernel> =>
  bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${spec.id}"]\n${config}`, thirdParties: [await thirdParty(spec)], ...options });

const route = (name: string, handler: string, more = ''): string => `
ctx.routes.add(api.defineRoute({
  id: '${name}', method: 'POST', path: '/api/acme/${name}', summary: 'A route of a stranger', auth: 'bearer', permission: 'acme.write', cost: 1,
  body: api.Type.Object({}, { additionalProperties: true }), responses: { 200: api.Type.Any(), 400: api.ErrorBody }, ${more}
  handler: async (req) => { ${handler} },
}));`;

const NOTES = `
const Notes = api.defineTable('notes', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, text: { kind: 'text', notNull: true } }, owner: 'owner_id' });
const Noted = api.defineEvent('acme.noted', '1.0.0', api.Type.Object({ id: api.Type.String() }));`;

describe('an extension in a process of its own', function () {
  this.timeout(30_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  it('answers its routes, and has no process before the first call', async () => {
    const { daemon, http } = await boot({ id: 'acme-echo', activate: route('echo', 'return api.reply(200, { got: req.body, by: req.actor.id, path: req.path });') });
    const status = () => daemon.kernel.extensions().find(({ id }) => id === 'acme-echo');

    expect([status()?.state, status()?.process?.pid]).to.deep.equal(['active', null]);
    expect((await http.expect(200, 'POST', '/api/acme/echo', { a: [1, null, 'ü'] })).body).to.deep.equal({ got: { a: [1, null, 'ü'] }, by: 'owner', path: '/api/acme/echo' });
    expect(status()?.process?.pid).to.be.a('number');
  });

  it('answers with bytes and with streams, and takes the body of a request as it comes', async () => {
    const { http } = await boot({
      id: 'acme-bytes',
      activate:
        route(
          'upper',
          "const all = []; for await (const piece of req.stream) all.push(piece); return api.bytes(200, 'text/plain', Buffer.concat(all).toString().toUpperCase());",
          'streamBody: true,',
        ).replace(/body: api[^\n]*?, responses/, 'responses') +
        route('count', "return api.stream(200, 'text/plain', (async function* () { for (let i = 0; i < 3; i++) yield Buffer.from(String(i)); })());"),
    });
    const upper = await http.post('/api/acme/upper', 'abc');
    expect([upper.status, upper.text]).to.deep.equal([200, 'ABC']);
    const count = await http.post('/api/acme/count', {});
    expect([count.status, count.text]).to.deep.equal([200, '012']);
  });

  it('fails with its own errors, and shows nothing of those that it did not mean to show', async () => {
    const { http } = await boot({
      id: 'acme-errors',
      before: "const errors = api.defineErrors('acme', { full: { status: 409, retry: true, message: (n) => 'There are ' + n + ' already.', hint: 'Remove one.' } });",
      activate: route('own', 'throw errors.full(3).with({ details: { n: 3 } });') + route('stray', "throw new Error('secret of the code');"),
    });
    const own = await http.send('POST', '/api/acme/own', '{}');
    expect([own.status, own.body.code, own.body.error, own.body.hint]).to.deep.equal([409, 'acme_full', 'There are 3 already.', 'Remove one.']);
    const orphan = await http.send('POST', '/api/acme/stray', '{}');
    expect(orphan.status).to.equal(500);
    expect(JSON.stringify(orphan.body)).not.to.contain('secret of the code');
  });

  describeDaemonOnEngines('keeps rows', () => {
    it('of its own tables, with an event in the same commit and the answer kept under the key of the caller', async () => {
      const { http } = await boot({
        id: 'acme-notes',
        manifest: { tables: ['notes'], events: { publishes: ['acme.noted'], listens: ['acme.noted'] } },
        before: `${NOTES}\nconst heard = [];`,
        rest: "contract: { Noted }, tables: [Notes], migrations: [api.createTables('0001_init', [Notes])],",
        activate: `const notes = api.ownedRows(ctx.db, Notes, { order: [{ column: 'id' }], missing: () => new Error('none') });
          ctx.events.on(Noted, ({ id }) => { heard.push(id); });
          ${route('note', 'const row = { id: ctx.ids.uuid(), owner_id: req.actor.ownerId, text: req.body.text }; const answer = api.reply(200, row); await ctx.db.commit([notes.insert(row), ctx.events.event(Noted, { id: row.id }), ...req.receipt(answer)]); return answer;', 'idempotent: true,').replace('400: api.ErrorBody', '400: api.ErrorBody, 409: api.ErrorBody')}
          ${route('list', 'const { rows } = await notes.page(req.actor, { limit: 10 }); return api.reply(200, { rows, heard });')}`,
      });
      const once = async () => (await http.post('/api/acme/note', { text: 'water' }, { 'idempotency-key': 'k1' })).body;
      const [first, again] = [await once(), await once()];
      expect(again).to.deep.equal(first);
      const { rows, heard: received } = (await http.expect(200, 'POST', '/api/acme/list', {})).body;
      expect(rows).to.deep.equal([first]);
      expect(received).to.deep.equal([first.id]);
    });
  });

  it('has its settings as they are now, its own files, and its timers', async () => {
    const { http, daemon, home } = await boot(
      {
        id: 'acme-things',
        manifest: { config: [{ section: 'acme' }] },
        before: "const Section = { declares: 'config', section: 'acme', schema: api.Type.Object({ size: api.Type.Integer({ default: 3 }) }, { additionalProperties: false }) };\nlet beats = 0;",
        rest: 'config: [Section],',
        activate: `ctx.timers.every('beat', 20, () => { beats += 1; });
          ${route('size', 'return api.reply(200, { size: ctx.config.get(Section).size });')}
          ${route('file', "await ctx.files.data.write('a/b.txt', 'hello'); const dir = ctx.files.data.dir('a'); return api.reply(200, { text: await dir.readText('b.txt'), list: (await dir.list()).map(({ name }) => name) });")}
          ${route('beats', 'return api.reply(200, { beats });')}`,
      },
      {},
    );
    expect((await http.expect(200, 'POST', '/api/acme/size', {})).body).to.deep.equal({ size: 3 });
    expect((await http.expect(200, 'POST', '/api/acme/file', {})).body).to.deep.equal({ text: 'hello', list: ['b.txt'] });
    const { appendFile } = await import('node:fs/promises');
    await appendFile(`${home}/config.toml`, '\n[acme]\nsize = 9\n');
    await daemon.reloadConfig();
    expect((await http.expect(200, 'POST', '/api/acme/size', {})).body).to.deep.equal({ size: 9 });
    const until = Date.now() + 5_000;
    let ticks = 0;
    while (ticks === 0 && Date.now() < until) ({ beats: ticks } = (await http.expect(200, 'POST', '/api/acme/beats', {})).body);
    expect(ticks).to.be.greaterThan(0);
  });

  describe('and the network', () => {
    let server: Server;
    let port: number;
    beforeEach(async () => {
      server = createServer((req, res) => res.end(JSON.stringify({ path: req.url, key: req.headers['x-key'] ?? null })));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      ({ port } = server.address() as AddressInfo);
    });
    afterEach(() => server.close());

    it('reaches the host that it was granted, with a secret that it never sees, and no other', async () => {
      const { http } = await boot({
        id: 'acme-weather',
        manifest: {
          grants: [
            { grant: `net:fetch:127.0.0.1:${port}`, why },
            { grant: 'secrets:acme.key', why },
          ],
        },
        activate: route(
          'ask',
          "await ctx.secrets.put('acme.key', 'k-123'); const res = await ctx.fetch(req.body.url, { purpose: 'tool', secretHeaders: { 'x-key': { secret: 'acme.key' } } }); return api.reply(200, { status: res.status, body: await res.json() });",
        ),
      });
      expect((await http.expect(200, 'POST', '/api/acme/ask', { url: `http://127.0.0.1:${port}/now` })).body).to.deep.equal({ status: 200, body: { path: '/now', key: 'k-123' } });
      const other = await http.send('POST', '/api/acme/ask', JSON.stringify({ url: `http://127.0.0.1:${port + 1}/` }));
      expect([other.status, other.body.code]).to.deep.equal([403, 'fetch_host_not_allowed']);
    });
  });

  it('gives a tool to agents, validated by what its declaration says it needs', async () => {
    const { daemon } = await boot({
      id: 'acme-tool',
      activate: `ctx.tools.add(api.defineTool({ name: 'acme_add', description: 'Adds two numbers.', params: api.Type.Object({ a: api.Type.Number(), b: api.Type.Number() }), risk: 'network', replay: 'safe', parallel: true,
        needs: [{ capability: 'network', target: 'https://sum.test/{a}' }], run: async ({ a, b }, call) => ({ content: String(a + b) + ' for ' + call.agentId }) }));`,
    });
    const [row] = daemon.parts.tools.active().filter(({ owner }) => owner.id === 'acme-tool');
    expect(row?.value.needs).to.deep.equal([{ capability: 'network', target: 'https://sum.test/{a}' }]);
    const call = {
      callId: 'c',
      runId: 'r',
      agentId: 'a1',
      sessionId: 's',
      depth: 0,
      actor: { id: 'owner', role: 'owner', ownerId: 'owner' },
      capabilities: {},
      signal: new AbortController().signal,
      log: console,
    };
    expect(await row?.value.run({ a: 2, b: 3 } as never, call as never)).to.deep.equal({ content: '5 for a1' });
  });

  it('taps hooks that are declared remote, and is refused at others by name', async () => {
    const tap = (hook: string, fn: string): ThirdPartySpec => ({
      id: 'acme-tap',
      manifest: { hooks: [{ name: hook }], grants: [{ grant: 'callers', why: 'it would like to' }] },
      activate: `ctx.hooks.tap(${fn});`,
    });
    const { http } = await boot(tap('health.probe', "api.HealthProbe, () => ({ name: 'acme', status: 'ok', detail: 'all is well' })"));
    const { checks } = (await http.expect(200, 'GET', '/api/health/detail')).body;
    expect(checks).to.deep.include({ name: 'acme', status: 'ok', detail: 'all is well' });
    await stopTestKernels();

    const refused = await boot(tap('http.authorize', 'api.HttpAuthorize, () => undefined'));
    const status = refused.daemon.kernel.extensions().find(({ id }) => id === 'acme-tap');
    expect([status?.state, status?.reason]).to.deep.equal(['failed', 'the hook http.authorize cannot be tapped from another process: its owner does not declare it remote']);
  });

  it('provides a service with streams, and uses those of others for whom it was called by', async () => {
    const { daemon, http } = await boot({
      id: 'acme-service',
      manifest: { provides: { 'acme.words': '1.0.0' }, requires: { agents: '^1' } },
      before: `const Words = api.defineService('acme.words', '1.0.0', { upper: api.method([api.Type.String(), api.Type.Optional(api.Type.String())], api.Type.String()), letters: api.streamMethod([api.Type.String()], api.Type.String()) });
        const Agents = api.defineService('agents', '1.0.0', { list: api.method([api.Actor], api.Type.Any()) });`,
      rest: 'contract: { Words },',
      activate: `const agents = ctx.services.require(Agents);
        ctx.services.provide(Words, { upper: (text, more = '!') => text.toUpperCase() + more, async *letters(text) { for (const one of text) yield one; } });
        ${route('agents', 'return api.reply(200, { names: (await agents.list(req.actor)).map(({ name }) => name) });')}
        ${route('forged', "return api.reply(200, { names: await agents.list({ id: 'owner', role: 'admin', ownerId: 'owner' }) });")}`,
    });
    const { Type, defineService, method, streamMethod } = await import('@svc/api');
    const Words = defineService('acme.words', '1.0.0', { upper: method([Type.String(), Type.Optional(Type.String())], Type.String()), letters: streamMethod([Type.String()], Type.String()) });
    const words = daemon.services.require({ id: 'test', generation: 1, lifetime: new (await import('@svc/core')).Lifetime('test') }, Words);
    expect([await words.upper('ab'), await words.upper('ab', '?')]).to.deep.equal(['AB!', 'AB?']);
    const letters: string[] = [];
    for await (const letter of words.letters('xyz')) letters.push(letter);
    expect(letters.join('')).to.equal('xyz');
    expect((await http.expect(200, 'POST', '/api/acme/agents', {})).body.names).to.include('assistant');
    const forged = await http.send('POST', '/api/acme/forged', '{}');
    expect([forged.status, forged.body.code]).to.deep.equal([403, 'actor_made_up']);
  });

  it('answers nobody while the areas of security are off, also where it calls itself a route that repairs', async () => {
    const { daemon, http } = await boot({ id: 'acme-repair', activate: route('mend', 'return api.reply(200, {});', 'repairs: true,') });
    await http.expect(200, 'POST', '/api/acme/mend', {});
    await daemon.kernel.disable('capabilities', { force: true });
    expect((await http.send('POST', '/api/acme/mend', '{}')).status).to.equal(503);
    expect((await http.get('/api/extensions')).status, 'what does repair').to.equal(200);
  });
});
