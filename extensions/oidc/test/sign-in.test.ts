/** Signing in at a real provider (oidc-provider), over HTTP. */
import { bootTestKernel, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { CLIENT, type Company, configFor, createBrowser, KEY, startCompany, walk } from './provider-kit.js';

const ENV = { SVC_OAUTH_CLIENT_SECRET: CLIENT.secret };
const MORE = 'roles_claim = "groups"\n[external_auth.role_map]\nboss = "owner"\nstaff = "user"\nops = "admin"\nguest = "viewer"\n';

describe('oidc: signing in', function () {
  this.timeout(60_000);
  let company: Company;
  let kernel: TestKernel;
  before(async () => {
    company = await startCompany();
    kernel = await bootTestKernel({ config: configFor(company.issuer, MORE), env: ENV });
    company.register(kernel.url);
  });
  after(async () => {
    await stopTestKernels();
    await company.stop();
  });

  const program = () => createBrowser('application/json');
  const signIn = async (login: string, browser = program()) => {
    const { callback } = await walk(browser, `${kernel.url}/api/auth/login`, login);
    return { browser, hop: await browser.request(callback), callback };
  };

  it('lists providers for everybody', async () => {
    const { body } = await new TestHttp(kernel.url).expect(200, 'GET', '/api/auth/providers');
    expect(body).to.deep.equal({ enabled: true, providers: [{ id: 'default', display_name: 'SSO', login_url: '/api/auth/login/default' }] });
  });

  it('T1 gives a program a token of svc, with the role of the groups, which logout ends', async () => {
    company.people.set('ada', { email: 'ada@example.com', name: 'Ada', groups: ['staff'] });
    const { hop } = await signIn('ada');
    expect(hop.status, hop.text).to.equal(200);
    expect(hop.json).to.deep.include({ token_type: 'Bearer', expires_in: 86_400, provider: 'default', user: { sub: 'ada', name: 'Ada', email: 'ada@example.com' } });
    const ada = kernel.as(hop.json.token);
    expect((await ada.expect(200, 'GET', '/auth/session')).body).to.include({ role: 'user', name: 'Ada', via: 'key' });
    expect((await ada.expect(200, 'GET', '/api/auth/userinfo')).body).to.deep.equal({
      ...{ auth_method: 'oidc', issuer: company.issuer, provider: 'default', sub: 'ada', name: 'Ada', email: 'ada@example.com', roles: ['staff'], email_verified: true },
    });
    const checked = (await ada.expect(200, 'POST', '/api/auth/introspect', { token: hop.json.token })).body;
    expect(checked).to.include({ active: true, provider: 'default', sub: 'ada', iss: company.issuer });
    await ada.expect(403, 'POST', '/api/config/reload');
    const out = (await ada.expect(200, 'POST', '/auth/logout')).body;
    expect(out.logout_url).to.match(new RegExp(`^${company.issuer}/session/end\\?`));
    await ada.expect(401, 'GET', '/api/agents');
    expect((await kernel.as(KEY).expect(200, 'POST', '/api/auth/introspect', { token: hop.json.token })).body.active).to.equal(false);
  });

  it('gives a browser the cookie of a login, and signs out at the provider too', async () => {
    company.people.set('bea', { email: 'bea@example.com', groups: ['guest'] });
    const browser = createBrowser();
    const { callback, asked } = await walk(browser, `${kernel.url}/api/auth/login/default`, 'bea');
    expect(asked).to.equal(true);
    const back = await browser.request(callback);
    expect([back.status, back.location]).to.deep.equal([302, `${kernel.url}/`]);
    const given = back.headers.getSetCookie().find((line) => line.startsWith('svc_session')) ?? '';
    expect(given).to.match(/Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/);
    expect((await browser.request(`${kernel.url}/auth/session`)).json).to.include({ authenticated: true, via: 'cookie', role: 'viewer', name: 'bea' });
    const again = await walk(browser, `${kernel.url}/api/auth/login`, 'bea');
    expect(again.asked, 'the provider still knows the browser').to.equal(false);
    const own = { origin: kernel.url, 'sec-fetch-site': 'same-origin' };
    const out = await browser.request(`${kernel.url}/auth/logout`, { method: 'POST', headers: own });
    expect(out.json.ok).to.equal(true);
    const end = await browser.request(out.json.logout_url);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(end.text)?.[1] ?? '';
    const ended = await browser.form(`${company.issuer}/session/end/confirm`, { xsrf, logout: 'yes' });
    expect(ended.location).to.equal(`${kernel.url}/`);
    expect((await browser.request(`${kernel.url}/auth/session`)).json.authenticated).to.equal(false);
    expect((await walk(browser, `${kernel.url}/api/auth/login`, 'bea')).asked, 'signing in asks again').to.equal(true);
  });

  it('P3 takes roles from groups at each sign-in, and makes nobody an owner whom no line names', async () => {
    company.people.set('cleo', { email: 'cleo@example.com', groups: ['ops', 'guest', 'constructor'] });
    const roleOf = async () => (await kernel.as((await signIn('cleo')).hop.json.token).expect(200, 'GET', '/auth/session')).body.role;
    expect(await roleOf()).to.equal('admin');
    company.people.set('cleo', { email: 'cleo@example.com', groups: ['owner'] });
    expect(await roleOf()).to.equal('user');
    company.people.set('cleo', { email: 'cleo@example.com', groups: ['boss'] });
    expect(await roleOf()).to.equal('owner');
  });

  it('keeps the rows of people apart', async () => {
    company.people.set('dan', { email: 'dan@example.com' });
    company.people.set('eve', { email: 'eve@example.com' });
    const [dan, eve] = await Promise.all(['dan', 'eve'].map(async (one) => kernel.as((await signIn(one)).hop.json.token)));
    const { agent_id } = (await dan!.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "of-dan"\n' })).body;
    await eve!.expect(404, 'GET', `/api/agents/${agent_id}`);
    await kernel.as((await signIn('dan')).hop.json.token).expect(200, 'GET', `/api/agents/${agent_id}`);
  });

  it('answers callers with a key as the interface says', async () => {
    expect((await kernel.as(KEY).expect(200, 'GET', '/api/auth/userinfo')).body).to.deep.equal({ auth_method: 'api_key', issuer: '' });
    await new TestHttp(kernel.url).expect(401, 'GET', '/api/auth/userinfo');
    expect((await new TestHttp(kernel.url).expect(404, 'GET', '/api/auth/login/other')).body.code).to.equal('oidc_no_provider');
  });
});

describe('oidc: without a key', function () {
  this.timeout(60_000);
  afterEach(() => stopTestKernels());

  it('U6 a provider in the settings closes the daemon, also while sign-in is off', async () => {
    const kernel = await bootTestKernel({ config: configFor('http://127.0.0.1:9', '', '').replace('enabled = true', 'enabled = false'), env: ENV });
    await new TestHttp(kernel.url).expect(401, 'GET', '/api/agents');
    expect((await new TestHttp(kernel.url).expect(503, 'GET', '/api/auth/login')).body.code).to.equal('oidc_off');
    expect((await new TestHttp(kernel.url).expect(200, 'GET', '/api/auth/providers')).body).to.deep.equal({ enabled: false, providers: [] });
  });
});
