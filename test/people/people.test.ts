/** Several people on one daemon: each sees and changes only what is theirs, by whichever route. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_RATE, type TestAnswer, TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { openChat } from '../clients/chat-socket.js';
import { modelConfig, MODEL_KEY, stopModelKernels, until } from '../clients/model-kernel.js';
import { call, expectWellFormed, refusalOrUpgrade, type Walked, walk } from '../conformance/route-walk.js';
import { bootTestKernel, type TestKernel } from '@svc/testing';
import { signedIn } from './signed-in.js';

const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', bob: 'bob-key-2', carol: 'carol-key-3', adam: 'adam-key-4' };
/** Of a device of bob's, and of somebody who signed in at a provider. */
const TOKENS: Record<string, string> = {};
const SECRET = 'alices-pet-is-a-heron';
const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const person = (name: keyof typeof KEYS, role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "${hash(KEYS[name])}"\n`;

interface World {
  readonly kernel: TestKernel;
  readonly model: ProviderServer;
  readonly owner: TestHttp;
  readonly alice: TestHttp;
  readonly bob: TestHttp;
  readonly carol: TestHttp;
  readonly adam: TestHttp;
  readonly device: TestHttp;
  readonly dora: TestHttp;
  /** Alice's. */
  readonly agent: { readonly id: string; readonly session_id: string; readonly name: string };
  readonly run: string;
}

describe('several people', () => {
  let world: World;

  before(async () => {
    const model = await startOpenAiServer({ text: `I know: ${SECRET}` });
    const kernel = await bootTestKernel({
      config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${modelConfig(model.url)}${person('alice', 'user')}${person('bob', 'user')}${person('carol', 'viewer')}${person('adam', 'admin')}`,
      env: { OPENAI_API_KEY: MODEL_KEY },
    });
    const [owner, alice, bob, carol, adam] = [kernel.as(KEYS.owner), kernel.as(KEYS.alice), kernel.as(KEYS.bob), kernel.as(KEYS.carol), kernel.as(KEYS.adam)];
    const { pairing_code } = (await bob.expect(200, 'POST', '/api/pairing/request')).body;
    TOKENS.device = (await new TestHttp(kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code })).body.api_key;
    TOKENS.dora = (await signedIn(kernel, 'd', 'user')).token;
    const [device, dora] = [kernel.as(TOKENS.device ?? ''), kernel.as(TOKENS.dora)];
    await alice.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "alices-agent"\n' });
    const [agent] = (await alice.expect(200, 'GET', '/api/agents')).body.agents;
    const said = await alice.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: SECRET });
    await mkdir(join(kernel.home, 'workspaces', agent.id), { recursive: true });
    await writeFile(join(kernel.home, 'workspaces', agent.id, 'diary.txt'), SECRET);
    world = { kernel, model, owner, alice, bob, carol, adam, device, dora, agent, run: said.body.run_id };
  });
  after(async () => {
    await stopModelKernels();
    await world?.model.close();
  });

  /** Every route that names an agent, with alice's agent in its place. */
  const routesOfAgent = (): Walked[] =>
    walk(world.kernel, { id: world.agent.id, agent_id: world.agent.id, session_id: world.agent.session_id, filename: 'diary.txt' }).filter(
      (one) => one.path.includes(world.agent.id) && !knowsItsCallers(one),
    );

  /** Every route that names an agent, a conversation or a run, with alice's in its place. */
  const routesOfRows = (): Array<{ readonly one: Walked; readonly id: string }> => [
    ...routesOfAgent().map((one) => ({ one, id: world.agent.id })),
    ...[['/api/sessions/{id}', world.agent.session_id] as const, ['/api/runs/{id}', world.run] as const].flatMap(([prefix, id]) =>
      walk(world.kernel, { id })
        .filter(({ template }) => template.startsWith(prefix))
        .map((one) => ({ one, id })),
    ),
  ];

  const thirdParties = (): Array<readonly [string, TestHttp]> => [
    ['bob', world.bob],
    ['carol', world.carol],
    ['device', world.device],
    ['dora', world.dora],
  ];

  const snapshot = async (): Promise<string> => {
    const paths = [`/api/agents/${world.agent.id}`, `/api/agents/${world.agent.id}/session`, `/api/agents/${world.agent.id}/files`, '/api/agents'];
    const texts = await Promise.all(paths.map(async (path) => (await world.alice.expect(200, 'GET', path)).text));
    return texts.join('\n').replaceAll(/"last_active":"[^"]*"/g, '');
  };

  it('see in lists only what is theirs; the owner sees all', async () => {
    const names = async (http: TestHttp) => (await http.expect(200, 'GET', '/api/agents')).body.agents.map((one: { name: string }) => one.name);
    expect(await names(world.alice)).to.deep.equal(['alices-agent']);
    expect(await names(world.bob)).to.deep.equal([]);
    expect(await names(world.carol)).to.deep.equal([]);
    expect(await names(world.owner)).to.include('alices-agent');
    for (const [who, http] of thirdParties())
      for (const path of ['/v1/models', '/api/status', '/api/agents', '/api/agents?q=alice', '/api/health/detail', '/api/metrics', '/api/models', '/api/tools', '/api/providers', '/api/extensions']) {
        const { text } = await http.expect(200, 'GET', path);
        expect(text, `${who} ${path}`).to.not.contain('alices-agent').and.not.contain(world.agent.id).and.not.contain(SECRET);
      }
    expect((await world.alice.expect(200, 'GET', '/v1/models')).body.data.map((one: { id: string }) => one.id)).to.deep.equal(['svc:alices-agent', 'svc:alices-agent:stateless']);
    expect((await world.bob.expect(200, 'GET', '/v1/models')).body.data).to.deep.equal([]);
  });

  it("get for another's agent, on every route, just what they get for one that does not exist", async () => {
    const routes = routesOfRows();
    expect(routes.length).to.be.above(70);
    const before = await snapshot();
    const unknown = '00000000-0000-4000-8000-000000000000';
    for (const [who, http] of thirdParties())
      for (const { id, one } of routes) {
        const mine = await call(http, one, bearer(who));
        const none = await call(http, { ...one, path: one.path.replace(id, unknown) }, bearer(who));
        const what = `${who}: ${one.method} ${one.template} ${mine.text}`;
        expectWellFormed(mine, what);
        // A viewer may not even try to change something, and only admins what is everybody's.
        const isRefused = /\.(admin|own)$/.test(one.decl.permission) || (who === 'carol' && !one.decl.permission.endsWith('.read'));
        // A body that no agent would be asked with tells nothing of any.
        const expected = none.status === 400 ? 400 : 404;
        expect(mine.status, what).to.equal(isRefused ? 403 : expected);
        expect(shape(mine, id), what).to.deep.equal(shape(none, unknown));
      }
    expect(await snapshot()).to.equal(before);
    await world.alice.expect(200, 'GET', `/api/agents/${world.agent.id}/files/diary.txt`);
  });

  it('who are admins or the owner read what is everybody’s, and no admin does what is the owner’s', async () => {
    for (const [who, http] of [
      ['adam', world.adam],
      ['owner', world.owner],
    ] as const)
      for (const { one } of routesOfRows()) {
        // What changes something is looked at only where it is refused.
        const isRefused = who === 'adam' && one.decl.permission.endsWith('.own');
        if (!isRefused && (one.isSocket || one.method !== 'GET')) continue;
        const answer = await call(http, one, bearer(who));
        const what = `${who}: ${one.method} ${one.template} ${answer.text.slice(0, 300)}`;
        expectWellFormed(answer, what);
        if (isRefused) expect(answer.status, what).to.equal(403);
        else expect(answer.status, what).to.not.be.oneOf([401, 403]);
      }
    for (const path of [`/api/agents/${world.agent.id}`, `/api/sessions/${world.agent.session_id}`, `/api/runs/${world.run}`])
      for (const http of [world.adam, world.owner]) await http.expect(200, 'GET', path);
  });

  it("reach another's agent neither by name nor by id through chat completions", async () => {
    const asked = world.model.requests.length;
    for (const model of ['svc:alices-agent', 'alices-agent', world.agent.id]) {
      const answer = await world.bob.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'what do you know?' }] });
      expect(answer.status, answer.text).to.equal(404);
      expect((await world.bob.get(`/v1/models/${encodeURIComponent(model)}`)).status).to.equal(404);
    }
    expect(world.model.requests.length).to.equal(asked);
  });

  it("may not open another's socket: 404 before the upgrade, as for one that does not exist", async () => {
    const refused = await refusalOrUpgrade(world.kernel.url, `/api/agents/${world.agent.id}/ws`, bearer('bob'));
    expect(refused.status).to.equal(404);
    expectWellFormed(refused, 'bob');
    expect((await refusalOrUpgrade(world.kernel.url, `/api/agents/${world.agent.id}/ws`, bearer('carol'))).status).to.equal(403);
  });

  it('hear of their own agents only in agents_updated', async () => {
    const { body } = await world.bob.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "bobs-agent"\n' });
    const chat = await openChat(world.kernel.url, body.agent_id, { headers: bearer('bob') });
    const { agents } = await chat.next('agents_updated');
    expect(agents.map((one: { name: string }) => one.name)).to.deep.equal(['bobs-agent']);
    chat.socket.close();
    await world.bob.expect(200, 'DELETE', `/api/agents/${body.agent_id}`);
  });

  it("can neither resume nor attach to another's run, nor use another's session", async () => {
    const { body } = await world.bob.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "bobs-agent"\n' });
    const mine = `/api/agents/${body.agent_id}`;
    const resume = { 'last-event-id': `${world.run}.1.0` };
    expect((await world.bob.post(`${mine}/message/stream`, { message: 'x' }, resume)).status).to.equal(404);
    expect((await world.bob.post(`/api/agents/${world.agent.id}/message/stream`, { message: 'x' }, resume)).status).to.equal(404);
    const session = world.agent.session_id;
    expect((await world.bob.get(`${mine}/sessions/${session}/stream`, resume)).status).to.equal(404);
    const read = await world.bob.get(`${mine}/session?session_id=${session}`);
    expect(read.text).to.not.contain(SECRET);
    const before = await snapshot();
    const posted = await world.bob.post(`${mine}/message`, { message: 'let me in', session_id: session });
    expect(posted.text).to.not.contain('Internal server error');
    expect(posted.status, posted.text).to.equal(404);
    expect(await snapshot()).to.equal(before);
    await world.bob.expect(200, 'DELETE', mine);
  });

  it('can use the same idempotency key without meeting in it: for agents, messages and completions', async () => {
    const key = { 'idempotency-key': 'order-1' };
    const spawn = (http: TestHttp) => http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "twin"\n' }, key);
    const [one, two] = [await spawn(world.alice), await spawn(world.bob)];
    expect(one.body.agent_id).to.not.equal(two.body.agent_id);
    expect((await spawn(world.bob)).body.agent_id).to.equal(two.body.agent_id);
    const say = (http: TestHttp, id: string) => http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'same words' }, key);
    const [first, second] = [await say(world.alice, one.body.agent_id), await say(world.bob, two.body.agent_id)];
    expect(first.body.run_id).to.not.equal(second.body.run_id);
    expect((await say(world.bob, two.body.agent_id)).body.run_id).to.equal(second.body.run_id);
    const complete = (http: TestHttp) =>
      http.expect(200, 'POST', '/v1/chat/completions', { model: 'svc:twin', messages: [{ role: 'user', content: 'same words' }] }, { 'idempotency-key': 'order-2', 'x-stainless-retry-count': '1' });
    expect((await complete(world.alice)).body.id).to.not.equal((await complete(world.bob)).body.id);
    await world.alice.expect(200, 'DELETE', `/api/agents/${one.body.agent_id}`);
    await world.bob.expect(200, 'DELETE', `/api/agents/${two.body.agent_id}`);
  });

  it('may give their agents the same name: svc:<name> is for each their own', async () => {
    const { body } = await world.bob.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "alices-agent"\n[model]\nsystem_prompt = "You belong to Bob."\n' });
    const ask = (http: TestHttp) => http.expect(200, 'POST', '/v1/chat/completions', { model: 'svc:alices-agent', messages: [{ role: 'user', content: 'whose are you?' }] });
    await ask(world.bob);
    expect(JSON.stringify(world.model.requests.at(-1)?.body.messages))
      .to.contain('You belong to Bob.')
      .and.not.contain(SECRET);
    await ask(world.alice);
    expect(JSON.stringify(world.model.requests.at(-1)?.body.messages)).to.not.contain('You belong to Bob.');
    await world.bob.expect(200, 'DELETE', `/api/agents/${body.agent_id}`);
    await world.alice.expect(200, 'GET', `/api/agents/${world.agent.id}`);
  });

  it("cannot stop another's run; their agents cannot find, message or spawn for another either", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.model.script(async () => {
      await held;
      return { text: 'done after all' };
    });
    const asked = world.model.requests.length;
    const running = world.alice.post(`/api/agents/${world.agent.id}/message`, { message: 'take long' });
    await until(() => world.model.requests.length > asked);
    expect((await world.bob.post(`/api/agents/${world.agent.id}/stop`)).status).to.equal(404);
    expect((await world.carol.post(`/api/agents/${world.agent.id}/stop`)).status).to.equal(403);
    release();
    expect((await running).body.response).to.equal('done after all');

    const { body } = await world.bob.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "spy"\n[capabilities]\ntools = ["*"]\nagent_message = ["*"]\nagent_spawn = true\n' });
    world.model.script([
      {
        toolCalls: [
          { name: 'agent_list', args: {} },
          { name: 'agent_find', args: { query: 'alices-agent' } },
          { name: 'agent_send', args: { agent_id: world.agent.id, message: 'tell me' } },
        ],
      },
      { text: 'nothing found' },
    ]);
    await world.bob.expect(200, 'POST', `/api/agents/${body.agent_id}/message`, { message: 'spy' });
    const results = ((world.model.requests.at(-1)?.body.messages ?? []) as Array<{ role: string; content: unknown }>).filter((message) => message.role === 'tool');
    expect(results).to.have.length(3);
    const reported = JSON.stringify(results);
    expect(reported).to.not.contain(SECRET);
    expect(JSON.stringify(results.slice(0, 2)).replaceAll('\\"', '')).to.not.contain(world.agent.id);
    expect(JSON.stringify(results[2])).to.match(/no agent|not exist|not found|error/i);
    await world.bob.expect(200, 'DELETE', `/api/agents/${body.agent_id}`);
    world.model.script({ text: `I know: ${SECRET}` });
  });

  it('count their own usage only', async () => {
    const { body } = await world.bob.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "frugal"\n' });
    const usage = await world.bob.expect(200, 'POST', `/api/agents/${body.agent_id}/message`, { message: '/usage' });
    expect(usage.body.response).to.contain('0 model calls');
    const hers = await world.alice.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: '/usage' });
    expect(hers.body.response).to.not.contain('0 model calls, 0 tokens');
    await world.bob.expect(200, 'DELETE', `/api/agents/${body.agent_id}`);
  });

  it('who only view change nothing, not even their own', async () => {
    for (const one of walk(world.kernel).filter((each) => !each.decl.permission.endsWith('.read') && each.decl.auth !== 'public' && !knowsItsCallers(each)))
      expect((await call(world.carol, one, bearer('carol'))).status, one.template).to.equal(403);
  });

  it('do nothing that is for admins and owners, by a device or a sign-in either', async () => {
    const routes = walk(world.kernel).filter(({ decl }) => decl.auth !== 'public' && /\.(admin|own)$/.test(decl.permission));
    expect(routes.length).to.be.above(50);
    for (const [who, http] of [
      ['device', world.device],
      ['dora', world.dora],
    ] as const)
      for (const one of routes) expect((await call(http, one, bearer(who))).status, `${who}: ${one.method} ${one.template}`).to.equal(403);
  });

  it('and the owner may help: what is spoken to alice’s agent by the owner stays hers', async () => {
    await world.owner.expect(200, 'POST', `/api/agents/${world.agent.id}/message`, { message: 'the owner was here' });
    expect((await world.alice.expect(200, 'GET', `/api/agents/${world.agent.id}/session`)).text).to.contain('the owner was here');
    expect((await world.bob.get(`/api/agents/${world.agent.id}/session`)).status).to.equal(404);
  });
});

/** By a token that is nobody's key: such a route asks nothing else. */
const knowsItsCallers = ({ decl }: Walked): boolean => 'callers' in decl && decl.callers !== undefined;

/** `call` opens sockets without the key of the TestHttp. */
const bearer = (who: string): Record<string, string> => ({ authorization: `Bearer ${TOKENS[who] ?? KEYS[who as keyof typeof KEYS]}` });

/** An answer without what differs between any two: nothing else may tell the one from the other. */
const shape = (answer: TestAnswer, id: string) => ({
  status: answer.status,
  text: answer.text.replaceAll(id, '<id>').replaceAll(/"request_id":"[^"]*"/g, ''),
  headers: [...answer.headers.keys()].filter((name) => name !== 'keep-alive').sort(),
});
