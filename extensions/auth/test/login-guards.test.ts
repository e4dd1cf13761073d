/** Who may not use a login: pages from elsewhere, guessers of keys, and whoever is still connected when it ends. */
import { virtualClock } from '@svc/platform/clock/clock';
import { stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createAttempts } from '../src/logins/attempts.js';
import { cookieName, sentLogin } from '../src/logins/cookie.js';
import { bootWithKeys, clockToPutForward, configWith, KEYS, logIn, ownPage, PEOPLE, person, settle, tryKey } from './login-kit.js';

const EVIL = 'https://evil.example';

/** 101, or the status and code of the refusal. */
const upgrade = (url: string, path: string, headers: Record<string, string>): Promise<readonly [number, string?]> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws') + path, { headers });
    socket.on('open', () => {
      socket.close();
      resolve([101]);
    });
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve([response.statusCode ?? 0, (JSON.parse(text) as { code: string }).code]));
    });
    socket.on('error', reject);
  });

describe('the cookie of a login', () => {
  afterEach(stopTestKernels);

  it('K1 is for this host alone, and no script and no other site gets it', async () => {
    const { url } = await bootWithKeys();
    const { given } = await logIn(url, KEYS.alice);
    expect(given).to.match(new RegExp(`^svc_session_${new URL(url).port}=[\\w-]{43}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$`));
  });

  it('K2 goes over https alone where the client spoke https, by the word of a trusted proxy', async () => {
    const trusting = await bootWithKeys({ config: configWith(PEOPLE, 'trusted_proxies = ["127.0.0.1"]\n') });
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9', origin: trusting.url.replace('http:', 'https:') };
    const browser = await logIn(trusting.url, KEYS.alice, { headers: proxied });
    expect(browser.given).to.match(/^__Host-svc_session_\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/);
    expect((await browser.get('/api/agents')).status).to.equal(200);
    // The same id under the name that anybody on the network could have set.
    const planted = browser.cookie.replace('__Host-', '');
    expect((await new TestHttp(trusting.url).get('/api/agents', { ...proxied, cookie: planted })).status).to.equal(401);
    const doubting = await bootWithKeys();
    expect((await logIn(doubting.url, KEYS.alice, { headers: { 'x-forwarded-proto': 'https' } })).given).to.match(/^svc_session_\d+=[^;]+; .*SameSite=Strict$/);
  });

  it('K3 has the port in its name that the browser knows', () => {
    const names = ['localhost:4545', 'localhost:4546', '[::1]:4545', 'svc.example.org'].map((host) => cookieName({ headers: { host }, isSecure: false }));
    expect(names).to.deep.equal(['svc_session_4545', 'svc_session_4546', 'svc_session_4545', 'svc_session']);
  });

  it('K3 of two daemons of one host stand side by side', async () => {
    const [one, other] = [await bootWithKeys(), await bootWithKeys()];
    const cookie = [await logIn(one.url, KEYS.alice), await logIn(other.url, KEYS.vera)].map((browser) => browser.cookie).join('; ');
    const names = await Promise.all([one, other].map(async ({ url }) => (await new TestHttp(url).get('/auth/session', { cookie })).body.name));
    expect(names).to.deep.equal(['alice', 'vera']);
  });

  it('K4 is not looked at beside a key, good or bad', async () => {
    const { url } = await bootWithKeys();
    const browser = await logIn(url, KEYS.owner);
    expect((await browser.get('/auth/session', { authorization: `Bearer ${KEYS.alice}` })).body).to.include({ via: 'key', name: 'alice' });
    for (const headers of [{ authorization: 'Bearer wrong' }, { authorization: 'Basic b3duZXI6' }, { 'x-api-key': 'wrong' }]) expect((await browser.get('/api/agents', headers)).status).to.equal(401);
  });

  it('is found among others, and only in its own form', () => {
    const id = 'x'.repeat(43);
    const sent = (cookie: string) => sentLogin({ headers: { host: 'localhost:1', cookie }, isSecure: false });
    expect(sent(`a=1; svc_session_1=${id};b=2`)).to.equal(id);
    for (const cookie of ['', `svc_session_2=${id}`, `xsvc_session_1=${id}`, `svc_session_1=${id}x`, `svc_session_1="${id}"`, 'svc_session_1=']) expect(sent(cookie), cookie).to.equal(undefined);
  });
});

