/** What every answer carries, whatever went right or wrong: x-request-id, and `{error}` for what went wrong. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { defineRoute, reply, Type } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestAnswer, type TestKernel } from '@svc/testing';
import { systemClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { call, expectWellFormed, NOBODY, refusalOrUpgrade, walk } from './route-walk.js';

const SECRET_CAUSE = 'the password is hunter2';

/** An area whose handler breaks in ways that say too much. */
const broken = fixtureExtension({
  id: 'broken',
  contributions: { routes: ['GET /api/broken', 'POST /api/broken'] },
  definition: {
    activate(ctx) {
      const rest = { path: '/api/broken', summary: 'Breaks', auth: 'bearer' as const, permission: 'broken.read', cost: 1, responses: { 200: Type.Object({}) } };
      ctx.routes.add(
        defineRoute({
          ...rest,
          id: 'broken.get',
          method: 'GET',
          handler: async () => {
            throw new Error(SECRET_CAUSE);
          },
        }),
        defineRoute({ ...rest, id: 'broken.post', method: 'POST', body: Type.Object({ depth: Type.Integer() }), maxBodyBytes: 1_000, handler: async () => reply(200, {}) }),
      );
    },
  },
});

describe('every answer', () => {
  afterEach(stopTestKernels);

  it('has a request id of its own and, when it is an error, one body: 200, 400, 404, 405, 413, 415, 426, 500', async () => {
    const kernel = await bootTestKernel({ config: `[extensions]\nenable = ["broken"]\n${OPEN_RATE}`, extra: [broken] });
    const { http } = kernel;
    const answers: ReadonlyArray<readonly [number, TestAnswer]> = [
      [200, await http.get('/api/health')],
      [200, await http.get('/')],
      [400, await http.get('/api/agents/not-a-uuid')],
      [400, await http.get('/api/%E0%A4%A')],
      [400, await http.post('/api/broken', { depth: 'deep' })],
      [400, await http.post('/api/broken', '{"depth": 1')],
      [404, await http.get('/api/agents/00000000-0000-4000-8000-000000000000')],
      [404, await http.get('/nowhere')],
      [404, await http.get('/api//agents')],
      [405, await http.send('PATCH', '/api/health', undefined)],
      [413, await http.post('/api/broken', { depth: 1, padding: 'x'.repeat(2_000) })],
      [415, await http.post('/api/broken', 'depth: 1', { 'content-type': 'text/yaml' })],
      [426, await http.get(`/api/agents/${(await http.get('/api/agents')).body.agents[0].id}/ws`)],
      [500, await http.get('/api/broken')],
    ];
    const ids = new Set<string | null>();
    for (const [index, [status, answer]] of answers.entries()) {
      expect(answer.status, `${index}: ${answer.text}`).to.equal(status);
      expectWellFormed(answer, `answer ${index}`);
      ids.add(answer.headers.get('x-request-id'));
    }
    expect(ids.size).to.equal(answers.length);
    expect(answers.at(-1)?.[1].text).to.not.contain('hunter2');
  });

  it('takes no request id from the caller', async () => {
    const { http } = await bootTestKernel();
    const mine = '11111111-2222-4333-8444-555555555555';
    expect((await http.get('/api/health', { 'x-request-id': mine })).headers.get('x-request-id')).to.not.equal(mine);
  });

  it('names the same request id in the body of an error', async () => {
    const { http } = await bootTestKernel();
    const answer = await http.get('/nowhere');
    expect(answer.body.request_id).to.equal(answer.headers.get('x-request-id'));
  });

  it('of a refused upgrade is an HTTP answer like any other: 400, 401, 403, 404, 429', async () => {
    const kernel = await bootTestKernel({ config: 'api_key = "k"\n[api]\nrate_limit_per_second = 100000\n[rate_limit]\nmax_ws_per_ip = 1\n' });
    const key = { authorization: 'Bearer k' };
    const [agent] = (await kernel.as('k').expect(200, 'GET', '/api/agents')).body.agents;
    const path = `/api/agents/${agent.id}/ws`;
    const held = await holdSocket(kernel, path);
    const refusals: ReadonlyArray<readonly [number, string, Record<string, string>]> = [
      [401, path, {}],
      [401, path, { authorization: 'Bearer wrong' }],
      [403, path, { ...key, origin: 'https://evil.example' }],
      [404, '/api/nothing/ws', key],
      [429, path, key],
    ];
    for (const [status, at, headers] of refusals) {
      const answer = await refusalOrUpgrade(kernel.url, at, headers);
      expect(answer.status, `${at} ${answer.text}`).to.equal(status);
      expectWellFormed(answer, at);
      if (status === 429) expect(Number(answer.headers.get('retry-after'))).to.be.above(0);
    }
    held.destroy();
    await untilFree(kernel);
    for (const [status, id] of [
      [400, 'not-a-uuid'],
      [404, NOBODY],
    ] as const) {
      const answer = await refusalOrUpgrade(kernel.url, `/api/agents/${id}/ws`, key);
      expect(answer.status).to.equal(status);
      expectWellFormed(answer, id);
    }
  });

  it('to what is not HTTP has a request id too', async () => {
    const kernel = await bootTestKernel();
    const text = await raw(kernel.daemon.port, 'NONSENSE\r\n\r\n');
    expect(text).to.match(/^HTTP\/1\.1 400 /);
    expect(text).to.match(/x-request-id: [0-9a-f-]{36}/);
    expect(text).to.contain('"code":"invalid_request"');
  });

  it('is the usual one when the client offers a protocol that is not spoken here, as curl and Java do', async () => {
    const { daemon, http } = await bootTestKernel({ config: OPEN_RATE });
    const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n';
    const health = await raw(daemon.port, `GET /api/health HTTP/1.1\r\nHost: localhost\r\n${offer}\r\n`);
    expect(health)
      .to.match(/^HTTP\/1\.1 200 OK/)
      .and.to.match(/connection: close/i);
    const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    const body = JSON.stringify({ message: 'sent with an offer' });
    const head = `POST /api/agents/${agent.id}/message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${offer}\r\n`;
    const said = await raw(daemon.port, head, body.slice(0, 9), body.slice(9));
    expect(said).to.match(/^HTTP\/1\.1 200 OK/);
    expect(said).to.contain('"response"');
  });

  it('of a method that a path does not take names those it takes, on every path', async () => {
    const kernel = await bootTestKernel({ config: OPEN_RATE });
    const routes = walk(kernel);
    for (const path of new Set(routes.map((one) => one.path))) {
      const answer = await kernel.http.send('PROPFIND', path, undefined);
      expect(answer.status, path).to.equal(405);
      expectWellFormed(answer, path);
      const allowed = (answer.headers.get('allow') ?? '').split(', ');
      expect(allowed, path).to.include.members(routes.filter((one) => one.path === path).map((one) => one.method));
    }
  });

  it('is 429 with Retry-After once the rate is used up, on every route that costs something', async () => {
    // Time stands still, so nothing comes back into the bucket while the routes are walked.
    const kernel = await bootTestKernel({ config: '[api]\nrate_limit_per_second = 1\n[rate_limit]\nwindow_secs = 7\n', clock: { ...systemClock(), mono: () => 0 } });
    for (let taken = 0; taken < 7; taken++) expect((await kernel.http.get('/api/health')).status).to.equal(200);
    for (const one of walk(kernel).filter((each) => each.decl.cost > 0)) {
      const answer = await call(kernel.http, one);
      expect(answer.status, one.template).to.equal(429);
      expect(answer.headers.get('retry-after'), one.template).to.equal('7');
      expect(answer.body.code, one.template).to.equal('rate_limited');
      expectWellFormed(answer, one.template);
    }
  });

  it('costs what the call is worth: a message empties the bucket sooner than a look at the health', async () => {
    const cost = new Map(walk(await bootTestKernel()).map((one) => [`${one.method} ${one.template}`, one.decl.cost]));
    expect(cost.get('POST /api/agents/{id}/message')).to.be.above(cost.get('GET /api/health') ?? Number.POSITIVE_INFINITY);
    expect(cost.get('POST /v1/chat/completions')).to.equal(cost.get('POST /api/agents/{id}/message'));
  });

  it('to HEAD is that to GET without a body', async () => {
    const { daemon } = await bootTestKernel();
    const { status, length } = await head(daemon.port, '/api/health');
    expect(status).to.equal(200);
    expect(length).to.equal(0);
  });
});

