import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { answerOf, canonicalUrl, readCard } from '../src/wire.js';

const KEYS = { owner: 'a2a-root-key', alice: 'a2a-alice-key' };
const ALICE = `[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS.alice).digest('hex')}"\n`;
const MISSING = '00000000-0000-4000-8000-000000000000';
type Answer = { status: number; body: unknown };

/** A server elsewhere: it answers by path, and keeps what it was asked. */
const startServer = async (answers: (path: string, body: { method?: string }) => Answer) => {
  const seen: { path: string; version: string | undefined; body: { method?: string; params?: { message?: { messageId: string; parts: unknown[] } } } }[] = [];
  const server: Server = createServer(async (req, res) => {
    let text = '';
    for await (const piece of req) text += String(piece);
    const body = text === '' ? {} : JSON.parse(text);
    seen.push({ path: req.url ?? '', version: req.headers['a2a-version']?.toString(), body });
    const answer = answers(req.url ?? '', body);
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close: () => server.close() };
};

describe('a2a', function () {
  this.timeout(30_000);
  let world: ModelKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  const servers: { close(): void }[] = [];
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}${ALICE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n`, key: KEYS.owner });
    [owner, alice] = [world.kernel.as(KEYS.owner), world.kernel.as(KEYS.alice)];
  });
  after(async () => {
    for (const server of servers) server.close();
    await stopModelKernels();
  });
  const serve = async (answers: Parameters<typeof startServer>[0]) => {
    const server = await startServer(answers);
    servers.push(server);
    return server;
  };
  const send = (more: object = {}, http = owner) => http.post('/a2a/tasks/send', { agent_id: world.agent.name, message: { role: 'user', parts: [{ text: 'Hello' }] }, ...more });

  it('shows a card without a key that names no agent, and the agents with one', async () => {
    const { status, body } = await world.kernel.as('').get('/.well-known/agent.json');
    expect([status, body.capabilities]).to.deep.equal([200, { streaming: false, pushNotifications: false }]);
    expect(JSON.stringify(body)).not.to.include(world.agent.name).and.not.to.include(world.agent.id);
    expect((await world.kernel.as('').get('/a2a/agents')).status).to.equal(401);
    const listed = await owner.expect(200, 'GET', '/a2a/agents');
    expect(listed.body.agents.map(({ id }: { id: string }) => id)).to.deep.equal([world.agent.id]);
    expect((await alice.expect(200, 'GET', '/a2a/agents')).body.total).to.equal(0);
  });

  it('answers a task by a run, whose id it has on all routes', async () => {
    world.model.beginAnew({ text: 'Good day' });
    const { body } = await send();
    expect(body).to.deep.include({ status: 'completed', result: { role: 'agent', parts: [{ text: 'Good day' }] } });
    expect((await owner.expect(200, 'GET', `/a2a/tasks/${body.task_id}`)).body).to.deep.equal(body);
    expect((await owner.expect(200, 'GET', `/api/tasks/list`)).body.tasks[0].id).to.equal(body.task_id);
    expect((await owner.expect(409, 'POST', `/a2a/tasks/${body.task_id}/cancel`)).body.code).to.equal('a2a_task_ended');
    await alice.expect(404, 'GET', `/a2a/tasks/${body.task_id}`);
    await alice.expect(404, 'POST', `/a2a/tasks/${body.task_id}/cancel`);
  });

  it('takes a repeated message id as the same task', async () => {
    world.model.beginAnew([{ text: 'first' }, { text: 'second' }]);
    const message = { messageId: 'm-1', parts: [{ text: 'Once' }] };
    const [one, again] = [await send({ message }), await send({ message })];
    expect([again.body.task_id, again.body.result.parts[0].text]).to.deep.equal([one.body.task_id, 'first']);
  });

  it('refuses what has no text, and agents that are not there', async () => {
    expect((await send({ message: { parts: [{ text: ' ' }] } })).body.code).to.equal('a2a_no_text');
    expect((await send({ message: { parts: [] } })).status).to.equal(400);
    expect((await send({ agent_id: 'nobody' })).body.code).to.equal('a2a_local_agent_not_found');
    expect((await send({}, alice)).body.code).to.equal('a2a_local_agent_not_found');
    await owner.expect(404, 'GET', `/a2a/tasks/${MISSING}`);
  });

  it('cancels a task that is at work', async () => {
    world.model.beginAnew({ hang: true });
    const waiting = send();
    let id = '';
    await until(async () => {
      const [task] = (await owner.expect(200, 'GET', '/api/tasks/list?status=in_progress')).body.tasks;
      id = task?.id ?? '';
      return id !== '';
    });
    expect((await owner.expect(200, 'POST', `/a2a/tasks/${id}/cancel`)).body).to.deep.equal({ task_id: id, status: 'cancelled' });
    expect((await waiting).body).to.deep.include({ task_id: id, status: 'cancelled' });
    expect((await owner.expect(200, 'GET', `/a2a/tasks/${id}`)).body.status).to.equal('cancelled');
  });

  it('finds an agent elsewhere by its card, and asks it over JSON-RPC 1.0', async () => {
    let state = 'TASK_STATE_WORKING';
    const other = await serve((path, { method }) => {
      if (path === '/.well-known/agent-card.json')
        return {
          status: 200,
          body: {
            name: 'Travel',
            description: 'Trains',
            version: '2',
            skills: [{ id: 't', name: 'trains', description: '', tags: ['x'] }],
            supportedInterfaces: [{ url: `${other.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
          },
        };
      const task = { id: 'far-1', contextId: 'c', status: { state }, ...(state.endsWith('COMPLETED') ? { artifacts: [{ artifactId: 'a', parts: [{ text: 'At nine' }] }] } : {}) };
      return { status: 200, body: { jsonrpc: '2.0', id: 1, result: method === 'SendMessage' ? { task } : task } };
    });
    const { body: found } = await owner.expect(200, 'POST', '/api/a2a/discover', { url: `${other.url}/#x` });
    expect(found).to.deep.include({ name: 'Travel', url: other.url, protocol: '1.0', status: 'trusted' });
    expect((await owner.expect(200, 'POST', '/api/a2a/discover', { url: other.url })).body.id).to.equal(found.id);
    for (const key of [found.id, 'Travel', encodeURIComponent(other.url)]) expect((await owner.expect(200, 'GET', `/api/a2a/agents/${key}`)).body.id).to.equal(found.id);
    expect((await owner.expect(200, 'GET', '/api/a2a/agents')).body).to.deep.include({ total: 1 });
    expect((await alice.expect(200, 'GET', '/api/a2a/agents')).body.total).to.equal(0);
    await alice.expect(404, 'GET', `/api/a2a/agents/${found.id}`);
    const { body: task } = await owner.expect(200, 'POST', '/api/a2a/send', { agent_id: 'Travel', message: 'When?' });
    expect(task.status).to.equal('working');
    expect(other.seen.at(-1)).to.deep.include({ path: '/rpc', version: '1.0' });
    expect(other.seen.at(-1)?.body.params?.message?.parts).to.deep.equal([{ text: 'When?' }]);
    expect((await owner.expect(200, 'GET', `/api/a2a/tasks/${task.task_id}/status`)).body).to.deep.equal({ task_id: task.task_id, status: 'working' });
    state = 'TASK_STATE_COMPLETED';
    const ended = await owner.expect(200, 'GET', `/api/a2a/tasks/${task.task_id}`);
    expect(ended.body).to.deep.include({ status: 'completed', result: { role: 'agent', parts: [{ text: 'At nine' }] } });
    await alice.expect(404, 'GET', `/api/a2a/tasks/${task.task_id}`);
  });

  it('asks an agent that speaks 0.3, and gives its message without a task an id', async () => {
    const old = await serve((path) =>
      path === '/.well-known/agent-card.json'
        ? { status: 404, body: {} }
        : path === '/.well-known/agent.json'
          ? { status: 200, body: { name: 'Old', url: `${old.url}/a2a`, protocolVersion: '0.3.0', version: '1', skills: [] } }
          : { status: 200, body: { jsonrpc: '2.0', id: 1, result: { kind: 'message', messageId: 'x', role: 'agent', parts: [{ kind: 'text', text: 'Yes' }] } } },
    );
    await owner.expect(200, 'POST', '/api/a2a/discover', { url: old.url });
    const { body } = await owner.expect(200, 'POST', '/api/a2a/tasks/send', { agent_id: 'Old', message: 'Well?' });
    expect(body).to.deep.include({ status: 'completed', result: { role: 'agent', parts: [{ text: 'Yes' }] } });
    expect(old.seen.at(-1)?.body.method).to.equal('message/send');
    expect((await owner.expect(200, 'GET', `/api/a2a/tasks/${body.task_id}`)).body).to.deep.include({ task_id: body.task_id, status: 'completed' });
  });

  it('says why another server is of no use', async () => {
    const broken = await serve((path) => (path.startsWith('/.well-known') ? { status: 200, body: { name: 'Broken', url: `${broken.url}/a2a`, protocolVersion: '0.3.0' } } : { status: 401, body: {} }));
    const empty = await serve(() => ({ status: 404, body: {} }));
    expect((await owner.expect(502, 'POST', '/api/a2a/discover', { url: empty.url })).body.code).to.equal('a2a_no_card');
    expect((await owner.expect(400, 'POST', '/api/a2a/discover', { url: 'file:///etc/passwd' })).body.code).to.equal('a2a_invalid_url');
    expect((await owner.post('/api/a2a/discover', { url: 'http://169.254.169.254' })).status).to.equal(403);
    await owner.expect(200, 'POST', '/api/a2a/discover', { url: broken.url });
    const refused = await owner.expect(502, 'POST', '/api/a2a/send', { agent_id: 'Broken', message: 'Hi' });
    expect(refused.body.error).to.include('asks for a key');
    expect((await owner.expect(404, 'POST', '/api/a2a/send', { agent_id: 'none', message: 'Hi' })).body.code).to.equal('a2a_agent_not_found');
    await owner.expect(404, 'GET', `/api/a2a/tasks/${MISSING}`);
  });

  it('reads an answer in any of the three forms, and refuses others', () => {
    expect(answerOf({ task_id: 'a', status: 'completed', result: { parts: [{ text: 'x' }] } })).to.deep.include({ remoteId: 'a', status: 'completed' });
    expect(answerOf({ kind: 'task', id: 'b', status: { state: 'input-required' } }).status).to.equal('input_required');
    expect(answerOf({ message: { parts: [{ text: 'x' }] } }).remoteId).to.equal(null);
    for (const bad of [null, 'x', {}, { id: 'x' }, { id: 'x', status: { state: 'odd' } }]) expect(() => answerOf(bad)).to.throw('neither a task nor a message');
    expect(canonicalUrl('HTTPS://Example.COM:443/?#a')).to.equal('https://example.com');
    expect(() => canonicalUrl('https://me:pw@example.com')).to.throw('not an http');
    expect(() => readCard('https://e.com', { name: 'x', supportedInterfaces: [{ url: 'https://e.com', protocolBinding: 'GRPC', protocolVersion: '1.0' }] })).to.throw('no JSON-RPC');
  });
});
