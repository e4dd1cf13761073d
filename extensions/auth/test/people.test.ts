/** People: who is listed with what, who may change whom, and what a change ends. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { openChat } from '@svc/test/clients/chat-socket';
import { until } from '@svc/test/clients/model-kernel';
import { signedIn } from '@svc/test/people/signed-in';
import { bootTwo, type TwoDaemons } from '@svc/test/replicas/two-daemons';
import { expect } from 'chai';
import { WebSocket } from 'ws';

const KEYS = { root: 'people-root-key', boss: 'people-boss-key', adam: 'people-adam-key', alice: 'people-alice-key', vera: 'people-vera-key' } as const;
type Name = keyof typeof KEYS;
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const person = (name: Name, role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${hashOf(KEYS[name])}"\n`;
const PEOPLE = `${person('boss', 'owner')}${person('adam', 'admin')}${person('alice', 'user')}${person('vera', 'viewer')}`;

const liveSocket = async (url: string, key: string): Promise<{ closed: Promise<number> }> => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`, { headers: { authorization: `Bearer ${key}` } });
  const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)));
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject));
  return { closed };
};

describe('people', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  const as = (name: Name): TestHttp => kernel.as(KEYS[name]);
  const patch = (http: TestHttp, id: string, body: unknown) => http.send('PATCH', `/api/people/${id}`, body);
  const refusal = async (http: TestHttp, id: string, body: unknown): Promise<string> => (await patch(http, id, body)).body.code;
  before(async () => {
    kernel = await bootTestKernel({ config: `api_key = "${KEYS.root}"\n${OPEN_RATE}${PEOPLE}` });
  });
  after(() => stopTestKernels());

  it('are listed with roles, logins, devices and when they were last seen, for owners and admins', async () => {
    const { id } = await signedIn(kernel, 'a', 'user');
    const { body: asked } = await as('alice').expect(200, 'POST', '/api/pairing/request');
    const device = (await new TestHttp(kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code: asked.pairing_code, display_name: 'Phone of Alice' })).body;
    await new TestHttp(kernel.url).expect(200, 'POST', '/auth/session', { key: KEYS.alice });
    await kernel.as(device.api_key).expect(200, 'GET', '/api/agents');
    const { people, total } = (await as('adam').expect(200, 'GET', '/api/people')).body;
    expect(total).to.equal(6);
    const shown = Object.fromEntries(people.map((one: { id: string }) => [one.id, one]));
    expect(Object.keys(shown)).to.have.members(['owner', 'user:boss', 'user:adam', 'user:alice', 'user:vera', id]);
    expect(shown['user:alice']).to.include({ role: 'user', role_from: 'settings', state: 'active', source: 'settings', logins: 1 });
    expect(shown['user:alice'].devices).to.deep.equal(['Phone of Alice']);
    expect(Date.now() - Date.parse(shown['user:alice'].last_seen)).to.be.below(60_000);
    expect(shown[id]).to.deep.include({ name: 'Person a', email: 'a@example.com', role: 'user', role_from: 'provider', source: 'company:a', logins: 1, devices: [] });
    const one = (await as('root').expect(200, 'GET', '/api/people/alice')).body;
    expect(one.access.map(({ kind, role }: { kind: string; role: string }) => [kind, role])).to.deep.equal([
      ['login', 'user'],
      ['device', 'user'],
    ]);
    expect(JSON.stringify([people, one]))
      .to.not.include(device.api_key)
      .and.not.include(hashOf(KEYS.alice));
    for (const http of [as('alice'), as('vera'), kernel.as(device.api_key)])
      for (const [method, path, body] of [
        ['GET', '/api/people'],
        ['GET', '/api/people/user:alice'],
        ['PATCH', '/api/people/user:vera', { disabled: true }],
        ['POST', '/api/people/user:vera/sign-out'],
      ] as const)
        expect((await http.send(method, path, body)).status, `${method} ${path}`).to.equal(403);
    await as('root').expect(404, 'GET', '/api/people/user:nobody');
    expect((await as('root').expect(200, 'GET', '/api/people?q=vera')).body.total).to.equal(1);
  });

  it('M1 an admin changes no owner and makes nobody one; a device changes nobody', async () => {
    const { id } = await signedIn(kernel, 'b', 'user');
    const chief = await signedIn(kernel, 'c', 'owner');
    expect(await refusal(as('adam'), 'user:boss', { disabled: true })).to.equal('auth_person_above');
    expect(await refusal(as('adam'), chief.id, { role: 'user' })).to.equal('auth_person_above');
    expect(await refusal(as('adam'), id, { role: 'owner' })).to.equal('auth_person_above');
    expect((await as('adam').send('POST', '/api/people/user:boss/sign-out', undefined)).body.code).to.equal('auth_person_above');
    expect((await patch(as('adam'), id, { role: 'admin' })).body).to.include({ role: 'admin', role_from: 'chosen' });
    expect((await patch(as('root'), id, { role: 'owner' })).body).to.include({ role: 'owner', role_from: 'chosen' });
    expect((await patch(as('root'), id, { role: null })).body).to.include({ role: 'user', role_from: 'provider' });
    const { pairing_code } = (await as('adam').expect(200, 'POST', '/api/pairing/request', { role: 'admin' })).body;
    const { api_key } = (await new TestHttp(kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code })).body;
    expect((await kernel.as(api_key).expect(200, 'GET', '/api/people')).body.total).to.be.above(3);
    expect(await refusal(kernel.as(api_key), 'user:alice', { disabled: true })).to.equal('auth_person_by_device');
  });

  it('M2 nobody changes themselves, and roles of the settings are changed there', async () => {
    expect(await refusal(as('adam'), 'user:adam', { disabled: true })).to.equal('auth_person_yourself');
    expect(await refusal(as('boss'), 'boss', { disabled: true })).to.equal('auth_person_yourself');
    const { id, token } = await signedIn(kernel, 'd', 'admin');
    expect(await refusal(kernel.as(token), id, { role: 'user' })).to.equal('auth_person_yourself');
    expect(await refusal(as('boss'), 'owner', { disabled: true })).to.equal('auth_person_has_key');
    const refused = await patch(as('root'), 'user:alice', { role: 'admin' });
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'auth_person_in_settings']);
    expect(refused.body.hint).to.include('[[users]]');
    for (const body of [{ role: 'emperor' }, { disabled: 'yes' }, { other: 1 }, [], 'x']) expect((await patch(as('root'), 'user:alice', body)).status, JSON.stringify(body)).to.equal(400);
  });

  it('E2 a role that was chosen stands above what the provider says', async () => {
    const { id, token } = await signedIn(kernel, 'e', 'admin', { set_role: 'viewer' });
    expect((await kernel.as(token).expect(200, 'GET', '/auth/session')).body.role).to.equal('viewer');
    await patch(as('root'), id, { role: null });
    expect((await kernel.as(token).expect(200, 'GET', '/auth/session')).body.role).to.equal('admin');
  });

  it('U5 M3 who is disabled is out at once, with every device, sign-in and socket, and back when enabled', async () => {
    const { id, token } = await signedIn(kernel, 'f', 'user');
    const { closed } = await liveSocket(kernel.url, token);
    const { pairing_code } = (await kernel.as(token).expect(200, 'POST', '/api/pairing/request')).body;
    const { api_key } = (await new TestHttp(kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code })).body;
    const keys = [token, api_key];
    for (const key of keys) await kernel.as(key).expect(200, 'GET', '/api/agents');
    const since = Date.now();
    expect((await patch(as('adam'), id, { disabled: true })).body).to.include({ state: 'disabled', role: 'user' });
    for (const key of keys) expect((await kernel.as(key).expect(401, 'GET', '/api/agents')).body.code).to.equal('auth_person_disabled');
    expect(await closed).to.equal(4401);
    expect(Date.now() - since).to.be.below(1_000);
    await patch(as('adam'), id, { disabled: false });
    for (const key of keys) await kernel.as(key).expect(200, 'GET', '/api/agents');
    expect((await patch(as('boss'), 'vera', { disabled: true })).body.state).to.equal('disabled');
    expect((await as('vera').expect(401, 'GET', '/api/agents')).body.code).to.equal('auth_person_disabled');
    await patch(as('boss'), 'vera', { disabled: false });
    await as('vera').expect(200, 'GET', '/api/agents');
    expect((await as('root').expect(200, 'GET', '/api/audit/recent?limit=50')).text).to.include('person_changed');
  });

  it('are signed out without their keys and devices', async () => {
    const { id, token } = await signedIn(kernel, '0', 'user');
    const { pairing_code } = (await kernel.as(token).expect(200, 'POST', '/api/pairing/request')).body;
    const { api_key } = (await new TestHttp(kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code })).body;
    const login = await new TestHttp(kernel.url).expect(200, 'POST', '/auth/session', { key: KEYS.alice });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect((await as('adam').expect(200, 'POST', `/api/people/${id}/sign-out`)).body).to.deep.equal({ ended: 1 });
    await kernel.as(token).expect(401, 'GET', '/api/agents');
    await kernel.as(api_key).expect(200, 'GET', '/api/agents');
    await new TestHttp(kernel.url).expect(200, 'GET', '/api/agents', undefined, { cookie });
    expect((await as('adam').expect(200, 'POST', '/api/people/alice/sign-out')).body.ended).to.be.at.least(1);
    await new TestHttp(kernel.url).expect(401, 'GET', '/api/agents', undefined, { cookie });
    await as('alice').expect(200, 'GET', '/api/agents');
    expect((await as('adam').expect(200, 'POST', '/api/people/alice/sign-out')).body).to.deep.equal({ ended: 0 });
  });
});

describe('people of a daemon whose owners are people', function () {
  this.timeout(60_000);
  afterEach(() => stopTestKernels());

  it('M2 keep one owner, also where two owners disable each other at once', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${person('boss', 'owner')}${person('adam', 'admin')}` });
    const { id, token } = await signedIn(kernel, 'a', 'owner');
    const [boss, other] = [kernel.as(KEYS.boss), kernel.as(token)];
    const answers = await Promise.all([boss.send('PATCH', `/api/people/${id}`, { disabled: true }), other.send('PATCH', '/api/people/boss', { disabled: true })]);
    expect(answers.map(({ status }) => status).sort(), JSON.stringify(answers.map(({ text }) => text))).to.deep.equal([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).to.equal('auth_last_owner');
  });
});

describe('the doctor, without a key', function () {
  this.timeout(60_000);
  afterEach(() => stopTestKernels());

  const finding = async (kernel: TestKernel, token: string): Promise<{ result: string; message: string; fix?: string }> =>
    (await kernel.as(token).expect(200, 'GET', '/api/health/detail')).body.doctor.find(({ check }: { check: string }) => check === 'ApiKeyCheck');
  const provider = (more = '') => `${OPEN_RATE}[external_auth]\nclient_id = "svc"\nissuer_url = "https://issuer.example"\n${more}`;

  it('says what lets people in: a provider, devices, or both', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-people-'));
    const kernel = await bootTestKernel({ home, config: provider() });
    const { token } = await signedIn(kernel, 'a', 'admin');
    expect(await finding(kernel, token)).to.include({ result: 'warn', message: 'No API key is set. Only people who sign in at a provider can call. Nobody can come in as the owner.' });
    const { pairing_code } = (await kernel.as(token).expect(200, 'POST', '/api/pairing/request')).body;
    await new TestHttp(kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code });
    expect((await finding(kernel, token)).message).to.match(/^No API key is set\. Only people who sign in at a provider and paired devices can call\./);
    await kernel.stop();
    const mapped = await bootTestKernel({ home, config: provider('[external_auth.role_map]\nboss = "owner"\n') });
    expect((await finding(mapped, token)).result).to.equal('pass');
    await mapped.stop();
    const without = await bootTestKernel({ home, config: OPEN_RATE });
    expect((await finding(without, token)).message).to.equal('No API key is set. Only paired devices can call. Nobody can come in as the owner with a key.');
    await without.stop();
    await rm(home, { recursive: true, force: true });
  });
});

describe('people who call with keys', function () {
  this.timeout(60_000);
  afterEach(() => stopTestKernels());

  it('are shown with their last call, to the minute', async () => {
    const clock = virtualClock(systemClock().now());
    const kernel = await bootTestKernel({ clock, config: `${OPEN_RATE}${person('boss', 'owner')}${person('alice', 'user')}` });
    const seen = async () => (await kernel.as(KEYS.boss).expect(200, 'GET', '/api/people/alice')).body.last_seen;
    expect(await seen()).to.equal(null);
    const at = clock.iso();
    await kernel.as(KEYS.alice).expect(200, 'GET', '/api/agents');
    await clock.advance(60_000);
    await until(async () => (await seen()) === at);
    await kernel.as(KEYS.alice).expect(200, 'GET', '/api/agents');
  });
});

describe('people of two daemons on one PostgreSQL', function () {
  this.timeout(90_000);
  let two: TwoDaemons;
  const clock = virtualClock(systemClock().now());
  before(async () => {
    two = await bootTwo({ url: await (await sharedCluster()).fresh(), clock, key: KEYS.root, config: `${person('root', 'owner')}${person('boss', 'owner')}${person('alice', 'user')}` });
    await until(() => [two.a, two.b].every(({ kernel }) => kernel.daemon.parts.bus.state().peers.length === 1));
  });
  after(async () => {
    await two.stop();
    await stopTestKernels();
  });

  const shell = { toolCalls: [{ name: 'shell_exec', args: { command: 'echo granted' } }] };
  const resultOf = async (token: string, agent: string): Promise<string> => {
    two.model.script([shell, { text: 'done' }]);
    await two.b.kernel.as(token).expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'go on' });
    return JSON.stringify(two.model.requests.at(-1)?.body.messages);
  };

  it('M3 a change at one ends within a second what the other has open, and what agents there may do', async () => {
    const { a, b } = two;
    const change = (id: string, body: unknown) => a.kernel.http.expect(200, 'PATCH', `/api/people/${id}`, body);
    const { id, token } = await signedIn(a.kernel, 'a', 'admin');
    const agent = (await b.kernel.as(token).expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "worker"\n[capabilities]\nshell = ["echo *"]\n' })).body.agent_id;
    expect(await resultOf(token, agent)).to.match(/granted/);

    const chat = await openChat(b.kernel.url, agent, { headers: { authorization: `Bearer ${token}` } });
    await change(id, { role: 'viewer' });
    const since = Date.now();
    expect(await chat.closed()).to.equal(4403);
    expect(Date.now() - since).to.be.below(1_000);
    await b.kernel.as(token).expect(403, 'POST', `/api/agents/${agent}/message`, { message: 'go on' });
    await change(id, { role: 'user' });
    await until(async () => (await b.kernel.as(token).get('/auth/session')).body.role === 'user');
    expect(await resultOf(token, agent)).to.match(/needs the permission shell, and its owner has the role user/);

    const sockets = [await liveSocket(b.kernel.url, token), await liveSocket(b.kernel.url, KEYS.alice)];
    const before = Date.now();
    await Promise.all([change(id, { disabled: true }), change('alice', { disabled: true })]);
    expect(await Promise.all(sockets.map(({ closed }) => closed))).to.deep.equal([4401, 4401]);
    expect(Date.now() - before).to.be.below(1_000);
    for (const key of [token, KEYS.alice]) await b.kernel.as(key).expect(401, 'GET', '/api/agents');
  });

  it('a device that is removed at one loses what it holds open at the other', async () => {
    const { a, b } = two;
    const { pairing_code } = (await a.kernel.http.expect(200, 'POST', '/api/pairing/request')).body;
    const device = (await new TestHttp(a.kernel.url).expect(200, 'POST', '/api/pairing/complete', { pairing_code })).body;
    const { closed } = await liveSocket(b.kernel.url, device.api_key);
    const since = Date.now();
    await a.kernel.http.expect(200, 'DELETE', `/api/pairing/devices/${device.device_id}`);
    expect(await closed).to.equal(4401);
    expect(Date.now() - since).to.be.below(1_000);
  });

  it('M2 of two owners that take each other away at once, at one daemon each, one stays', async () => {
    const { a, b } = two;
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all([a.kernel.as(KEYS.root).send('PATCH', '/api/people/boss', { disabled: true }), b.kernel.as(KEYS.boss).send('PATCH', '/api/people/root', { disabled: true })]);
      expect(
        answers.filter(({ status }) => status === 200),
        JSON.stringify(answers.map(({ body }) => body.code)),
      ).to.have.length(1);
      const [key, gone] = answers[0]?.status === 200 ? [KEYS.root, 'boss'] : [KEYS.boss, 'root'];
      await until(async () => (await a.kernel.as(key).get('/api/people')).status === 200);
      await a.kernel.as(key).expect(200, 'PATCH', `/api/people/${gone}`, { disabled: false });
      await until(async () => (await b.kernel.as(gone === 'root' ? KEYS.root : KEYS.boss).get('/api/people')).status === 200);
    }
  });
});
