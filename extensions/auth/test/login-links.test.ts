/** Links of a program that has the key: they log one browser in, once, for a short time. */
import { bootTestKernel, stopTestKernels, TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootWithKeys, clockToPutForward, configWith, KEYS, logIn, ownPage, PEOPLE, settle } from './login-kit.js';

describe('a link that logs in', () => {
  afterEach(stopTestKernels);

  it('serves once, as whoever made it, for two minutes and for as long as the key holds', async () => {
    const clock = clockToPutForward();
    const kernel = await bootWithKeys({ clock });
    const page = new TestHttp(kernel.url);
    const linkOf = async (key: string): Promise<string> => (await kernel.as(key).expect(200, 'POST', '/auth/links', {})).body.code;
    const follow = (code: string) => page.post('/auth/session', { code, remember: true }, ownPage(kernel.url));

    const code = await linkOf(KEYS.alice);
    const first = await follow(code);
    expect([first.status, first.body.name, first.body.role]).to.deep.equal([200, 'alice', 'user']);
    const [cookie = ''] = (first.headers.get('set-cookie') ?? '').split(';');
    expect((await page.get('/api/agents', { cookie })).status).to.equal(200);
    const again = await follow(code);
    expect([again.status, again.body.code, again.headers.get('set-cookie')]).to.deep.equal([401, 'auth_link_over', null]);

    const late = await linkOf(KEYS.owner);
    clock.putForward(121_000);
    expect((await follow(late)).body.code).to.equal('auth_link_over');

    const ofOldKey = await linkOf(KEYS.owner);
    await settle(kernel, configWith(PEOPLE).replace(KEYS.owner, 'another-key'));
    expect((await follow(ofOldKey)).body.code).to.equal('auth_link_over');
  });

  it('is made by a key alone: a login, a wrong key and a page from elsewhere get none', async () => {
    const kernel = await bootWithKeys();
    const browser = await logIn(kernel.url, KEYS.owner);
    expect((await browser.post('/auth/links', {})).body.code).to.equal('auth_key_missing');
    expect((await kernel.as('wrong').post('/auth/links', {})).body.code).to.equal('auth_key_invalid');
    const { code } = (await kernel.as(KEYS.owner).expect(200, 'POST', '/auth/links', {})).body;
    const foreign = await new TestHttp(kernel.url).post('/auth/session', { code }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.body.code).to.equal('auth_foreign_page');
  });

  it('is not needed where there is no key', async () => {
    const kernel = await bootTestKernel();
    expect((await kernel.http.post('/auth/links', {})).body.code).to.equal('auth_login_not_needed');
  });
});

describe('a daemon that makes a key while it runs', () => {
  afterEach(stopTestKernels);

  it('keeps the streams of before, gives pages a login in advance, and other programs none', async () => {
    const kernel = await bootTestKernel();
    const open = new TestHttp(kernel.url);
    const { agents } = (await open.get('/api/agents')).body;
    const stream = await open.raw('GET', `/api/logs/stream`, undefined, { accept: 'text/event-stream' });
    expect([agents.length > 0, stream.status]).to.deep.equal([true, 200]);
    expect((await open.get('/auth/session')).headers.get('set-cookie')).to.equal(null);
    expect((await open.get('/auth/session', { 'sec-fetch-site': 'cross-site' })).headers.get('set-cookie')).to.equal(null);
    const page = await open.get('/auth/session', ownPage(kernel.url));
    expect(page.headers.get('set-cookie')).to.match(/^svc_session_\d+=[\w-]{43}; .*HttpOnly; SameSite=Strict/);

    await kernel.daemon.parts.ownerKey.need('a program of this test');
    expect((await open.get('/api/agents')).status).to.equal(401);
    const reader = stream.body?.getReader();
    // Let in anew by then, or cut off.
    await new Promise((resolve) => setTimeout(resolve, 200));
    kernel.daemon.log.logger('kernel').warn('a line for whoever follows the log');
    let text = '';
    for (let isOver = false; !isOver && !text.includes('a line for whoever follows the log'); ) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      text += Buffer.from(value ?? []).toString();
      isOver = done;
    }
    expect(text).to.contain('a line for whoever follows the log');
    await reader?.cancel();
  });
});
