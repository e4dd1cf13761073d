/** Devices over HTTP: paired by a code, acting for their person, changed and removed. */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { bootTestKernel, createRoughBus, OPEN_RATE, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { bootTwo } from '@svc/test/replicas/two-daemons';
import { expect } from 'chai';
import { WebSocket } from 'ws';

const KEYS = { owner: 'pairing-root-key', alice: 'pairing-alice-key', bob: 'pairing-bob-key', carol: 'pairing-carol-key', olga: 'pairing-olga-key' };
const person = (name: 'alice' | 'bob' | 'carol' | 'olga', role: string): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const PEOPLE = `${person('alice', 'user')}${person('bob', 'user')}${person('carol', 'viewer')}${person('olga', 'owner')}`;

/** Each call comes from another address, so that no claim is refused for the wrong codes of another one. */
let networks = 0;
const another = (): number => {
  networks += 1;
  return networks;
};
const from = (network = another()): Record<string, string> => ({ 'x-forwarded-for': `203.0.${Math.floor(network / 250)}.${(network % 250) + 1}` });

interface Paired {
  readonly device_id: string;
  readonly api_key: string;
}

describe('pairing', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  let bob: TestHttp;
  let nobody: TestHttp;
  let push: Server;
  let pushed: Array<{ path: string; body: string; token: string | undefined }> = [];
  let pushStatus = 200;
  let pushUrl = '';
  before(async () => {
    push = createServer((req, res) => {
      let body = '';
      req.on('data', (piece) => {
        body += piece;
      });
      req.on('end', () => {
        pushed.push({ path: req.url ?? '', body, token: req.headers['x-gotify-key'] as string | undefined });
        res.statusCode = pushStatus;
        res.end('{}');
      });
    });
    await new Promise<void>((resolve) => push.listen(0, '127.0.0.1', resolve));
    pushUrl = `http://127.0.0.1:${(push.address() as AddressInfo).port}`;
    kernel = await bootTestKernel({
      config: `api_key = "${KEYS.owner}"\ntrusted_proxies = ["127.0.0.1"]\n${OPEN_RATE}[pairing]\npush_provider = "gotify"\npublic_base_url = "https://svc.example.com/"\n${PEOPLE}`,
      env: { GOTIFY_SERVER_URL: pushUrl, GOTIFY_APP_TOKEN: 'gotify-token-of-the-tests' },
    });
    [owner, alice, bob, nobody] = [kernel.as(KEYS.owner), kernel.as(KEYS.alice), kernel.as(KEYS.bob), new TestHttp(kernel.url)];
  });
  beforeEach(() => {
    pushed = [];
    pushStatus = 200;
  });
  afterEach(async () => {
    for (const { id } of (await owner.expect(200, 'GET', '/api/pairing/devices?limit=100')).body.devices) await owner.send('DELETE', `/api/pairing/devices/${id}`, undefined);
  });
  after(async () => {
    await stopTestKernels();
    push.close();
  });

  const codeOf = async (http: TestHttp, role?: string): Promise<string> => (await http.expect(200, 'POST', '/api/pairing/request', role === undefined ? undefined : { role })).body.pairing_code;
  const complete = (body: unknown, network?: number) => nobody.send('POST', '/api/pairing/complete', body, from(network));
  const pair = async (http: TestHttp, role?: string): Promise<Paired> => {
    const { body, status, text } = await complete({ pairing_code: await codeOf(http, role), display_name: 'Phone', platform: 'android' });
    expect(status, text).to.equal(200);
    return body;
  };
  const listed = async (http: TestHttp) => (await http.expect(200, 'GET', '/api/pairing/devices')).body.devices;
  const spawn = async (http: TestHttp): Promise<string> => (await http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "agent-${Math.random().toString(36).slice(2)}"\n` })).body.agent_id;

  it('V2 gives a device a key of its own, which acts on the rows of its person and on nobody else’s', async () => {
    const [mine, bobs] = [await spawn(alice), await spawn(bob)];
    const { body: asked } = await alice.expect(200, 'POST', '/api/pairing/request');
    expect(asked.pairing_code).to.match(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
    expect([asked.token, asked.url]).to.deep.equal([asked.pairing_code, `https://svc.example.com/#/?pair=${asked.pairing_code}`]);
    expect(JSON.parse(Buffer.from(asked.qr_uri.replace('svc://pair?payload=', ''), 'base64url').toString())).to.deep.equal({
      ...{ v: 1, base_url: 'https://svc.example.com', token: asked.pairing_code, expires_at: asked.expires_at },
    });
    expect(Date.parse(asked.expires_at) - Date.now()).to.be.within(290_000, 300_500);
    const { body, headers } = await complete({ token: asked.pairing_code.toLowerCase().replace('-', '') });
    expect(body).to.include({ display_name: 'unknown', platform: 'unknown' });
    expect(body.api_key).to.match(/^[0-9a-f]{64}$/);
    expect(headers.get('cache-control')).to.equal('no-store');
    const device = kernel.as(body.api_key);
    expect((await device.expect(200, 'GET', '/auth/session')).body).to.include({ role: 'user', name: `device:${body.device_id}`, via: 'key' });
    await device.expect(200, 'GET', `/api/agents/${mine}`);
    await device.expect(404, 'GET', `/api/agents/${bobs}`);
    await alice.expect(200, 'GET', `/api/agents/${await spawn(device)}`);
    const [shown] = await listed(alice);
    expect(shown).to.include({ id: body.device_id, device_id: body.device_id, role: 'user', owner: 'user:alice' });
    expect(shown.last_seen).to.be.a('string');
    expect(await listed(bob)).to.deep.equal([]);
    for (const [method, given] of [['DELETE'], ['PATCH', { display_name: 'mine' }]] as const) await bob.expect(404, method, `/api/pairing/devices/${body.device_id}`, given);
    const recent = (await owner.expect(200, 'GET', '/api/audit/recent?limit=50')).text;
    expect(recent).to.include('device_paired').and.to.include('pairing_requested').and.not.to.include(body.api_key);
  });

  it('belongs to the person who paired it, also where that person is an owner, and ends with them', async () => {
    const olga = kernel.as(KEYS.olga);
    const mine = await spawn(owner);
    const { pairing_code } = (await olga.expect(200, 'POST', '/api/pairing/request', { role: 'owner' })).body;
    const { body } = await complete({ token: pairing_code });
    const [shown] = await listed(olga);
    expect(shown).to.include({ id: body.device_id, owner: 'user:olga', role: 'owner' });
    const device = kernel.as(body.api_key);
    expect((await device.expect(200, 'GET', '/auth/session')).body.role).to.equal('owner');
    await device.expect(200, 'GET', `/api/agents/${mine}`);
    await owner.expect(200, 'PATCH', '/api/people/olga', { disabled: true });
    await device.expect(401, 'GET', `/api/agents/${mine}`);
    await owner.expect(200, 'PATCH', '/api/people/olga', { disabled: false });
    await device.expect(200, 'GET', `/api/agents/${mine}`);
  });

  it('V2 never lets a device stand above its person, at once and later', async () => {
    expect((await alice.expect(403, 'POST', '/api/pairing/request', { role: 'admin' })).body.code).to.equal('pairing_role_too_high');
    await kernel.as(KEYS.carol).expect(403, 'POST', '/api/pairing/request');
    const { api_key, device_id } = await pair(alice);
    const device = kernel.as(api_key);
    expect((await alice.expect(403, 'PATCH', `/api/pairing/devices/${device_id}`, { role: 'owner' })).body.code).to.equal('pairing_role_too_high');
    expect((await alice.expect(200, 'PATCH', `/api/pairing/devices/${device_id}`, { role: 'viewer', display_name: 'Wall' })).body).to.include({ role: 'viewer', display_name: 'Wall' });
    await device.expect(403, 'POST', '/api/agents', { manifest_toml: 'name = "refused"\n' });
    await owner.expect(200, 'PATCH', `/api/pairing/devices/${device_id}`, { role: 'admin' });
    expect((await device.expect(200, 'GET', '/auth/session')).body.role, 'the owner may ask for more than alice has').to.equal('user');
  });

  it('V3 lets no device pair another one or change a role', async () => {
    const { api_key, device_id } = await pair(alice);
    const device = kernel.as(api_key);
    for (const [method, path, body] of [
      ['POST', '/api/pairing/request', {}],
      ['PATCH', `/api/pairing/devices/${device_id}`, { role: 'user' }],
    ] as const)
      expect((await device.expect(403, method, path, body)).body.code).to.equal('pairing_by_device');
  });

  it('V1 makes one device of a code, however many send it at once, and answers used, expired and unknown ones alike', async () => {
    const pairing_code = await codeOf(alice);
    const answers = await Promise.all(Array.from({ length: 100 }, () => complete({ pairing_code })));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    expect(answers.filter(({ status }) => status === 410)).to.have.length(99);
    expect(await listed(alice)).to.have.length(1);
    const refusals = await Promise.all(['2222-2222', pairing_code, 'nonsense', "' OR 1=1"].map((code) => complete({ pairing_code: code })));
    expect(refusals.map(({ status }) => status)).to.deep.equal([410, 410, 410, 410]);
    expect(new Set(refusals.map(({ body }) => JSON.stringify({ ...body, request_id: '' }))).size).to.equal(1);
    for (const body of [{}, { pairing_code: '' }, { pairing_code: ' ' }, { pairing_code: 7 }, { code: pairing_code }, [], 'text'])
      expect((await complete(body)).status, JSON.stringify(body)).to.equal(400);
  });

  it('refuses a code that has expired', async () => {
    const pairing_code = await codeOf(alice);
    const db = kernel.daemon.parts.storage.dbFor({ id: 'pairing', tables: ['codes'] });
    const rows = await db.system('a test').select<{ id: string }>({ from: 'codes' });
    await db.commit([
      db.update(
        'codes',
        ['id'],
        rows.map(({ id }) => ({ id, expires_at: new Date(Date.now() - 1_000).toISOString() })),
      ),
    ]);
    expect((await complete({ pairing_code })).body.code).to.equal('pairing_code_over');
    expect(await listed(alice)).to.deep.equal([]);
  });

  it('looks at no code of a network after five wrong ones, not even at a right one', async () => {
    const network = another();
    const pairing_code = await codeOf(alice);
    for (let at = 0; at < 5; at += 1) expect((await complete({ pairing_code: 'AAAA-AAAA' }, network)).status).to.equal(410);
    const refused = await complete({ pairing_code }, network);
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'pairing_too_many_attempts']);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(880, 900);
    expect((await complete({ pairing_code })).status, 'from elsewhere').to.equal(200);
  });

  it('has five codes of a person wait at most, and ten devices be paired', async () => {
    const codes = await Promise.all(Array.from({ length: 8 }, () => bob.send('POST', '/api/pairing/request', {})));
    expect(codes.filter(({ status }) => status === 200)).to.have.length(5);
    expect(codes.find(({ status }) => status === 400)?.body.code).to.equal('pairing_too_many_codes');
    for (const { body, status } of codes) if (status === 200) expect((await complete({ pairing_code: body.pairing_code })).status).to.equal(200);
    for (let at = 0; at < 5; at += 1) await pair(bob);
    expect((await bob.expect(409, 'POST', '/api/pairing/request')).body.code).to.equal('pairing_too_many_devices');
    await pair(alice);
  });

  it('ends what a removed device holds open within a second, and its logins', async () => {
    const { api_key, device_id } = await pair(alice);
    const other = await pair(alice);
    const sockets = [api_key, other.api_key].map((key) => new WebSocket(`${kernel.url.replace('http', 'ws')}/api/live`, { headers: { authorization: `Bearer ${key}` } }));
    await Promise.all(sockets.map((socket) => new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))));
    const closed = new Promise<number>((resolve) => sockets[0]?.once('close', (code) => resolve(code)));
    const login = await nobody.expect(200, 'POST', '/auth/session', { key: api_key, remember: true });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    await nobody.expect(200, 'GET', '/api/agents', undefined, { cookie });
    const since = Date.now();
    expect((await alice.expect(200, 'DELETE', `/api/pairing/devices/${device_id}`)).body).to.deep.equal({ status: 'removed' });
    expect(await closed).to.equal(4401);
    expect(Date.now() - since).to.be.below(1_000);
    await nobody.expect(401, 'GET', '/api/agents', undefined, { cookie });
    await kernel.as(api_key).expect(401, 'GET', '/api/agents');
    await kernel.as(other.api_key).expect(200, 'GET', '/api/agents');
    expect(sockets[1]?.readyState).to.equal(WebSocket.OPEN);
    sockets[1]?.close();
    await alice.expect(404, 'DELETE', `/api/pairing/devices/${device_id}`);
  });

  it('counts the devices that a message reached, by the push server or on an open page', async () => {
    const first = await pair(alice);
    await pair(alice);
    await pair(bob);
    expect((await alice.expect(200, 'POST', '/api/pairing/notify', { title: 'Build', message: 'Done.' })).body).to.deep.equal({ ok: true, notified: 2, failed: 0 });
    expect(pushed).to.deep.equal([{ path: '/message', body: JSON.stringify({ title: 'Build', message: 'Done.' }), token: 'gotify-token-of-the-tests' }]);
    pushStatus = 500;
    const socket = new WebSocket(`${kernel.url.replace('http', 'ws')}/api/live`, { headers: { authorization: `Bearer ${first.api_key}` } });
    const received: string[] = [];
    socket.on('message', (data) => received.push(String(data)));
    await new Promise((resolve) => socket.once('message', resolve));
    expect((await alice.expect(200, 'POST', '/api/pairing/notify', { message: 'Again.' })).body).to.deep.equal({ ok: true, notified: 1, failed: 1 });
    await new Promise<void>((resolve) => {
      const look = (): unknown => (received.some((text) => text.includes('notified')) ? resolve() : setTimeout(look, 10));
      look();
    });
    expect(received.join('\n')).to.not.include('Again.');
    expect((await listed(kernel.as(first.api_key))).map((one: { notice: { message: string } }) => one.notice.message)).to.deep.equal(['Again.', 'Again.']);
    socket.close();
    expect((await owner.expect(200, 'POST', '/api/pairing/notify', { message: 'To nobody.' })).body).to.deep.equal({ ok: true, notified: 0, failed: 0 });
    for (const body of [{}, { message: '' }, { message: 'x'.repeat(4_001) }, []]) await alice.expect(400, 'POST', '/api/pairing/notify', body);
  });
});

