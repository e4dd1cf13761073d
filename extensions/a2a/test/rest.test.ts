/** The official protocol over HTTP and JSON, asked by its own SDK. */
import { createHash } from 'node:crypto';
import { ClientFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEY = 'a2a-rest-key';
const ALICE = 'a2a-rest-key-of-alice';
const MISSING = '00000000-0000-4000-8000-000000000000';

describe('A2A over HTTP and JSON', function () {
  this.timeout(30_000);
  let world: ModelKernel;
  let http: TestHttp;
  const withKey: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), authorization: `Bearer ${KEY}` } });
  const connected = () => new ClientFactory({ transports: [new RestTransportFactory({ fetchImpl: withKey })], preferredTransports: ['HTTP+JSON'] }).createFromUrl(world.kernel.url);
  const asking = (text: string, more: object = {}, configuration: object = {}) =>
    SendMessageRequest.fromJSON({ message: { messageId: `m-${Math.random()}`, role: 'ROLE_USER', parts: [{ text }], ...more }, configuration });
  const all = async (events: AsyncGenerator<StreamResponse, void, undefined>): Promise<StreamResponse[]> => {
    const seen: StreamResponse[] = [];
    for await (const event of events) seen.push(event);
    return seen;
  };
  before(async () => {
    const alice = `[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(ALICE).digest('hex')}"\n`;
    world = await bootWithModel(undefined, { config: `api_key = "${KEY}"\n${OPEN_RATE}${alice}`, key: KEY });
    http = world.http;
  });
  after(stopModelKernels);

  it('is named in the card, after JSON-RPC', async () => {
    const { body } = await world.kernel.as('').get('/.well-known/agent-card.json', { 'a2a-version': '1.0' });
    expect(body.supportedInterfaces.map(({ protocolBinding, protocolVersion }: Record<string, string>) => `${protocolBinding} ${protocolVersion}`)).to.deep.equal([
      'JSONRPC 1.0',
      'HTTP+JSON 1.0',
      'JSONRPC 0.3',
    ]);
    expect((await world.kernel.as('').get(`/a2a/v1/tasks/${MISSING}`)).status).to.equal(401);
  });

  it('is spoken by the SDK: send, get, list, and a task has one id on all routes', async () => {
    const client = await connected();
    world.model.beginAnew({ text: 'Good day' });
    const task = await client.sendMessage(asking('Hello'));
    if (!('status' in task)) throw new Error('a message came instead of a task');
    expect([task.status?.state, JSON.stringify(task.artifacts).includes('Good day')]).to.deep.equal([TaskState.TASK_STATE_COMPLETED, true]);
    expect((await client.getTask({ tenant: '', id: task.id })).contextId).to.equal(task.contextId);
    const list = await client.listTasks({ tenant: '', contextId: task.contextId, status: TaskState.TASK_STATE_COMPLETED, pageToken: '', statusTimestampAfter: undefined, pageSize: 10 });
    expect([list.tasks.map(({ id }) => id), list.totalSize]).to.deep.equal([[task.id], 1]);
    expect((await http.expect(200, 'GET', `/a2a/tasks/${task.id}`)).body.status).to.equal('completed');
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined }).catch((error: Error) => error.message);
    expect(ended).to.include('already ended');
  });

  it('streams to the SDK, and a follower sees the end', async () => {
    const client = await connected();
    world.model.beginAnew({ text: 'one two', deltas: ['one ', 'two'] });
    const events = await all(client.sendMessageStream(asking('Count')));
    expect(events[0]?.payload?.$case).to.equal('task');
    const end = events.at(-1)?.payload;
    expect(end?.$case === 'statusUpdate' && end.value.status?.state).to.equal(TaskState.TASK_STATE_COMPLETED);
    world.model.beginAnew({ hang: true });
    const task = await client.sendMessage(asking('Wait', {}, { returnImmediately: true }));
    if (!('status' in task)) throw new Error('a message came instead of a task');
    const following = all(client.resubscribeTask({ tenant: '', id: task.id }));
    await until(async () => (await client.getTask({ tenant: '', id: task.id })).status?.state === TaskState.TASK_STATE_WORKING);
    expect((await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).status?.state).to.equal(TaskState.TASK_STATE_CANCELED);
    const last = (await following).at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).to.equal(TaskState.TASK_STATE_CANCELED);
  });

  it('shows nobody the tasks of somebody else, and answers errors as the protocol does', async () => {
    world.model.beginAnew({ text: 'for the owner' });
    const { body: sent } = await http.expect(200, 'POST', '/a2a/v1/message:send', { message: { messageId: 'mine', role: 'ROLE_USER', parts: [{ text: 'Mine' }] } });
    const { id } = sent.task;
    const alice = world.kernel.as(ALICE);
    const reasonOf = async (answer: Promise<{ status: number; body: { error?: { details?: { reason: string }[] } } }>) => {
      const { status, body } = await answer;
      return [status, body.error?.details?.[0]?.reason];
    };
    const send = (body: object, as = http) => as.post('/a2a/v1/message:send', body);
    const message = (more: object = {}) => ({ messageId: 'x', role: 'ROLE_USER', parts: [{ text: 'x' }], ...more });
    const NOT_FOUND = [404, 'TASK_NOT_FOUND'];
    for (const answer of [alice.get(`/a2a/v1/tasks/${id}`), alice.post(`/a2a/v1/tasks/${id}:cancel`), alice.post(`/a2a/v1/tasks/${id}:subscribe`), http.get('/a2a/v1/tasks/nonsense')])
      expect(await reasonOf(answer)).to.deep.equal(NOT_FOUND);
    expect((await alice.expect(200, 'GET', '/a2a/v1/tasks')).body.tasks ?? []).to.deep.equal([]);
    expect((await send({ tenant: world.agent.id, message: message() }, alice)).status).to.equal(400);
    expect(await reasonOf(http.post(`/a2a/v1/tasks/${id}:cancel`))).to.deep.equal([409, 'TASK_NOT_CANCELABLE']);
    expect(await reasonOf(http.get(`/a2a/v1/tasks/${id}`, { 'a2a-version': '0.3' }))).to.deep.equal([400, 'VERSION_NOT_SUPPORTED']);
    expect(await reasonOf(send({ message: message({ parts: [{ text: 'x' }, { url: 'https://example.com/x' }] }) }))).to.deep.equal([400, undefined]);
    expect((await send({ message: message({ taskId: 'nonsense' }) })).status).to.equal(404);
    for (const body of [{}, { message: 'text' }, { message: [] }, { message: message({ parts: 'x' }) }, { message: message({ role: 7 }), configuration: 'x' }, { message: { parts: [null] } }]) {
      const { status } = await send(body);
      expect(status, JSON.stringify(body)).to.equal(400);
    }
    for (const query of ['pageSize=101', 'pageSize=x', 'status=DONE', 'pageToken=-1']) expect((await http.get(`/a2a/v1/tasks?${query}`)).status, query).to.equal(400);
    expect((await http.post('/a2a/v1/message:send', [])).status).to.equal(400);
  });
});
