/** Browsers that log in with a key: what a login is worth, for how long, and how it ends. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeDaemonOnEngines, stopTestKernels, TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { bootWithKeys, type Browser, clockToPutForward, configWith, KEYS, logIn, PEOPLE, person, settle, tryKey } from './login-kit.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const whoIs = async (browser: Pick<Browser, 'get'>) => (await browser.get('/auth/session')).body;
const NOBODY = { authenticated: false, login_required: true };

describeDaemonOnEngines('a login', () => {
  let kernel: TestKernel;
  afterEach(stopTestKernels);

  it('is given for a key, and opens what the key opens', async () => {
    kernel = await bootWithKeys();
    const browser = await logIn(kernel.url, KEYS.alice);
    expect(browser.answer.body).to.deep.include({ role: 'user', name: 'alice' });
    expect((await browser.post('/api/agents', { manifest_toml: 'name = "of-alice"\n' })).status).to.equal(201);
    const names = (answer: { body: { agents: Array<{ name: string }> } }) => answer.body.agents.map(({ name }) => name);
    expect(names(await browser.get('/api/agents'))).to.deep.equal(names(await kernel.as(KEYS.alice).get('/api/agents')));
    expect(names(await browser.get('/api/agents'))).to.include('of-alice');
    expect((await new TestHttp(kernel.url).get('/api/agents')).status).to.equal(401);
  });

  it('says who is calling, and by what', async () => {
    kernel = await bootWithKeys();
    const browser = await logIn(kernel.url, KEYS.vera);
    const { expires_at, ...who } = await whoIs(browser);
    expect(who).to.deep.equal({ authenticated: true, login_required: false, via: 'cookie', role: 'viewer', name: 'vera' });
    expect(expires_at).to.equal(browser.answer.body.expires_at);
    expect(await whoIs(kernel.as(KEYS.owner))).to.deep.equal({ authenticated: true, login_required: false, via: 'key', role: 'owner', name: 'owner' });
    for (const thirdParty of [kernel.as(''), kernel.as('wrong')]) expect(await whoIs(thirdParty)).to.deep.equal(NOBODY);
  });

  it('lets a viewer see and change nothing', async () => {
    kernel = await bootWithKeys();
    const browser = await logIn(kernel.url, KEYS.vera);
    expect((await browser.get('/api/agents')).status).to.equal(200);
    const refused = await browser.post('/api/agents', { manifest_toml: 'name = "no"\n' });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'auth_role_refused']);
  });

  it('is refused to a wrong key, with nothing in the hand', async () => {
    kernel = await bootWithKeys();
    for (const key of ['wrong', ` ${KEYS.owner}x`, '  ']) {
      const answer = await tryKey(kernel.url, key);
      expect([answer.status, answer.body.code, answer.headers.get('set-cookie'), answer.headers.get('www-authenticate')]).to.deep.equal([401, 'auth_key_invalid', null, 'Bearer']);
    }
  });

  it('opens nothing by an id that was never given, and nothing by what the table holds', async () => {
    kernel = await bootWithKeys();
    const { cookie } = await logIn(kernel.url, KEYS.alice);
    const [name = '', id = ''] = cookie.split('=');
    const rows = await kernel.daemon.parts.storage
      .dbFor({ id: 'auth', tables: ['logins'] })
      .system('a test')
      .select<Record<string, string>>({ from: 'logins' });
    expect(JSON.stringify(rows)).to.not.contain(id);
    const { id_hash = '', binding = '' } = rows[0] ?? {};
    for (const other of [`${'A'.repeat(43)}`, id.slice(1), `${id}A`, id_hash, binding, id_hash.slice(0, 43), '']) {
      const answer = await kernel.as('').get('/api/agents', { cookie: `${name}=${other}` });
      expect([answer.status, answer.headers.get('www-authenticate')], other).to.deep.equal([401, 'Bearer']);
    }
  });

  it('ends by a logout, and another of the same person does not', async () => {
    kernel = await bootWithKeys();
    const [one, other] = [await logIn(kernel.url, KEYS.alice), await logIn(kernel.url, KEYS.alice)];
    const out = await one.post('/auth/logout');
    expect([out.status, out.body]).to.deep.equal([200, { ok: true }]);
    expect(out.headers.get('set-cookie')).to.match(new RegExp(`^${one.cookie.split('=')[0]}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict$`));
    expect((await one.get('/api/agents')).body.code).to.equal('auth_login_over');
    expect(await whoIs(one)).to.deep.equal(NOBODY);
    expect((await one.post('/auth/logout')).body).to.deep.equal({ ok: true });
    expect((await other.get('/api/agents')).status).to.equal(200);
  });

  it('outlives a restart', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-logins-'));
    try {
      const first = await bootWithKeys({ home, config: configWith(PEOPLE) });
      const { cookie } = await logIn(first.url, KEYS.alice);
      const port = new URL(first.url).port;
      await first.stop();
      const second = await bootWithKeys({ home, config: configWith(PEOPLE) });
      // A browser would have found the daemon at its port again.
      const again = cookie.replace(port, new URL(second.url).port);
      expect((await new TestHttp(second.url).get('/api/agents', { cookie: again })).status).to.equal(200);
    } finally {
      await stopTestKernels();
      await rm(home, { recursive: true, force: true });
    }
  });

  it('is over after twelve hours, used or not', async () => {
    const clock = clockToPutForward();
    kernel = await bootWithKeys({ clock });
    const browser = await logIn(kernel.url, KEYS.alice);
    expect(browser.given).to.contain('Max-Age=43200;');
    clock.putForward(11 * HOUR_MS);
    expect((await browser.get('/api/agents')).status).to.equal(200);
    clock.putForward(HOUR_MS + 1);
    expect((await browser.get('/api/agents')).body.code).to.equal('auth_login_over');
    expect(await whoIs(browser)).to.deep.equal(NOBODY);
  });

  it('that is remembered lasts thirty days from when it was last used', async function () {
    // The timers of all areas fire in these days, each with its statements.
    this.timeout(180_000);
    const clock = clockToPutForward();
    kernel = await bootWithKeys({ clock });
    const browser = await logIn(kernel.url, KEYS.alice, { remember: true });
    expect(browser.given).to.contain('Max-Age=2592000;');
    for (let month = 0; month < 3; month++) {
      clock.putForward(29 * DAY_MS);
      expect((await browser.get('/api/agents')).status, `month ${month}`).to.equal(200);
    }
    // The browser is told too, or it would forget the cookie.
    const seen = await browser.get('/auth/session');
    expect(seen.headers.get('set-cookie'))
      .to.contain(`${browser.cookie};`)
      .and.to.match(/Max-Age=259\d{4};/);
    clock.putForward(30 * DAY_MS + HOUR_MS);
    expect((await browser.get('/api/agents')).status).to.equal(401);
  });

  it('is over at once when its key is taken away or changed, whatever other keys its person has', async () => {
    kernel = await bootWithKeys({ config: configWith(PEOPLE + person('alice', 'user', 'another-key-of-alice')) });
    const [browser, other, owner] = [await logIn(kernel.url, KEYS.alice), await logIn(kernel.url, 'another-key-of-alice'), await logIn(kernel.url, KEYS.owner)];
    expect((await browser.get('/api/agents')).status).to.equal(200);
    await settle(kernel, configWith(person('vera', 'viewer') + person('alice', 'user', 'another-key-of-alice')));
    expect((await browser.get('/api/agents')).body.code).to.equal('auth_login_over');
    expect((await other.get('/api/agents')).status).to.equal(200);
    await settle(kernel, configWith(PEOPLE).replace(KEYS.owner, 'root-key-of-tomorrow'));
    expect((await owner.get('/api/agents')).body.code).to.equal('auth_login_over');
  });

  it('has the role that its key has now', async () => {
    kernel = await bootWithKeys();
    const browser = await logIn(kernel.url, KEYS.alice);
    const spawn = () => browser.post('/api/agents', { manifest_toml: `name = "a${Math.random().toString(36).slice(2)}"\n` });
    expect((await spawn()).status).to.equal(201);
    await settle(kernel, configWith(person('alice', 'viewer')));
    expect((await whoIs(browser)).role).to.equal('viewer');
    expect((await spawn()).status).to.equal(403);
  });

  it('is one of twenty at most: the one unseen for the longest goes', async () => {
    const clock = clockToPutForward();
    kernel = await bootWithKeys({ clock });
    const browsers: Browser[] = [];
    for (let n = 0; n < 21; n++) {
      browsers.push(await logIn(kernel.url, KEYS.alice, { remember: true }));
      clock.putForward(1_000);
    }
    const statuses = await Promise.all(browsers.map(async (one) => (await one.get('/api/agents')).status));
    expect(statuses).to.deep.equal([401, ...new Array(20).fill(200)]);
  });

  it('goes for a new one of the same browser', async () => {
    kernel = await bootWithKeys();
    const first = await logIn(kernel.url, KEYS.alice);
    const second = await logIn(kernel.url, KEYS.vera, { headers: { cookie: first.cookie } });
    expect((await new TestHttp(kernel.url).get('/api/agents', { cookie: first.cookie })).status).to.equal(401);
    expect((await whoIs(second)).name).to.equal('vera');
  });

  it('goes with its person', async () => {
    kernel = await bootWithKeys();
    const browser = await logIn(kernel.url, KEYS.alice);
    await kernel.daemon.parts.purges.purge({ ownerId: 'user:alice' });
    expect(
      await kernel.daemon.parts.storage
        .dbFor({ id: 'auth', tables: ['logins'] })
        .system('a test')
        .count('logins'),
    ).to.equal(0);
    await settle(kernel, configWith(person('vera', 'viewer')));
    expect((await browser.get('/api/agents')).status).to.equal(401);
  });

  it('leaves neither key nor cookie in a log or a file of the home', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-logins-'));
    try {
      kernel = await bootWithKeys({ home, config: `api_key_hash = "sha256:${'0'.repeat(64)}"\n[log]\nlevel = "debug"\n${PEOPLE}` });
      const browser = await logIn(kernel.url, KEYS.alice, { remember: true });
      await browser.get('/api/agents');
      await browser.post('/api/agents', { manifest_toml: '= no manifest' });
      await browser.get('/api/agents', { origin: 'https://evil.example' });
      await tryKey(kernel.url, 'wrong-key-canary-77', { cookie: browser.cookie });
      await browser.post('/auth/logout');
      await browser.get('/api/agents');
      await stopTestKernels();
      const id = browser.cookie.split('=')[1] ?? '';
      const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
      expect(files.some((file) => file.includes('log'))).to.equal(true);
      for (const file of files) {
        const text = await readFile(file, 'latin1');
        for (const secret of [id, KEYS.alice, 'wrong-key-canary-77']) expect(text.includes(secret), `${file} holds ${secret}`).to.equal(false);
      }
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('an open daemon', () => {
  afterEach(stopTestKernels);

  it('says that everybody is the owner, and has nothing to log in to', async () => {
    const kernel = await bootWithKeys({ config: '' });
    expect(await whoIs(kernel.as(''))).to.deep.equal({ authenticated: true, login_required: false, via: 'open', role: 'owner', name: 'owner' });
    const refused = await tryKey(kernel.url, 'any');
    expect([refused.status, refused.body.code, refused.headers.get('set-cookie')]).to.deep.equal([409, 'auth_login_not_needed', null]);
  });
});
