/** What a sign-in must refuse: an error, never a session. */
import { bootTestKernel, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { type Forger, startForger, type Forgery } from './forger.js';
import { CLIENT, configFor, createBrowser, KEY } from './provider-kit.js';

const ENV = { SVC_OAUTH_CLIENT_SECRET: CLIENT.secret };
const SECRET = `client_id = "${CLIENT.id}"\n`;

describe('oidc: what is refused', function () {
  this.timeout(60_000);
  let forger: Forger;
  let kernel: TestKernel;
  const clock = virtualClock(systemClock().now());
  before(async () => {
    forger = await startForger();
    const more = `audience = "svc-api"\nroles_claim = "groups"\n[external_auth.role_map]\nops = "admin"\n[[external_auth.providers]]\nid = "strict"\nissuer_url = "${forger.issuer}"\n${SECRET}allowed_domains = ["company.example"]\n[[external_auth.providers]]\nid = "form"\nissuer_url = "${forger.issuer}"\n${SECRET}response_mode = "form_post"\n`;
    kernel = await bootTestKernel({
      config: configFor(forger.issuer, more, `api_key = "${KEY}"\ntrusted_proxies = ["127.0.0.1"]\n`).replace('[api]\n', `[api]\ncors_origins = ["${forger.issuer}"]\n`),
      env: ENV,
      clock,
    });
  });
  beforeEach(() => {
    forger.setDown(false);
    forger.nameItself(undefined);
    forger.answer({});
  });
  after(async () => {
    await stopTestKernels();
    await forger.stop();
  });

  const begin = async (provider = 'default', browser = createBrowser('application/json')) => {
    const hop = await browser.request(`${kernel.url}/api/auth/login/${provider}`);
    expect(hop.status, hop.text).to.equal(302);
    const state = new URL(hop.location ?? '').searchParams.get('state') ?? '';
    const code = forger.codeFor(hop.location ?? '');
    return { browser, state, code, location: hop.location ?? '', back: `${kernel.url}/api/auth/callback?${new URLSearchParams({ code, state })}` };
  };
  const tried = async (forgery: Forgery, provider?: string) => {
    const { back, browser } = await begin(provider);
    forger.answer(forgery);
    const hop = await browser.request(back);
    expect(hop.json?.token, hop.text).to.equal(hop.status === 200 ? hop.json.token : undefined);
    return { hop, browser, back };
  };
  const sessions = async (): Promise<number> =>
    kernel.daemon.parts.storage
      .dbFor({ id: 'oidc', tables: ['sessions'] })
      .system('a test')
      .count('sessions', {});

  it('takes what is right', async () => {
    const { hop } = await tried({});
    expect([hop.status, hop.json.user.sub], hop.text).to.deep.equal([200, 'mallory']);
    expect(forger.asked.find(({ path }) => path === '/token')?.form.get('code_verifier')).to.match(/^[\w-]{43}$/);
  });

  it('A1 uses a state once, however many send it at once', async () => {
    const { back, browser } = await begin();
    const before = forger.asked.filter(({ path }) => path === '/token').length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.request(back)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ json }) => json.code))).to.deep.equal(new Set(['oidc_attempt_over']));
    expect(forger.asked.filter(({ path }) => path === '/token').length - before, 'the code goes to the provider once').to.equal(1);
  });

  it('A1 takes a state in no other browser, and in its own after that', async () => {
    const { back, browser } = await begin();
    const other = createBrowser('application/json');
    expect((await other.request(back)).json.code).to.equal('oidc_other_browser');
    await begin('default', other);
    expect((await other.request(back)).json.code).to.equal('oidc_other_browser');
    expect((await browser.request(back)).status).to.equal(200);
    for (const query of ['', '?code=x', '?state=x', '?code=&state=']) expect((await browser.request(`${kernel.url}/api/auth/callback${query}`)).json.code, query).to.equal('oidc_incomplete');
    expect((await browser.request(`${kernel.url}/api/auth/callback?code=x&state=made-up`)).json.code).to.equal('oidc_attempt_over');
  });

  it('A1 refuses a state after ten minutes', async () => {
    const { back, browser } = await begin();
    await clock.advance(600_001);
    expect((await browser.request(back)).json.code).to.equal('oidc_attempt_over');
  });

  it('N2 refuses tokens that are not signed by the provider, for us, and now', async () => {
    const secs = Math.floor(Date.now() / 1_000);
    const wrong: Record<string, Forgery> = {
      'another nonce': { claims: { nonce: 'another' } },
      'no nonce': { claims: { nonce: undefined } },
      'alg none': { sign: 'none' },
      'HS256 with the secret of the client': { sign: 'HS256' },
      'a key of nobody': { sign: 'unknown-key' },
      'another audience': { claims: { aud: 'another' } },
      'two audiences without us': { claims: { aud: ['a', 'b'] } },
      'another issuer': { claims: { iss: 'https://issuer.example' } },
      expired: { claims: { exp: secs - 61, iat: secs - 400 } },
      'from the future': { claims: { iat: secs + 600, exp: secs + 900 } },
      'not yet valid': { claims: { nbf: secs + 600 } },
      'no subject': { claims: { sub: undefined } },
      'no id token': { hasIdToken: false },
    };
    const before = await sessions();
    for (const [name, forgery] of Object.entries(wrong)) {
      const { hop } = await tried(forgery);
      expect([hop.status, hop.json.code], `${name}: ${hop.text}`).to.deep.equal([400, 'oidc_bad_token']);
    }
    expect(await sessions()).to.equal(before);
  });

  it('takes keys that the provider has changed since', async () => {
    await tried({});
    await forger.rotate();
    expect((await tried({})).hop.status).to.equal(200);
  });

  it('P2 refuses people without a verified address, and of another domain', async () => {
    for (const claims of [{ email_verified: false }, { email_verified: undefined }, { email: undefined }, { email: 7 }]) {
      const { hop } = await tried({ claims });
      expect([hop.status, hop.json.code], JSON.stringify(claims)).to.deep.equal([403, 'oidc_email_unverified']);
    }
    for (const email of ['eve@example.com', 'eve@company.example.evil.com', 'eve@notcompany.example', 'company.example', 'eve@company.example@evil.com'])
      expect((await tried({ claims: { email } }, 'strict')).hop.json.code, email).to.equal('oidc_wrong_domain');
    expect((await tried({ claims: { email: 'eve@Company.Example' } }, 'strict')).hop.status).to.equal(200);
  });

  it('says what the provider refused, and gives nothing of its text to a page', async () => {
    const { browser, state } = await begin();
    const hop = await browser.request(`${kernel.url}/api/auth/callback?${new URLSearchParams({ state, error: 'access_denied', error_description: '<script>alert(1)</script>\u0000no' })}`);
    expect([hop.status, hop.json.code]).to.deep.equal([401, 'oidc_refused']);
    expect(hop.json.error).to.include('access_denied').and.not.to.include('<script>');
    expect((await tried({ error: { status: 400, body: { error: 'invalid_grant' } } })).hop.json.code, 'a code that was used').to.equal('oidc_refused');
    expect((await tried({ error: { status: 401, body: { error: 'invalid_client' } } })).hop.json.code).to.equal('oidc_exchange_failed');
    const page = createBrowser();
    const { back } = await begin('default', page);
    forger.answer({ claims: { nonce: 'another' } });
    const sent = await page.request(back);
    expect([sent.status, sent.location]).to.deep.equal([302, `${kernel.url}/#/?signin=oidc_bad_token`]);
    expect(sent.headers.getSetCookie().join()).to.not.include('svc_session');
  });

  it('says that the provider is down, at the beginning and in between', async () => {
    const { back, browser } = await begin();
    forger.setDown(true);
    const hop = await browser.request(back);
    expect([hop.status, hop.json.code]).to.deep.equal([502, 'oidc_unreachable']);
    forger.setDown(false);
    expect((await tried({ error: { status: 503, body: { error: 'temporarily_unavailable' } } })).hop.json.code).to.equal('oidc_unreachable');
    await clock.advance(3_600_001); // what was discovered is asked for again
    forger.setDown(true);
    expect((await new TestHttp(kernel.url).get('/api/auth/login')).body.code).to.equal('oidc_unreachable');
    forger.setDown(false);
    forger.nameItself('https://issuer.example');
    expect((await new TestHttp(kernel.url).get('/api/auth/login')).body.code, 'discovery that names another issuer').to.equal('oidc_bad_provider');
    forger.nameItself(undefined);
    expect((await tried({})).hop.status).to.equal(200);
  });

  it('sends a browser to the page and nowhere else', async () => {
    for (const query of ['redirect=https://evil.example', 'next=//evil.example', 'return_to=https://evil.example', 'redirect_uri=https://evil.example']) {
      const page = createBrowser();
      const first = await page.request(`${kernel.url}/api/auth/login?${query}`);
      expect(first.location)
        .to.match(new RegExp(`^${forger.issuer}/auth\\?`))
        .and.not.to.include('evil');
      const state = new URL(first.location ?? '').searchParams.get('state') ?? '';
      const back = await page.request(`${kernel.url}/api/auth/callback?${new URLSearchParams({ code: forger.codeFor(first.location ?? ''), state })}&${query}`);
      expect(back.location).to.equal(`${kernel.url}/`);
    }
  });

  it('B1 takes a form of the provider over https alone, with a cookie that goes along', async () => {
    expect((await new TestHttp(kernel.url).expect(409, 'GET', '/api/auth/login/form')).body.code).to.equal('oidc_needs_https');
    const https = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
    const page = createBrowser();
    const first = await page.request(`${kernel.url}/api/auth/login/form`, { headers: https });
    expect(first.headers.getSetCookie()[0]).to.match(/^__Host-svc_oidc_\d+=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=None; Secure$/);
    const url = new URL(first.location ?? '');
    expect([url.searchParams.get('response_mode'), url.searchParams.get('redirect_uri')]).to.deep.equal(['form_post', `${kernel.url.replace('http', 'https')}/api/auth/callback`]);
    const body = new URLSearchParams({ code: forger.codeFor(url.href), state: url.searchParams.get('state') ?? '' }).toString();
    const headers = { ...https, origin: forger.issuer, 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' };
    const back = await page.request(`${kernel.url}/api/auth/callback`, { method: 'POST', body, headers });
    expect([back.status, back.headers.get('location')], back.text).to.deep.equal([303, '/']);
    expect(back.headers.getSetCookie()[0]).to.match(/^__Host-svc_session/);
  });

  it('A3 bounds sign-ins that nobody finishes, and those of one network push out nobody else’s', async () => {
    const early = await begin();
    const db = kernel.daemon.parts.storage.dbFor({ id: 'oidc', tables: ['attempts'] });
    const crowd = { 'x-forwarded-for': '203.0.113.77' };
    const expires_at = new Date(clock.now() + 500_000).toISOString();
    const row = (id: string, network: string) => ({ id, provider: 'default', browser: 'x', redirect_url: 'x', network, created_at: clock.iso(), expires_at });
    await db.commit([
      db.insert(
        'attempts',
        Array.from({ length: 350 }, (_, i) => row(`crowd-${i}`, '203.0.113.77')),
      ),
    ]);
    await new TestHttp(kernel.url).expect(302, 'GET', '/api/auth/login', undefined, crowd);
    expect(await db.system('a test').count('attempts', { network: '203.0.113.77' })).to.be.at.most(200);
    for (let from = 0; from < 10_000; from += 500)
      await db.commit([
        db.insert(
          'attempts',
          Array.from({ length: 500 }, (_, i) => row(`many-${from + i}`, `net-${from + i}`)),
        ),
      ]);
    const refused = await new TestHttp(kernel.url).expect(429, 'GET', '/api/auth/login', undefined, { 'x-forwarded-for': '198.51.100.1' });
    expect(refused.body.code).to.equal('oidc_too_many_attempts');
    expect((await early.browser.request(early.back)).status, 'one that was begun before').to.equal(200);
    await clock.advance(600_000);
    // A look that is late leaves out the next ones.
    await until(async () => {
      await clock.advance(60_000);
      return (await db.system('a test').count('attempts', {})) === 0;
    });
  });

  it('takes a JWT of the provider as a bearer token for the audience of the settings alone', async () => {
    const get = async (token: string) =>
      kernel
        .as(token)
        .get('/auth/session')
        .then(() => kernel.as(token).get('/api/agents'));
    const right = await forger.token({ aud: 'svc-api', sub: 'robot', groups: ['ops'] });
    expect((await get(right)).status).to.equal(200);
    expect((await kernel.as(right).expect(200, 'GET', '/api/auth/userinfo')).body).to.include({ auth_method: 'oidc', sub: 'robot' });
    await kernel.as(right).expect(200, 'POST', '/api/config/reload');
    const secs = Math.floor(Date.now() / 1_000);
    const wrong = [
      await forger.token({ aud: CLIENT.id, sub: 'robot' }),
      await forger.token({ aud: 'svc-api', sub: 'robot', exp: secs - 100 }),
      await forger.token({ aud: 'svc-api', sub: 'robot', iss: 'https://issuer.example' }),
      await forger.token({ aud: 'svc-api', sub: 'robot' }, 'none'),
      await forger.token({ aud: 'svc-api', sub: 'robot' }, 'HS256'),
      await forger.token({ aud: 'svc-api', sub: 'robot' }, 'unknown-key'),
      `${right.slice(0, -6)}AAAAAA`,
      'a.b.c',
    ];
    for (const [index, token] of wrong.entries()) expect((await get(token)).status, String(index)).to.equal(401);
    expect((await get(await forger.token({ aud: 'svc-api', sub: 'robot', email_verified: false }))).status).to.equal(403);
    const check = async (token: string) => (await kernel.as(KEY).expect(200, 'POST', '/api/auth/introspect', { token })).body;
    expect(await check(right)).to.deep.include({ active: true, sub: 'robot', iss: forger.issuer, roles: ['ops'] });
    expect((await check(wrong[1] ?? '')).active).to.equal(false);
    forger.answer({ userInfo: { sub: 'mallory', name: 'M' } });
    expect(await check('an-opaque-one')).to.include({ active: true, sub: 'mallory' });
    await kernel.as(KEY).expect(404, 'POST', '/api/auth/introspect', { token: 'x', provider: 'other' });
  });

  it('T2 T3 ends a sign-in that the provider refuses to renew, and none because it is down; a role that was lowered holds at once', async () => {
    const { hop } = await tried({ claims: { sub: 'renewed', groups: ['ops'] }, userInfo: { sub: 'renewed' }, refreshToken: 'refresh-1' });
    const person = kernel.as(hop.json.token);
    const role = async () => (await person.expect(200, 'GET', '/auth/session')).body.role;
    expect(await role()).to.equal('admin');
    forger.setDown(true);
    await clock.advance(920_000);
    expect(await role()).to.equal('admin');
    forger.setDown(false);
    forger.answer({ claims: { sub: 'renewed', groups: [] }, userInfo: { sub: 'renewed' }, refreshToken: 'refresh-2' });
    await clock.advance(920_000);
    await until(async () => (await role()) === 'user');
    expect(forger.asked.find(({ form }) => form.get('grant_type') === 'refresh_token')?.form.get('refresh_token')).to.equal('refresh-1');
    forger.answer({ error: { status: 400, body: { error: 'invalid_grant' } } });
    await clock.advance(920_000);
    await until(async () => (await person.get('/api/agents')).status === 401);
  });
});

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it never held');
};
