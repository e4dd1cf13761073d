/** The official protocol, asked by its own SDK: 1.0 and 0.3. */
import { ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEY = 'a2a-official-key';
const MISSING = '00000000-0000-4000-8000-000000000000';

describe('the official A2A protocol', function () {
  this.timeout(30_000);
  let world: ModelKernel;
  let http: TestHttp;
  const withKey: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), authorization: `Bearer ${KEY}` } });
  const asking = (text: string, more: object = {}, configuration: object = {}) =>
    SendMessageRequest.fromJSON({ message: { messageId: `m-${Math.random()}`, role: 'ROLE_USER', parts: [{ text }], ...more }, configuration });
  const textOf = (task: object): string => JSON.stringify(task);
  const rpc = async (method: string, params: object, version?: string) =>
    (await http.expect(200, 'POST', '/a2a', { jsonrpc: '2.0', id: 7, method, params }, version === undefined ? {} : { 'a2a-version': version })).body;
  const all = async (events: AsyncGenerator<StreamResponse, void, undefined>): Promise<StreamResponse[]> => {
    const seen: StreamResponse[] = [];
    for await (const event of events) seen.push(event);
    return seen;
  };
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEY}"\n${OPEN_RATE}[approval]\nrequire_approval = ["system_time"]\n`, key: KEY });
    http = world.http;
  });
  after(stopModelKernels);

  it('shows a card that names no agent, as each version reads it', async () => {
    const anybody = world.kernel.as('');
    const both = await anybody.get('/.well-known/agent-card.json');
    expect(both.body).to.deep.include({ protocolVersion: '0.3.0', preferredTransport: 'JSONRPC', url: `${world.kernel.url}/a2a` });
    expect(both.body.supportedInterfaces[0]).to.deep.equal({ url: `${world.kernel.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
    const strict = await anybody.get('/.well-known/agent-card.json', { 'a2a-version': '1.0' });
    expect(strict.body).not.to.have.any.keys('url', 'protocolVersion', 'preferredTransport');
    expect(both.text).not.to.include(world.agent.name).and.not.to.include(world.agent.id);
    expect((await anybody.post('/a2a', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: MISSING } })).status).to.equal(401);
  });

  it('is spoken by the SDK of 1.0: send, get, list, cancel', async () => {
    const client = await new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl: withKey })] }).createFromUrl(world.kernel.url);
    world.model.beginAnew({ text: 'Good day' });
    const task = await client.sendMessage(asking('Hello'));
    if (!('status' in task)) throw new Error('a message came instead of a task');
    expect(task.status?.state).to.equal(TaskState.TASK_STATE_COMPLETED);
    expect(textOf(task.artifacts)).to.include('Good day');
    const got = await client.getTask({ tenant: '', id: task.id });
    expect([got.id, got.contextId, got.status?.state]).to.deep.equal([task.id, task.contextId, TaskState.TASK_STATE_COMPLETED]);
    // The same id on the routes of svc, with its cause, in a conversation of its own.
    const { body: run } = await http.expect(200, 'GET', `/api/runs/${task.id}`);
    expect(run.session_id).not.to.equal(world.agent.session_id);
    const list = await client.listTasks({ tenant: '', contextId: task.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined });
    expect([list.tasks.map(({ id }) => id), list.totalSize, list.nextPageToken]).to.deep.equal([[task.id], 1, '']);
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined }).catch((error: Error) => error.message);
    expect(ended).to.include('already ended');
    // The same context goes on, and the agent sees what was said in it.
    world.model.beginAnew({ text: 'You said hello' });
    const next = await client.sendMessage(asking('What did I say?', { contextId: task.contextId }));
    expect('contextId' in next && next.contextId).to.equal(task.contextId);
    expect(JSON.stringify(world.model.requests.at(-1)?.body)).to.include('Good day');
  });

  it('streams to the SDK of 1.0, piece by piece', async () => {
    const client = await new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl: withKey })] }).createFromUrl(world.kernel.url);
    world.model.beginAnew({ text: 'one two', deltas: ['one ', 'two'] });
    const events = await all(client.sendMessageStream(asking('Count')));
    expect(events[0]?.payload?.$case).to.equal('task');
    const last = events.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).to.equal(TaskState.TASK_STATE_COMPLETED);
    const pieces = events.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value] : []));
    expect(pieces.length).to.be.greaterThan(0);
    expect(pieces.at(-1)?.lastChunk).to.equal(true);
    expect(textOf(pieces.at(-1) ?? {})).to.include('one two');
  });

  it('cancels a task at work, which its follower sees', async () => {
    const client = await new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl: withKey })] }).createFromUrl(world.kernel.url);
    world.model.beginAnew({ hang: true });
    const task = await client.sendMessage(asking('Wait', {}, { returnImmediately: true }));
    if (!('status' in task)) throw new Error('a message came instead of a task');
    expect(task.status?.state).to.equal(TaskState.TASK_STATE_WORKING);
    const following = all(client.resubscribeTask({ tenant: '', id: task.id }));
    await until(async () => (await client.getTask({ tenant: '', id: task.id })).status?.state === TaskState.TASK_STATE_WORKING);
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(cancelled.status?.state).to.equal(TaskState.TASK_STATE_CANCELED);
    const last = (await following).at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).to.equal(TaskState.TASK_STATE_CANCELED);
  });

  it('cancels a task in each state that is no end, and none that has ended', async () => {
    const begin = async (more: object = {}, configuration: object = { returnImmediately: true }): Promise<string> => {
      const { result } = await rpc('SendMessage', { message: { messageId: `m-${Math.random()}`, role: 'ROLE_USER', parts: [{ text: 'Go' }], ...more }, configuration });
      return result.task.id;
    };
    const stateOf = async (id: string): Promise<string> => (await rpc('GetTask', { id })).result.status.state;
    const reached = (id: string, state: string): Promise<void> => until(async () => (await stateOf(id)) === state);
    world.model.beginAnew({ hang: true });
    const working = await begin({ contextId: 'one-after-another' });
    const queued = await begin({ contextId: 'one-after-another' });
    await reached(working, 'TASK_STATE_WORKING');
    expect(await stateOf(queued)).to.equal('TASK_STATE_SUBMITTED');
    for (const id of [queued, working]) expect((await rpc('CancelTask', { id })).result.status.state).to.equal('TASK_STATE_CANCELED');
    world.model.beginAnew({ toolCalls: [{ name: 'system_time', args: {} }] });
    const waiting = await begin({}, {});
    expect(await stateOf(waiting)).to.equal('TASK_STATE_INPUT_REQUIRED');
    expect((await rpc('CancelTask', { id: waiting })).result.status.state).to.equal('TASK_STATE_CANCELED');
    world.model.beginAnew({ text: 'done' });
    const completed = await begin({}, {});
    world.model.beginAnew({ status: 400, message: 'no such model' });
    const failed = await begin({}, {});
    expect([await stateOf(completed), await stateOf(failed)]).to.deep.equal(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED']);
    for (const id of [queued, working, waiting]) await reached(id, 'TASK_STATE_CANCELED');
    for (const id of [queued, working, waiting, completed, failed]) {
      const before = await stateOf(id);
      expect((await rpc('CancelTask', { id })).error.code).to.equal(-32_002);
      expect((await http.expect(409, 'POST', `/a2a/tasks/${id}/cancel`)).body.code).to.equal('a2a_task_ended');
      expect(await stateOf(id)).to.equal(before);
    }
    expect((await rpc('CancelTask', { id: MISSING })).error.code).to.equal(-32_001);
  });

  it('follows one task where a message is repeated while its stream has no end, and works on when a follower leaves', async () => {
    world.model.beginAnew({ text: 'so far', hangAfter: true });
    const params = { message: { messageId: 'without-end', role: 'ROLE_USER', parts: [{ text: 'Endless' }] } };
    const follow = async () => {
      const gone = new AbortController();
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params });
      const answer = await withKey(`${world.kernel.url}/a2a`, { method: 'POST', headers: { 'content-type': 'application/json', 'a2a-version': '1.0' }, body, signal: gone.signal });
      const reader = answer.body?.getReader();
      let text = '';
      while (reader && !text.includes('\n\n')) text += Buffer.from((await reader.read()).value ?? []).toString();
      const first = JSON.parse(text.split('\n\n')[0]?.slice('data: '.length) ?? '');
      return { id: first.result.task.id as string, leave: () => gone.abort() };
    };
    const [one, again] = [await follow(), await follow()];
    expect(again.id).to.equal(one.id);
    one.leave();
    again.leave();
    expect((await rpc('GetTask', { id: one.id })).result.status.state).to.equal('TASK_STATE_WORKING');
    expect((await rpc('SendMessage', { ...params, configuration: { returnImmediately: true } })).result.task.id).to.equal(one.id);
    expect(world.model.requests).to.have.length(1);
    expect((await rpc('CancelTask', { id: one.id })).result.status.state).to.equal('TASK_STATE_CANCELED');
  });

  it('is spoken by the SDK of 0.3: send, stream, get', async () => {
    const old = new LegacyJsonRpcTransport({ endpoint: `${world.kernel.url}/a2a`, fetchImpl: withKey });
    world.model.beginAnew([{ text: 'Good day' }, { text: 'Again' }]);
    const task = await old.sendMessage(asking('Hello'));
    if (!('status' in task)) throw new Error('a message came instead of a task');
    expect(textOf(task.artifacts)).to.include('Good day');
    expect((await old.getTask({ tenant: '', id: task.id })).status?.state).to.equal(TaskState.TASK_STATE_COMPLETED);
    const events = await all(old.sendMessageStream(asking('Hello again')));
    const last = events.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).to.equal(TaskState.TASK_STATE_COMPLETED);
  });

  it('takes a repeated message as the same task, and lets nobody else see it', async () => {
    world.model.beginAnew([{ text: 'first' }, { text: 'second' }]);
    const params = { message: { messageId: 'once', role: 'ROLE_USER', parts: [{ text: 'Once' }] } };
    const [one, again] = [await rpc('SendMessage', params), await rpc('SendMessage', params)];
    expect(again.result.task.id).to.equal(one.result.task.id);
    expect([one.result.task.contextId, JSON.stringify(again.result)]).to.satisfy(([context, text]: string[]) => text?.includes('first') && text.includes(context ?? '?'));
  });

  it('answers what it cannot do with the codes of the protocol', async () => {
    const message = (more: object = {}) => ({ messageId: 'x', role: 'ROLE_USER', parts: [{ text: 'x' }], ...more });
    expect((await rpc('GetTask', { id: MISSING })).error.code).to.equal(-32_001);
    expect((await rpc('GetTask', { id: 'nonsense' })).error.code).to.equal(-32_001);
    expect((await rpc('tasks/get', { id: MISSING }, '0.3')).error.code).to.equal(-32_001);
    expect((await rpc('NoSuchMethod', {}, '1.0')).error.code).to.equal(-32_601);
    expect((await rpc('message/send', {}, '1.0')).error.code).to.equal(-32_601);
    expect((await rpc('GetTask', { id: MISSING }, '99.0')).error.code).to.equal(-32_009);
    expect((await rpc('SendMessage', { message: message({ parts: [{ url: 'https://example.com/x' }] }) })).error.code).to.equal(-32_005);
    expect((await rpc('SendMessage', { message: message({ parts: [] }) })).error.code).to.equal(-32_602);
    expect((await rpc('SendMessage', { message: message({ taskId: MISSING }) })).error.code).to.equal(-32_001);
    expect((await rpc('SendMessage', { tenant: 'nobody', message: message() })).error.code).to.equal(-32_602);
    expect((await rpc('SendStreamingMessage', { tenant: 'nobody', message: message() })).error.code).to.equal(-32_602);
    expect((await rpc('ListTasks', { pageSize: 101 })).error.code).to.equal(-32_602);
    expect((await rpc('ListTaskPushNotificationConfigs', { taskId: MISSING })).error.code).to.equal(-32_003);
    expect((await rpc('GetExtendedAgentCard', {})).error.code).to.equal(-32_007);
    expect((await http.post('/a2a', [])).status).to.equal(400);
  });
});
