/** Agents elsewhere: one that the official SDK serves, in 1.0 and 0.3, and servers that never come to an end. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { statusOf } from '../src/wire.js';

const KEY = 'a2a-elsewhere-key';
const isStream = (answer: object): answer is AsyncGenerator<unknown, void, undefined> => Symbol.asyncIterator in answer;

const ENDS: Readonly<Record<string, readonly [state: string, said?: string]>> = {
  pieces: ['TASK_STATE_COMPLETED'],
  day: ['TASK_STATE_INPUT_REQUIRED', 'Which day?'],
  broken: ['TASK_STATE_FAILED', 'the engine is out of oil'],
};

/** Repeats what it is sent. Answers "pieces" by events that come one by one, "day" by a question, and fails at "broken". */
const executor = (kept: Map<string, Task>): AgentExecutor => ({
  execute: async ({ taskId, contextId, userMessage }, bus) => {
    const [part] = userMessage.parts;
    const text = part?.content?.$case === 'text' ? part.content.value : '';
    const message = (said: string) => ({ messageId: `of-${userMessage.messageId}`, contextId, taskId, role: 'ROLE_AGENT', parts: [{ text: said }] });
    const status = (state: string, said?: string) => ({ state, timestamp: '2026-11-28T12:00:00.000Z', ...(said === undefined ? {} : { message: message(said) }) });
    const task = Task.fromJSON({ id: taskId, contextId, status: status('TASK_STATE_WORKING'), history: [message('begun')] });
    kept.set(taskId, task);
    bus.publish(AgentEvent.task(task));
    const piece = (said: string, append: boolean) =>
      AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ taskId, contextId, append, lastChunk: append, artifact: { artifactId: 'a', parts: [{ text: said }] } }));
    if (text === 'pieces') {
      bus.publish(piece('At nine', false));
      await new Promise((resolve) => setImmediate(resolve));
      bus.publish(piece('from Basel', true));
    }
    const ends = ENDS[text] ?? ['TASK_STATE_COMPLETED', `you said: ${text}`];
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: status(...ends) })));
    bus.finished();
  },
  cancelTask: async () => undefined,
});

