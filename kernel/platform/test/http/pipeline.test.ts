import { reply, Type, Uuid, waitFor, actorFrom } from '@svc/api';
import { expect } from 'chai';
import { type Bench, raw, route, startBench, TestAnswer, TestFrames, until } from './http-fixture.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('pipeline', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench.stop());

  const echo = (extra: object = {}) =>
    route({
      method: 'POST',
      path: '/api/echo',
      body: Type.Object(
        { name: Type.String({ minLength: 2 }), tags: Type.Array(Type.String(), { default: [] }), secret: Type.Optional(Type.String({ maxLength: 3 })) },
        { additionalProperties: false },
      ),
      responses: { 200: Type.Unknown() },
      handler: async (req) => reply(200, (req as { body: unknown }).body),
      ...extra,
    });

  it('answers with a new request id, whatever the client sends, and with the security headers', async () => {
    bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async (req) => reply(200, { id: (req as { id: string }).id }) })] });
    const answer = await bench.get('/api/x', { 'x-request-id': 'mine' });
    expect(answer.status).to.equal(200);
    expect(answer.headers['x-request-id']).to.match(UUID).and.to.equal(answer.json.id);
    expect(answer.headers).to.include({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'x-api-version': 'v1', 'referrer-policy': 'strict-origin-when-cross-origin' });
    expect(answer.headers['cache-control']).to.contain('no-store');
    expect(answer.headers['content-length']).to.equal(String(answer.text.length));
  });

  it('answers 404 for an unknown path and 405 with Allow for another method, as {error}', async () => {
    bench.area('a', { routes: [route({ path: '/api/x/{id}', handler: async () => reply(200, {}) })] });
    const missing = await bench.get('/api/y');
    expect([missing.status, missing.json.code]).to.deep.equal([404, 'not_found']);
    expect(missing.json.error).to.be.a('string');
    expect(missing.json.request_id).to.equal(missing.headers['x-request-id']);
    const wrong = await bench.send('DELETE', '/api/x/1');
    expect([wrong.status, wrong.headers.allow, wrong.json.code]).to.deep.equal([405, 'GET, HEAD', 'method_not_allowed']);
    expect((await bench.get('/api/x//1')).status).to.equal(404);
    expect((await bench.get('/api/x/%E0%A4%A')).json.code).to.equal('bad_path_encoding');
  });

  it('reaches every /api path as /api/v1 too, and refuses versions it does not have', async () => {
    bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 1) })] });
    expect((await bench.get('/api/v1/x')).status).to.equal(200);
    expect((await bench.get('/api/v2/x')).status).to.equal(404);
    expect((await bench.get('/api/x', { accept: 'application/vnd.svc.v1+json' })).status).to.equal(200);
    const refused = await bench.get('/api/x', { accept: 'application/vnd.svc.v9+json' });
    expect([refused.status, refused.json.available]).to.deep.equal([406, ['v1']]);
  });

  it('answers HEAD as GET without a body', async () => {
    bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async () => reply(200, { a: 1 }) })] });
    const answer = await bench.send('HEAD', '/api/x');
    expect([answer.status, answer.text, answer.headers['content-length']]).to.deep.equal([200, '', '7']);
  });

  it('names the field, what was expected and what was got', async () => {
    bench.area('a', { routes: [echo()] });
    const texts = [];
    for (const body of [{}, { name: 5 }, { name: 'x' }, { name: 'ok', other: 1 }, { name: 'ok', secret: 'sk-very-secret' }, []]) texts.push((await bench.send('POST', '/api/echo', body)).json.error);
    expect(texts).to.deep.equal([
      'name is missing in the body.',
      'name in the body must be string, got 5.',
      'name in the body must NOT have fewer than 2 characters, got text of 1 characters.',
      'other is not a field of the body.',
      'secret in the body must NOT have more than 3 characters, got text of 14 characters.',
      'The body must be object, got a list of 0.',
    ]);
  });

  it('fills defaults into bodies but never turns a number into text there', async () => {
    bench.area('a', { routes: [echo()] });
    expect((await bench.send('POST', '/api/echo', { name: 'ok' })).json).to.deep.equal({ name: 'ok', tags: [] });
    expect((await bench.send('POST', '/api/echo', { name: 12 })).status).to.equal(400);
  });

  it('reads numbers, flags and lists out of queries, and checks ids in paths', async () => {
    const query = Type.Object({ limit: Type.Integer({ default: 50, maximum: 500 }), all: Type.Optional(Type.Boolean()), tag: Type.Optional(Type.Array(Type.String())) });
    bench.area('a', {
      routes: [route({ path: '/api/q/{id}', params: Type.Object({ id: Uuid }), query, responses: { 200: Type.Unknown() }, handler: async (req) => reply(200, (req as { query: unknown }).query) })],
    });
    const path = '/api/q/0b0e8c1e-6a51-4b6e-9a3a-5d1c5f6a7b8c';
    expect((await bench.get(`${path}?all=true&tag=x`)).json).to.deep.equal({ limit: 50, all: true, tag: ['x'] });
    expect((await bench.get(`${path}?limit=7&tag=x&tag=y`)).json).to.deep.equal({ limit: 7, tag: ['x', 'y'] });
    expect((await bench.get(`${path}?limit=900`)).json.error).to.equal('limit in the query must be <= 500, got 900.');
    expect((await bench.get('/api/q/nope')).json.error).to.equal('id in the path must be a valid uuid, got "nope".');
  });

  it('says where a body stops being JSON', async () => {
    bench.area('a', { routes: [echo()] });
    const fault = async (text: string) => (await bench.send('POST', '/api/echo', text)).json;
    expect(await fault('{"name":}')).to.include({ code: 'invalid_json', error: 'The body is not valid JSON: expected a value at line 1, column 9.' });
    expect((await fault('{"name":"a"\n "x":1}')).error).to.contain('expected "," or "}" at line 2, column 2');
    expect((await fault('{"a":[1,2}')).error).to.contain('expected "," or "]" at line 1, column 10');
    expect((await fault('{"a":"b"')).error).to.contain('line 1, column 9');
    expect((await fault("{'a':1}")).error).to.contain('a name in double quotes');
    expect((await fault('[1] 2')).error).to.contain('expected nothing more at line 1, column 5');
  });

  it('refuses deep nesting without running out of stack', async () => {
    bench.area('a', { routes: [echo({ body: Type.Unknown(), maxBodyBytes: 2_000_000 })] });
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect((await bench.send('POST', '/api/echo', deep(64))).status).to.equal(200);
    expect((await bench.send('POST', '/api/echo', deep(65))).json.code).to.equal('json_too_deep');
    expect((await bench.send('POST', '/api/echo', deep(500_000))).json.code).to.equal('json_too_deep');
  });

  it('validates depth and number of values while a body arrives, across pieces, and looks into no string', async () => {
    bench.area('a', { routes: [echo({ body: Type.Unknown() })] });
    const head = 'POST /api/echo HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 200000\r\n\r\n';
    // The rest of these bodies never comes.
    const partOf = (text: string) => raw(bench.port, head + text, (seen) => seen.includes('}'));
    expect(await partOf(`{"a":${'['.repeat(64)}`)).to.contain('json_too_deep');
    expect(await partOf(`[${'1,'.repeat(99_000)}[${'{},'.repeat(600)}`)).to.contain('json_too_many_values');
    expect((await bench.send('POST', '/api/echo', `["${'[{,\\"'.repeat(20_000)}"]`)).status).to.equal(200);
    expect((await bench.send('POST', '/api/echo', `[${'1,'.repeat(99_000)}1]`)).status).to.equal(200);
  });

  it('takes 256 KiB of body unless the route says otherwise', async () => {
    bench.area('a', { routes: [echo({ body: Type.Unknown() }), echo({ id: 'more', path: '/api/more', body: Type.Unknown(), maxBodyBytes: 1_048_576 })] });
    const body = JSON.stringify('x'.repeat(262_144));
    expect((await bench.send('POST', '/api/echo', body)).json.code).to.equal('body_too_large');
    expect((await bench.send('POST', '/api/more', body)).status).to.equal(200);
    // Validated by what it announces: not a byte of it is waited for.
    expect(await raw(bench.port, 'POST /api/echo HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 262145\r\n\r\n', (seen) => seen.includes('}'))).to.contain('body_too_large');
  });

  it('drops names that reach prototypes', async () => {
    let seen: object = {};
    const handler = async (req: { body: object }) => {
      seen = req.body;
      return reply(200, {});
    };
    bench.area('a', { routes: [echo({ body: Type.Unknown(), handler })] });
    await bench.send('POST', '/api/echo', '{"a":{"__proto__":{"x":1},"constructor":{"prototype":{}}},"constructor":"kept","\\u005f_proto__":2}');
    expect(JSON.stringify(seen)).to.equal('{"a":{},"constructor":"kept"}');
  });

  it('takes JSON or no content type for a body, and needs one unless it is optional', async () => {
    bench.area('a', { routes: [echo(), echo({ id: 'opt', path: '/api/opt', bodyRule: 'optional', body: Type.Object({ a: Type.Number({ default: 1 }) }) })] });
    expect((await bench.send('POST', '/api/echo', 'name=x', { 'content-type': 'text/plain' })).status).to.equal(415);
    expect((await bench.send('POST', '/api/echo', '{"name":"ok"}', { 'content-type': '' })).status).to.equal(200);
    expect((await bench.send('POST', '/api/echo', '{"name":"ok"}', { 'content-type': 'application/json; charset=utf-8' })).status).to.equal(200);
    expect((await bench.send('POST', '/api/echo')).json.code).to.equal('body_required');
    expect((await bench.send('POST', '/api/opt')).json).to.deep.equal({ a: 1 });
  });

  it('gives a raw body as the bytes that were sent', async () => {
    bench.area('a', { routes: [echo({ body: undefined, rawBody: true, handler: async (req: { body: Uint8Array }) => reply(200, [...req.body]) })] });
    expect((await bench.send('POST', '/api/echo', Buffer.from([0, 255, 7]), { 'content-type': 'image/png' })).json).to.deep.equal([0, 255, 7]);
  });

  it('refuses a body that is too large and keeps the connection usable', async () => {
    bench.area('a', { routes: [echo({ maxBodyBytes: 100 })] });
    const big = 'x'.repeat(300_000);
    const ask = (headers: string, body: string) => `POST /api/echo HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n\r\n${body}`;
    const seen = await raw(
      bench.port,
      ask(`content-length: ${big.length}`, big) + ask('transfer-encoding: chunked', `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`) + ask('content-length: 15', '{"name":"again"}'.slice(0, 15)),
      (text) => text.split('HTTP/1.1').length > 3,
    );
    expect(seen.match(/HTTP\/1\.1 (\d+)/g)).to.deep.equal(['HTTP/1.1 413', 'HTTP/1.1 413', 'HTTP/1.1 400']);
    expect(seen).to.contain('body_too_large');
  });

  it('hides what was not meant to be shown, and logs it under the request id', async () => {
    bench.area('a', {
      routes: [
        route({
          path: '/api/x',
          handler: async () => {
            throw new Error('password=hunter2');
          },
        }),
      ],
    });
    const answer = await bench.get('/api/x');
    expect(answer.status).to.equal(500);
    expect(answer.json).to.include({ error: 'Internal server error', code: 'internal_error', request_id: answer.headers['x-request-id'] });
    expect(answer.text).to.not.contain('hunter2');
    expect(bench.logged.find((line) => line.fields?.request === answer.headers['x-request-id'])?.fields?.error).to.contain('hunter2');
  });

  it('holds replies to their declared shapes when asked to', async () => {
    bench.area('a', {
      routes: [
        route({ path: '/api/x', responses: { 200: Type.Object({ a: Type.Number() }) }, handler: async () => reply(200, { a: 'no' }) }),
        route({ path: '/api/y', responses: {}, handler: async () => reply(202, {}) }),
      ],
    });
    expect((await bench.get('/api/x')).status).to.equal(500);
    expect(bench.logged.at(-1)?.fields?.error).to.contain('another shape than it declares');
    expect((await bench.get('/api/y')).status).to.equal(500);
    expect(bench.logged.at(-1)?.fields?.error).to.contain('does not declare');
  });

  it('fails closed: without anybody who authenticates only public routes answer', async () => {
    bench.area('a', {
      routes: [route({ path: '/api/x', handler: async () => reply(200, {}) }), route({ path: '/api/p', auth: 'public', responses: { 200: Type.Unknown() }, handler: async () => reply(200, {}) })],
    });
    bench.authenticate = undefined;
    expect((await bench.get('/api/x')).json.code).to.equal('security_unavailable');
    expect((await bench.get('/api/p')).status).to.equal(200);
    bench.authenticate = () => undefined;
    const refused = await bench.get('/api/x');
    expect([refused.status, refused.headers['www-authenticate']]).to.deep.equal([401, 'Bearer']);
  });

  it('lets admit and authorize refuse, before the body is looked at', async () => {
    bench.area('a', { routes: [echo()] });
    bench.authorize = ({ permission }) => ({ deny: `The role viewer may not use ${permission}.`, code: 'role_forbidden' });
    expect((await bench.send('POST', '/api/echo', '{')).json).to.include({ code: 'role_forbidden' });
    bench.admit = (call) => (call.cost > 0 && call.isLoopback ? { deny: 'Rate limit exceeded', code: 'rate_limited', headers: { 'retry-after': '7' } } : undefined);
    const limited = await bench.send('POST', '/api/echo', {});
    expect([limited.status, limited.headers['retry-after'], limited.json.error]).to.deep.equal([429, '7', 'Rate limit exceeded']);
    bench.admit = () => ({ deny: 'secret internals of a check', code: 'hook_failed' });
    const failed = await bench.send('POST', '/api/echo', {});
    expect([failed.status, failed.json.code]).to.deep.equal([503, 'hook_failed']);
    expect(failed.text).to.not.contain('internals');
  });

  it('without an api_key refuses foreign hosts and foreign pages, simple POSTs included', async () => {
    bench.area('a', { routes: [echo()] });
    const body = { name: 'ok' };
    expect((await bench.send('POST', '/api/echo', body, { host: 'evil.example' })).json.code).to.equal('forbidden_host');
    expect((await bench.send('POST', '/api/echo', body, { host: 'localhost.evil.example:80' })).json.code).to.equal('forbidden_host');
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'http://127.0.0.1@evil.example']) {
      expect((await bench.send('POST', '/api/echo', body, { origin })).json.code, origin).to.equal('forbidden_origin');
    }
    for (const host of ['localhost:4545', '[::1]:4545', '127.0.0.1', 'LOCALHOST']) expect((await bench.send('POST', '/api/echo', body, { host })).status, host).to.equal(200);
    const own = `http://127.0.0.1:${bench.port}`;
    const local = await bench.send('POST', '/api/echo', body, { origin: own });
    expect([local.status, local.headers['access-control-allow-origin'], local.headers.vary]).to.deep.equal([200, own, 'Origin']);
  });

  it('with an api_key allows the origins of cors_origins, answers preflights, and keeps cookies from other pages', async () => {
    bench.area('a', { routes: [echo()] });
    bench.apiKey = 'k';
    bench.cors = ['https://app.example'];
    const preflight = await bench.send('OPTIONS', '/api/echo', undefined, {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin'], preflight.headers['access-control-allow-headers']]).to.deep.equal([204, 'https://app.example', 'authorization']);
    expect((await bench.send('OPTIONS', '/api/echo', undefined, { origin: 'https://evil.example', 'access-control-request-method': 'POST' })).status).to.equal(403);
    const other = await bench.send('POST', '/api/echo', { name: 'ok' }, { origin: 'https://evil.example', host: 'svc.example' });
    expect([other.status, other.headers['access-control-allow-origin']]).to.deep.equal([200, undefined]);
    expect((await bench.send('POST', '/api/echo', { name: 'ok' }, { origin: 'https://evil.example', cookie: 'session=1' })).status).to.equal(403);
    const failed = await bench.send('POST', '/api/echo', {}, { origin: 'https://app.example' });
    expect([failed.status, failed.headers['access-control-allow-origin']]).to.deep.equal([400, 'https://app.example']);
  });

  it('finishes a slow request on the old code while the next runs the new', async () => {
    let release: () => void = () => expect.fail('released too early');
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = (text: string, wait: Promise<void>) => route({ path: '/api/slow', responses: { 200: Type.Unknown() }, handler: () => wait.then(() => reply(200, text)) });
    const old = bench.area('a', { routes: [slow('old', held)] });
    const first = bench.get('/api/slow');
    await until(() => old.lifetime.holds().length === 1, 'the request is in its handler');
    expect(old.lifetime.holds()).to.deep.equal(['GET /api/slow']);
    bench.area('a', { routes: [slow('new', Promise.resolve())] }, old);
    const drained = old.lifetime.drain(2_000);
    expect((await bench.get('/api/slow')).json).to.equal('new');
    release();
    expect((await first).json).to.equal('old');
    expect(await drained).to.equal(true);
  });

  it('looks a draining generation up again once, and answers 503 when nobody follows it', async () => {
    const old = bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 'old') })] });
    await old.lifetime.drain(0);
    const gone = await bench.get('/api/x');
    expect([gone.status, gone.json.code, gone.headers['retry-after']]).to.deep.equal([503, 'reloading', '1']);
    bench.authenticate = async () => {
      // The swap happens after the match, while the caller is being identified.
      if (bench.http.routes.active()[0]?.owner === old) bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 'new') })] }, old);
      return actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
    };
    expect((await bench.get('/api/x')).json).to.equal('new');
  });

  it('answers 404 when an area is switched off', async () => {
    const area = bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 1) })] });
    expect((await bench.get('/api/x')).status).to.equal(200);
    bench.remove(area);
    expect((await bench.get('/api/x')).status).to.equal(404);
  });

  it('waits for the final frame of a topic without holding the generation', async () => {
    bench.streams.open(TestFrames, 'run');
    bench.answers({ answer: ({ data }) => reply(200, { got: data }, { 'x-own': '1' }) });
    const area = bench.area('a', {
      routes: [route({ path: '/api/w', handler: async () => waitFor('run', TestAnswer, undefined, { headers: { 'x-svc-run': 'run' } }) })],
    });
    const waiting = bench.get('/api/w');
    await until(() => bench.streams.stats().followers === 1, 'the request waits');
    expect(await area.lifetime.drain(1_000)).to.equal(true);
    bench.streams.publish(TestFrames, 'run', 'done', 5);
    const answer = await waiting;
    expect(answer.json).to.deep.equal({ got: 5 });
    expect(answer.headers).to.include({ 'x-svc-run': 'run', 'x-own': '1' });
  });

  it('waits on for the final frame when another process goes on with the topic, whatever was missed', async () => {
    bench.streams.open(TestFrames, 'run');
    bench.streams.publish(TestFrames, 'run', 'chunk', 1);
    bench.answers({ answer: ({ data }) => reply(200, data) });
    bench.area('a', { routes: [route({ path: '/api/w', responses: { 200: Type.Unknown() }, handler: async () => waitFor('run', TestAnswer, undefined) })] });
    const waiting = bench.get('/api/w');
    await until(() => bench.streams.stats().followers === 1, 'the request waits');
    bench.streams.open(TestFrames, 'run', { attempt: 2, reached: { attempt: 1, seq: 5 } });
    bench.streams.publish(TestFrames, 'run', 'chunk', 2);
    bench.streams.publish(TestFrames, 'run', 'done', 'the end');
    expect((await waiting).json).to.equal('the end');
  });

  it('answers a wait with an earlier frame that is accepted, unless the work has gone on since', async () => {
    bench.streams.open(TestFrames, 'run');
    bench.answers({ until: ({ type }) => type === 'waiting', answer: ({ type }) => reply(200, type) });
    bench.area('a', {
      routes: [route({ path: '/api/w', responses: { 200: Type.Unknown() }, handler: async () => waitFor('run', TestAnswer, undefined) })],
    });
    bench.streams.publish(TestFrames, 'run', 'chunk', {});
    bench.streams.publish(TestFrames, 'run', 'waiting', {});
    expect((await bench.get('/api/w')).json).to.equal('waiting');
    bench.streams.publish(TestFrames, 'run', 'chunk', {});
    const second = bench.get('/api/w');
    await until(() => bench.streams.stats().followers === 1, 'the second waits');
    bench.streams.publish(TestFrames, 'run', 'done', {});
    expect((await second).json).to.equal('done');
  });
});
