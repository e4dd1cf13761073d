/** What clients get wrong, by accident or on purpose: each is refused clearly, and nothing else changes. */
import { request } from 'node:http';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';
import { expectWellFormed, NOBODY, walk } from '../conformance/route-walk.js';
import { expectClear, expectGoesOn } from './aftermath.js';

/** Sent as it stands: fetch would tidy the path up. */
const rawGet = (svc: ModelKernel, path: string): Promise<{ status: number; text: string; headers: Headers }> =>
  new Promise((resolve, reject) => {
    const asked = request({ port: svc.kernel.daemon.port, host: '127.0.0.1', path, method: 'GET' }, (response) => {
      let text = '';
      response.on('data', (data: Buffer) => {
        text += data.toString();
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])) }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });

const nested = (depth: number, inner = '1'): string => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

describe('a request that is wrong', () => {
  let svc: ModelKernel;
  let posts: string[];
  before(async () => {
    svc = await bootWithModel({ text: 'fine' });
    posts = walk(svc.kernel, { id: svc.agent.id, name: 'openai' })
      .filter((one) => 'body' in one.decl && one.decl.body !== undefined && one.method === 'POST')
      .map((one) => one.path);
    expect(posts.length).to.be.above(4);
  });
  after(stopModelKernels);
  afterEach(() => expectGoesOn(svc));

  it('because its body is no JSON is told where', async () => {
    for (const path of posts)
      for (const [body, says] of [
        ['{"message": "cut', /not valid JSON/],
        ['{"message": }', /not valid JSON/],
        ["{'message': 'x'}", /not valid JSON/],
        ['{"a":1}{"b":2}', /not valid JSON/],
        ['\u0000\u0001', /not valid JSON/],
        ['NaN', /not valid JSON/],
      ] as const)
        expectClear(await svc.http.post(path, body), 400, says, `${path} ${body}`);
  });

  it('because its body has another type is told which field and what it takes', async () => {
    const message = `/api/agents/${svc.agent.id}/message`;
    for (const [path, body, says] of [
      [message, '[]', /object/],
      [message, 'null', /object/],
      [message, '"text"', /object/],
      [message, { message: 7 }, /message.*string/],
      [message, { message: null }, /message.*string/],
      [message, { message: ['x'] }, /message.*string/],
      [message, {}, /message/],
      [message, { message: '' }, /empty/],
      [message, { message: 'x', session_id: 5 }, /session_id/],
      [message, { message: 'x', session_id: 'zzz' }, /UUID/],
      [message, { message: 'x', images: [{ media_type: 'image/svg+xml', data: 'AA' }] }, /media_type/],
      ['/v1/chat/completions', { model: 'svc:assistant' }, /messages/],
      ['/v1/chat/completions', { model: 'svc:assistant', messages: [] }, /messages/],
      ['/v1/chat/completions', { model: 'svc:assistant', messages: 'hi' }, /messages/],
      ['/v1/chat/completions', { model: 'x', messages: [{ role: 'wizard', content: 'hi' }] }, /role/],
      ['/v1/chat/completions', { model: 'x', messages: [{ role: 'user', content: 'hi' }], temperature: 3 }, /temperature/],
      ['/v1/chat/completions', { model: 'x', messages: [{ role: 'user', content: 'hi' }], max_tokens: 0 }, /max_tokens/],
      ['/v1/chat/completions', { model: 'x', messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }, /input_audio/],
    ] as const)
      expectClear(await svc.http.post(path, body), 400, says, `${path} ${JSON.stringify(body)}`);
  });

  it('because a manifest is bad TOML, or says what no manifest says, is told line or key, and spawns nothing', async () => {
    const spawn = (manifest_toml: string) => svc.http.post('/api/agents', { manifest_toml });
    const count = async () => (await svc.http.expect(200, 'GET', '/api/agents')).body.total;
    const before = await count();
    expectClear(await spawn('name = "x"\n[model\nprovider = 1'), 400, /line 2|:2/, 'open table');
    expectClear(await spawn('name = "x"\nname = "y"'), 400, /line 2/, 'twice');
    expectClear(await spawn('name = 5'), 400, /name/, 'number');
    expectClear(await spawn('name = ""'), 400, /name/, 'empty');
    expectClear(await spawn('name = "x"\n[capabilities]\nagent_spawn = "maybe"'), 400, /agent_spawn/, 'a word for a switch');
    expectClear(await spawn('name = "bell\\u0007"'), 400, /name/, 'a control character');
    expectClear(await spawn(`name = "${'x'.repeat(5_000)}"`), 400, /name/, 'long name');
    expectClear(await spawn('\u0000'), 400, /TOML|character/i, 'NUL');
    expectClear(await spawn(`name = "x"\n${'a.'.repeat(100_000)}b = 1`), 400, /more parts/, 'a key of thousands of parts');
    expectClear(await spawn(`name = ""\n${' '.repeat(200_000)}[${' '.repeat(200_000)}`), 400, /TOML/, 'a header that does not end');
    expectClear(await svc.http.post('/api/agents', {}), 400, /manifest/, 'nothing');
    expectClear(await svc.http.post('/api/agents', { manifest_toml: 7 }), 400, /manifest_toml/, 'no text');
    expectClear(await svc.http.post('/api/agents', { template: 'no-such' }), 404, /no-such/, 'template');
    expect(await count()).to.equal(before);
  });

  it('because it names what does not exist is 404 with the name; because the id is none, 400', async () => {
    // By its label a session is found under the name of its agent as well.
    const ofAgents = walk(svc.kernel).filter((each) => each.template.startsWith('/api/agents/{id}') && !each.isSocket && !each.template.includes('by-label'));
    for (const one of ofAgents) {
      const [body] = Object.values('examples' in one.decl ? (one.decl.examples ?? {}) : {});
      const unknown = await svc.http.send(one.method, one.path, body);
      expectClear(unknown, 404, new RegExp(NOBODY), one.template);
      for (const id of ['zzz', '1', '00000000-0000-4000-8000-00000000000g', "'%20OR%201=1--", '%00', 'a'.repeat(2_000)])
        expectClear(await svc.http.send(one.method, one.path.replace(NOBODY, id), body), 400, /UUID|agent id/i, `${one.template} ${id.slice(0, 40)}`);
    }
    expectClear(await svc.http.get('/api/models/no/such/model'), 404, /no\/such\/model/);
    expectClear(await svc.http.get('/api/providers/nonesuch'), 404, /nonesuch/);
    expectClear(await svc.http.post('/api/providers/nonesuch/key', { api_key: 'x' }), 404, /nonesuch/);
    expectClear(await svc.http.get('/api/extensions/nonesuch'), 404, /nonesuch/);
  });

  it('because of a query that is none is told which one', async () => {
    for (const [query, says] of [
      ['limit=ten', /limit/],
      ['limit=0', /limit/],
      ['limit=-1', /limit/],
      ['offset=-5', /offset/],
      ['sort=colour', /sort/],
      ['limit=1&limit=2', /limit/],
    ] as const)
      expectClear(await svc.http.get(`/api/agents?${query}`), 400, says, query);
    await svc.http.expect(200, 'GET', '/api/agents?unknown=1&__proto__=2&constructor=3');
  });

  it('because it is too large is 413 on every route that takes a body, and the connection survives', async () => {
    for (const one of walk(svc.kernel, { id: svc.agent.id, name: 'openai' }).filter((each) => 'body' in each.decl && each.decl.body !== undefined)) {
      const limit = ('maxBodyBytes' in one.decl ? one.decl.maxBodyBytes : undefined) ?? 256 * 1_024;
      if (limit > 9 * 1_048_576) continue;
      expectClear(await svc.http.send(one.method, one.path, `"${'x'.repeat(limit)}"`), 413, /bytes/, one.template);
    }
    expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'x'.repeat(100_001) }), 413, /100001|100000/);
    const manifest_toml = `name = "large"\n${'# "x"\n'.repeat(175_000)}`;
    expectClear(await svc.http.post('/api/agents', { manifest_toml }), 413, /manifest/i);
  });

  it('because it nests too deep is refused, however deep, and costs no stack', async () => {
    for (const depth of [65, 1_000, 100_000]) expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, `{"message": ${nested(depth)}}`), 400, /nests deeper|not valid JSON/, `${depth}`);
    for (const depth of [1_000, 40_000]) {
      const answer = await svc.http.post('/api/agents', { manifest_toml: `name = "deep-${depth}"\nx = ${nested(depth)}` });
      expect(answer.status, answer.text.slice(0, 200)).to.be.oneOf([201, 400]);
    }
  });

  it('because it holds more values than anybody has to say is refused before it is parsed', async () => {
    for (const path of posts) {
      const body = `{"message": "x", "more": [${'[],'.repeat(60_000)}1]}`;
      expectClear(await svc.http.post(path, body), 413, /more than (100000 values|262144 bytes)/, path);
    }
  });

  it('because its path is no percent-encoded UTF-8 is 400', async () => {
    for (const path of ['/api/agents/%', '/api/agents/%zz', '/api/agents/%E0%A4%A', `/api/agents/${svc.agent.id}/files/%ff%fe`, '/v1/models/%c0%af']) {
      const answer = await rawGet(svc, path);
      expect(answer.status, path).to.equal(400);
      expect(JSON.parse(answer.text).code).to.equal('bad_path_encoding');
    }
  });

  it('because it reaches for __proto__ changes no prototype', async () => {
    await svc.http.post(`/api/agents/${svc.agent.id}/message`, '{"message": "x", "__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}');
    expect(({} as { polluted?: boolean }).polluted).to.equal(undefined);
  });

  it('because its file name leaves the workspace finds nothing outside, however it is written', async () => {
    const workspace = join(svc.kernel.home, 'workspaces', svc.agent.id);
    const secret = join(svc.kernel.home, 'outside.txt');
    await mkdir(workspace, { recursive: true });
    await writeFile(secret, 'TOP-SECRET');
    await writeFile(join(workspace, 'inside.txt'), 'hello');
    await symlink(secret, join(workspace, 'link.txt'));
    await symlink(svc.kernel.home, join(workspace, 'linked-folder'));
    expect(JSON.parse((await rawGet(svc, `/api/agents/${svc.agent.id}/files/inside.txt`)).text).content).to.equal('hello');
    const escapes = [
      '../outside.txt',
      '../../outside.txt',
      '..%2foutside.txt',
      '..%2f..%2foutside.txt',
      '%2e%2e/%2e%2e/outside.txt',
      '%2e%2e%2f%2e%2e%2foutside.txt',
      '..%5c..%5coutside.txt',
      '%252e%252e%252f%252e%252e%252foutside.txt',
      '....//....//outside.txt',
      'a/../../../outside.txt',
      '/etc/passwd',
      '%2fetc%2fpasswd',
      `${encodeURIComponent(secret)}`,
      'C:%5cwindows%5cwin.ini',
      'inside.txt%00.png',
      '%00',
      'link.txt',
      'linked-folder/outside.txt',
      'linked-folder%2foutside.txt',
      'linked-folder/config.toml',
      '.',
      '..',
      '',
    ];
    for (const name of escapes) {
      const answer = await rawGet(svc, `/api/agents/${svc.agent.id}/files/${name}`);
      expect(answer.status, `${name} ${answer.text}`).to.be.oneOf([400, 403, 404, 405]);
      expect(answer.text, name).to.not.contain('TOP-SECRET').and.not.contain('root:').and.not.contain('gpt-4o');
      expectWellFormed({ ...answer, body: JSON.parse(answer.text) }, name);
      // What the caller wrote may be said back; what only the daemon knows may not.
      if (!name.includes('svc-test')) expect(answer.text, name).to.not.contain(svc.kernel.home);
    }
  });

  it('because a number in its query cannot be one is told which, on every route that takes one', async () => {
    const { body: document } = await svc.http.expect(200, 'GET', '/api/openapi.json');
    const routes = walk(svc.kernel, { id: svc.agent.id, name: 'openai' }).filter(({ method }) => method === 'GET');
    const asked: string[] = [];
    for (const { template, path } of routes) {
      const inQuery: Array<{ name: string; required?: boolean; schema: { type?: string; format?: string } }> = (document.paths[template]?.get?.parameters ?? []).filter(
        (one: { in: string }) => one.in === 'query',
      );
      for (const { name, schema } of inQuery) {
        if (schema.type !== 'integer') continue;
        const others = inQuery
          .flatMap((one) =>
            one.required && one.name !== name ? [`&${one.name}=${one.schema.type === 'integer' ? 1 : one.schema.format === 'cron' ? encodeURIComponent('* * * * *') : svc.agent.id}`] : [],
          )
          .join('');
        asked.push(`${template} ${name}`);
        for (const number of ['9223372036854775808', '9007199254740993', `1${'0'.repeat(300)}`, '-9223372036854775809'])
          expectClear(await svc.http.get(`${path}?${name}=${number}${others}`), 400, new RegExp(name), `${path} ${name}=${number}`);
      }
    }
    expect(asked).to.include.members(['/api/agents offset', '/api/agents limit']);
  });

  it('because its headers are absurd is refused or ignored, never fatal', async () => {
    const message = { message: 'x' };
    expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, message, { 'idempotency-key': 'x'.repeat(300) }), 400, /Idempotency-Key/);
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, message, { 'last-event-id': 'nonsense', 'x-stainless-retry-count': 'many', 'accept-language': ';;;' });
    expectClear(await svc.http.get('/api/health', { accept: 'application/vnd.svc.v9+json' }), 406, /v9/);
  });
});