const holdSocket = async (kernel: TestKernel, path: string): Promise<ReturnType<typeof connect>> => {
  const socket = connect(kernel.daemon.port, '127.0.0.1');
  const handshake = ['Host: 127.0.0.1', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Authorization: Bearer k'];
  socket.write(`GET ${path} HTTP/1.1\r\n${handshake.join('\r\n')}\r\n\r\n`);
  const first = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  expect(first).to.match(/^HTTP\/1\.1 101 /);
  expect(first).to.match(/x-request-id: [0-9a-f-]{36}/);
  return socket;
};

const untilFree = async (kernel: TestKernel): Promise<void> => {
  while (kernel.daemon.parts.http.openSockets() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Writes the pieces one after another, and gives what came back until the daemon hangs up. */
const raw = (port: number, ...pieces: string[]): Promise<string> =>
  new Promise((resolve) => {
    let all = '';
    const socket = connect(port, '127.0.0.1', async () => {
      socket.setNoDelay(true);
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((next) => setTimeout(next, 5));
      }
    });
    socket.on('data', (data) => {
      all += data.toString();
    });
    socket.on('close', () => resolve(all));
  });

const head = (port: number, path: string): Promise<{ status: number; length: number }> =>
  new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path, method: 'HEAD' }, (response) => {
      let length = 0;
      response.on('data', (data: Buffer) => {
        length += data.length;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, length }));
    });
    asked.on('error', reject);
    asked.end();
  });
