/** The page around the panels: what it offers to whom, by keyboard and at any width, and what it does when things change under it. */
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { startTcpProxy } from '@svc/testing/postgres/tcp-proxy';
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { until } from '@svc/test/clients/model-kernel';
import { axeFindings, expectWellMade, useBrowser } from '@svc/test/page/browser';

const hashOf = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const KEY = 'sk-of-the-owner-0123456789';
const VIEWER = 'sk-of-a-viewer-0123456789';
const WITH_KEYS = `api_key = "${KEY}"\n${OPEN_RATE}[[users]]\nname = "vera"\nrole = "viewer"\napi_key_hash = "${hashOf(VIEWER)}"\n`;
const MAX_FIRST_LOAD_BYTES = 90_000;

describe('the page', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  /** One for all who change nothing of it that they do not put back. */
  let common: TestKernel;
  let kernel: TestKernel;
  let page: Page;
  let mistakes: readonly string[];
  before(async () => {
    common = await bootTestKernel();
  });
  afterEach(() => (kernel === common ? undefined : kernel.stop()));
  after(stopTestKernels);

  const visit = async (options?: Parameters<typeof bootTestKernel>[0], browser?: Parameters<typeof chromium.open>[1]): Promise<void> => {
    kernel = options ? await bootTestKernel(options) : common;
    ({ page, mistakes } = await chromium.open(kernel.url, browser));
  };
  const navigation = () => page.getByRole('navigation', { name: 'Navigation' });
  const ready = () => page.getByRole('textbox', { name: /^Message to/ }).waitFor();
  const logIn = async (key: string): Promise<void> => {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Log in' }).click();
  };

  it('loads little before the first panel is there, all of it from this daemon', async () => {
    kernel = common;
    const visited = await chromium.open('about:blank', {});
    page = visited.page;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    // What comes after that moment, because nothing else is to do, is no part of the first load.
    await page.addInitScript(() => {
      const watch = new MutationObserver(() => {
        if (!document.querySelector('textarea')) return;
        performance.mark('can-type');
        watch.disconnect();
      });
      watch.observe(document, { childList: true, subtree: true });
    });
    await page.goto(kernel.url);
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
    const scripts = await page.evaluate(() => {
      const until = performance.getEntriesByName('can-type')[0]?.startTime ?? 0;
      return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .filter((entry) => entry instanceof PerformanceResourceTiming && entry.startTime <= until && (entry.entryType === 'navigation' || new URL(entry.name).pathname.startsWith('/ui/')))
        .reduce((sum, entry) => sum + (entry instanceof PerformanceResourceTiming ? entry.encodedBodySize : 0), 0);
    });
    expect(scripts).to.be.within(10_000, MAX_FIRST_LOAD_BYTES);
    expect(asked.filter((url) => new URL(url).origin !== kernel.url)).to.deep.equal([]);
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const ofTheApi = asked.map((url) => new URL(url).pathname).filter((path) => path.startsWith('/api/') && path !== '/api/agents');
    expect(ofTheApi, 'nothing is asked twice').to.deep.equal([...new Set(ofTheApi)]);
    expect(visited.mistakes).to.deep.equal([]);
  });

  it('lets no script run but its own files', async () => {
    await visit();
    await ready();
    const answer = await fetch(kernel.url);
    expect(answer.headers.get('content-security-policy')).to.contain("default-src 'none'").and.not.contain('unsafe');
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.harmed = true';
      document.body.append(script);
    });
    expect(await page.evaluate(() => 'harmed' in window)).to.equal(false);
  });

  it('asks for the key where there is one, keeps it nowhere, and leaves with the session', async () => {
    await visit({ config: WITH_KEYS });
    await logIn('wrong');
    await page.getByRole('alert').waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await logIn(KEY);
    await ready();
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
    expect(kept).to.not.contain(KEY);
    await page.reload();
    await ready();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  it('offers a viewer nothing that they may not do', async () => {
    await visit({ config: WITH_KEYS });
    await logIn(VIEWER);
    await page.getByText('vera (viewer)').waitFor();
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create an agent' }).count()).to.equal(0);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('asks again when the key was taken away under it, and keeps what was typed', async () => {
    await visit({ config: WITH_KEYS.replace('role = "viewer"', 'role = "user"') });
    await kernel.as(VIEWER).expect(201, 'POST', '/api/agents', { name: 'own' });
    await logIn(VIEWER);
    await ready();
    const composer = page.getByRole('textbox', { name: /^Message to/ });
    await composer.fill('half a thou');
    const others = WITH_KEYS.replace(hashOf(VIEWER), hashOf('sk-another-0123456789')).replace('role = "viewer"', 'role = "user"');
    await writeFile(join(kernel.home, 'config.toml'), others);
    await kernel.as(KEY).post('/api/config/reload');
    await page.getByLabel('API key').waitFor();
    await logIn('sk-another-0123456789');
    await ready();
    expect(await composer.inputValue()).to.equal('half a thou');
  });

  it('stays with who logged in when refusals of what was asked before arrive after that', async () => {
    await visit({ config: WITH_KEYS.replace('role = "viewer"', 'role = "user"') });
    await kernel.as(VIEWER).expect(201, 'POST', '/api/agents', { name: 'own' });
    await logIn(VIEWER);
    await ready();
    let isHeld = true;
    const late: Array<() => Promise<void>> = [];
    await page.route(/\/api\/(?!auth\/login)/, async (route) => {
      const response = await route.fetch();
      const body = await response.text();
      const isRefusal = response.status() === 401 || body.includes('"authenticated":false');
      if (isRefusal && isHeld) late.push(() => route.fulfill({ response, body }));
      else await route.fulfill({ response, body });
    });
    await writeFile(join(kernel.home, 'config.toml'), WITH_KEYS.replace(hashOf(VIEWER), hashOf('sk-another-0123456789')).replace('role = "viewer"', 'role = "user"'));
    await kernel.as(KEY).post('/api/config/reload');
    await page.getByLabel('API key').waitFor();
    await until(() => late.length > 1);
    await logIn('sk-another-0123456789');
    await ready();
    isHeld = false;
    for (const arrive of late) await arrive();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect(await page.getByRole('textbox', { name: /^Message to/ }).isVisible()).to.equal(true);
    expect(await page.getByLabel('API key').count()).to.equal(0);
  });

  it('takes a panel away with its area, and brings it back, without a reload', async () => {
    await visit();
    await ready();
    await navigation().getByRole('link', { name: 'System' }).click();
    const link = page.getByRole('navigation', { name: 'Tabs of System' }).getByRole('link', { name: 'Settings' });
    await link.click();
    await page.getByRole('heading', { level: 1, name: /Settings/ }).waitFor();
    await kernel.http.expect(200, 'POST', '/api/extensions/config/disable');
    await page.getByText('Panel not available').waitFor();
    await link.waitFor({ state: 'detached' });
    await kernel.http.expect(200, 'POST', '/api/extensions/config/enable');
    await page.getByRole('heading', { level: 1, name: /Settings/ }).waitFor();
  });

  it('does everything by keyboard: the commands, the panels, the way past the navigation', async () => {
    await visit();
    await ready();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('dark');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).to.equal('dark');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('chat assistant');
    await page.getByRole('option', { name: 'Chat with assistant' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/chat\/[0-9a-f-]{36}/);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('models');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'content');
    await page.goBack();
    await ready();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A conversation begins in its message field, other views at the top of the page.
    await page.goto(`${kernel.url}/#/models`);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('content');
  });

  it('speaks the language of its reader, and another one when asked', async () => {
    await visit(undefined, { locale: 'zh-CN' });
    await page.getByRole('navigation', { name: '导航' }).getByRole('link', { name: '对话' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).to.equal('zh-Hans');
    await expectWellMade(page, 'the page in Chinese', { isWhole: true });
    await page.getByRole('button', { name: '语言', exact: true }).click();
    await page.getByRole('menuitemradio', { name: 'English' }).click();
    await ready();
  });

  it('is well made at any width and in both themes, and twice as large', async () => {
    await visit();
    await ready();
    await expectWellMade(page, 'the page', { isWhole: true });
    // A window of 640 px is what one of 1280 px shows at 200 %.
    await page.setViewportSize({ width: 640, height: 400 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await navigation().getByRole('link', { name: 'Chat' }).click();
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    expect(mistakes).to.deep.equal([]);
  });

  it('says that it cannot reach the daemon, and goes on by itself when it can', async () => {
    kernel = common;
    // Chromium's own way of being offline keeps one of its processes busy while a stream is open.
    const network = await startTcpProxy(Number(new URL(kernel.url).port));
    try {
      page = (await chromium.open(network.through(kernel.url))).page;
      await ready();
      await page.getByText('Connected', { exact: true }).waitFor();
      await network.cut();
      await page.getByText('No connection to the daemon').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await network.restore();
      await page.getByText('No connection to the daemon').waitFor({ state: 'detached' });
    } finally {
      await page.goto('about:blank');
      await network.close();
    }
  });

  it('tells the time right by a browser whose clock is wrong', async () => {
    kernel = common;
    const visited = await chromium.open('about:blank', {});
    page = visited.page;
    await page.clock.setFixedTime(new Date('2019-01-01T00:00:00Z'));
    await page.goto(kernel.url);
    await ready();
    await page.getByRole('textbox', { name: /^Message to/ }).fill('hello');
    await page.keyboard.press('Enter');
    await page.getByText('rehearsal').first().waitFor();
    expect(await page.getByText(/in \d+ (y|mo|d|h|min)/).count(), 'a time that lies ahead').to.equal(0);
  });
});
