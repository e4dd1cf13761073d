/** A process that does not run the program it should: it writes messages of its own on the channel, and answers what no route may. */
import { setTimeout as sleep } from 'node:timers/promises';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type ThirdPartySpec, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const ID = 'acme-liar';
const KEY = 'sk-of-the-operator-0123456789abcdef';

/** Beside the handlers: what writes past the program of the process. */
const BEFORE = `
const fs = require('node:fs');
const frame = (head, parts = []) => {
  const json = Buffer.from(JSON.stringify(parts.length ? [...head, parts.map((one) => one.length)] : head));
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(4 + json.length + parts.reduce((sum, one) => sum + one.length, 0), 0);
  sizes.writeUInt32BE(json.length, 4);
  return Buffer.concat([sizes, json, ...parts]);
};
const put = (bytes) => { for (let at = 0; at < bytes.length; ) try { at += fs.writeSync(3, bytes, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; } };
const tell = (to, args, parts) => put(frame(['tell', 0, to, args], parts));
const BYTES = { '\\0bytes': 0 };
`;

const liar = (handler: string, more: Partial<ThirdPartySpec> = {}): ThirdPartySpec => ({
  id: ID,
  before: BEFORE,
  activate: `ctx.routes.add(
    api.defineRoute({ id: 'lie', method: 'POST', path: '/api/acme/lie', summary: 'Lies', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async (req) => { ${handler}\nreturn api.reply(200, {}); } }),
    api.defineRoute({ id: 'calm', method: 'POST', path: '/api/acme/calm', summary: 'Behaves', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, { calm: true }) }),
  );`,
  ...more,
});