describe('A2A servers elsewhere', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let http: TestHttp;
  const servers: Server[] = [];
  const listen = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${KEY}"\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n`, key: KEY });
    http = world.http;
  });
  after(async () => {
    await stopModelKernels();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The SDK's own request handler behind node:http, with a card as the protocol has it. */
  const official = async (version: '1.0' | '0.3') => {
    const common = {
      ...{ name: `Rail ${version}`, description: 'Trains', version: '1.0.0', capabilities: { streaming: true }, defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
      skills: [{ id: 'ask', name: 'Ask', description: 'Answers.', tags: ['rail'] }],
    };
    const [kept, store, methods] = [new Map<string, Task>(), new InMemoryTaskStore(), [] as string[]];
    const context = () => new ServerCallContext({ requestedVersion: version });
    let handler: JsonRpcTransportHandler | LegacyJsonRpcTransportHandler;
    let card: unknown;
    const url = await listen(async (req, res) => {
      if (req.url === '/.well-known/agent-card.json') return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
      let text = '';
      for await (const piece of req) text += String(piece);
      methods.push(`${JSON.parse(text).method} ${req.headers['a2a-version']}`);
      const answer = await handler.handle(text, context());
      res.writeHead(200, { 'content-type': isStream(answer) ? 'text/event-stream' : 'application/json' });
      if (isStream(answer)) for await (const event of answer) res.write(`data: ${JSON.stringify(event)}\n\n`);
      return res.end(isStream(answer) ? '' : JSON.stringify(answer));
    });
    const read = AgentCard.fromJSON({ ...common, supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: version }] });
    card = version === '1.0' ? AgentCard.toJSON(read) : { ...common, url: `${url}/rpc`, protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' };
    const served = new DefaultRequestHandler(read, store, executor(kept));
    handler = version === '1.0' ? new JsonRpcTransportHandler(served) : new LegacyJsonRpcTransportHandler(served);
    const complete = async (id: string, said: string): Promise<void> => {
      const task = kept.get(id);
      if (!task) throw new Error(`there is no task ${id}`);
      const answer = { messageId: 'end', contextId: task.contextId, taskId: id, role: Role.ROLE_AGENT, parts: Task.fromJSON({ history: [{ parts: [{ text: said }] }] }).history[0]?.parts ?? [] };
      const message = { ...answer, metadata: undefined, extensions: [], referenceTaskIds: [] };
      await store.save({ ...task, status: { state: TaskState.TASK_STATE_COMPLETED, message, timestamp: undefined } }, context());
    };
    return { url, methods, kept, complete, name: common.name };
  };

  for (const [version, send, look] of [
    ['1.0', 'SendMessage', 'GetTask'],
    ['0.3', 'message/send', 'tasks/get'],
  ] as const)
    it(`are found and asked where the official SDK serves ${version}, whole and by events`, async () => {
      const rail = await official(version);
      const { body: found } = await http.expect(200, 'POST', '/api/a2a/discover', { url: rail.url });
      expect(found).to.deep.include({ name: rail.name, description: 'Trains', protocol: version, status: 'trusted' });
      expect(found.skills).to.deep.equal([{ id: 'ask', name: 'Ask', description: 'Answers.', tags: ['rail'] }]);
      const ask = async (message: string) => (await http.expect(200, 'POST', '/api/a2a/send', { agent_id: found.id, message })).body;
      const said = (task: { result?: { parts: { text: string }[] } }): string | undefined => task.result?.parts[0]?.text;
      const whole = await ask('whole');
      expect([whole.status, said(whole)]).to.deep.equal(['completed', 'you said: whole']);
      const pieces = await ask('pieces');
      expect([pieces.status, said(pieces)]).to.deep.equal(['completed', 'At nine\nfrom Basel']);
      const open = await ask('day');
      expect([open.status, said(open)]).to.deep.equal(['input_required', 'Which day?']);
      await rail.complete([...rail.kept.keys()].at(-1) ?? '', 'On Monday');
      const later = (await http.expect(200, 'GET', `/api/a2a/tasks/${open.task_id}`)).body;
      expect([later.status, said(later)]).to.deep.equal(['completed', 'On Monday']);
      const broken = await ask('broken');
      expect(broken.status).to.equal('failed');
      expect(JSON.stringify(broken)).to.include('out of oil');
      expect([...new Set(rail.methods)]).to.deep.equal([`${send} ${version}`, `${look} ${version}`]);
    });

  it('fail one question where they stream without an end, or are cut, and say why', async () => {
    const never = await listen((req, res) => {
      const at = `http://${req.headers.host}`;
      if (req.url?.startsWith('/.well-known'))
        return void res.end(JSON.stringify({ name: req.headers.host, version: '1', supportedInterfaces: [{ url: `${at}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] }));
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } } })}\n\n`.repeat(500);
      const more = (): void => {
        while (!res.destroyed && res.write(event));
      };
      res.on('drain', more);
      more();
    });
    const cut = await listen((req, res) => {
      if (req.url?.startsWith('/.well-known')) return void res.end(JSON.stringify({ name: 'Cut', version: '1', protocolVersion: '0.3.0', url: `http://${req.headers.host}/rpc` }));
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0","id":1,"result":');
      setTimeout(() => res.destroy(), 20);
    });
    const refused = async (url: string) => {
      const { body: found } = await http.expect(200, 'POST', '/api/a2a/discover', { url });
      const { body } = await http.expect(502, 'POST', '/api/a2a/send', { agent_id: found.id, message: 'Well?' });
      return [body.code, body.error];
    };
    const [code, why] = await refused(never);
    expect(code).to.equal('a2a_upstream');
    expect(why).to.match(/1048576|1 MiB|larger|more than/);
    expect((await refused(cut))[0]).to.equal('a2a_upstream');
    expect((await http.expect(200, 'GET', '/api/health')).status).to.equal(200);
  });

  it('words that every object knows are no state of a task', () => {
    expect(['TASK_STATE_COMPLETED', 'input-required', 'constructor', 'TASK_STATE_constructor', '__proto__', 'valueOf'].map(statusOf)).to.deep.equal([
      'completed',
      'input_required',
      ...Array(4).fill(undefined),
    ]);
  });
});