describe('a page from elsewhere, in a browser that is logged in', () => {
  let kernel: TestKernel;
  let socketPath: string;
  const boot = async (cors: string): Promise<void> => {
    kernel = await bootWithKeys({ config: configWith(PEOPLE).replace('[api]', `[api]\ncors_origins = ${cors}`) });
    const { body } = await kernel.as(KEYS.owner).get('/api/agents');
    socketPath = `/api/agents/${body.agents[0].id}/ws`;
  };
  afterEach(stopTestKernels);

  /** As a browser that says what it says: headers of the page alone. */
  const post = (cookie: string, headers: Record<string, string>) => new TestHttp(kernel.url).post('/api/agents', { manifest_toml: 'name = "made-by-a-page"\n' }, { cookie, ...headers });

  it('C1 changes nothing and opens no socket; nor does what does not say where it comes from', async () => {
    await boot('["*"]');
    const { cookie } = await logIn(kernel.url, KEYS.owner);
    const otherPort = 'http://127.0.0.1:1';
    for (const page of [
      {},
      { origin: EVIL },
      { origin: 'null' },
      { origin: otherPort },
      { origin: otherPort, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      const what = JSON.stringify(page);
      const answer = await post(cookie, page);
      expect([answer.status, answer.body.code], what).to.deep.equal([403, 'auth_foreign_page']);
      expect(await upgrade(kernel.url, socketPath, { cookie, ...page }), what).to.deep.equal([403, 'auth_foreign_page']);
    }
    const { body } = await kernel.as(KEYS.owner).get('/api/agents');
    expect(body.agents.map(({ name }: { name: string }) => name)).to.not.include('made-by-a-page');
  });

  it('C1 differs from a page of the daemon, and from one that cors_origins names', async () => {
    await boot('["https://desk.example"]');
    const { cookie } = await logIn(kernel.url, KEYS.owner);
    const { origin = '' } = ownPage(kernel.url);
    for (const [n, page] of [{ origin }, { 'sec-fetch-site': 'same-origin' }, { origin: 'https://desk.example', 'sec-fetch-site': 'cross-site' }].entries()) {
      const answer = await new TestHttp(kernel.url).post('/api/agents', { manifest_toml: `name = "made-${n}"\n` }, { cookie, ...page });
      expect(answer.status, answer.text).to.equal(201);
      expect(await upgrade(kernel.url, socketPath, { cookie, ...page }), JSON.stringify(page)).to.deep.equal([101]);
    }
    expect((await post(cookie, { origin: 'https://desk.example.evil.example' })).body.code).to.equal('forbidden_origin');
  });

  it('logs nobody out, and nobody in', async () => {
    await boot('["*"]');
    const browser = await logIn(kernel.url, KEYS.owner);
    const out = await new TestHttp(kernel.url).post('/auth/logout', undefined, { cookie: browser.cookie, origin: EVIL });
    expect([out.status, out.body.code, out.headers.get('set-cookie')]).to.deep.equal([403, 'auth_foreign_page', null]);
    expect((await browser.get('/api/agents')).status).to.equal(200);
    const into = await new TestHttp(kernel.url).post('/auth/session', { key: KEYS.vera }, { origin: EVIL });
    expect([into.status, into.body.code, into.headers.get('set-cookie')]).to.deep.equal([403, 'auth_foreign_page', null]);
  });

  it('does not concern a program that sends a key', async () => {
    await boot('[]');
    const answer = await new TestHttp(kernel.url).post('/api/agents', { manifest_toml: 'name = "by-a-program"\n' }, { authorization: `Bearer ${KEYS.owner}`, cookie: 'some=other' });
    expect(answer.status).to.equal(201);
    expect(await upgrade(kernel.url, socketPath, { authorization: `Bearer ${KEYS.owner}` })).to.deep.equal([101]);
  });
});

describe('what a login holds open', () => {
  let kernel: TestKernel;
  afterEach(stopTestKernels);

  const open = async (key: string, path: (agentId: string) => string) => {
    const browser = await logIn(kernel.url, key);
    const { body } = await browser.get('/api/agents');
    const socket = new WebSocket(kernel.url.replace(/^http/, 'ws') + path(body.agents[0].id), { headers: { cookie: browser.cookie, ...ownPage(kernel.url) } });
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await new Promise((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
    });
    return { browser, socket, closed };
  };
  const chat = (agentId: string): string => `/api/agents/${agentId}/ws`;

  it('L3 ends with its logout, and what another login of the same person holds open does not', async () => {
    kernel = await bootWithKeys();
    const [one, other] = [await open(KEYS.owner, chat), await open(KEYS.owner, chat)];
    const stream = await one.browser.get('/api/health').then(() => new TestHttp(kernel.url).raw('GET', '/api/logs/stream', undefined, { cookie: one.browser.cookie }));
    expect(stream.status).to.equal(200);
    const ended = stream.text().catch(() => 'hung up');
    await one.browser.post('/auth/logout');
    expect(await one.closed).to.equal(4401);
    await ended;
    expect((await other.browser.get('/api/agents')).status).to.equal(200);
    expect(other.socket.readyState).to.equal(WebSocket.OPEN);
    other.socket.close();
  });

  it('L2 ends with its key', async () => {
    kernel = await bootWithKeys();
    await kernel.as(KEYS.alice).expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "of-alice"\n' });
    const { closed } = await open(KEYS.alice, chat);
    await settle(kernel, configWith(person('vera', 'viewer')));
    expect(await closed).to.equal(4401);
  });
});

describe('wrong keys at the login', () => {
  afterEach(stopTestKernels);

  it('B1 are ten from one address, and more are answered as too many for a quarter of an hour', async () => {
    const clock = clockToPutForward();
    const { url } = await bootWithKeys({ clock, config: configWith(PEOPLE, 'trusted_proxies = ["127.0.0.1"]\n') });
    const from = (ip: string, key: string) => tryKey(url, key, { 'x-forwarded-for': ip });
    // All at once, as a guesser would.
    const guesses = await Promise.all(Array.from({ length: 15 }, (_, n) => from('2001:db8::1', `guess-${n}`)));
    expect(guesses.map(({ status }) => status).sort()).to.deep.equal([...new Array(10).fill(401), ...new Array(5).fill(429)]);
    const refused = await from('2001:db8::2', 'guess');
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'auth_too_many_attempts']);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(800, 900);
    expect((await from('2001:db8:0:1::1', 'guess')).status).to.equal(401);
    clock.putForward(15 * 60_000);
    expect((await from('2001:db8::2', 'guess')).status).to.equal(401);
  });

  it('B2 lock nobody out, behind a proxy or not: a right key works at once, as a login and as a bearer', async () => {
    const kernel = await bootWithKeys({ config: configWith(PEOPLE) });
    for (let n = 0; n < 12; n++) await tryKey(kernel.url, `guess-${n}`);
    expect((await tryKey(kernel.url, 'guess')).status).to.equal(429);
    expect((await tryKey(kernel.url, KEYS.alice)).status).to.equal(200);
    await kernel.as(KEYS.alice).expect(200, 'GET', '/api/agents');
    // Nothing is taken back by it.
    expect((await tryKey(kernel.url, 'guess')).status).to.equal(429);
  });

  it('B1 and B3 count on every other route as well, where they stay 401, and the operator is told once', async () => {
    const kernel = await bootWithKeys({ config: configWith(PEOPLE) });
    for (let n = 0; n < 25; n++) await kernel.as(`guess-${n}`).expect(401, 'GET', '/api/agents');
    expect((await tryKey(kernel.url, 'guess')).status).to.equal(429);
    const reported = kernel.daemon.kernel.log.recent(2_000).filter(({ message }) => message === 'many wrong API keys come from one address');
    expect(reported.length).to.equal(1);
  });

  it('of very many addresses are not all remembered: the oldest are forgotten', () => {
    const attempts = createAttempts(virtualClock(0));
    const fail = (network: string, times: number) => {
      for (let n = 0; n < times; n++) attempts.failed(network);
    };
    fail('first', 10);
    for (let n = 0; n < 10_000; n++) fail(`n${n}`, 1);
    expect(attempts.waitMs('first')).to.equal(0);
    fail('last', 10);
    expect(attempts.waitMs('last')).to.be.above(0);
  });
});

describe('a login from another machine', () => {
  afterEach(stopTestKernels);

  it('is told to doctor where it came without https', async () => {
    const kernel = await bootWithKeys({ config: configWith(PEOPLE, 'trusted_proxies = ["127.0.0.1"]\n') });
    const finding = async () => {
      const { body } = await kernel.as(KEYS.owner).expect(200, 'GET', '/api/health/detail');
      return JSON.stringify(body).includes('without https: the key');
    };
    await tryKey(kernel.url, KEYS.alice);
    await tryKey(kernel.url, KEYS.alice, { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' });
    expect(await finding()).to.equal(false);
    await tryKey(kernel.url, KEYS.alice, { 'x-forwarded-for': '203.0.113.9' });
    expect(await finding()).to.equal(true);
  });
});