const boot = async (spec: ThirdPartySpec, settings = ''): Promise<TestKernel> =>
  bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n${settings}`, thirdParties: [await thirdParty(spec)] });

const lie = (kernel: TestKernel, headers?: Record<string, string>) => fetch(`${kernel.url}/api/acme/lie`, { method: 'POST', ...(headers ? { headers } : {}) });

const linesOf = (kernel: TestKernel) => kernel.daemon.kernel.log.recent(2_000).filter(({ target }) => target === ID);

const until = async (what: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await what())) await sleep(20);
};

describe('an extension in a process of its own that lies', function () {
  this.timeout(60_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  it('sees no key and no cookie of whoever calls it', async () => {
    const kernel = await boot(liar('return api.reply(200, req.headers);'));
    const response = await lie(kernel, { authorization: `Bearer ${KEY}`, 'x-api-key': KEY, cookie: `svc=${KEY}`, 'x-mine': 'seen' });
    const seen = await response.text();
    expect(seen).to.contain('"x-mine":"seen"');
    expect(seen).not.to.contain(KEY);
  });

  it('sets no cookie and no policy, and what it answers runs nothing in a browser', async () => {
    const kernel = await boot(
      liar(`return { kind: 'bytes', status: 200, contentType: 'text/html', body: '<script src="/api/acme/x.js"></script>', headers: {
        'set-cookie': 'svc=1', 'content-security-policy': "default-src *", 'access-control-allow-origin': '*', 'clear-site-data': '"*"', 'x-frame-options': 'ALLOW',
        'transfer-encoding': 'chunked', 'x-accel-redirect': '/etc/passwd', 'strict-transport-security': 'max-age=0', 'x-ext-own': 'kept', 'x-broken': 'a\\r\\nset-cookie: b=c' } };`),
    );
    const { headers, status } = await lie(kernel);
    expect(status).to.equal(200);
    expect(headers.get('content-security-policy')).to.match(/^sandbox; default-src 'none'/);
    expect([headers.get('x-ext-own'), headers.get('x-frame-options')]).to.deep.equal(['kept', 'DENY']);
    for (const name of ['set-cookie', 'access-control-allow-origin', 'clear-site-data', 'x-accel-redirect', 'x-broken']) expect(headers.get(name), name).to.equal(null);
  });

  it('fails with headers that are none: whoever asked gets the error all the same', async () => {
    const kernel = await boot(
      liar(`throw new api.SvcError('acme_no', 'Not today.', { status: 418, retry: false, headers: { 'x-a': 'b\\r\\nset-cookie: a=b', 'set-cookie': 'a=b', 'x-ext-fine': 'yes' } });`),
    );
    const response = await lie(kernel);
    expect([response.status, response.headers.get('x-ext-fine'), response.headers.get('set-cookie'), response.headers.get('x-a')]).to.deep.equal([418, 'yes', null, null]);
    expect(await response.json()).to.include({ code: 'acme_no', error: 'Not today.' });
  });

  for (const [what, handler] of [
    ['bytes within JSON', 'return api.reply(200, { deep: [{ down: Buffer.alloc(1024 * 1024) }] });'],
    ['a status that is none', "return { kind: 'json', status: 99, body: {}, headers: {} };"],
    ['a status that goes on', "return { kind: 'json', status: 101, body: {}, headers: {} };"],
  ] as const) {
    it(`answers with ${what}: it is refused by name`, async () => {
      const kernel = await boot(liar(handler));
      expect(await (await lie(kernel)).json()).to.include({ code: 'isolation_not_plain' });
    });
  }

  it('says that it uses a service of twenty thousand methods: none of them is made', async () => {
    const kernel = await boot(liar("tell('service.use', [{ name: 'big', version: '1.0.0' }, Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ['m' + i, { count: 20 }]))]);"));
    // On a busy machine so large a lie takes its process longer than it may be silent: it is begun anew then.
    await until(async () => (await lie(kernel)).status === 200);
    // It is answered beside what it said: which of both is done with first is open.
    await until(() => JSON.stringify(linesOf(kernel)).includes('a service of 20000 methods'));
  });

  it('writes megabytes of bytes into the log: what stands there is short', async () => {
    const kernel = await boot(liar("tell('log', ['info', 'look', { loot: BYTES }], [Buffer.alloc(3_900_000)]);"));
    expect((await lie(kernel)).status).to.equal(200);
    expect(linesOf(kernel).find(({ message }) => message === 'look')?.fields).to.deep.equal({ cut: 'it held bytes' });
  });

  it('asks for what it may not have, over and over: the log is told two hundred times a second at most', async () => {
    const kernel = await boot(liar("for (let i = 0; i < 2_000; i++) tell('event.publish', [{ name: 'x'.repeat(1_000) }, 1]);"));
    await lie(kernel);
    const lines = linesOf(kernel);
    const perSecond = lines.map(({ timestamp }) => timestamp.slice(0, 19));
    for (const second of new Set(perSecond)) expect(perSecond.filter((one) => one === second).length).to.be.at.most(220);
    expect(JSON.stringify(lines[0]).length).to.be.lessThan(1_500);
  });

  it('holds its generation under one number again and again: the reload ends, for all of them end with the process', async () => {
    const kernel = await boot(liar("for (let i = 0; i < 100; i++) tell('hold', [1, 'mine']);"));
    expect((await lie(kernel)).status).to.equal(200);
    process.kill(Number(kernel.daemon.kernel.extensions().find(({ id }) => id === ID)?.process?.pid), 'SIGKILL');
    await until(async () => (await kernel.http.post('/api/acme/calm')).status === 200);
    await kernel.daemon.kernel.reload(ID);
    await kernel.daemon.lifecycle.settled();
    expect(kernel.daemon.kernel.extensions().find(({ id }) => id === ID)?.leaks).to.deep.equal([]);
  });

  it('says that it has added a million taps: it is not believed, and the daemon goes on', async () => {
    // The first call is that of `init`, which this answers in the place of the program.
    const kernel = await boot(
      liar('return undefined;', {
        before: `${BEFORE}\nif (typeof process.stdout === 'undefined') put(frame(['reply', 1, { routes: ['POST /api/acme/calm', 'POST /api/acme/lie'], tools: [], slashCommands: [], timers: [], taps: Array(1_000_000).fill(''), hasStart: false }]));`,
      }),
    );
    const { body, status } = await kernel.http.post('/api/acme/calm');
    expect([status, body.code], JSON.stringify(body)).to.deep.equal([500, 'isolation_undeclared']);
    expect((await kernel.http.get('/api/health')).status).to.equal(200);
  });

  it('stands between a caller and another area: its routes match nothing that others answer', async () => {
    const path = '/api/agents/mine';
    const kernel = await boot({
      id: ID,
      activate: `ctx.routes.add(api.defineRoute({ id: 'between', method: 'GET', path: '${path}', summary: 'Listens', auth: 'bearer', permission: 'acme.read', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, {}) }));`,
    });
    const found = kernel.daemon.kernel.extensions().find(({ id }) => id === ID);
    expect(found?.state).to.equal('failed');
    expect(found?.reason).to.contain('overlap: a request for one could reach the other');
  });

  it('declares a pattern that takes for ever over a short text: the daemon matches it at once', async () => {
    const kernel = await boot({
      id: ID,
      activate: `ctx.routes.add(api.defineRoute({ id: 'slow', method: 'POST', path: '/api/acme/slow', summary: 'Waits', auth: 'bearer', permission: 'acme.write', cost: 1, body: api.Type.Object({ text: api.Type.String({ pattern: '^(a|a)*$' }) }), responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, {}) }));`,
    });
    const { body, status } = await kernel.http.post('/api/acme/slow', { text: `${'a'.repeat(60)}!` });
    expect([status, body.code]).to.deep.equal([400, 'invalid_request']);
  });

  it('is never ready: its process is not started with every call', async () => {
    const one = await thirdParty(liar('return undefined;'));
    const { readFile, writeFile } = await import('node:fs/promises');
    const file = `${one.folder}/dist/index.js`;
    await writeFile(file, (await readFile(file, 'utf8')).replace('activate(ctx) {', "activate(ctx) { const error = new Error('in a moment'); error.name = 'NotReady'; throw error;"));
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]`, thirdParties: [one] });
    await kernel.http.post('/api/acme/calm');
    const { body, status } = await kernel.http.post('/api/acme/calm');
    expect([status, body.code], JSON.stringify(body)).to.deep.equal([503, 'isolation_down']);
  });

  it('grows before it is ready: it is ended by its size and not by its time', async () => {
    const one = await thirdParty(liar('return undefined;'));
    const { readFile, writeFile } = await import('node:fs/promises');
    const file = `${one.folder}/dist/index.js`;
    const grow = 'globalThis.all = []; await new Promise(() => setInterval(() => all.push(Buffer.alloc(8 * 1024 * 1024, 1)), 20));';
    await writeFile(file, (await readFile(file, 'utf8')).replace('activate(ctx) {', `async activate(ctx) { ${grow}`));
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\nmemory_mb = 128`, thirdParties: [one] });
    const { body } = await kernel.http.post('/api/acme/calm');
    expect(body.error).to.match(/it used \d+ MB of memory, and 128 MB is the most/);
  });

  it('grows behind as many calls as may be under way: its size is looked at all the same', async () => {
    const kernel = await boot(
      liar('globalThis.all ??= []; globalThis.timer ??= setInterval(() => all.push(Buffer.alloc(8 * 1024 * 1024, 1)), 40); await new Promise(() => undefined);'),
      'memory_mb = 128',
    );
    const answers = await Promise.all(Array.from({ length: 64 }, async () => (await lie(kernel)).json()));
    expect(answers.map(({ error }) => error).join('\n')).to.match(/it used \d+ MB of memory, and 128 MB is the most/);
  });
});
