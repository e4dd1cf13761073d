/** What one of two daemons is told, the other hears at once. Time stands still here: nothing expires, and nothing is looked for. */
import { createHash } from 'node:crypto';
import { AgentSpawned } from '@svc/ext-agents/contract';
import { ProviderChanged } from '@svc/ext-providers/contract';
import { systemClock, type VirtualClock, virtualClock } from '@svc/platform/clock/clock';
import { createLocalBusHub } from '@svc/platform/bus/local-bus';
import { fixtureExtension, stopTestKernels, TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { catalogKeys, sampleCatalog, startCatalogHost } from '@svc/fixtures/catalogs/catalog-host';
import { openChat } from '../clients/chat-socket.js';
import { until } from '../clients/model-kernel.js';
import { bootTwo, count, latch, talk, type TwoDaemons, type TwoDaemonsOptions } from './two-daemons.js';

describe('two daemons over one database', function () {
  this.timeout(60_000);
  let two: TwoDaemons;
  let clock: VirtualClock;

  const boot = async (options: Partial<TwoDaemonsOptions> = {}): Promise<TwoDaemons> => {
    const hub = createLocalBusHub();
    // Begun at the present, because keys and rows carry times that clients compare.
    clock = virtualClock(systemClock().now());
    two = await bootTwo({ clock, joinBus: (name) => hub.join(name, (error) => expect.fail(String(error))), ...options });
    return two;
  };
  afterEach(async () => {
    await two.stop();
    await stopTestKernels();
  });

  it('show a change of an agent in both, and its end', async () => {
    const { a, b, agent } = await boot();
    const path = `/api/agents/${agent.id}`;
    const send = () => b.kernel.http.post(`${path}/message`, { message: 'hello' });
    expect((await send()).status).to.equal(200);
    await a.kernel.http.expect(200, 'PUT', `${path}/suspend`);
    await until(async () => (await send()).body.code === 'run_agent_suspended');
    await a.kernel.http.expect(200, 'PUT', `${path}/resume`);
    await until(async () => (await send()).status === 200);
    await a.kernel.http.expect(200, 'DELETE', path);
    await until(async () => (await send()).body.code === 'agent_not_found');
  });

  it('hear each event in both, once', async () => {
    const received: string[] = [];
    const listener = (name: string) =>
      fixtureExtension({
        id: 'listener',
        manifest: { events: { listens: ['agent.spawned', 'provider.changed'] } },
        definition: {
          activate: (ctx) => {
            ctx.events.on(AgentSpawned, (data) => void received.push(`${name}: ${data.name}`));
            ctx.events.on(ProviderChanged, (data) => void received.push(`${name}: ${data.name}`));
          },
        },
      });
    const { a, b } = await boot({ config: '[extensions]\nenable = ["listener"]', extra: (name) => [listener(name)] });
    received.length = 0;
    await a.kernel.http.expect(201, 'POST', '/api/agents', { name: 'committed' });
    b.kernel.daemon.parts.events.deliver('provider.changed', { name: 'published' });
    await until(() => received.length >= 4);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(received.sort()).to.deep.equal(['a: committed', 'a: published', 'b: committed', 'b: published']);
  });

  it('end a login in both, and what it holds open there', async () => {
    const key = 'root-key-0';
    const { a, b, agent } = await boot({ key, config: `[[users]]\nname = "root"\nrole = "owner"\napi_key_hash = "sha256:${createHash('sha256').update(key).digest('hex')}"\n` });
    const [at, elsewhere] = [a, b].map(({ kernel }) => new TestHttp(kernel.url)) as [TestHttp, TestHttp];
    const given = (await at.expect(200, 'POST', '/auth/session', { key })).headers.get('set-cookie')?.split(';')[0] ?? '';
    // One name for both, as behind a proxy that shares requests out.
    const headers = (http: TestHttp) => ({ cookie: given.replace(new URL(at.url).port, new URL(http.url).port), origin: http.url });
    expect((await elsewhere.get('/api/agents', headers(elsewhere))).status).to.equal(200);
    const chat = await openChat(b.kernel.url, agent.id, { headers: headers(elsewhere) });

    await at.expect(200, 'POST', '/auth/logout', undefined, headers(at));

    expect(await chat.closed()).to.equal(4401);
    expect((await elsewhere.get('/api/agents', headers(elsewhere))).status).to.equal(401);
  });

  it('follow a choice in both', async () => {
    const { a, b } = await boot();
    await a.kernel.http.expect(200, 'POST', '/api/extensions/commands/disable');
    await until(() => b.kernel.daemon.kernel.extensions().find(({ id }) => id === 'commands')?.state === 'inactive');
    await b.kernel.http.expect(200, 'POST', '/api/extensions/commands/enable');
    await until(() => a.kernel.daemon.kernel.extensions().find(({ id }) => id === 'commands')?.state === 'active');
  });

  it('show a run in both, frame by frame', async () => {
    const model = latch();
    const { a, b, agent } = await boot({ script: model.script });
    const own = a.kernel.http.events('POST', `/api/agents/${agent.id}/message/stream`, { message: 'hello' });
    await until(() => model.waiting() === 1);
    const other = b.kernel.http.events('GET', `/api/agents/${agent.id}/sessions/${agent.session_id}/stream`);
    await until(() => b.kernel.daemon.parts.streams.stats().followers === 1);
    model.answer({ deltas: ['one ', 'two ', 'three'], eventDelayMs: 60 });
    const [first, second] = await Promise.all([own, other]);
    expect(
      second
        .filter(({ event }) => event === 'chunk')
        .map(({ data }) => data.content)
        .join(''),
    ).to.equal('one two three');
    expect(second.map(({ id }) => id)).to.deep.equal(first.map(({ id }) => id));
  });

  it('stop a run in either', async () => {
    const model = latch();
    const { a, b, agent } = await boot({ script: model.script });
    const own = a.kernel.http.events('POST', `/api/agents/${agent.id}/message/stream`, { message: 'hello' });
    await until(() => model.waiting() === 1);
    const { body } = await b.kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/stop`);
    expect(body.stopped).to.equal(1);
    expect((await own).at(-1)?.data).to.deep.include({ done: true });
    expect(await count(a, "journal__runs WHERE status = 'cancelled'")).to.equal(1);
  });

  it('stop a run that the other has queued, and tell whoever waits for it there', async () => {
    const model = latch();
    const { a, b, agent } = await boot({ script: model.script });
    const first = a.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'one' });
    await until(() => model.waiting() === 1);
    const second = a.kernel.http.events('POST', `/api/agents/${agent.id}/message/stream`, { message: 'two' });
    await until(async () => (await count(a, "journal__runs WHERE status = 'queued'")) === 1);
    await b.kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/stop`);
    expect((await first).body.finish).to.equal('cancelled');
    // Frames of another process may still come: they have a second.
    await clock.advance(1_000);
    expect((await second).at(-1)?.event).to.equal('error');
  });

  it('let one run of a session go at a time, whichever of them was asked', async () => {
    const model = latch();
    const { a, b, agent } = await boot({ script: model.script });
    const path = `/api/agents/${agent.id}/message`;
    const first = a.kernel.http.post(path, { message: 'one' });
    await until(() => model.waiting() === 1);
    const second = b.kernel.http.post(path, { message: 'two' });
    await until(async () => (await count(a, "journal__runs WHERE status = 'queued'")) === 1);
    expect(model.waiting()).to.equal(1);
    model.answer({ text: 'first' });
    expect((await first).body.response).to.equal('first');
    await until(() => model.waiting() === 1);
    model.answer({ text: 'second' });
    expect((await second).body.response).to.equal('second');
    expect(await talk(b, agent.id)).to.deep.equal(['User: one', 'Assistant: first', 'User: two', 'Assistant: second']);
  });

  it('count what an agent used in either', async () => {
    const { a, b } = await boot({ script: { text: 'ok', usage: { input: 900, output: 100 } } });
    const { body } = await a.kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'thrifty', capabilities: { max_llm_tokens_per_hour: 1_500 } } });
    const send = (which: typeof a) => which.kernel.http.post(`/api/agents/${body.agent_id}/message`, { message: 'hello' });
    expect((await send(b)).status).to.equal(200);
    expect((await send(a)).status).to.equal(200);
    await until(async () => (await send(b)).body.code === 'token_quota_exceeded');
  });

  it('call a model by the name that was given to it in the other', async () => {
    const { a, b, model } = await boot();
    await a.kernel.http.expect(201, 'POST', '/api/models/aliases', { alias: 'mine', model_id: 'openai/one' });
    await until(async () => (await b.kernel.http.get('/api/models/aliases')).body.aliases.mine === 'openai/one');
    const { body } = await b.kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'named', model: { provider: 'default', model: 'mine' } } });
    const send = () => b.kernel.http.expect(200, 'POST', `/api/agents/${body.agent_id}/message`, { message: 'hello' });
    await send();
    expect(model.requests.at(-1)?.body.model).to.equal('one');
    await a.kernel.http.expect(200, 'DELETE', '/api/models/aliases/mine');
    await a.kernel.http.expect(201, 'POST', '/api/models/aliases', { alias: 'mine', model_id: 'openai/two' });
    await until(async () => (await send()) && model.requests.at(-1)?.body.model === 'two');
  });

  it('fetch the newer catalog that the other has fetched, each for itself', async () => {
    const host = await startCatalogHost();
    const keys = catalogKeys();
    try {
      host.publish(sampleCatalog(), keys);
      const { a, b } = await boot({ config: `[models]\ncatalog_url = "${host.url}/catalog.json"\ncatalog_public_key = "${keys.publicKey}"\n[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]` });
      await a.kernel.http.expect(200, 'POST', '/api/catalog/update');
      await until(async () => (await b.kernel.http.get('/api/models/newest')).status === 200);
      expect(host.asked.filter((path) => path === '/catalog.json')).to.have.length(2);
    } finally {
      await host.close();
    }
  });

  it('use the address of a provider that was set in the other', async () => {
    const { a, b, model, agent } = await boot();
    await b.kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'hello' });
    await a.kernel.http.expect(200, 'PUT', '/api/providers/openai/url', { url: `${model.url}/moved/v1` });
    await b.kernel.http.post(`/api/agents/${agent.id}/message`, { message: 'hello' });
    await until(() => model.requests.at(-1)?.path.startsWith('/moved/') ?? false);
  });
});
