/** Callers that stay while keys are revoked and roles change. */
import { type Actor, type Connection, defineErrors, defineSocket, follow, reply, type SocketDecl, SvcError, waitFor, actorFrom } from '@svc/api';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { type Bench, route, startBench, TestAnswer, TestFrames, TestStream, until } from './http-fixture.js';

const errors = defineErrors('test', { gone: { status: 404, retry: false, message: () => 'not yours' } });
const alice: Actor = actorFrom({ id: 'user:alice', role: 'user', ownerId: 'user:alice' });
const asAdmin: Actor = { ...alice, role: 'admin' };
const revoked = () => {
  throw new SvcError('auth_key_invalid', 'The API key is not valid.', { status: 401 });
};

describe('callers that stay', () => {
  let bench: Bench;
  let handled: Array<[text: string, role: string]>;
  const clients: WebSocket[] = [];
  beforeEach(async () => {
    bench = await startBench({ checkReplies: false });
    bench.authenticate = () => alice;
    handled = [];
    bench.streams.open(TestFrames, 'run');
    bench.shows({ preamble: () => ': here\n\n', encode: ({ data }) => `data: ${JSON.stringify(data)}\n\n` });
    bench.answers({ answer: ({ data }) => reply(200, data) });
    bench.area('a', {
      sockets: [socket()],
      routes: [route({ path: '/api/follow', handler: async () => follow('run', TestStream, undefined) }), route({ path: '/api/wait', handler: async () => waitFor('run', TestAnswer, undefined) })],
    });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.terminate();
    await bench.stop();
  });

  const socket = (extra: Partial<SocketDecl> = {}): SocketDecl =>
    defineSocket({
      id: 'test.ws',
      path: '/api/ws',
      summary: 'A socket of a test',
      auth: 'bearer',
      permission: 'test.read',
      cost: 1,
      upgrade: async () => undefined,
      message: (conn: Connection, text: string) => {
        handled.push([text, conn.actor.role]);
        conn.send({ received: text });
      },
      ...extra,
    });
  const open = async () => {
    const ws = new WebSocket(`ws://127.0.0.1:${bench.port}/api/ws`);
    clients.push(ws);
    const got: Array<Record<string, unknown>> = [];
    ws.on('message', (data) => got.push(JSON.parse(String(data))));
    const closed = new Promise<number>((resolve) => ws.once('close', resolve));
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
    return { ws, got, closed };
  };

  it('lose an open socket with 4401 as soon as it is said that keys have changed', async () => {
    const client = await open();
    bench.authenticate = revoked;
    await bench.http.recheckCallers();
    expect(await client.closed).to.equal(4401);
  });

  it('are validated with each message, also where nobody said that keys have changed', async () => {
    const client = await open();
    client.ws.send('one');
    await until(() => client.got.length === 1, 'the first was heard');
    bench.authenticate = revoked;
    client.ws.send('two');
    client.ws.send('three');
    expect(await client.closed).to.equal(4401);
    expect(handled).to.deep.equal([['one', 'user']]);
  });

  it('get none of the messages through that were under way when their socket was closed', async () => {
    let validated = 0;
    const client = await open();
    bench.authenticate = () => (++validated === 1 ? revoked() : alice);
    for (const text of ['one', 'two', 'three']) client.ws.send(text);
    expect(await client.closed).to.equal(4401);
    expect([handled, validated]).to.deep.equal([[], 1]);
  });

  it('have their new role from the next message on', async () => {
    const client = await open();
    bench.authenticate = () => asAdmin;
    client.ws.send('as admin');
    await until(() => client.got.length === 1, 'it was heard');
    expect(handled).to.deep.equal([['as admin', 'admin']]);
  });

  it('lose with 4403 a socket that their role no longer allows, or that they could not open any more', async () => {
    const first = await open();
    bench.authorize = () => ({ deny: 'The role viewer may not do this.', code: 'auth_role_refused' });
    await bench.http.recheckCallers();
    expect(await first.closed).to.equal(4403);

    bench.authorize = undefined;
    bench.authenticate = () => asAdmin;
    const second = await open();
    bench.area('b', {
      sockets: [
        socket({
          id: 'other.ws',
          path: '/api/other',
          upgrade: async (req) => {
            if (req.actor.role !== 'admin') throw errors.gone();
            return undefined;
          },
        }),
      ],
    });
    const third = await new Promise<WebSocket>((resolve, reject) => {
      const ws = new WebSocket(`ws://127.0.0.1:${bench.port}/api/other`);
      clients.push(ws);
      ws.once('open', () => resolve(ws)).once('error', reject);
    });
    const ended = new Promise<number>((resolve) => third.once('close', resolve));
    bench.authenticate = () => alice;
    await bench.http.recheckCallers();
    expect(await ended).to.equal(4403);
    expect(second.ws.readyState).to.equal(WebSocket.OPEN);
  });

  it('lose a socket whose key is somebody else’s by now', async () => {
    const client = await open();
    bench.authenticate = () => actorFrom({ id: 'user:bob', role: 'user', ownerId: 'user:bob' });
    client.ws.send('whose?');
    expect(await client.closed).to.equal(4401);
    expect(handled).to.deep.equal([]);
  });

  it('are hung up on in the middle of an event stream, and get 401 instead of an answer they wait for', async () => {
    const stream = await fetch(`http://127.0.0.1:${bench.port}/api/follow`);
    const reader = stream.body?.getReader();
    await reader?.read();
    const waiting = bench.get('/api/wait');
    await until(() => bench.streams.stats().followers === 2, 'both follow');
    bench.authenticate = revoked;
    await bench.http.recheckCallers();
    bench.streams.publish(TestFrames, 'run', 'done', { secret: 1 });
    const answer = await waiting;
    expect([answer.status, answer.json.code]).to.deep.equal([401, 'auth_key_invalid']);
    const rest = await reader?.read().then(
      ({ done, value }) => (done ? '' : new TextDecoder().decode(value)),
      () => '',
    );
    expect(rest).to.equal('');
    await until(() => bench.streams.stats().followers === 0, 'nobody follows any more');
  });

  it('who see less than they did lose their streams; who see more keep them', async () => {
    const stream = await fetch(`http://127.0.0.1:${bench.port}/api/follow`);
    const reader = stream.body?.getReader();
    await reader?.read();
    bench.authenticate = () => asAdmin;
    await bench.http.recheckCallers();
    expect(bench.streams.stats().followers).to.equal(1);
    await reader?.cancel();
    await until(() => bench.streams.stats().followers === 0, 'it has left');

    const asBefore = await fetch(`http://127.0.0.1:${bench.port}/api/follow`);
    bench.authenticate = () => alice;
    await bench.http.recheckCallers();
    await until(() => bench.streams.stats().followers === 0, 'it was hung up on');
    await asBefore.body?.cancel().catch(() => undefined);
  });

  it('keep what they follow while nobody can tell who they are, and say nothing new meanwhile', async () => {
    const client = await open();
    const stream = await fetch(`http://127.0.0.1:${bench.port}/api/follow`);
    bench.authenticate = undefined;
    await bench.http.recheckCallers();
    client.ws.send('now?');
    await until(() => client.got.length === 1, 'it was refused');
    expect(client.got[0]).to.include({ type: 'error', code: 'security_unavailable' });
    bench.authenticate = () => alice;
    bench.admission = { state: 'closed', reason: 'ratelimit is not active.' };
    client.ws.send('and now?');
    await until(() => client.got.length === 2, 'it was refused again');
    expect([client.got[1]?.code, handled]).to.deep.equal(['security_unavailable', []]);
    expect(bench.streams.stats().followers).to.equal(1);
    await stream.body?.cancel();
  });
});
