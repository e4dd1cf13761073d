/** A login by a code, and what its token opens, against a server with GitHub's wire. */
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCESS_TOKEN, DEVICE_CODE, type DeviceLoginServer, startDeviceLoginServer, USER_CODE } from '@svc/fixtures/providers/device-login-server';
import { systemClock, type TimerClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEYS = { owner: 'codeassist-owner-key', admin: 'codeassist-admin-key', user: 'codeassist-user-key' };
const person = (name: 'admin' | 'user'): string => `[[users]]\nname = "${name}"\nrole = "${name}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const START = '/api/providers/codeassist/oauth/start';
const POLL = '/api/providers/codeassist/oauth/poll';

/** The clock of the machine, and whatever passes besides. */
let passedMs = 0;
const clock: TimerClock = { ...systemClock(), now: () => Date.now() + passedMs, iso: () => new Date(Date.now() + passedMs).toISOString() };
const pass = (secs: number): void => {
  passedMs += secs * 1_000;
};

describe('codeassist', function () {
  this.timeout(60_000);
  let server: DeviceLoginServer;
  let kernel: TestKernel;
  let owner: TestHttp;
  let admin: TestHttp;
  before(async () => {
    server = await startDeviceLoginServer();
    const config = `api_key = "${KEYS.owner}"\n${OPEN_RATE}[codeassist]\nclient_id = "${server.clientId}"\nlogin_url = "${server.url}"\napi_url = "${server.url}/"\n[provider_urls]\ngithub-copilot = "${server.url}"\n${person('admin')}${person('user')}`;
    kernel = await bootTestKernel({ config, clock });
    [owner, admin] = [kernel.as(KEYS.owner), kernel.as(KEYS.admin)];
  });
  beforeEach(() => {
    server.decide('none');
    server.timing(5, 900);
    server.sessions({});
    server.enable(true);
  });
  afterEach(() => owner.expect(200, 'DELETE', '/api/providers/github-copilot/key'));
  after(async () => {
    await stopTestKernels();
    await server.close();
  });

  const start = async (http = owner) => (await http.expect(200, 'POST', START)).body;
  const poll = async (id: string, http = owner) => (await http.expect(200, 'GET', `${POLL}/${id}`)).body;
  const questions = (): number => server.asked.filter(({ path }) => path === '/login/oauth/access_token').length;
  const opened = (): number => server.asked.filter(({ path }) => path === '/copilot_internal/v2/token').length;
  const logIn = async (): Promise<void> => {
    server.decide('agreed');
    const { poll_id } = await start();
    pass(5);
    expect(await poll(poll_id)).to.deep.equal({ status: 'authorized', error: null });
  };

  it('answers a code, waits for a person, and stores the token as the key of the provider', async () => {
    const started = await start();
    expect(started).to.deep.include({ device_code: DEVICE_CODE, user_code: USER_CODE, verification_uri: 'https://github.com/login/device', expires_in: 900, interval: 5 });
    pass(5);
    expect(await poll(started.poll_id)).to.deep.equal({ status: 'pending', interval: 5, error: null });
    server.decide('agreed');
    pass(5);
    expect(await poll(started.poll_id)).to.deep.equal({ status: 'authorized', error: null });
    expect(await poll(started.poll_id), 'again').to.deep.equal({ status: 'authorized', error: null });
    const { body } = await owner.expect(200, 'GET', '/api/providers/github-copilot');
    expect(body).to.include({ auth_status: 'configured', key_present: true, available: true });
    const asked = server.asked.find(({ path }) => path === '/login/device/code');
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).to.deep.equal({ client_id: server.clientId, scope: 'read:user' });
  });

  it('D1 the provider is asked once an interval, however often and by however many a login is polled', async () => {
    const { poll_id } = await start();
    const before = questions();
    await Promise.all(Array.from({ length: 10 }, () => poll(poll_id)));
    expect(questions() - before, 'before the first interval is over').to.equal(0);
    pass(5);
    await Promise.all(Array.from({ length: 10 }, () => poll(poll_id)));
    for (let more = 0; more < 5; more++) await poll(poll_id);
    expect(questions() - before).to.equal(1);
    pass(5);
    await poll(poll_id);
    expect(questions() - before).to.equal(2);
  });

  it('D2 slow_down makes the interval five seconds longer', async () => {
    server.decide('slow_down');
    const { poll_id } = await start();
    pass(5);
    expect(await poll(poll_id)).to.include({ status: 'pending', interval: 10 });
    const before = questions();
    pass(9);
    await poll(poll_id);
    expect(questions()).to.equal(before);
    server.decide('none');
    pass(1);
    expect(await poll(poll_id)).to.include({ status: 'pending', interval: 10 });
    expect(questions()).to.equal(before + 1);
  });

  it('D3 a login of somebody else and one that nobody began are not found, also by the owner', async () => {
    const { poll_id } = await start(admin);
    for (const id of [poll_id, 'nonsense', '..%2F..', '%00', 'a'.repeat(64)]) {
      const { body, status } = await owner.send('GET', `${POLL}/${id}`, undefined);
      expect(status, `${id} ${JSON.stringify(body)}`).to.be.oneOf([400, 404]);
    }
    expect((await owner.expect(404, 'GET', `${POLL}/${poll_id}`)).body.code).to.equal('codeassist_not_found');
    expect(await poll(poll_id, admin)).to.include({ status: 'pending' });
    await kernel.as(KEYS.user).expect(403, 'POST', START);
  });

  it('a refusal, a code that expired there, and one that expired here end the login, and say why', async () => {
    for (const [decision, error] of [
      ['denied', 'access_denied'],
      ['expired', 'expired_token'],
    ] as const) {
      server.decide(decision);
      const { poll_id } = await start();
      pass(5);
      expect(await poll(poll_id)).to.deep.equal({ status: 'expired', error });
      const before = questions();
      pass(5);
      expect(await poll(poll_id), 'again').to.deep.equal({ status: 'expired', error });
      expect(questions()).to.equal(before);
    }
    server.timing(5, 30);
    server.decide('agreed');
    const { poll_id } = await start();
    pass(31);
    expect(await poll(poll_id)).to.deep.equal({ status: 'expired', error: 'expired_token' });
    expect((await owner.expect(200, 'GET', '/api/providers/github-copilot')).body.key_present).to.equal(false);
  });

  it('a provider that is down for a while ends no login; a wrong app is said', async () => {
    const { poll_id } = await start();
    server.decide('garbage');
    pass(5);
    expect((await owner.expect(502, 'GET', `${POLL}/${poll_id}`)).body.code).to.equal('codeassist_unreachable');
    server.decide('agreed');
    pass(5);
    expect(await poll(poll_id)).to.include({ status: 'authorized' });
    server.enable(false);
    const { body } = await owner.expect(502, 'POST', START);
    expect(body.code).to.equal('codeassist_refused');
    expect(body.error).to.contain('device_flow_disabled');
  });

  it('D4 neither the device code nor the token stands in a file, and the vault forgets the code', async () => {
    const names = async (): Promise<string> => JSON.stringify((await owner.expect(200, 'GET', '/api/vault')).body);
    const { poll_id } = await start();
    expect(await names()).to.contain(`codeassist.login.${poll_id}`);
    await logIn();
    server.decide('denied');
    pass(5);
    await poll(poll_id);
    expect(await names())
      .to.contain('provider.github-copilot')
      .and.not.contain(`codeassist.login.${poll_id}`);
    const files = (await readdir(kernel.home, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
    expect(files.length).to.be.greaterThan(3);
    for (const { name, parentPath } of files) {
      const text = await readFile(join(parentPath, name), 'latin1');
      for (const secret of [DEVICE_CODE, ACCESS_TOKEN]) expect(text.includes(secret), name).to.equal(false);
    }
  });

  it('of many unfinished logins, the oldest is forgotten', async () => {
    const first = await start();
    for (let more = 0; more < 5; more++) {
      pass(1);
      await start();
    }
    await owner.expect(404, 'GET', `${POLL}/${first.poll_id}`);
  });

  const spawn = async (): Promise<string> =>
    (await owner.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "planner-${Math.random().toString(36).slice(2)}"\n[model]\nprovider = "github-copilot"\nmodel = "gpt-4.1"\n` })).body
      .agent_id;
  const say = (agent: string) => owner.send('POST', `/api/agents/${agent}/message`, { message: 'Hello' });

  it('E1 calls of models carry a session, opened once and again five minutes before it ends', async () => {
    await logIn();
    // The server's clock is the machine's.
    passedMs = 0;
    const agent = await spawn();
    const before = opened();
    const { body } = await say(agent);
    expect(body.response, JSON.stringify(body)).to.equal('Hello from the plan.');
    await say(agent);
    expect(opened() - before).to.equal(1);
    expect(server.asked.findLast(({ path }) => path === '/chat/completions')?.headers).to.include({ authorization: 'Bearer tid=session-1;exp=1;sku=free', 'copilot-integration-id': 'vscode-chat' });
    pass(1_490);
    await say(agent);
    expect(opened() - before, 'six minutes are left').to.equal(1);
    pass(20);
    expect((await say(agent)).body.response).to.equal('Hello from the plan.');
    expect(opened() - before, 'less than five are left').to.equal(2);
    passedMs = 0;
  });

  it('E2 a session is forgotten with the key, and a token without Copilot is said', async () => {
    await logIn();
    const agent = await spawn();
    await say(agent);
    const before = opened();
    await logIn();
    expect((await say(agent)).body.response).to.equal('Hello from the plan.');
    expect(opened() - before).to.equal(1);
    await logIn();
    server.sessions({ status: 403 });
    const refused = await say(agent);
    expect(refused.status).to.be.greaterThan(399);
    expect(JSON.stringify(refused.body)).to.contain('opened no session for models (403)').and.not.contain(ACCESS_TOKEN);
  });
});

describe('codeassist without an app', function () {
  this.timeout(60_000);
  after(stopTestKernels);
  it('says what to set, and asks nobody', async () => {
    const { http } = await bootTestKernel({ config: OPEN_RATE });
    const { body } = await http.expect(409, 'POST', START);
    expect(body.code).to.equal('codeassist_no_client_id');
    expect(body.hint).to.contain('client_id under [codeassist]');
  });
});