describe('pairing, by what the settings say', function () {
  this.timeout(60_000);
  afterEach(() => stopTestKernels());

  it('needs a key of the daemon, and keeps a daemon with a device closed when its key is taken away', async () => {
    const open = await bootTestKernel({ config: OPEN_RATE });
    const refused = await open.http.expect(409, 'POST', '/api/pairing/request');
    expect(refused.body.code).to.equal('pairing_needs_key');
    expect(refused.body.hint).to.include('svc key new');
    const home = open.home;
    await open.stop();

    const keyed = await bootTestKernel({ home, config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}` });
    const { body } = await keyed.as(KEYS.owner).expect(200, 'POST', '/api/pairing/request');
    const { api_key } = (await new TestHttp(keyed.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code: body.pairing_code })).body;
    await keyed.stop();

    const without = await bootTestKernel({ home, config: OPEN_RATE });
    await new TestHttp(without.url).expect(401, 'GET', '/api/agents');
    await without.as(api_key).expect(200, 'GET', '/api/agents');
  });

  it('takes the key of a device at another daemon that has not heard of it', async () => {
    const bus = createRoughBus({ random: () => 0, lost: 1, maxDelayMs: 1 });
    const { a, b, stop } = await bootTwo({ joinBus: bus.join, clock: virtualClock(systemClock().now()), config: PEOPLE, key: KEYS.alice });
    await b.kernel.http.expect(200, 'GET', '/api/agents');
    const code = (await a.kernel.http.expect(200, 'POST', '/api/pairing/request')).body.pairing_code;
    const { api_key } = (await new TestHttp(a.kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code: code })).body;
    expect((await b.kernel.as(api_key).expect(200, 'GET', '/auth/session')).body).to.include({ authenticated: true });
    await b.kernel.as(api_key).expect(200, 'GET', '/api/agents');
    await b.kernel.as('0'.repeat(64)).expect(401, 'GET', '/api/agents');
    await stop();
  });

  it('answers 404 while it is off', async () => {
    const { http } = await bootTestKernel({ config: `${OPEN_RATE}[pairing]\nenabled = false\n` });
    for (const [method, path, body] of [
      ['GET', '/api/pairing/devices'],
      ['POST', '/api/pairing/request'],
      ['POST', '/api/pairing/complete', { pairing_code: 'ABCD-2345' }],
      ['POST', '/api/pairing/notify', { message: 'x' }],
    ] as const)
      expect((await http.expect(404, method, path, body)).body.code).to.equal('pairing_off');
  });
});
